// Matches players who ask for a race: the same room for all who come within the wait, up to six. Called by matchmaker.ts, and by every
// server that the bench compares.
import { PLAYERS_MAX } from "./race.ts";

/** The room that is being filled. */
export interface Match {
  readonly room: string;
  /** How many players were sent there. */
  readonly players: number;
  /** No player is sent there from this time on, in milliseconds since 1970: its race begins. */
  readonly closesAtMs: number;
}

/**
 * @param open the result of the last call; absent in the first
 * @param newRoom makes an unused name
 * @returns the room of this player. The caller keeps it, and passes it as `open` for the next player
 */
export function nextMatch(open: Match | undefined, nowMs: number, waitMs: number, newRoom: () => string): Match {
  if (open && open.players < PLAYERS_MAX && nowMs < open.closesAtMs) return { ...open, players: open.players + 1 };
  return { room: newRoom(), players: 1, closesAtMs: nowMs + waitMs };
}
