// A chat room as an application holds it: one stock socket.io-client Socket and the few calls a chat
// needs. Called by the page and, through client.ts, by whoever imports /client.js.
import { io, type Socket } from "socket.io-client";

import type {
  ClientToServerEvents,
  HistoryAnswer,
  HistoryPayload,
  PostAnswer,
  PostPayload,
  PresenceAnswer,
  ServerToClientEvents,
} from "../src/protocol/chat-events.ts";
import { isRoomName } from "../src/protocol/room-name.ts";

/** How long a connected room may take to answer; time spent disconnected does not count for `send`. */
const ACK_TIMEOUT_MS = 10_000;

/** A function is called anew at each connect. It reports its own failures; a rejection makes the client try again. */
export type Token = string | (() => Promise<string> | string);

export type RoomSocket = Socket<ServerToClientEvents, ClientToServerEvents>;

/** What the room sends, and what the connection itself reports. */
export interface RoomEvents extends ServerToClientEvents {
  connect: () => void;
  /** A refused CONNECT has `data.code`, and the stock client does not try again by itself. */
  connect_error: (error: Error & { readonly data?: unknown }) => void;
  disconnect: (reason: Socket.DisconnectReason) => void;
}

export interface SendOptions {
  /** The `id` of the message that this one answers. */
  readonly replyTo?: string;
  /** Given again after a failed `send`, it makes the repetition safe. */
  readonly clientMsgId?: string;
}

/** `origin` is the server's, such as `https://chat.example`. */
export function connectRoom(origin: string, room: string, { token }: { token: Token }): Room {
  if (!isRoomName(room)) throw new RangeError(`Not a room name: ${JSON.stringify(room)}`);
  // A path after the origin would be taken for a namespace.
  const socket: RoomSocket = io(new URL(origin).origin, {
    path: `/rooms/${room}/socket.io`,
    // WebSocket at once; long-polling where something on the way does not let it through.
    transports: ["websocket", "polling"],
    tryAllTransports: true,
    // Each room is a server of its own, so no two may share a connection.
    forceNew: true,
    auth: (answer) => void authenticate(socket, token, answer),
  });
  return new Room(socket);
}

export class Room {
  /** The stock socket, for everything that this class does not wrap. */
  readonly socket: RoomSocket;
  readonly #closing = new AbortController();

  constructor(socket: RoomSocket) {
    this.socket = socket;
  }

  /**
   * Posts a message. If the connection drops before the answer, it is sent again on the next one with the same
   * `clientMsgId`, so the room stores it once. Rejects when the room is silent for too long, or closed.
   */
  async send(content: string, { replyTo, clientMsgId = newMessageId() }: SendOptions = {}): Promise<PostAnswer> {
    const payload: PostPayload = { content, clientMsgId, ...(replyTo === undefined ? {} : { replyTo }) };
    for (;;) {
      await this.#connected();
      try {
        return await ask<PostAnswer>(this.socket, "chat-message", payload);
      } catch (error) {
        // Still connected: the room is silent, and only the caller knows whether to ask again.
        if (this.socket.connected) throw error;
      }
    }
  }

  /** Messages ascending by `seq`; without bounds the newest. */
  history(range: HistoryPayload = {}): Promise<HistoryAnswer> {
    return ask(this.socket, "history", range);
  }

  presence(): Promise<PresenceAnswer> {
    return ask(this.socket, "presence", {});
  }

  on<E extends keyof RoomEvents>(event: E, handler: RoomEvents[E]): void {
    // The stock overloads cannot see that a generic event and its handler belong together.
    this.socket.on(event, handler as never);
  }

  off<E extends keyof RoomEvents>(event: E, handler: RoomEvents[E]): void {
    this.socket.off(event, handler as never);
  }

  /** Leaves for good: unanswered calls reject. */
  close(): void {
    this.#closing.abort(new Error("the room was closed"));
    this.socket.disconnect();
  }

  #connected(): Promise<void> {
    const { socket } = this;
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.reject(signal.reason);
    if (socket.connected) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        socket.off("connect", settle);
        signal.removeEventListener("abort", settle);
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      socket.on("connect", settle);
      signal.addEventListener("abort", settle);
    });
  }
}

/** Rejects when the connection drops or `ACK_TIMEOUT_MS` pass before the answer. */
function ask<Answer>(
  socket: RoomSocket,
  event: keyof ClientToServerEvents,
  payload: Parameters<ClientToServerEvents[keyof ClientToServerEvents]>[0],
): Promise<Answer> {
  // The stock types derive answers from a required ack only, and here it is optional.
  type Acked = Record<string, (payload: object, ack: (answer: Answer) => void) => void>;
  const acked = socket as unknown as Socket<ServerToClientEvents, Acked>;
  return acked.timeout(ACK_TIMEOUT_MS).emitWithAck(event, payload);
}

async function authenticate(socket: RoomSocket, token: Token, answer: (auth: object) => void): Promise<void> {
  // The stock client does not tie the answer to the connection that asked for it, and a token
  // that comes late must not become a second CONNECT on the next connection.
  const { engine } = socket.io;
  const isCurrent = (): boolean => socket.io.engine === engine;
  try {
    const value = typeof token === "string" ? token : await token();
    if (isCurrent()) answer({ token: value });
  } catch {
    // Without this connection the stock client opens another after its usual delay, and asks for a token again.
    if (isCurrent()) engine.close();
  }
}

/** At most 64 characters, never the same twice. */
export function newMessageId(): string {
  // Outside secure contexts (http:// on a local network) browsers have no randomUUID.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
