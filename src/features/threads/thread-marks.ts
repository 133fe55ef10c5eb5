// The read marks of threads: for each user, the newest reply seen in each thread, and the threads that the user follows or has left (THR-3).
// A stored row has 256 users. Called by threads.ts.
import { PagedMap, pagesIn } from "../../storage/paged-map.ts";
import type { RoomState } from "../../storage/room-state.ts";

/** Some 10,000 users, as with read marks (READ-4). */
const PAGES_MAX = 40;

/** Of one user: those that they saw, followed or left last. */
export const MARKS_PER_USER_MAX = 100;

/** In place of the `seq` of a thread: how far the user had seen the threads whose marks made room. */
const FORGOTTEN = 0;

/** By the `seq` of the first message of a thread. `seen` is negative where the user left it: `-1 - seen`. */
type Marks = ReadonlyArray<readonly [thread: number, seen: number]>;

export interface ThreadMark {
  readonly seen: number;
  /** The user left the thread, and takes part again by writing. */
  readonly isLeft: boolean;
}

export class ThreadMarks {
  readonly #state: RoomState;
  #stored: PagedMap<Marks> | undefined;

  constructor(state: RoomState) {
    this.#state = state;
  }

  get(user: string, thread: number): ThreadMark | undefined {
    const mark = this.#marks.get(user)?.find(([seq]) => seq === thread)?.[1];
    return mark === undefined ? undefined : { seen: seenOf(mark), isLeft: mark < 0 };
  }

  /** How far a user has seen the threads that have no mark. */
  forgotten(user: string): number {
    return this.get(user, FORGOTTEN)?.seen ?? 0;
  }

  set(user: string, thread: number, { seen, isLeft }: ThreadMark): void {
    const others = (this.#marks.get(user) ?? []).filter(([seq]) => seq !== thread && seq !== FORGOTTEN);
    const marks = [...others, [thread, isLeft ? -1 - seen : seen] as const];
    const kept = marks.slice(-MARKS_PER_USER_MAX);
    const gone = marks.slice(0, -MARKS_PER_USER_MAX).map(([, mark]) => seenOf(mark));
    const forgotten = Math.max(this.forgotten(user), ...gone);
    this.#marks.set(user, forgotten > 0 ? [[FORGOTTEN, forgotten], ...kept] : kept);
  }

  /** Writes one row per changed page. @throws a storage error; the next call writes the rest */
  save(): void {
    this.#stored?.save();
  }

  get #marks(): PagedMap<Marks> {
    return (this.#stored ??= new PagedMap<Marks>(pagesIn(this.#state, "thread-marks:"), PAGES_MAX));
  }
}

const seenOf = (mark: number): number => (mark < 0 ? -1 - mark : mark);
