// Changes of messages that a webhook or a linked room does not have yet. Lists them while the room is awake; the next life finds
// them again from one number. Used by links and webhooks.
import type { ChangedMessage, MessageLog } from "./message-log.ts";

/** Changes that are remembered one by one. Beyond, the log is searched for them. */
export const CHANGES_REMEMBERED_MAX = 1000;

/** The next changes, and the `rev` from which on their changes are news. */
export interface ChangesTaken {
  readonly changed: readonly ChangedMessage[];
  readonly sinceRev: number;
  readonly isFound: boolean;
  /** True where the log has more behind these. */
  readonly hasMore: boolean;
}

export class PendingChanges {
  readonly #log: MessageLog;
  /** The latest `rev` by `seq`, in the order of the changes. */
  readonly #remembered = new Map<number, number>();
  /** The log has to be searched from `at` on; changes from `sinceRev` on are news. */
  #search: { readonly sinceRev: number; readonly at: number } | undefined;

  /** @param from `from` of the room's last life */
  constructor(log: MessageLog, from: number | undefined) {
    this.#log = log;
    if (from !== undefined) this.#search = { sinceRev: from, at: from };
  }

  /** No pending change has a lower `rev`; `undefined` while there is none. */
  get from(): number | undefined {
    if (this.#remembered.size === 0) return this.#search?.sinceRev;
    return Math.min(this.#search?.sinceRev ?? Infinity, ...this.#remembered.values());
  }

  note({ seq, rev }: ChangedMessage): void {
    this.#remembered.delete(seq);
    this.#remembered.set(seq, rev);
    if (this.#remembered.size <= CHANGES_REMEMBERED_MAX) return;
    const { sinceRev, at } = this.#search ?? { sinceRev: Infinity, at: Infinity };
    const oldestRev = Math.min(...this.#remembered.values());
    this.#search = { sinceRev: Math.min(sinceRev, oldestRev), at: Math.min(at, oldestRev) };
    this.#remembered.clear();
  }

  /** @throws errors of the storage */
  take(limit: number): ChangesTaken {
    if (this.#search) {
      const { sinceRev, at } = this.#search;
      const changed = this.#log.changedAfter(at - 1, limit);
      return { changed, sinceRev, isFound: true, hasMore: changed.length === limit };
    }
    const changed = [...this.#remembered].slice(0, limit).map(([seq, rev]) => ({ seq, rev }));
    return { changed, sinceRev: 0, isFound: false, hasMore: false };
  }

  /** The first `count` of the changes taken have been delivered. */
  settle({ changed, sinceRev, isFound, hasMore }: ChangesTaken, count: number): void {
    if (!isFound) {
      for (const { seq, rev } of changed.slice(0, count))
        if (this.#remembered.get(seq) === rev) this.#remembered.delete(seq);
      return;
    }
    const next = changed[count]?.rev ?? (hasMore ? changed.at(-1)!.rev + 1 : undefined);
    // The log has only the last change of a message, also where an earlier one is the news.
    this.#search = next === undefined ? undefined : { sinceRev, at: next };
  }
}
