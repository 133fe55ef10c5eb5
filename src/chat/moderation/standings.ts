// How the users of a room stand, kept: one row per user about whom anything was decided, read when somebody
// asks for that user. So a room with thousands of bans wakes as fast as one with none.
import type { RoomState } from "../../storage/room-state.ts";
import { currentStanding, type Standing } from "./standing.ts";

/** In front of the user in the key of a row. */
const PREFIX = "moderation:user:";

/** Users whose standing is held in memory; past it they are read anew. */
const REMEMBERED_MAX = 10_000;

/** Rows that each change looks at besides its own, to delete what is over: none outlives its meaning for ever. */
const TIDIED_PER_CHANGE = 10;

const BLANK: Standing = {};

export class Standings {
  readonly #state: RoomState;
  readonly #remembered = new Map<string, Standing>();
  /** Where tidying goes on: behind a user, or from the start. */
  #sweep: { readonly after: string | undefined } | undefined;

  constructor(state: RoomState) {
    this.#state = state;
  }

  of(user: string): Standing {
    const known = this.#remembered.get(user);
    if (known) return known;
    return this.#remember(user, (this.#state.get(keyOf(user)) as Standing | undefined) ?? BLANK);
  }

  #remember(user: string, standing: Standing): Standing {
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    this.#remembered.set(user, standing);
    return standing;
  }

  /** Keeps how a user stands now: one row, and one more for each row that had lost its meaning. */
  set(user: string, standing: Standing, nowMs: number): void {
    const current = currentStanding(standing, nowMs);
    if (current) this.#state.put(keyOf(user), current);
    else this.#state.delete(keyOf(user));
    this.#remember(user, current ?? BLANK);
    this.#tidy(user, nowMs);
  }

  /** Users about whom something holds, in the order of their keys. Read as they are asked for. */
  *current(after: string | undefined, nowMs: number): Iterable<[user: string, Standing]> {
    for (const [user, standing] of this.#after(after)) {
      const current = currentStanding(standing, nowMs);
      if (current) yield [user, current];
    }
  }

  *#after(user: string | undefined, limit?: number): Iterable<[user: string, Standing]> {
    const rows = this.#state.list({
      prefix: PREFIX,
      ...(user !== undefined && { startAfter: keyOf(user) }),
      ...(limit !== undefined && { limit }),
    });
    for (const [key, standing] of rows) yield [userOf(key), standing as Standing];
  }

  /** @param changed where to begin, in this life of the room */
  #tidy(changed: string, nowMs: number): void {
    const rows = [...this.#after(this.#sweep ? this.#sweep.after : changed, TIDIED_PER_CHANGE)];
    this.#sweep = { after: rows.length === TIDIED_PER_CHANGE ? rows.at(-1)![0] : undefined };
    for (const [user, standing] of rows) {
      if (currentStanding(standing, nowMs)) continue;
      this.#state.delete(keyOf(user));
      this.#remembered.delete(user);
    }
  }
}

/** As JSON, because a user id may hold anything, and a key keeps only text that is well-formed. */
const keyOf = (user: string): string => `${PREFIX}${JSON.stringify(user)}`;
const userOf = (key: string): string => JSON.parse(key.slice(PREFIX.length)) as string;
