// Pings sessions and ends dead ones. The server pings, as Engine.IO 4 says, except sessions whose client keeps the heartbeat itself
// (EXT-3). Where the ping interval is longer than a second, the runtime absorbs pongs without waking the object, and this code asks the
// shell for their time; else engine.ts notes it.
// Called by engine.ts.
import { CLOSINGS } from "../wire/closings.ts";
import { ENGINE_PING } from "../wire/engine-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

export interface HeartbeatOptions {
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/**
 * Sessions whose ping is due within this share of the interval are pinged along with the first one. With a
 * half, any two of them meet within an interval, so all sessions of a room come to share one alarm.
 */
const ALIGNMENT = 0.5;

/** A room with extended sessions looks for dead ones at least this often: nothing else wakes it for their sake. */
export const REAP_INTERVAL_MS = 30 * 60_000;

/** A room that is awake anyway looks for dead extended sessions at most this often. */
const LOOK_INTERVAL_MS = 60_000;

/** Hidden tabs run their timers once a minute: silence for less than this says nothing of an extended session (EXT-4). */
export const EXTENDED_PATIENCE_MS_MIN = 150_000;

export interface HeartbeatContext {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly lastPongAtMs: (session: Session) => number | undefined;
  readonly phase: number;
  readonly end: (session: Session, closing: typeof CLOSINGS.pingTimeout) => void;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #context: HeartbeatContext;
  readonly #pingDeadline: Deadline;
  readonly #reapDeadline: Deadline;
  #lookedAtMs = -Infinity;

  constructor(options: HeartbeatOptions, context: HeartbeatContext) {
    this.#options = options;
    this.#context = context;
    this.#pingDeadline = context.deadlines.add("ping", (nowMs) => this.#beat(nowMs));
    this.#reapDeadline = context.deadlines.add("reap", (nowMs) => this.#reap(nowMs));
  }

  /**
   * A session comes. The first one sets the beat of its room, which differs from room to room: otherwise rooms that fill at
   * the same moment, as after a restart, would ping all that their process carries at once, ever after.
   */
  begin(session: Session): void {
    session.setsBeat = !session.isExtended && this.#pingDeadline.atMs === undefined;
  }

  /**
   * A session was opened, restored, or changed its transport. Its last pong may be younger than the last ping in its record; its other
   * frames do not count, as its client waits for pings alone.
   */
  watch(session: Session): void {
    session.seenAtMs = this.#aliveAtMs(session);
    session.pingedAtMs = Math.max(session.pingedAtMs, this.#context.lastPongAtMs(session) ?? 0);
    if (session.isExtended) this.#reapDeadline.pull(this.#nextReapMs(session.seenAtMs));
    else this.#pingDeadline.pull(this.#duePingMs(session));
  }

  #duePingMs(session: Session): number {
    const { pingIntervalMs } = this.#options;
    const isFirst = session.setsBeat && this.#context.lastPongAtMs(session) === undefined;
    if (!isFirst) return session.pingedAtMs + pingIntervalMs;
    return session.handshake.issued + Math.ceil(pingIntervalMs * (1 - this.#context.phase * ALIGNMENT));
  }

  /** A frame arrived, so the room is awake: looking for dead sessions costs nothing more. */
  look(heard: Session, nowMs: number): void {
    if (heard.pingedAtMs > nowMs) this.#setBack(heard, nowMs);
    if (nowMs - this.#lookedAtMs >= LOOK_INTERVAL_MS) this.#reap(nowMs);
  }

  /** The clock was set back: the session has to be pinged by the new time before its silence means anything. */
  #setBack(heard: Session, nowMs: number): void {
    heard.pingedAtMs = nowMs;
    if (!heard.isExtended) this.#pingDeadline.pull(nowMs + this.#options.pingIntervalMs);
  }

  /** The last session is gone. */
  rest(): void {
    this.#pingDeadline.clear();
    this.#reapDeadline.clear();
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
   * The moments to look for dead sessions lie on a grid, or each waking would move the alarm; the grid differs from room to room, or all
   * rooms of a process would wake at once. A moment that is near is skipped: a session that has just sent something is alive.
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

  #beat(nowMs: number): void {
    const { pingIntervalMs } = this.#options;
    const pinged: Session[] = [];
    let nextAtMs = Infinity;
    for (const session of this.#context.sessions.values()) {
      if (session.isExtended) continue;
      const patienceMs = this.#patienceMs(session);
      const silentMs = nowMs - this.#aliveAtMs(session);
      // A polling session is in memory anyway, so a deadline of its own for it costs nothing.
      const isDead = session.polling ? silentMs >= patienceMs : silentMs > patienceMs;
      if (isDead) {
        this.#context.end(session, CLOSINGS.pingTimeout);
        continue;
      }
      if (session.pingedAtMs + pingIntervalMs * (1 - ALIGNMENT) <= nowMs) {
        session.pingedAtMs = nowMs;
        session.setsBeat = false;
        session.sendWindow.pings++;
        // Else a room that wakes before the pong would ping it once more.
        this.#context.outbox.save(session);
        pinged.push(session);
      }
      nextAtMs = Math.min(nextAtMs, session.pingedAtMs + pingIntervalMs);
      if (session.polling) nextAtMs = Math.min(nextAtMs, session.seenAtMs + patienceMs);
    }
    this.#context.outbox.send(pinged, [ENGINE_PING]);
    if (nextAtMs === Infinity) this.#pingDeadline.clear();
    else this.#pingDeadline.set(nextAtMs);
  }
}
