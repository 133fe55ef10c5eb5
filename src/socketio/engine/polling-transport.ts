// HTTP long-polling: one poll and few posts of a session at a time, payloads of many packets (EIO-8). Every
// request of a session reaches the object that holds it, so no sticky sessions are needed.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_CLOSE, ENGINE_NOOP, type Frame } from "../wire/engine-io.ts";
import { decodePayload, encodePayload } from "../wire/polling-payload.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import type { Engine, EngineContext } from "./engine.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import { endPoll } from "./transport-upgrade.ts";

/**
 * A poll is held this long at most, then ended with a noop. The runtime does not tell when a client has
 * gone away from a request it waits for, and a held request keeps the object awake.
 */
export const POLL_HOLD_MS = 20_000;

/**
 * Between probe and upgrade a poll waits this long only: a client that is still polling goes on when it ends.
 * Not at once, for it may have overtaken the packet that completes the upgrade.
 */
const UPGRADING_HOLD_MS = 50;

/**
 * Bodies of a session that are read at a time. More than one, unlike in Socket.IO on Node: clients that post from several
 * threads (rust_socketio) answer a ping while they say something, and would be cut off by chance.
 */
const POSTS_AT_A_TIME_MAX = 4;

/** Characters kept of what ended sessions had still to hear, all of them together. */
const LAST_WORDS_CHARS_MAX = 262_144;

/** Whom we gave up, or who left too much unfetched, hears nothing more: the next poll finds the session unknown. */
const SILENT: ReadonlySet<Closing> = new Set([CLOSINGS.pingTimeout, CLOSINGS.queueTooLong]);

/** Counted for each ended session besides what it had to hear: a short word is not for nothing. */
const LAST_WORDS_ENTRY_CHARS = 100;

const charsOf = (payloads: readonly string[]): number =>
  payloads.reduce((chars, { length }) => chars + length, LAST_WORDS_ENTRY_CHARS);

const holdMs = (session: Session): number => (session.isUpgrading ? UPGRADING_HOLD_MS : POLL_HOLD_MS);

export class PollingTransport {
  readonly #engine: Engine;
  readonly #outbox: Outbox;
  readonly #holdDeadline: Deadline;
  /** Sessions with a poll that waits. */
  readonly #waiting = new Set<Session>();
  /** Payloads, by session. */
  readonly #lastWords = new Map<string, readonly string[]>();
  #lastWordsChars = 0;

  constructor(engine: Engine, { outbox, deadlines }: EngineContext) {
    this.#engine = engine;
    this.#outbox = outbox;
    this.#holdDeadline = deadlines.add("poll", (nowMs) => this.#releasePolls(nowMs));
  }

  /** A poll came. @returns whether it may wait for its answer; a second one at a time ends the session */
  poll(session: Session, nowMs: number): boolean {
    const { polling } = session;
    if (!polling) return false;
    if (polling.waitingSinceMs !== undefined) {
      this.#engine.close(session, CLOSINGS.pollOverlap);
      return false;
    }
    session.seenAtMs = nowMs;
    polling.waitingSinceMs = nowMs;
    if (!session.isUpgrading) this.#outbox.answerPoll(session);
    if (polling.waitingSinceMs !== undefined) {
      this.#waiting.delete(session);
      this.#waiting.add(session);
      this.#holdDeadline.pull(nowMs + holdMs(session));
    }
    return true;
  }

  #releasePolls(nowMs: number): void {
    for (const session of this.#waiting) {
      const sinceMs = session.polling?.waitingSinceMs;
      if (sinceMs !== undefined && sinceMs + holdMs(session) > nowMs) {
        this.#holdDeadline.pull(sinceMs + holdMs(session));
        continue;
      }
      this.#waiting.delete(session);
      if (sinceMs !== undefined) endPoll(this.#outbox, session);
    }
  }

  /** A post begins. @returns whether its body may be read; too many at a time end the session */
  beginPost(session: Session): boolean {
    const { polling } = session;
    if (!polling) return false;
    if (polling.posts >= POSTS_AT_A_TIME_MAX) {
      this.#engine.close(session, CLOSINGS.pollOverlap);
      return false;
    }
    polling.posts += 1;
    return true;
  }

  /** The body of a post is there. @returns whether all of it was in order; the session is over otherwise */
  endPost(session: Session, body: string, nowMs: number): boolean {
    if (!session.polling || session.closed) return false;
    session.polling.posts -= 1;
    const frames = decodePayload(body);
    if (!frames) this.#engine.close(session, CLOSINGS.parseError);
    let wasAskedToClose = false;
    for (const frame of frames ?? []) {
      // What outlasts the turn is not waited for: a handler may await an ack, which only the next post brings.
      void this.#engine.receive(session, frame, nowMs);
      if (session.closed) {
        wasAskedToClose = frame === ENGINE_CLOSE;
        break;
      }
    }
    return !session.closed || wasAskedToClose;
  }

  /** The body of a post was too large, or broke off. A WebSocket that took over meanwhile has nothing to do with it. */
  abandonPost(session: Session): void {
    if (session.polling) this.#engine.close(session, CLOSINGS.payloadTooLarge);
  }

  /**
   * The session ends from this side: a poll brings what it did not hear yet, and the next one says that it is over.
   * Not both at once: a client that reads of the end in the same payload takes that for a broken line.
   */
  sayGoodbye(session: Session, closing: Closing): void {
    const { polling, sid } = session;
    if (!polling) return;
    if (SILENT.has(closing)) polling.takeAll();
    const goodbye = closing === CLOSINGS.asked ? ENGINE_NOOP : ENGINE_CLOSE;
    const isWaiting = polling.waitingSinceMs !== undefined;
    if (polling.isEmpty) {
      polling.push([goodbye]);
      return this.#outbox.answerPoll(session);
    }
    if (isWaiting) this.#outbox.answerPoll(session);
    const payloads: string[] = [];
    while (!polling.isEmpty) payloads.push(encodePayload(polling.take()));
    this.#remember(sid, [...payloads, goodbye]);
  }

  #remember(sid: string, payloads: readonly string[]): void {
    this.#lastWords.set(sid, payloads);
    this.#lastWordsChars += charsOf(payloads);
    for (const oldest of this.#lastWords.keys()) {
      if (this.#lastWordsChars <= LAST_WORDS_CHARS_MAX) break;
      this.#forget(oldest);
    }
  }

  #forget(sid: string): void {
    const payloads = this.#lastWords.get(sid);
    if (this.#lastWords.delete(sid)) this.#lastWordsChars -= charsOf(payloads!);
  }

  /** What an ended session had still to hear, a payload at a time; told once. */
  takeLastWords(sid: string): string | undefined {
    const [payload, ...more] = this.#lastWords.get(sid) ?? [];
    this.#forget(sid);
    if (more.length > 0) this.#remember(sid, more);
    return payload;
  }

  /** The same, as frames, and left for polls to take. */
  lastWordsOf(sid: string): Frame[] {
    const frames = (this.#lastWords.get(sid) ?? []).flatMap((payload) => decodePayload(payload) ?? []);
    return frames.filter((frame) => frame !== ENGINE_CLOSE && frame !== ENGINE_NOOP);
  }
}
