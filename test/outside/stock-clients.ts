// Stock Socket.IO clients, used as applications use them, in the newest version and in 4.4. Called by the outside tests.
import { io, type ManagerOptions, type Socket, type SocketOptions } from "socket.io-client";
import { io as io44 } from "socket.io-client-4.4";

import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { PATIENCE_MS } from "../host/patience.ts";
import { TEST_SECRET } from "./servers.ts";

export type Options = Partial<ManagerOptions & SocketOptions>;
export type Connect = (url: string, options: Options) => Socket;

/** 4.4 has neither `emitWithAck` nor `timeout(…)` acks: this uses only what both have. */
export const VERSIONS: ReadonlyArray<readonly [version: string, connect: Connect]> = [
  ["4.8", io],
  ["4.4", io44 as unknown as Connect],
];

const opened = new Set<Socket>();

/** Called by lines.setup.ts after the last test of a file. */
export function closeSockets(): void {
  for (const socket of opened) socket.disconnect();
  opened.clear();
}

type Claims = Omit<Parameters<typeof signToken>[1], "user">;

export function tokenFor(user: string, claims: Claims = {}): Promise<string> {
  return signToken(TEST_SECRET, { user, ...claims }, 3600);
}

/** A socket that is closed with its test file at the latest. It shares its connection with no other. */
export function open(url: string, options: Options = {}, connect: Connect = io): Socket {
  const socket = connect(url, { transports: ["websocket"], forceNew: true, ...options });
  opened.add(socket);
  return socket;
}

/** Resolves with the first argument of the next such event. */
export function next<Payload>(socket: Socket, event: string): Promise<Payload> {
  return within(socket, `event ${event}`, (resolve) => void socket.once(event, resolve));
}

/** Emits with an ack callback. */
export function ask<Answer = Record<string, unknown>>(
  socket: Socket,
  event: string,
  payload: unknown,
): Promise<Answer> {
  return within(socket, `answer to ${event}`, (resolve) => void socket.emit(event, payload, resolve));
}

/** The same with any arguments, for clients that have `emitWithAck`. */
export function asks<Answer>(socket: Socket, event: string, ...args: unknown[]): Promise<Answer> {
  return socket.timeout(PATIENCE_MS).emitWithAck(event, ...args) as Promise<Answer>;
}

/** Everything of one kind that a socket receives from now on. */
export function collect<Payload>(socket: Socket, event: string): Payload[] {
  const received: Payload[] = [];
  socket.on(event, (payload: Payload) => received.push(payload));
  return received;
}

function within<Value>(socket: Socket, what: string, start: (resolve: (value: Value) => void) => void): Promise<Value> {
  const breaks: string[] = [];
  const onDisconnect = (reason: string): void => void breaks.push(reason);
  const onError = ({ message }: Error): void => void breaks.push(message);
  socket.on("disconnect", onDisconnect).on("connect_error", onError);
  return new Promise<Value>((resolve, reject) => {
    const giveUp = (): void => {
      const { transport } = socket.io.engine;
      const state = `${socket.connected ? "connected" : "not connected"}, ${transport.name}, broken by: ${breaks.join(", ") || "nothing"}`;
      reject(new Error(`no ${what} in ${PATIENCE_MS} ms (${state})`));
    };
    const timer = setTimeout(giveUp, PATIENCE_MS);
    start((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  }).finally(() => socket.off("disconnect", onDisconnect).off("connect_error", onError));
}

/** A member that got its welcome. */
export async function join(url: string, room: string, user: string, options: Options = {}): Promise<Socket> {
  const socket = open(url, { path: `/rooms/${room}/socket.io`, auth: { token: await tokenFor(user) }, ...options });
  await next(socket, "welcome");
  return socket;
}

/** Members of both versions, some of whom poll first. */
export async function fill(
  url: string,
  room: string,
  count: number,
): Promise<Array<{ socket: Socket; heard: Message[] }>> {
  const members: Array<{ socket: Socket; heard: Message[] }> = [];
  for (let i = 0; i < count; i++) {
    const [, connect] = VERSIONS[i % VERSIONS.length]!;
    const auth = { token: await tokenFor(`user-${i}`) };
    const transports = i % 3 === 2 ? ["polling", "websocket"] : ["websocket"];
    const socket = open(url, { path: `/rooms/${room}/socket.io`, auth, transports }, connect);
    members.push({ socket, heard: collect<Message>(socket, "chat-message") });
    await next<Welcome>(socket, "welcome");
  }
  return members;
}

export const contents = (messages: readonly Message[]): string[] => messages.map(({ content }) => content);
