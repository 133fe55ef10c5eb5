// Pings sessions and ends dead ones. In Engine.IO 4 the server pings; clients with the extensions send pongs by themselves (EXT-3).
// If the ping interval is longer than a second, and the object may sleep, the runtime absorbs pongs without waking it, and this code asks
// the shell for their time. Otherwise engine.ts notes it. Called by engine.ts.
import { CLOSINGS } from "../wire/closings.ts";
import { ENGINE_PING } from "../wire/engine-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Effects } from "./effects.ts";
import type { Session } from "./session.ts";

export interface LivenessOptions {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  /** The object does not sleep while it has sessions, because they would not survive that. */
  readonly staysAwake?: boolean | undefined;
}

/**
 * When a session is pinged, so are those whose ping is due within this share of the interval. With a half, the pings of any two sessions
 * meet within an interval, so all sessions of a room come to share one alarm.
 */
const ALIGNMENT = 0.5;

/**
 * The room stays awake for so long after its pings, and twice as long as long as an answer is missing: mostly all are there by then. So it
 * costs no alarm to know which clients are late; only for these the next one comes when their time is over.
 */
const ANSWERS_MS = 125;
const ANSWERS_MS_MAX = 500;

/** A room with extended sessions wakes this often to look for dead ones, because it does not wake to ping them. */
export const REAP_INTERVAL_MS = 30 * 60_000;

/** A room that is awake for another reason looks for dead extended sessions at most this often. */
const LOOK_INTERVAL_MS = 60_000;

/** Hidden tabs run their timers once a minute, so an extended session may be silent for this long (EXT-4). */
export const EXTENDED_PATIENCE_MS_MIN = 150_000;

export interface LivenessContext {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly effects: Effects;
  readonly deadlines: Deadlines;
  readonly lastPongAtMs: (session: Session) => number | undefined;
  readonly phase: number;
  readonly end: (session: Session, closing: typeof CLOSINGS.pingTimeout) => void;
  readonly notice: (session: Session, notice: "ping") => void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #context: LivenessContext;
  readonly #pingDeadline: Deadline;
  readonly #answersDeadline: Deadline;
  readonly #reapDeadline: Deadline;
  #lookedAtMs = -Infinity;
  #answersMs = ANSWERS_MS;

  constructor(options: LivenessOptions, context: LivenessContext) {
    this.#options = options;
    this.#context = context;
    // Every session has a ping to come, or to answer.
    const { staysAwake = false } = options;
    this.#pingDeadline = context.deadlines.add("ping", (nowMs) => this.#pingAll(nowMs), { keepsAwake: staysAwake });
    this.#answersDeadline = context.deadlines.add("answers", (nowMs) => this.#awaitAnswers(nowMs));
    this.#reapDeadline = context.deadlines.add("reap", (nowMs) => this.#reap(nowMs));
  }

  /**
   * Called for each new session. The first one in a room is pinged early, by a span that differs from room to room: otherwise rooms that
   * fill at the same moment, as after a restart, would from then on all ping at the same moment.
   */
  begin(session: Session): void {
    session.isPingedEarly = !session.isExtended && this.#pingDeadline.atMs === undefined;
  }

