// The people and the backend of the story whose traces are kept of each release. Called by story.ts and by tests of neighbouring releases.
import { io, type Socket } from "socket.io-client";

import type { Role } from "../../src/protocol/chat-events.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";

export const SECRET = "a-secret-that-only-the-kept-releases-know";

/** Kept connections must not outlive their tokens: a hundred years. */
const TOKEN_SECONDS = 100 * 365 * 86_400;
const ANSWER_MS_MAX = 30_000;

export interface Person {
  readonly user: string;
  readonly role?: Role;
}

export const tokenOf = ({ user, role = "member" }: Person): Promise<string> =>
  signToken(SECRET, { user, name: user.toUpperCase(), role }, TOKEN_SECONDS);

/** A good answer to a request of the HTTP API. @throws Error for any other */
export async function call(url: string, as: Person, path: string, given?: RequestInit): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    ...given,
    headers: { Authorization: `Bearer ${await tokenOf(as)}`, ...(given?.headers as Record<string, string>) },
  });
  if (!response.ok) throw new Error(`${given?.method ?? "GET"} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

export const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** A stock client, and the welcome that it got. */
export async function arrive(
  url: string,
  room: string,
  as: Person,
): Promise<{ socket: Socket; welcome: Record<string, unknown> }> {
  const options = { ...OPTIONS, path: `/rooms/${room}/socket.io`, auth: { token: await tokenOf(as) } };
  const socket = io(url, options);
  const welcome = (await opened(socket, "welcome")) as Record<string, unknown>;
  return { socket, welcome };
}

export const enter = async (url: string, room: string, as: Person): Promise<Socket> =>
  (await arrive(url, room, as)).socket;

/** A guest at a table of the application of another kind. */
export async function sitDown(url: string, meeting: string, table: string, namespace = "/"): Promise<Socket> {
  const socket = io(url + namespace, { ...OPTIONS, path: meetingPath(meeting) });
  await opened(socket, "connect");
  await socket.timeout(ANSWER_MS_MAX).emitWithAck("sit", table);
  return socket;
}

export const meetingPath = (meeting: string): string => `/meetings/rooms/${meeting}/socket.io`;

const OPTIONS = { transports: ["websocket"], forceNew: true };

function opened(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once("connect_error", reject);
  });
}

/** @throws Error for a refusal */
export async function ask<Answer extends object>(socket: Socket, event: string, payload: object): Promise<Answer> {
  const answer = (await socket.timeout(ANSWER_MS_MAX).emitWithAck(event, payload)) as Answer | { error: unknown };
  if ("error" in answer) throw new Error(`${event}: ${JSON.stringify(answer.error)}`);
  return answer;
}
