// Visitors of Acme's Worker (docs/examples/kinds) for the tests beside this: whom it knows, and their requests to one of its chats.
import { exports } from "cloudflare:workers";
import { expect } from "vitest";

import { ORIGIN, RawClient, type RawClientOptions } from "../raw-client.ts";

let rooms = 0;

/** A name that no other test of this file uses. */
export const freshRoom = (): string => `room-${++rooms}`;

/** The header by which the Worker knows a user. */
export const session = (user: unknown): Record<string, string> => ({ "x-acme-session": JSON.stringify(user) });

export const request = (path: string, init: RequestInit = {}): Promise<Response> =>
  exports.default.fetch(new Request(new URL(path, ORIGIN), init));

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests compare answers of many shapes
  readonly body: any;
}

export async function answerTo(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await request(path, init);
  return { status: response.status, body: await response.json() };
}

/** A call of the HTTP API. */
export function call(user: object, method: string, path: string, body?: object): Promise<Answer> {
  const headers = { ...session(user), ...(body && { "Content-Type": "application/json" }) };
  return answerTo(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
}

export const refusal = (code: string): object => ({ error: { code, message: expect.any(String) } });

/** The chat at a base path. */
export const at = (basePath: string): { readonly fetcher: NonNullable<RawClientOptions["fetcher"]> } => ({
  fetcher: {
    fetch: (given) => exports.default.fetch(new Request(given.url.replace(ORIGIN, ORIGIN + basePath), given)),
  },
});

/** A member that got its welcome, without any token. */
export async function join(basePath: string, room: string, user: object): Promise<RawClient> {
  const client = await RawClient.open({ room, headers: session(user), ...at(basePath) });
  await client.connect();
  await client.receives("welcome");
  return client;
}
