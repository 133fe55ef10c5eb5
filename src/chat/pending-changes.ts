// Changes of messages that the outside has not been told of. Which they are is known while the room is awake; for the
// next life there is one number, from which it can find them again.
import type { ChangedMessage, MessageLog } from "./message-log.ts";

/** Changes that are remembered one by one. Beyond, they are looked for when it is their turn. */
export const CHANGES_REMEMBERED_MAX = 1000;

/** The next changes, and from which `rev` on what happened to them is news. */
export interface ChangesTaken {
  readonly changed: readonly ChangedMessage[];
  readonly sinceRev: number;
  readonly isFound: boolean;
  /** Whether more stand behind these where they were found. */
  readonly hasMore: boolean;
}

export class PendingChanges {
  readonly #log: MessageLog;
  /** The latest `rev` by `seq`, in the order of the changes. */
  readonly #remembered = new Map<number, number>();
  /** From which `rev` on the log has to be searched. */
  #searchFrom: number | undefined;

  /** @param from what `from` was in the room's last life */
  constructor(log: MessageLog, from: number | undefined) {
    this.#log = log;
    this.#searchFrom = from;
  }

  /** No pending change has a lower `rev`; `undefined` while there is none. */
  get from(): number | undefined {
    if (this.#remembered.size === 0) return this.#searchFrom;
    return Math.min(this.#searchFrom ?? Infinity, ...this.#remembered.values());
  }

  note({ seq, rev }: ChangedMessage): void {
    this.#remembered.delete(seq);
    this.#remembered.set(seq, rev);
    if (this.#remembered.size <= CHANGES_REMEMBERED_MAX) return;
    this.#searchFrom = this.from;
    this.#remembered.clear();
  }

  /** @throws whatever reading throws */
  take(limit: number): ChangesTaken {
    const from = this.#searchFrom;
    if (from !== undefined) {
      const changed = this.#log.changedAfter(from - 1, limit);
      return { changed, sinceRev: from, isFound: true, hasMore: changed.length === limit };
    }
    const changed = [...this.#remembered].slice(0, limit).map(([seq, rev]) => ({ seq, rev }));
    return { changed, sinceRev: 0, isFound: false, hasMore: false };
  }

  /** The first `count` of what was taken have been told. */
  settle({ changed, isFound, hasMore }: ChangesTaken, count: number): void {
    if (!isFound) {
      for (const { seq, rev } of changed.slice(0, count))
        if (this.#remembered.get(seq) === rev) this.#remembered.delete(seq);
      return;
    }
    const next = changed[count];
    if (next) this.#searchFrom = next.rev;
    else this.#searchFrom = hasMore ? changed.at(-1)!.rev + 1 : undefined;
  }
}
