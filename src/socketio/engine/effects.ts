// Runs turns and collects their effects. A turn is one input and all that follows from it; its effects are data, which the shell carries
// out in order when the turn ends, with the frames to each extended session joined into one (EXT-2), and events to those that bundle into one event (BUN-1).
// Called by all parts of the core.
import { bundleEvents } from "../wire/bundles.ts";
import type { Closing } from "../wire/closings.ts";
import { ENGINE_NOOP, type Frame, joinPackets } from "../wire/engine-io.ts";
import { encodePayload } from "../wire/polling-payload.ts";
import type { PollQueue } from "./poll-queue.ts";
import type { Session } from "./session.ts";

export type Effect =
  /** Each session gets all frames over its WebSocket, in this order. Frames are encoded once for all of them. */
  | { readonly type: "send"; readonly sessions: readonly Session[]; readonly frames: readonly Frame[] }
  /** Answers the waiting poll of the session. */
  | { readonly type: "answer-poll"; readonly session: Session; readonly payload: string }
  /** Refuses the waiting poll: a WebSocket has taken the session over. */
  | { readonly type: "refuse-poll"; readonly session: Session }
  /** From now on the session uses the WebSocket of `probe`. */
  | { readonly type: "adopt"; readonly session: Session; readonly probe: Session }
  | { readonly type: "close"; readonly session: Session; readonly closing: Closing }
  /** The session's state changed: store its record. */
  | { readonly type: "save"; readonly session: Session };

export interface EffectsPorts {
  apply(effects: readonly Effect[]): void;
  /** Called at the end of a turn for each session that changed in it: state outside of its record has to be stored now. */
  changed(session: Session): void;
  /** Called for a polling session whose client leaves too much unfetched; it has to end. */
  overflow(session: Session): void;
  /** Called with all effects of a turn before `apply`. */
  leaving(effects: readonly Effect[]): void;
}

/** `clear` makes a new table even for an empty set, and this runs with every turn. */
function empty(sessions: Set<Session>): void {
  if (sessions.size > 0) sessions.clear();
}

export class Effects {
  #effects: Effect[] = [];
  readonly #unsaved = new Set<Session>();
  /** Polling sessions for which this turn queued frames. */
  readonly #queued = new Set<Session>();
  /** Those of them whose queue is too long. */
  readonly #overflowing = new Set<Session>();
  /** Sessions that changed between turns. */
  readonly #touched = new Set<Session>();
  /** Whether a session gets frames in this turn that have to be joined. */
  #hasJoined = false;
  #depth = 0;
  #isEnding = false;
  readonly #ports: EffectsPorts;

  constructor(ports: EffectsPorts) {
    this.#ports = ports;
  }

