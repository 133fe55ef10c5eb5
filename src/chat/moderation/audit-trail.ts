// Who did what to whom, as far back as a ring of rows reaches: each entry takes the place of the oldest, so
// that it costs one row and the list never grows (MOD-11).
import type { AuditEntry } from "../../protocol/moderation-events.ts";
import { fitLast } from "../room/fitting.ts";
import type { RoomState } from "../../storage/room-state.ts";

export const AUDIT_ENTRIES_MAX = 500;

const PREFIX = "moderation:audit:";

export class AuditTrail {
  readonly #state: RoomState;
  /** Ascending by number; read when it is first needed. */
  #entries: AuditEntry[] | undefined;

  constructor(state: RoomState) {
    this.#state = state;
  }

  /** @returns takes it back, for a deed that came to nothing */
  note(change: Omit<AuditEntry, "number" | "at">, nowMs: number): () => void {
    const entries = this.#read();
    const number = (entries.at(-1)?.number ?? 0) + 1;
    const entry = { number, at: nowMs, ...change };
    const key = `${PREFIX}${number % AUDIT_ENTRIES_MAX}`;
    this.#state.put(key, entry);
    entries.push(entry);
    const oldest = entries.length > AUDIT_ENTRIES_MAX ? entries.shift() : undefined;
    return () => {
      entries.pop();
      if (oldest) entries.unshift(oldest);
      if (oldest) this.#state.put(key, oldest);
      else this.#state.delete(key);
    };
  }

  page({ before = Infinity, limit }: { readonly before?: number | undefined; readonly limit: number }): {
    entries: readonly AuditEntry[];
    hasMore: boolean;
  } {
    const found = this.#read().filter(({ number }) => number < before);
    const entries = fitLast(found.slice(-limit));
    return { entries, hasMore: found.length > entries.length };
  }

  #read(): AuditEntry[] {
    return (this.#entries ??= [...this.#state.list({ prefix: PREFIX })]
      .map(([, entry]) => entry as AuditEntry)
      .sort((a, b) => a.number - b.number));
  }
}
