// Guests of the halls, over bare WebSockets: a session may be in several namespaces.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

import app from "../../../src/worker/socketio.ts";
import { RawClient } from "../raw-client.ts";

export interface Ticket {
  readonly sid: string;
  readonly pid: string;
  /** Absent until an event was heard. */
  readonly offset?: string;
}

interface Packet {
  readonly digit: string;
  readonly id: number | undefined;
  readonly data: unknown;
}

let houses = 0;
export const freshHouse = (): string => `house-${++houses}`;

export const evict = (house: string, webSockets: "hibernate" | "close"): Promise<void> =>
  evictDurableObject(env.HALLS.getByName(house), { webSockets });

export class Guest {
  readonly user: string;
  readonly #raw: RawClient;
  #calls = 0;

  static async open(house: string, user: string): Promise<Guest> {
    const fetcher = { fetch: (request: Request) => app.fetch(request, { ...env, CHAT_ROOM: env.HALLS }) };
    return new Guest(await RawClient.open({ room: house, query: { recovery: "on" }, fetcher }), user);
  }

  private constructor(raw: RawClient, user: string) {
    this.#raw = raw;
    this.user = user;
  }

  /** All packets of a namespace so far. */
  packets(nsp: string): Packet[] {
    const head = nsp === "/" ? "" : `${nsp},`;
    return this.#raw.frames.flatMap((frame) => {
      const [, digit, rest] = (typeof frame === "string" && /^4([0-4])(.*)$/s.exec(frame)) || [];
      const isHere = nsp === "/" ? rest?.startsWith("/") === false : rest?.startsWith(head);
      if (digit === undefined || rest === undefined || !isHere) return [];
      const [, id, json] = /^(\d*)(.*)$/s.exec(rest.slice(head.length))!;
      return [{ digit, id: id ? Number(id) : undefined, data: json ? (JSON.parse(json) as unknown) : undefined }];
    });
  }

  /** Sends CONNECT and waits for all that it brings. @returns the answer; @throws the CONNECT_ERROR's payload */
  async enter(nsp: string, ticket?: Partial<Ticket>): Promise<{ sid: string; pid: string }> {
    const auth = JSON.stringify({ user: this.user, ...ticket });
    this.#raw.send(nsp === "/" ? `40${auth}` : `40${nsp},${auth}`);
    const verdict = await this.#raw.until(`the answer to CONNECT ${nsp}`, () =>
      this.packets(nsp).find(({ digit }) => digit === "0" || digit === "4"),
    );
    // oxlint-disable-next-line typescript/only-throw-error -- what a test compares is the payload itself
    if (verdict.digit === "4") throw verdict.data;
    await this.call(nsp, "join", "door");
    return verdict.data as { sid: string; pid: string };
  }

  async call<Answer>(nsp: string, event: string, ...args: unknown[]): Promise<Answer> {
    const id = this.#calls++;
    this.#raw.send(`42${nsp === "/" ? "" : `${nsp},`}${id}${JSON.stringify([event, ...args])}`);
    const ack = await this.#raw.until(`the answer to ${event}`, () =>
      this.packets(nsp).find((packet) => packet.digit === "3" && packet.id === id),
    );
    return (ack.data as Answer[])[0]!;
  }

  /** What was said there: by whom, and what. */
  said(nsp: string): string[] {
    return this.#events(nsp)
      .filter(([event]) => event === "said")
      .map(([, user, text]) => `${String(user)}: ${String(text)}`);
  }

  #events(nsp: string): unknown[][] {
    return this.packets(nsp).flatMap(({ digit, data }) => (digit === "2" ? [data as unknown[]] : []));
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
