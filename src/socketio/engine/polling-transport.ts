// The polls and posts of long-polling sessions (EIO-8), and the final payloads of ended ones. All requests of a session reach the
// object that has it, so no sticky sessions are needed. Called by engine.ts and session-server.ts.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_CLOSE, ENGINE_NOOP, type Frame } from "../wire/engine-io.ts";
import { decodePayload, encodePayload } from "../wire/polling-payload.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Effects } from "./effects.ts";
import type { Session } from "./session.ts";

/**
 * The server holds a poll for this long at most, then ends it with a noop. A held request keeps the object awake, and the runtime does
 * not say when its client has gone away.
 */
export const POLL_HOLD_MS = 20_000;

/**
 * Between probe and upgrade a poll without frames waits only this long, because a client that still polls goes on when the poll ends. It
 * does not end at once, because it may have overtaken the packet that completes the upgrade.
 */
const UPGRADING_HOLD_MS = 50;

/**
 * Bodies of a session that are read at a time. Socket.IO on Node reads one, and cuts off clients that post from several threads
 * (rust_socketio) when they answer a ping while they send something else.
 */
const POSTS_AT_A_TIME_MAX = 4;

/** Characters of the final payloads that are kept for all ended sessions together. */
const FINAL_CHARS_MAX = 262_144;

/** A dead client, and one that left too much unfetched, gets no final payload: its next poll finds the session unknown. */
const SILENT: ReadonlySet<Closing> = new Set([CLOSINGS.pingTimeout, CLOSINGS.queueTooLong]);

/** A request of the client that broke the protocol ended the session. Its refusal tells the client, and no later poll has to. */
const BROKEN: ReadonlySet<Closing> = new Set([CLOSINGS.parseError, CLOSINGS.payloadTooLarge, CLOSINGS.pollOverlap]);

/** Counted for each ended session besides its payloads, because an empty entry takes memory, too. */
const FINAL_ENTRY_CHARS = 100;

const charsOf = (payloads: readonly string[]): number =>
  payloads.reduce((chars, { length }) => chars + length, FINAL_ENTRY_CHARS);

const holdMs = (session: Session): number => (session.isUpgrading ? UPGRADING_HOLD_MS : POLL_HOLD_MS);

export interface PollingContext {
  readonly effects: Effects;
  readonly deadlines: Deadlines;
  readonly end: (session: Session, closing: Closing) => void;
}

export class PollingTransport {
  readonly #effects: Effects;
  readonly #end: PollingContext["end"];
  readonly #holdDeadline: Deadline;
  /** Sessions with a poll that waits. */
  readonly #waiting = new Set<Session>();
  /** The unfetched payloads of ended sessions, by `sid`. */
  readonly #finalPayloads = new Map<string, readonly string[]>();
  #finalChars = 0;

  constructor({ effects, deadlines, end }: PollingContext) {
    this.#effects = effects;
    this.#end = end;
    this.#holdDeadline = deadlines.add("poll", (nowMs) => this.#releasePolls(nowMs));
  }

  /** Receives a poll. @returns whether it may wait for its answer; a second one at a time ends the session */
  poll(session: Session, nowMs: number): boolean {
    const { polling } = session;
    if (!polling) return false;
    if (polling.waitingSinceMs !== undefined) {
      this.#end(session, CLOSINGS.pollOverlap);
      return false;
    }
    session.seenAtMs = nowMs;
    polling.waitingSinceMs = nowMs;
    this.#effects.answerPoll(session);
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
      if (sinceMs !== undefined) this.#effects.endPoll(session);
    }
  }

  /** Receives a post. @returns whether its body may be read; too many at a time end the session */
  beginPost(session: Session): boolean {
    const { polling } = session;
    if (!polling) return false;
    if (polling.posts >= POSTS_AT_A_TIME_MAX) {
      this.#end(session, CLOSINGS.pollOverlap);
      return false;
    }
    polling.posts += 1;
    return true;
  }

  /** Receives the body of a post. @returns its frames; `undefined` if it is no payload, or a WebSocket has taken the session over */
  endPost(session: Session, body: string): readonly Frame[] | undefined {
    if (!session.polling) return undefined;
    session.polling.posts -= 1;
    const frames = decodePayload(body);
    if (!frames) this.#end(session, CLOSINGS.parseError);
    return frames;
  }

  /** Whether its own requests broke the protocol, and ended it. */
  isBroken({ closing }: Session): boolean {
    return closing !== undefined && BROKEN.has(closing);
  }

  /** Called when the session uses long-polling no longer. */
  forget(session: Session): void {
    this.#waiting.delete(session);
    // Otherwise it would wake an object that has gone to sleep meanwhile.
    if (this.#waiting.size === 0) this.#holdDeadline.clear();
  }

  /**
   * Called when the server ends a session. One poll brings the frames that the client has not fetched, and the next one the close packet:
   * a client that reads both in the same payload takes that for a broken connection.
   */
  sendFinal(session: Session, closing: Closing): void {
    const { polling, sid, bundling } = session;
    if (!polling) return;
    if (SILENT.has(closing)) polling.takeAll();
    const lastPacket = closing === CLOSINGS.asked ? ENGINE_NOOP : ENGINE_CLOSE;
    const isWaiting = polling.waitingSinceMs !== undefined;
    const isTold = closing === CLOSINGS.asked || BROKEN.has(closing) || SILENT.has(closing);
    const last = closing.followsNoop ? [ENGINE_NOOP, lastPacket] : [lastPacket];
    if (polling.isEmpty && (isWaiting || isTold)) {
      polling.push(last);
      return this.#effects.answerPoll(session);
    }
    if (isWaiting) this.#effects.answerPoll(session);
    const payloads: string[] = [];
    while (!polling.isEmpty) payloads.push(encodePayload(polling.take(bundling)));
    this.#keep(sid, [...payloads, encodePayload(last)]);
  }

  #keep(sid: string, payloads: readonly string[]): void {
    this.#finalPayloads.set(sid, payloads);
    this.#finalChars += charsOf(payloads);
    for (const oldest of this.#finalPayloads.keys()) {
      if (this.#finalChars <= FINAL_CHARS_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(sid: string): void {
    const payloads = this.#finalPayloads.get(sid);
    if (this.#finalPayloads.delete(sid)) this.#finalChars -= charsOf(payloads!);
  }

  /** @returns the next payload for the client of an ended session; each once */
  takeFinalPayload(sid: string): string | undefined {
    const [payload, ...more] = this.#finalPayloads.get(sid) ?? [];
    this.#drop(sid);
    if (more.length > 0) this.#keep(sid, more);
    return payload;
  }

  hasFinalPayload(sid: string): boolean {
    return this.#finalPayloads.has(sid);
  }

  /** @returns the frames in the final payloads of an ended session, for the WebSocket that its client goes on with; each once */
  takeFinalFrames(sid: string): Frame[] {
    const frames = (this.#finalPayloads.get(sid) ?? []).flatMap((payload) => decodePayload(payload) ?? []);
    this.#drop(sid);
    return frames.filter((frame) => frame !== ENGINE_CLOSE && frame !== ENGINE_NOOP);
  }
}
