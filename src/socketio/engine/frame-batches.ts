// Joins the frames of a turn to each extended session into one (EXT-2). Pure: the effects of a turn in, the same effects with joined
// frames out. Sessions that get the same frames share one joining. Called by outbox.ts.
import { joinPackets, type Frame } from "../wire/engine-io.ts";
import type { Effect } from "./outbox.ts";
import type { Session } from "./session.ts";

/** The frames to a session in this turn so far, as a path: all sessions on the same path get the same frames. */
interface Path {
  readonly frames: readonly Frame[];
  /** The path that each next effect leads to. */
  readonly next: Map<Effect, Path>;
}

/** Whether anything in the turn needs joining. */
export function hasExtended(effects: readonly Effect[]): boolean {
  return effects.some((effect) => effect.type === "send" && effect.sessions.some(({ isExtended }) => isExtended));
}

/** For each session the order of its frames stays, and so does their place before its closing. */
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
