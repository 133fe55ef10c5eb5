// A bounded list whose entries are shared out among those who fill it (CHAT-10), and taken in turns of theirs. Called by sliced-work.ts,
// src/chat/messages/exporting.ts, foreign-calls.ts and change-delivery.ts.
import { digestOf } from "../../protocol/digest.ts";
import { isFullFor, type Party, type ShareLimits } from "../../protocol/shares.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Caller } from "./operation.ts";
import { guestsWith } from "./guests.ts";

/** @param log its key is secret, so that nobody finds the network of a name. To read it names the log: no account needs that */
export function partyOf(caller: Pick<Caller, "user" | "client" | "guests">, log: Pick<MessageLog, "key">): Party {
  const { user } = caller;
  const guests = guestsWith(caller);
  if (guests === undefined) return { name: `user ${user}`, isGuest: false };
  const digest = Array.from(digestOf(`${log.key} ${guests.trim()}`).subarray(0, 8), (byte) =>
    byte.toString(16).padStart(2, "0"),
  );
  return { name: `guests ${digest.join("")}`, isGuest: true };
}

export class Shares<Entry extends { readonly party: Party }> {
  readonly #limits: ShareLimits;
  /** By party; the first one has the next turn. */
  readonly #byParty = new Map<string, Set<Entry>>();
  #size = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  isFullFor(party: Party): boolean {
    const own = this.#byParty.get(party.name)?.size ?? 0;
    return isFullFor(party, { all: this.#size, own }, this.#limits);
  }

  add(entry: Entry): void {
    const { name } = entry.party;
    const own = this.#byParty.get(name) ?? new Set();
    if (own.has(entry)) return;
    this.#byParty.set(name, own.add(entry));
    this.#size++;
  }

  /** @returns whether it was there */
  delete(entry: Entry): boolean {
    const own = this.#byParty.get(entry.party.name);
    if (!own?.delete(entry)) return false;
    this.#size--;
    if (own.size === 0) this.#byParty.delete(entry.party.name);
    return true;
  }

  /** Takes the oldest entry of the party whose turn it is. */
  take(): Entry | undefined {
    const [[name, own] = []] = this.#byParty;
    const [entry] = own ?? [];
    if (!entry) return undefined;
    this.delete(entry);
    // Its next entry comes after those of the others.
    if (this.#byParty.delete(name!)) this.#byParty.set(name!, own!);
    return entry;
  }

  /** Takes all. */
  clear(): Entry[] {
    const all = [...this];
    this.#byParty.clear();
    this.#size = 0;
    return all;
  }

  *[Symbol.iterator](): Generator<Entry> {
    for (const own of this.#byParty.values()) yield* own;
  }
}
