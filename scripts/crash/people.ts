// The clients in the rooms while their server is killed: stock clients and our own. They reconnect by themselves and record
// each ack and each message.
import { io } from "socket.io-client";

import type { Room as ConnectedRoom } from "../../client/core/api.ts";
import { connectRoom } from "../../client/core/room.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import type { Message, PostAnswer, Welcome } from "../../src/protocol/chat-events.ts";
import { SECRET } from "./victim.ts";

const TOKEN_SECONDS = 24 * 3600;
/** Quick ways back: a round should not be spent on waiting. */
const RECONNECTION = { reconnectionDelay: 100, reconnectionDelayMax: 800 } as const;

/** Messages that a client saw without a gap, all after `after`. */
export interface Stretch {
  /** Absent until the room sent its last seq. */
  after: number | undefined;
  readonly messages: Message[];
}

export interface Person {
  readonly name: string;
  readonly room: string;
  /** The seq of each acked text. */
  readonly acked: ReadonlyMap<string, number>;
  readonly stretches: readonly Stretch[];
  /** Broken promises, in words. */
  readonly complaints: readonly string[];
  /** Connections that were recovered, of all that were made. */
  readonly returns: { recovered: number; afresh: number };
  /** Why posts were refused, as often as they were. */
  readonly refusals: readonly string[];
  readonly isConnected: boolean;
  /** Posts that wait for their answer, and will get one. */
  readonly pending: number;
  post(): void;
  leave(): void;
}

interface Seat {
  readonly origin: string;
  readonly room: string;
  readonly name: string;
}

export async function stockPerson({ origin, room, name }: Seat): Promise<Person> {
  const token = await signToken(SECRET, { user: name }, TOKEN_SECONDS);
  const path = `/rooms/${room}/socket.io`;
  const options = { path, auth: { token }, query: { recovery: "on" }, transports: ["websocket"], forceNew: true };
  const socket = io(origin, { ...options, ...RECONNECTION });
  const acked = new Map<string, number>();
  const stretches: Stretch[] = [];
  const returns = { recovered: 0, afresh: 0 };
  const refusals: string[] = [];
  let posts = 0;
  socket.on("connect", () => {
    if (socket.recovered) return void returns.recovered++;
    returns.afresh++;
    stretches.push({ after: undefined, messages: [] });
  });
  socket.on("welcome", ({ lastSeq }: Welcome) => (stretches.at(-1)!.after ??= lastSeq));
  socket.on("chat-message", (message: Message) => stretches.at(-1)!.messages.push(message));
  return {
    name,
    room,
    acked,
    stretches,
    complaints: [],
    returns,
    refusals,
    get isConnected() {
      return socket.connected;
    },
    // An ack that did not arrive before the connection ended never will.
    pending: 0,
    post() {
      if (!socket.connected) return;
      const content = `${name}, message ${++posts}`;
      socket.emit("chat-message", { content, clientMsgId: content }, (answer: PostAnswer) => {
        if ("ok" in answer) acked.set(content, answer.seq);
        else refusals.push(answer.error.code);
      });
    },
    leave: () => void socket.disconnect(),
  };
}

export async function ownPerson({ origin, room, name }: Seat): Promise<Person> {
  const token = await signToken(SECRET, { user: name }, TOKEN_SECONDS);
  const connected: ConnectedRoom = connectRoom(origin, room, { token: () => token, storage: null });
  const acked = new Map<string, number>();
  const complaints: string[] = [];
  const stretch: Stretch = { after: undefined, messages: [] };
  const returns = { recovered: 0, afresh: 0 };
  let [posts, pending] = [0, 0];
  connected.on("welcome", ({ lastSeq }) => {
    stretch.after ??= lastSeq;
    if (connected.socket.recovered) returns.recovered++;
    else returns.afresh++;
  });
  connected.on("chat-message", (message) => stretch.messages.push(message));
  connected.on("gap", ({ from, to, reason }) => complaints.push(`a gap from ${from} to ${to}: ${reason}`));
  connected.on("restart", () => complaints.push("the room was taken for a new one"));
  connected.on("connection", (connection) => {
    if (connection.state === "stopped" && connection.code !== "CLOSED")
      complaints.push(`stopped: ${connection.code} ${connection.message}`);
  });
  return {
    name,
    room,
    acked,
    stretches: [stretch],
    complaints,
    returns,
    // The client repeats messages that the room could not store.
    refusals: [],
    get isConnected() {
      return connected.connection.state === "connected";
    },
    get pending() {
      return pending;
    },
    post() {
      const content = `${name}, message ${++posts}`;
      pending++;
      connected
        .send(content)
        .then(({ seq }) => void acked.set(content, seq))
        .catch(({ code }: { code: string }) => complaints.push(`a message failed: ${code}`))
        .finally(() => pending--);
    },
    leave: () => connected.close(),
  };
}
