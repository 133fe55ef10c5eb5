// HTTP long-polling: one poll and few posts of a session at a time, payloads of many packets (EIO-8). Every
// request of a session reaches the object that holds it, so no sticky sessions are needed.
import { CLOSINGS, type Closing } from "../wire/closings.ts";
import { ENGINE_CLOSE, ENGINE_NOOP, type Frame } from "../wire/engine-io.ts";
import { decodePayload, encodePayload } from "../wire/polling-payload.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

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

/** Characters of final payloads that are kept, of all ended sessions together. */
const FINAL_CHARS_MAX = 262_144;

/** A client that is taken for dead, or left too much unfetched, gets nothing more: its next poll finds the session unknown. */
const SILENT: ReadonlySet<Closing> = new Set([CLOSINGS.pingTimeout, CLOSINGS.queueTooLong]);

/** Counted for each ended session besides its payloads: an entry costs memory, however short. */
const FINAL_ENTRY_CHARS = 100;

const charsOf = (payloads: readonly string[]): number =>
  payloads.reduce((chars, { length }) => chars + length, FINAL_ENTRY_CHARS);

const holdMs = (session: Session): number => (session.isUpgrading ? UPGRADING_HOLD_MS : POLL_HOLD_MS);

export interface PollingContext {
  readonly outbox: Outbox;
  readonly deadlines: Deadlines;
  readonly end: (session: Session, closing: Closing) => void;
}

export class PollingTransport {
  readonly #outbox: Outbox;
  readonly #end: PollingContext["end"];
  readonly #holdDeadline: Deadline;
  /** Sessions with a poll that waits. */
  readonly #waiting = new Set<Session>();
  /** The payloads that clients of ended sessions have not fetched, by session. */
  readonly #finalPayloads = new Map<string, readonly string[]>();
  #finalChars = 0;

  constructor({ outbox, deadlines, end }: PollingContext) {
    this.#outbox = outbox;
    this.#end = end;
    this.#holdDeadline = deadlines.add("poll", (nowMs) => this.#releasePolls(nowMs));
  }

  /** A poll came. @returns whether it may wait for its answer; a second one at a time ends the session */
  poll(session: Session, nowMs: number): boolean {
    const { polling } = session;
    if (!polling) return false;
    if (polling.waitingSinceMs !== undefined) {
      this.#end(session, CLOSINGS.pollOverlap);
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
      if (sinceMs !== undefined) this.#outbox.endPoll(session);
    }
  }

  /** A post begins. @returns whether its body may be read; too many at a time end the session */
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

  /** The body of a post has arrived. @returns its frames; none where they end the session, nothing where it is over */
  endPost(session: Session, body: string): readonly Frame[] | undefined {
    if (!session.polling || session.closed) return undefined;
    session.polling.posts -= 1;
    const frames = decodePayload(body);
    if (!frames) this.#end(session, CLOSINGS.parseError);
    return frames ?? [];
  }

  /**
   * The session ends from this side: a poll brings the frames that its client did not get yet, and the next one the close packet.
   * Not both at once: a client that reads both in the same payload takes that for a broken line.
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
    this.#keep(sid, [...payloads, goodbye]);
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

  /** The same as frames, left for polls to take. */
  finalFramesOf(sid: string): Frame[] {
    const frames = (this.#finalPayloads.get(sid) ?? []).flatMap((payload) => decodePayload(payload) ?? []);
    return frames.filter((frame) => frame !== ENGINE_CLOSE && frame !== ENGINE_NOOP);
  }
}
