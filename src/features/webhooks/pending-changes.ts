// Changes of messages that the webhook does not have yet. Lists them while the room is awake; the next instance finds them again from
// one number. Made by message-feed.ts.
import type { ChangedMessage, MessageLog } from "../../chat/log/message-log.ts";

/** Changes that are remembered one by one. Beyond, the log is searched for them. */
export const CHANGES_REMEMBERED_MAX = 1000;

/** A search of the log. */
interface Search {
  /** The webhook has all changes with a lower `rev`. */
  readonly sinceRev: number;
  /** The `rev` at which the search goes on. */
  readonly at: number;
}

/** The next changes to deliver. */
export interface ChangesTaken {
  readonly changed: readonly ChangedMessage[];
  /** The webhook has all changes of these messages with a lower `rev`. */
  readonly sinceRev: number;
  /** The search that found them; absent where they were remembered. */
  readonly search?: Search;
  /** True where the log has more behind these. */
  readonly hasMore: boolean;
}

export class PendingChanges {
  readonly #log: MessageLog;
  /** The latest `rev` by `seq`, in the order of the changes. */
  readonly #remembered = new Map<number, number>();
  #search: Search | undefined;

  /** @param from `from` of the room's last instance */
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
      const search = this.#search;
      const changed = this.#log.changedAfter(search.at - 1, limit);
      return { changed, sinceRev: search.sinceRev, search, hasMore: changed.length === limit };
    }
    const changed = [...this.#remembered].slice(0, limit).map(([seq, rev]) => ({ seq, rev }));
    return { changed, sinceRev: 0, hasMore: false };
  }

  /** The first `count` of the changes taken have been delivered. */
  settle({ changed, search, hasMore }: ChangesTaken, count: number): void {
    if (!search) {
      for (const { seq, rev } of changed.slice(0, count))
        if (this.#remembered.get(seq) === rev) this.#remembered.delete(seq);
      return;
    }
    const isDone = count === changed.length && !hasMore;
    if (isDone && this.#search === search) this.#search = undefined;
    // The log has only the last change of a message, also where an earlier one is the news. Changes noted since the search are behind
    // those that it found.
    else if (this.#search)
      this.#search = { ...this.#search, at: changed[count]?.rev ?? (changed.at(-1)?.rev ?? search.at - 1) + 1 };
  }
}