  /** Runs one turn; nested turns belong to the outermost one. */
  turn<Result>(run: () => Result): Result {
    this.#depth++;
    try {
      return run();
    } finally {
      if (--this.#depth === 0) this.#endTurn();
    }
  }

  send(sessions: readonly Session[], frames: readonly Frame[]): void {
    if (sessions.length === 0) return;
    let isPolled = false;
    for (const session of sessions) {
      const { polling } = session;
      if (!polling) {
        this.#hasJoined ||= isJoined(session);
        continue;
      }
      isPolled = true;
      this.#queue(session, polling, frames);
    }
    const overWebSocket = isPolled ? sessions.filter(({ polling }) => !polling) : sessions;
    if (overWebSocket.length > 0) this.#push({ type: "send", sessions: overWebSocket, frames });
    else this.#endLoneTurn();
  }

  #queue(session: Session, polling: PollQueue, frames: readonly Frame[]): void {
    if (this.#overflowing.has(session)) return;
    polling.push(frames);
    this.#queued.add(session);
    if (!polling.isOverflowing || session.closed) return;
    // The frames go at once, because one turn can send more than an object can hold. The session ends with the turn: otherwise the events
    // about its end would overtake those that the turn still sends.
    polling.takeAll();
    this.#overflowing.add(session);
  }

  /** Answers the waiting poll with queued frames, as many as a poll holds, if there are both. */
  answerPoll(session: Session): void {
    const { polling } = session;
    if (polling?.waitingSinceMs === undefined || polling.isEmpty) return;
    polling.waitingSinceMs = undefined;
    this.#push({ type: "answer-poll", session, payload: encodePayload(polling.take(session.bundling)) });
  }

  /** Ends the waiting poll with the frames that are queued, or with a noop. */
  endPoll(session: Session): void {
    const { polling } = session;
    if (polling?.waitingSinceMs === undefined) return;
    if (polling.isEmpty) polling.push([ENGINE_NOOP]);
    this.answerPoll(session);
  }

  refusePoll(session: Session): void {
    this.#push({ type: "refuse-poll", session });
  }

  adopt(session: Session, probe: Session): void {
    this.#push({ type: "adopt", session, probe });
  }

  close(session: Session, closing: Closing): void {
    this.#push({ type: "close", session, closing });
  }

  /** Saves the session at the end of the turn, once however often it changed. */
  save(session: Session): void {
    this.#unsaved.add(session);
    if (this.#depth > 0) return;
    // Between turns the change may follow this call, as in `socket.data.score++`: the turn that saves comes after the running code.
    this.#touched.add(session);
    if (this.#touched.size > 1) return;
    void Promise.resolve().then(() =>
      this.turn(() => {
        for (const touched of this.#touched) this.#unsaved.add(touched);
        this.#touched.clear();
      }),
    );
  }

  #push(effect: Effect): void {
    this.#effects.push(effect);
    this.#endLoneTurn();
  }

  /** An effect between turns, as from an asynchronous handler of the application, is a turn by itself. */
  #endLoneTurn(): void {
    if (this.#depth === 0) this.#endTurn();
  }

  /** Effects that follow from the effects of the turn, such as those of a closing, come after all of them. */
  #endTurn(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    try {
      while (this.#effects.length + this.#unsaved.size + this.#queued.size > 0) this.#carryOut();
    } finally {
      this.#isEnding = false;
    }
  }

  #carryOut(): void {
    this.#depth++;
    try {
      for (const session of this.#overflowing) this.#ports.overflow(session);
      empty(this.#overflowing);
      // Polling sessions, too: they have no record, but their clients come back all the same.
      for (const session of this.#unsaved) if (!session.closed) this.#ports.changed(session);
      // At the end of the turn, so that one poll takes all frames of the turn.
      for (const session of this.#queued) this.answerPoll(session);
      empty(this.#queued);
    } finally {
      // Otherwise a failure would leave the turn open, and nothing would be sent any more.
      this.#depth--;
    }
    // State first: a frame must not leave before the state that it speaks of is stored.
    const saves: Effect[] = [];
    for (const session of this.#unsaved) if (session.isKept) saves.push({ type: "save", session });
    const effects = [...saves, ...(this.#hasJoined ? joinFrames(this.#effects) : this.#effects)];
    this.#effects = [];
    this.#hasJoined = false;
    empty(this.#unsaved);
    this.#ports.leaving(effects);
    this.#ports.apply(effects);
  }
}

/** Whether the frames that a session gets in a turn over its WebSocket leave together. */
const isJoined = ({ isExtended, bundling }: Session): boolean => isExtended || bundling !== undefined;

/** How an answer to an event begins. */
const ANSWER = "43";

type Send = Effect & { readonly type: "send" };

/** The effects that sent frames to a session so far in this turn. Sessions that got the same effects, and whose frames are joined alike, share a path. */
interface Path {
  readonly before?: Path;
  readonly effect?: Send;
  /** The longer path after each further effect. */
  readonly next: Map<Effect, Path>;
}

/**
 * Joins the frames that each extended session gets in a turn into one (EXT-2), and events to sockets that bundle into one event (BUN-1). Keeps
 * the order of the frames of each session, and sends them before its closing. Frames for several sessions are joined once.
 */
function joinFrames(effects: readonly Effect[]): Effect[] {
  const joined: Effect[] = [];
  const startOf = startsByKind();
  const waiting = new Map<Session, Path>();
  for (const effect of effects) {
    if (effect.type === "send") {
      const plain = effect.sessions.filter((session) => !isJoined(session));
      if (plain.length > 0) joined.push({ ...effect, sessions: plain });
      for (const session of effect.sessions) {
        if (isJoined(session)) waiting.set(session, follow(waiting.get(session) ?? startOf(session), effect));
      }
      continue;
    }
    if (effect.type === "close") release(waiting, joined);
    joined.push(effect);
  }
  release(waiting, joined);
  return joined;
}

/** @returns gives the empty path of all sessions whose frames are joined as those of one */
function startsByKind(): (session: Session) => Path {
  // The most sessions do not bundle.
  const plain: Path = { next: new Map() };
  const bundling = new Map<string, Path>();
  return ({ isExtended, bundling: by }) => {
    if (!by) return plain;
    const kind = (isExtended ? "+" : "") + by.name;
    let start = bundling.get(kind);
    if (!start) bundling.set(kind, (start = { next: new Map() }));
    return start;
  };
}

function follow(before: Path, effect: Send): Path {
  const known = before.next.get(effect);
  if (known) return known;
  const longer: Path = { before, effect, next: new Map() };
  before.next.set(effect, longer);
  return longer;
}

/** The frames of all effects on the path, in order. @param after a place on it: those after that alone */
function framesOn(path: Path, after?: Path): readonly Frame[] {
  const parts: Array<readonly Frame[]> = [];
  for (let at: Path | undefined = path; at?.effect && at !== after; at = at.before) parts.push(at.effect.frames);
  return parts.length === 1 ? parts[0]! : parts.toReversed().flat();
}

/** Sends the waiting frames: one effect for all sessions on the same path. */
function release(waiting: Map<Session, Path>, joined: Effect[]): void {
  const together = new Map<Path, Session[]>();
  const answers: Effect[] = [];
  for (const [session, path] of waiting) {
    let end = path;
    // BUN-2: a session that gets an answer after its events shares the bundle of the others, which is made once.
    if (session.bundling && !session.isExtended)
      while (end.before?.effect && end.effect!.frames.every(isAnswer)) end = end.before;
    if (end !== path) answers.push({ type: "send", sessions: [session], frames: framesOn(path, end) });
    const sessions = together.get(end);
    if (sessions) sessions.push(session);
    else together.set(end, [session]);
  }
  for (const [path, sessions] of together)
    joined.push({ type: "send", sessions, frames: framesFor(sessions[0]!, framesOn(path)) });
  joined.push(...answers);
  waiting.clear();
}

const isAnswer = (frame: Frame): boolean => typeof frame === "string" && frame.startsWith(ANSWER);

function framesFor({ isExtended, bundling }: Session, frames: readonly Frame[]): readonly Frame[] {
  const events = bundling ? bundleEvents(frames, bundling) : frames;
  return isExtended ? joinPackets(events) : events;
}
