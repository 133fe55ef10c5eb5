// Stock Socket.IO clients, used as applications use them, in the newest version and in 4.4. Called by the outside tests.
import { io, type ManagerOptions, type Socket, type SocketOptions } from "socket.io-client";
import { io as io44 } from "socket.io-client-4.4";

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
  return within(`event ${event}`, (resolve) => void socket.once(event, resolve));
}

/** Emits with an ack callback. */
export function ask<Answer = Record<string, unknown>>(
  socket: Socket,
  event: string,
  payload: unknown,
): Promise<Answer> {
  return within(`answer to ${event}`, (resolve) => void socket.emit(event, payload, resolve));
}

/** Everything of one kind that a socket receives from now on. */
export function collect<Payload>(socket: Socket, event: string): Payload[] {
  const received: Payload[] = [];
  socket.on(event, (payload: Payload) => received.push(payload));
  return received;
}

function within<Value>(what: string, start: (resolve: (value: Value) => void) => void): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${what} in ${PATIENCE_MS} ms`)), PATIENCE_MS);
    start((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** A member that got its welcome. */
export async function join(url: string, room: string, user: string, options: Options = {}): Promise<Socket> {
  const socket = open(url, { path: `/rooms/${room}/socket.io`, auth: { token: await tokenFor(user) }, ...options });
  await next(socket, "welcome");
  return socket;
}
