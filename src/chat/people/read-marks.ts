// The read mark of each user, 0 for those who have been in the room and read nothing, 256 users to a stored row. Called by reading.ts.
import type { ReadMark } from "../../protocol/chat-events.ts";
import { PagedMap, pagesIn } from "../../storage/paged-map.ts";
import type { RoomState } from "../../storage/room-state.ts";

/** Some 10,000 users. The page after so many takes the place of the oldest, whose users begin at 0 again (READ-4). */
export const READ_MARK_PAGES_MAX = 40;

/** If a user set their mark back and has not read past it since, the room stores a negative number, and tells devices that were away (READ-7). */
const setBack = (seq: number): number => -1 - seq;
const seqOf = (stored: number): number => (stored < 0 ? -1 - stored : stored);

export class ReadMarks {
  readonly #state: RoomState;
  /** Read when the first mark is needed: a room that wakes for something else does not need them. */
  #stored: PagedMap<number> | undefined;
  /** Marks that connections kept through sleep; they may be newer than the stored ones. */
  readonly #restored: ReadMark[] = [];

  constructor(state: RoomState) {
    this.#state = state;
  }

  restore(mark: ReadMark): void {
    if (this.#stored) this.advance(mark);
    else this.#restored.push(mark);
  }

  get(user: string): number {
    return seqOf(this.#marks.get(user) ?? 0);
  }

  /** Whether the user wants to find what comes after their mark as unread. */
  isSetBack(user: string): boolean {
    return (this.#marks.get(user) ?? 0) < 0;
  }

  *entries(): Iterable<readonly [user: string, seq: number]> {
    for (const [user, stored] of this.#marks.entries()) yield [user, seqOf(stored)];
  }

  /** Notes a user who has been here and read nothing. @returns whether that is new */
  join(user: string): boolean {
    if (this.#marks.get(user) !== undefined) return false;
    this.#marks.set(user, 0);
    return true;
  }

  /** Whether a crash would lose a user's mark, or one on the same page. */
  isUnsaved(user: string): boolean {
    return this.#marks.isUnsaved(user);
  }

  /** @returns whether that moved the user's mark: it does not go back (READ-1) */
  advance({ user, seq }: ReadMark): boolean {
    if (seq <= this.get(user)) return false;
    this.#marks.set(user, seq);
    return true;
  }

  /** The user wants to find what comes after it as unread (READ-7). */
  goBack({ user, seq }: ReadMark): void {
    this.#marks.set(user, setBack(seq));
  }

  /**
   * Writes one row per changed page.
   * @throws a storage error; the next call writes the rest
   */
  save(): void {
    this.#marks.save();
  }

  /** The furthest first. */
  furthest(countMax: number): ReadMark[] {
    const marks = [...this.entries()].filter(([, seq]) => seq > 0).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
    return marks.slice(0, countMax).map(([user, seq]) => ({ user, seq }));
  }

  get #marks(): PagedMap<number> {
    if (this.#stored) return this.#stored;
    this.#stored = new PagedMap<number>(pagesIn(this.#state, "read-marks:"), READ_MARK_PAGES_MAX);
    for (const mark of this.#restored.splice(0)) this.advance(mark);
    return this.#stored;
  }
}
