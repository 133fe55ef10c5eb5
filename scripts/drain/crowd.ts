// The clients that the drain test disconnects: our own or stock ones, used as an application would.
import { io } from "socket.io-client";

import { connectRoom } from "../../client/core/room.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { SECRET } from "../crash/victim.ts";

const TOKEN_SECONDS = 3600;
const CONNECTS_AT_ONCE = 64;

export type Kind = "own" | "stock";

export interface Guest {
  readonly room: string;
  /** Places of the messages that it was handed, in the order in which it was. */
  readonly seqs: number[];
  /** How often it connected, and how often the server reported recovery. */
  readonly returns: { connects: number; recovered: number };
  readonly isConnected: boolean;
  leave(): void;
}

interface Seat {
  readonly origin: string;
  readonly room: string;
  readonly token: string;
  /** It is in, for the first time or again. */
  readonly arrived: () => void;
}

const GUESTS: Readonly<Record<Kind, (seat: Seat) => Guest>> = { own: ownGuest, stock: stockGuest };

/** @param arrived called for each connection that was made */
export async function gatherGuests(
  kind: Kind,
  origin: string,
  { guests, rooms }: { readonly guests: number; readonly rooms: readonly string[] },
  arrived: () => void,
): Promise<Guest[]> {
  const seated: Guest[] = [];
  const waiting = Array.from({ length: guests }, (_, number) => number).values();
  const seatOthers = async (): Promise<void> => {
    for (const number of waiting) {
      const token = await signToken(SECRET, { user: `guest-${number}` }, TOKEN_SECONDS);
      await new Promise<void>((resolve) => {
        const isIn = (): void => (arrived(), resolve());
        seated.push(GUESTS[kind]({ origin, room: rooms[number % rooms.length]!, token, arrived: isIn }));
      });
    }
  };
  await Promise.all(Array.from({ length: CONNECTS_AT_ONCE }, seatOthers));
  return seated;
}

function ownGuest({ origin, room, token, arrived }: Seat): Guest {
  const connected = connectRoom(origin, room, { token: () => token, storage: null });
  const seqs: number[] = [];
  const returns = { connects: 0, recovered: 0 };
  connected.on("chat-message", ({ seq }) => seqs.push(seq));
  connected.on("welcome", () => {
    returns.connects++;
    if (connected.socket.recovered) returns.recovered++;
    arrived();
  });
  return {
    room,
    seqs,
    returns,
    get isConnected() {
      return connected.connection.state === "connected";
    },
    leave: () => connected.close(),
  };
}

function stockGuest({ origin, room, token, arrived }: Seat): Guest {
  const path = `/rooms/${room}/socket.io`;
  const options = { path, auth: { token }, query: { recovery: "on" }, transports: ["websocket"], forceNew: true };
  const socket = io(origin, options);
  const seqs: number[] = [];
  const returns = { connects: 0, recovered: 0 };
  socket.on("chat-message", ({ seq }: Message) => seqs.push(seq));
  socket.on("welcome", () => {
    returns.connects++;
    if (socket.recovered) returns.recovered++;
    arrived();
  });
  return {
    room,
    seqs,
    returns,
    get isConnected() {
      return socket.connected;
    },
    leave: () => void socket.disconnect(),
  };
}
