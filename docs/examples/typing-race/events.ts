// The events of a race. Server and page share these types.
import type { RaceView, Refusal } from "./race.ts";

export type Ack = (answer: { ok: true } | { error: Refusal }) => void;

export interface ClientToServerEvents {
  /** The next character, and its place in the passage. An ack means stored. If the client asks for none, a refusal comes as the event `refused`. */
  keystroke: (position: number, character: string, ack?: Ack) => void;
  /** Another race in the same room. */
  rematch: (ack?: Ack) => void;
  /** Measures the way to the server and back. */
  ping: (ack: () => void) => void;
}

export interface ServerToClientEvents {
  /** The client's own seat, before its first `race`. */
  seat: (seat: number) => void;
  /** The whole race: sent when a player comes, goes or finishes, and when a phase begins. */
  race: (race: RaceView) => void;
  /** Whole seconds until the race begins. */
  countdown: (seconds: number) => void;
  /** The position of each player, by seat. */
  progress: (positions: readonly number[]) => void;
  /** Words per minute by seat, every second. */
  wpm: (speeds: readonly number[]) => void;
  /** A keystroke or a rematch without an ack was refused. */
  refused: (refusal: Refusal) => void;
}
