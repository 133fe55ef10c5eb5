// A test client of the sample application in halls.ts: one object (a house) with many namespaces (halls). One WebSocket enters several of
// them. Used by halls.test.ts.
import { env } from "cloudflare:workers";

import type { Packet } from "../../wire/wire-client.ts";
import * as kit from "../../kit/testing.ts";
import { RawClient } from "../raw-client.ts";
import type { RecoveryAuth } from "./painters.ts";
import { serving } from "./worker.ts";

let houses = 0;
export const freshHouse = (): string => `house-${++houses}`;

export const evict = (house: string, webSockets: "hibernate" | "close"): Promise<void> =>
  kit.evict(env.HALLS.getByName(house), webSockets);

export class Guest {
  readonly user: string;
  readonly #raw: RawClient;

  static async open(house: string, user: string): Promise<Guest> {
    const fetcher = serving(env.HALLS);
    return new Guest(await RawClient.open({ room: house, query: { recovery: "on" }, fetcher }), user);
  }

  private constructor(raw: RawClient, user: string) {
    this.#raw = raw;
    this.user = user;
  }

  packets(nsp: string): Packet[] {
    return this.#raw.packets.filter((packet) => packet.nsp === nsp);
  }

  /** Sends CONNECT and waits for all that it brings. @returns the answer; @throws the CONNECT_ERROR's payload */
  async enter(nsp: string, auth?: Partial<RecoveryAuth>): Promise<{ sid: string; pid: string }> {
    const accepted = await this.#raw.enter<{ sid: string; pid: string }>(nsp, { user: this.user, ...auth });
    await this.ask(nsp, "join", "door");
    return accepted;
  }

  ask<Answer>(nsp: string, event: string, ...args: unknown[]): Promise<Answer> {
    return this.#raw.askIn(nsp, event, ...args);
  }

  /** Texts of that hall, each after the user who said it. */
  said(nsp: string): string[] {
    return this.#events(nsp)
      .filter(([event]) => event === "said")
      .map(([, user, text]) => `${String(user)}: ${String(text)}`);
  }

  #events(nsp: string): unknown[][] {
    return this.#raw.events(nsp).map(({ event }) => event);
  }

  /** The auth with which this guest recovers its socket in that namespace. */
  recoveryAuth(nsp: string): RecoveryAuth {
    const { sid, pid } = this.#raw.accepted(nsp);
    const last = this.#events(nsp).at(-1);
    return { sid, pid, ...(last && { offset: last.at(-1) as string }) };
  }

  emit(nsp: string, event: string, ...args: unknown[]): void {
    this.#raw.send(`42${nsp},${JSON.stringify([event, ...args])}`);
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
