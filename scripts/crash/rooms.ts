// The rooms that are killed, as the HTTP API shows them: linked by relay, and read whole after each round.
import { setTimeout as pause } from "node:timers/promises";

import { signToken } from "../../src/settings/tokens/tokens.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { DeadLetter } from "../../src/protocol/relay-batch.ts";
import { SECRET } from "./victim.ts";

/** One way from the first to the second, both ways between the others. */
export const ROOMS = ["hall", "balcony", "east", "west"] as const;
export const LINKS: ReadonlyArray<readonly [from: string, to: string]> = [
  ["hall", "balcony"],
  ["east", "west"],
  ["west", "east"],
];

/** The stored messages, by room. */
export type Histories = ReadonlyMap<string, readonly Message[]>;

const TOKEN_SECONDS = 24 * 3600;
const PAGE_MESSAGES = 200;
const CALL_MS_MAX = 20_000;

export class Backend {
  readonly #origin: string;
  readonly #token: string;

  private constructor(origin: string, token: string) {
    this.#origin = origin;
    this.#token = token;
  }

  static async of(origin: string): Promise<Backend> {
    return new Backend(origin, await signToken(SECRET, { user: "backend", role: "service" }, TOKEN_SECONDS));
  }

  /** Asks again where it asked too often. @throws Error where the answer is not 2xx */
  async call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const response = await this.#ask(method, path, body);
      if (response.ok) return (await response.json()) as Answer;
      const text = await response.text();
      if (response.status !== 429) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      await pause((JSON.parse(text) as { error: { retryAfterMs: number } }).error.retryAfterMs);
    }
  }

  #ask(method: string, path: string, body?: object): Promise<Response> {
    return fetch(`${this.#origin}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json" },
      signal: AbortSignal.timeout(CALL_MS_MAX),
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async link(): Promise<void> {
    for (const [from, to] of LINKS) await this.call("POST", `/api/rooms/${from}/links`, { to });
  }

  post(room: string, content: string): Promise<{ seq: number }> {
    return this.call("POST", `/api/rooms/${room}/messages`, { content });
  }

  /** Reads the whole history of a room, page by page, from the first message that is not known yet. */
  async #history(room: string, known: readonly Message[]): Promise<readonly Message[]> {
    const all = [...known];
    for (;;) {
      const path = `/api/rooms/${room}/messages?limit=${PAGE_MESSAGES}&after=${all.at(-1)?.seq ?? 0}`;
      const { messages, hasMore } = await this.call<{ messages: Message[]; hasMore: boolean }>("GET", path);
      all.push(...messages);
      if (!hasMore) return all;
    }
  }

  async histories(known: Histories = new Map()): Promise<Histories> {
    const read = ROOMS.map(async (room) => [room, await this.#history(room, known.get(room) ?? [])] as const);
    return new Map(await Promise.all(read));
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    return (await this.call<{ letters: DeadLetter[] }>("GET", "/api/relay/dead")).letters;
  }
}
