// The audit list: actions of moderators, each with its author and its user (MOD-11). A ring of rows: an entry replaces the oldest,
// so it costs one row and the list never grows. Called by moderation.ts and, for messages of others, by messages/editing.ts.
import type { Answer, AuditEntry, ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import { fitLast } from "../room/fitting.ts";
import type { Room } from "../room/room.ts";

export const AUDIT_ENTRIES_MAX = 500;

const PREFIX = "moderation:audit:";

export type AuditedAction = Omit<AuditEntry, "number" | "at">;

export class AuditTrail {
  readonly #room: Room;
  /** Ascending by number; read when it is first needed. */
  #entries: AuditEntry[] | undefined;

  constructor(room: Room) {
    this.#room = room;
  }

  /** Enters an action in the list and does it: both or neither. */
  record<Given extends Answer<object>>(action: AuditedAction, act: () => Given): Given | ErrorAnswer {
    try {
      const removeEntry = this.#add(action);
      let isDone = false;
      try {
        const answer = act();
        isDone = !("error" in answer);
        return answer;
      } finally {
        if (!isDone) removeEntry();
      }
    } catch (error) {
      this.#room.reportProblem("a moderator's action could not be stored", error);
      return refuse("INTERNAL", "It could not be stored; try again.");
    }
  }

  /** @returns removes the entry again */
  #add(action: AuditedAction): () => void {
    const { state } = this.#room;
    const entries = this.#read();
    const number = (entries.at(-1)?.number ?? 0) + 1;
    const entry = { number, at: this.#room.now(), ...action };
    const key = `${PREFIX}${number % AUDIT_ENTRIES_MAX}`;
    state.put(key, entry);
    entries.push(entry);
    const oldest = entries.length > AUDIT_ENTRIES_MAX ? entries.shift() : undefined;
    return () => {
      entries.pop();
      if (oldest) entries.unshift(oldest);
      if (oldest) state.put(key, oldest);
      else state.delete(key);
    };
  }

  /** The number of the latest action; 0 without one. */
  get lastNumber(): number {
    return this.#read().at(-1)?.number ?? 0;
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
    return (this.#entries ??= [...this.#room.state.list({ prefix: PREFIX })]
      .map(([, entry]) => entry as AuditEntry)
      .sort((a, b) => a.number - b.number));
  }
}
