// Guests of the halls over bare WebSockets, in several namespaces at once. Called by the tests of halls and named logs.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import app from "../../../src/worker/socketio.ts";
import type { WirePacket } from "../../wire/packets.ts";
import { RawClient } from "../raw-client.ts";

export interface Ticket {
  readonly sid: string;
  readonly pid: string;
  /** Absent until an event was heard. */
  readonly offset?: string;
}

let houses = 0;
export const freshHouse = (): string => `house-${++houses}`;

export const evict = (house: string, webSockets: "hibernate" | "close"): Promise<void> =>
  evictDurableObject(env.HALLS.getByName(house), { webSockets });

export class Guest {
  readonly user: string;
  readonly #raw: RawClient;

  static async open(house: string, user: string): Promise<Guest> {
    const fetcher = { fetch: (request: Request) => app.fetch(request, { ...env, CHAT_ROOM: env.HALLS }) };
    return new Guest(await RawClient.open({ room: house, query: { recovery: "on" }, fetcher }), user);
  }

  private constructor(raw: RawClient, user: string) {
    this.#raw = raw;
    this.user = user;
  }

  packets(nsp: string): WirePacket[] {
    return this.#raw.packets(nsp);
  }

  /** Sends CONNECT and waits for all that it brings. @returns the answer; @throws the CONNECT_ERROR's payload */
  async enter(nsp: string, ticket?: Partial<Ticket>): Promise<{ sid: string; pid: string }> {
    const accepted = await this.#raw.enter<{ sid: string; pid: string }>(nsp, { user: this.user, ...ticket });
    await this.call(nsp, "join", "door");
    return accepted;
  }

  call<Answer>(nsp: string, event: string, ...args: unknown[]): Promise<Answer> {
    return this.#raw.call(nsp, event, ...args);
  }

  /** What was said there: by whom, and what. */
  said(nsp: string): string[] {
    return this.#events(nsp)
      .filter(([event]) => event === "said")
      .map(([, user, text]) => `${String(user)}: ${String(text)}`);
  }

  #events(nsp: string): unknown[][] {
    return this.#raw.events(nsp).map(({ event }) => event);
  }

  /** What brings this guest back into that namespace. */
  ticket(nsp: string): Ticket {
    const { sid, pid } = this.packets(nsp).find(({ digit }) => digit === "0")!.data as { sid: string; pid: string };
    const last = this.#events(nsp).at(-1);
    return { sid, pid, ...(last && { offset: last.at(-1) as string }) };
  }

  leave(nsp: string): void {
    this.#raw.send(`41${nsp},`);
  }

  async drop(): Promise<void> {
    this.#raw.close();
    await this.#raw.closes();
  }

  closes(): Promise<{ readonly code: number; readonly reason: string }> {
    return this.#raw.closes();
  }
}
