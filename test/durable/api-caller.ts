// The HTTP API as a backend uses it: a call with a token, and its answer.
import { exports } from "cloudflare:workers";
import { expect } from "vitest";

import { ORIGIN, type UpgradeOptions } from "./raw-client.ts";
import { tokenFor } from "./rooms.ts";
import type { DeadLetter } from "../../src/protocol/relay-batch.ts";

export interface CallOptions {
  /** The token's claims; `null` for no token at all. */
  readonly as?: { user?: string; role?: string; rooms?: readonly string[]; name?: string } | null;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetcher?: UpgradeOptions["fetcher"];
}

export interface Called {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape of its answer
  readonly body: any;
}

/** The response as it is: for bodies that are no JSON. */
export async function request(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const { as = {}, body, headers = {}, fetcher = exports.default } = options;
  const { user = "backend", role = "service", ...claims } = as ?? {};
  const all = new Headers();
  if (as) all.set("Authorization", `Bearer ${await tokenFor(user, { role, ...claims })}`);
  if (body !== undefined) all.set("Content-Type", "application/json");
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return fetcher.fetch(
    new Request(new URL(path, ORIGIN), { method, headers: all, ...(body !== undefined && { body: text }) }),
  );
}

export async function callApi(method: string, path: string, options: CallOptions = {}): Promise<Called> {
  const response = await request(method, path, options);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
}

/** The page that `Link` leads to, if there is a next one: API-7. */
export const nextOf = ({ headers }: Pick<Called, "headers">): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];

/** The bodies of all pages of a list, from the first one on. */
export async function pagesFrom(path: string, options: CallOptions = {}): Promise<Array<Called["body"]>> {
  const pages: Array<Called["body"]> = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const page = await callApi("GET", next, options);
    expect(page.status).toBe(200);
    pages.push(page.body);
    next = nextOf(page);
    expect(next !== undefined, next).toBe(page.body.hasMore);
  }
  return pages;
}

/** The body of a refusal. */
export const refusal = (code: string): object => ({ error: { code, message: expect.any(String) } });

/** The dead letters to a room. Other test files of the same workerd leave theirs, so it reads all pages. */
export async function deadLettersTo(room: string): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for (let hasMore = true; hasMore;) {
    const { body } = await callApi("GET", `/api/relay/dead?limit=200&after=${letters.at(-1)?.id ?? 0}`);
    letters.push(...(body.letters as DeadLetter[]));
    hasMore = body.hasMore && body.letters.length > 0;
  }
  return letters.filter(({ to }) => to === room);
}
