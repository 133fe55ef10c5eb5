// Matches players who ask for a race: the same room for all who come within the wait, up to six. Called by matchmaker.ts, and by every
// server that the bench compares.
import { PLAYERS_MAX } from "./race.ts";

/** The room that is being filled. */
export interface Match {
  readonly room: string;
  /** How many were sent there. */
  readonly players: number;
  /** From then on no other player is sent there: its race begins. */
  readonly closesAtMs: number;
}

/**
 * @param open of the one before; absent for the first
 * @param newRoom gives an unused name
 * @returns the match of this player, to be kept for the next one
 */
export function nextMatch(open: Match | undefined, nowMs: number, waitMs: number, newRoom: () => string): Match {
  if (open && open.players < PLAYERS_MAX && nowMs < open.closesAtMs) return { ...open, players: open.players + 1 };
  return { room: newRoom(), players: 1, closesAtMs: nowMs + waitMs };
}
