// Remembers sessions that existed at their last request to this isolate. Their requests go on while others behind the same address are
// limited (LIM-2). Called by engine-endpoint.ts.
import { RecentMap } from "../../clock/recent-map.ts";

/** Sessions remembered at a time; the one that was seen longest ago goes first. */
export const KNOWN_SESSIONS_MAX = 100_000;

export class KnownSessions {
  readonly #seen = new RecentMap<string, true>(KNOWN_SESSIONS_MAX);

  has(room: string, sid: string): boolean {
    return this.#seen.has(keyOf(room, sid));
  }

  note(room: string, sid: string): void {
    this.#seen.set(keyOf(room, sid), true);
  }

  forget(room: string, sid: string): void {
    this.#seen.delete(keyOf(room, sid));
  }
}

/** A session is known in its own room only: elsewhere it would wake others. */
const keyOf = (room: string, sid: string): string => `${sid} ${room}`;