  /**
   * Called for a session that was opened or restored, or changed its transport. Its last pong may be younger than the last ping in its
   * record. Its other frames do not count, because its client waits for pings alone.
   */
  watch(session: Session): void {
    const { pingIntervalMs } = this.#options;
    const lastPongAtMs = this.#context.lastPongAtMs(session);
    session.seenAtMs = Math.max(session.seenAtMs, lastPongAtMs ?? 0);
    session.pingedAtMs = Math.max(session.pingedAtMs, lastPongAtMs ?? 0);
    if (session.isExtended) this.#reapDeadline.pull(this.#nextReapMs(session.seenAtMs));
    else if (session.isPingedEarly && lastPongAtMs === undefined) {
      const firstPingMs = Math.ceil(pingIntervalMs * (1 - this.#context.phase * ALIGNMENT));
      this.#pingDeadline.pull(session.handshake.issued + firstPingMs);
    } else this.#pingDeadline.pull(session.pingedAtMs + pingIntervalMs);
    if (this.#isLate(session)) this.#pingDeadline.pull(this.#endMs(session));
  }

  /** Called for each frame: the room is awake, so looking for dead sessions costs nothing more. */
  look(sender: Session, nowMs: number): void {
    if (sender.pingedAtMs > nowMs) {
      // The clock was set back: the session has to be pinged by the new time before its silence means anything.
      sender.pingedAtMs = nowMs;
      if (!sender.isExtended) this.#pingDeadline.pull(nowMs + this.#options.pingIntervalMs);
    }
    if (nowMs - this.#lookedAtMs >= LOOK_INTERVAL_MS) this.#reap(nowMs);
  }

  /** Called when the last session is gone. */
  rest(): void {
    this.#pingDeadline.clear();
    this.#answersDeadline.clear();
    this.#reapDeadline.clear();
  }

  /** Whether it has not answered its last ping. */
  #isLate(session: Session): boolean {
    return !session.isExtended && this.#aliveAtMs(session) < session.pingedAtMs;
  }

  /** The moment of its death, if nothing comes from it before. */
  #endMs(session: Session): number {
    return this.#aliveAtMs(session) + this.#patienceMs(session);
  }

  #awaitAnswers(nowMs: number): void {
    const late = [...this.#context.sessions.values()].filter((session) => this.#isLate(session));
    this.#answersMs *= 2;
    if (late.length === 0) return;
    if (this.#answersMs <= ANSWERS_MS_MAX) return this.#answersDeadline.set(nowMs + this.#answersMs);
    for (const session of late) this.#pingDeadline.pull(this.#endMs(session));
  }

  #aliveAtMs(session: Session): number {
    return Math.max(session.seenAtMs, this.#context.lastPongAtMs(session) ?? 0);
  }

  /** How long a session may be silent. */
  #patienceMs(session: Session): number {
    const patienceMs = this.#options.pingIntervalMs + this.#options.pingTimeoutMs;
    return session.isExtended ? Math.max(patienceMs, EXTENDED_PATIENCE_MS_MIN) : patienceMs;
  }

  /**
   * The moments to look for dead sessions lie on a grid; otherwise each waking would move the alarm. The grid differs from room to room;
   * otherwise all rooms of a process would wake at once. A near moment is skipped, because a session that has just sent a frame is alive.
   */
  #nextReapMs(nowMs: number): number {
    const phaseMs = Math.floor(this.#context.phase * REAP_INTERVAL_MS);
    const soonestMs = nowMs + REAP_INTERVAL_MS / 2;
    return Math.ceil((soonestMs - phaseMs) / REAP_INTERVAL_MS) * REAP_INTERVAL_MS + phaseMs;
  }

  #reap(nowMs: number): void {
    this.#lookedAtMs = nowMs;
    this.#reapDeadline.clear();
    for (const session of this.#context.sessions.values()) {
      if (!session.isExtended) continue;
      if (nowMs - this.#aliveAtMs(session) > this.#patienceMs(session)) {
        this.#context.end(session, CLOSINGS.pingTimeout);
      } else this.#reapDeadline.pull(this.#nextReapMs(nowMs));
    }
  }

  #pingAll(nowMs: number): void {
    const { pingIntervalMs } = this.#options;
    const pinged: Session[] = [];
    let nextAtMs = Infinity;
    for (const session of this.#context.sessions.values()) {
      if (session.isExtended) continue;
      const endMs = this.#endMs(session);
      if (endMs <= nowMs) {
        this.#context.end(session, CLOSINGS.pingTimeout);
        continue;
      }
      // A room with a polling session is awake, so a deadline at the very moment of its death costs nothing.
      if (session.polling || this.#isLate(session)) nextAtMs = Math.min(nextAtMs, endMs);
      if (session.pingedAtMs + pingIntervalMs * (1 - ALIGNMENT) <= nowMs) {
        session.pingedAtMs = nowMs;
        session.isPingedEarly = false;
        session.sendWindow.pings++;
        // Otherwise a room that slept and wakes before the pong would ping the session again.
        this.#context.effects.save(session);
        pinged.push(session);
      }
      nextAtMs = Math.min(nextAtMs, session.pingedAtMs + pingIntervalMs);
    }
    this.#context.effects.send(pinged, [ENGINE_PING]);
    for (const session of pinged) this.#context.notice(session, "ping");
    if (pinged.some(({ polling }) => !polling)) {
      this.#answersMs = ANSWERS_MS;
      this.#answersDeadline.set(nowMs + ANSWERS_MS);
    }
    if (nextAtMs === Infinity) this.#pingDeadline.clear();
    else this.#pingDeadline.set(nextAtMs);
  }
}
