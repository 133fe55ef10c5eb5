// Joins the frames that each extended session gets in a turn into one (EXT-2). Pure functions from the effects of a turn to the same
// effects with joined frames. Frames for several sessions are joined once. Called by effects.ts.
import { joinPackets, type Frame } from "../wire/engine-io.ts";
import type { Effect } from "./effects.ts";
import type { Session } from "./session.ts";

/** The frames to a session so far in this turn. Sessions that got the same effects share a path. */
interface Path {
  readonly frames: readonly Frame[];
  /** The longer path after each further effect. */
  readonly next: Map<Effect, Path>;
}

/** Keeps the order of the frames of each session, and sends them before its closing. */
export function batchFrames(effects: readonly Effect[]): Effect[] {
  const batched: Effect[] = [];
  const start: Path = { frames: [], next: new Map() };
  const waiting = new Map<Session, Path>();
  for (const effect of effects) {
    if (effect.type === "send") {
      const plain = effect.sessions.filter(({ isExtended }) => !isExtended);
      if (plain.length > 0) batched.push({ ...effect, sessions: plain });
      for (const session of effect.sessions) {
        if (session.isExtended) waiting.set(session, follow(waiting.get(session) ?? start, effect));
      }
      continue;
    }
    if (effect.type === "close") release(waiting, batched);
    batched.push(effect);
  }
  release(waiting, batched);
  return batched;
}

function follow(path: Path, effect: Effect & { type: "send" }): Path {
  const known = path.next.get(effect);
  if (known) return known;
  const longer: Path = { frames: joinPackets([...path.frames, ...effect.frames]), next: new Map() };
  path.next.set(effect, longer);
  return longer;
}

/** Sends the waiting frames: one effect for all sessions on the same path. */
function release(waiting: Map<Session, Path>, batched: Effect[]): void {
  const together = new Map<Path, Session[]>();
  for (const [session, path] of waiting) {
    const sessions = together.get(path);
    if (sessions) sessions.push(session);
    else together.set(path, [session]);
  }
  for (const [{ frames }, sessions] of together) batched.push({ type: "send", sessions, frames });
  waiting.clear();
}
