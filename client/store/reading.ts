// The user's place in the room: how far they have read, whether they follow the newest message, how many they missed elsewhere, and
// the message they jumped to. room-parts.ts owns it.
import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import type { SendFailure } from "../core/api.ts";
import type { MessagePlace, Outcome } from "./api.ts";
import type { History } from "./history.ts";
import { steady } from "./remembering.ts";
import type { Signals } from "./signals.ts";
import type { ReadingState } from "./state.ts";
import type { Timeline } from "./timeline.ts";

/** Messages that stay loaded while the user follows the newest; older ones make room. */
export const MESSAGES_KEPT_MAX = 1_000;

interface ReadingPorts {
  readonly timeline: Timeline;
  readonly history: History;
  readonly signals: Signals;
  readonly self: () => string;
  /** Whether the room is opened at the first unread message. */
  readonly opensAtUnread: boolean;
  readonly changed: () => void;
  readonly failed: (error: SendFailure) => void;
}

export class Reading {
  #place: Place = {
    following: true,
    missed: 0,
    unreadAfter: undefined,
    news: undefined,
    target: undefined,
  };
  readonly #ports: ReadingPorts;
  #hasWritten = false;
  #lastSeq = 0;
  #isLooking = true;
  #isCutOff = false;
  /** Messages up to there were posted while the connection was lost, or while the user attended to counts. */
  #missedThrough = 0;
  /** The first of the messages that `missed` counts. */
  #missedFrom = 0;
  readonly #state = steady<ReadingState>();

  constructor(ports: ReadingPorts) {
    this.#ports = ports;
  }

  get state(): ReadingState {
    const { read, isKeptUnread } = this.#ports.signals;
    return this.#state({ ...this.#place, readSeq: read, keptUnread: isKeptUnread, lastSeq: this.#lastSeq });
  }

  get following(): boolean {
    return this.#place.following;
  }

  /** Loads the newest messages, or those from the first unread one on. */
  async welcome({ rev, unread, readSeq, keptUnread, lastSeq, rests = [] }: Welcome, isFirst: boolean): Promise<void> {
    const { history, signals, opensAtUnread } = this.#ports;
    signals.rests = rests;
    signals.welcome(readSeq, keptUnread === true);
    if (signals.isKeptUnread) this.#set({ unreadAfter: signals.read });
    this.#lastSeq = lastSeq;
    this.#isCutOff = false;
    this.#missedThrough = lastSeq;
    if (isFirst && unread > 0 && readSeq > 0) this.#set({ unreadAfter: readSeq });
    const wasLoaded = history.isLoaded;
    const around = opensAtUnread ? this.#place.unreadAfter : undefined;
    await history.welcome(rev, around);
    if (wasLoaded || !history.isLoaded || around === undefined) return;
    if (this.#hasWritten || !this.#openAtUnread(around, unread)) await this.showNewest();
  }

  #openAtUnread(readSeq: number, count: number): boolean {
    const [first] = this.#unseenAfter(readSeq);
    if (!first) return false;
    const news = { count, sinceMs: first.timestamp };
    this.#set({ news, target: { seq: first.seq, isUnread: true }, following: false });
    this.#ports.changed();
    return true;
  }

  /** The room was deleted and begun again, or a backup of it was restored. */
  restart(): void {
    this.#set({ unreadAfter: undefined, news: undefined, target: undefined });
    this.#ports.history.restart();
    this.#ports.signals.restart();
  }

  /** The connection is lost: what is posted from now on comes after the user could have seen it. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** Whether the user sees messages as they come. */
  look(on: boolean): void {
    this.#isLooking = on;
  }

  /** The timeline has another message. */
  arrived({ seq, deleted }: Message, isOwn: boolean): void {
    this.#lastSeq = Math.max(seq, this.#lastSeq);
    const isNew = !isOwn && !deleted;
    const isSeen = this.following && this.#isLooking && !this.#isCutOff && seq > this.#missedThrough;
    if (isNew && !isSeen && this.#place.missed === 0 && !this.#place.news) this.#markUnseen(seq);
    else if (!this.following && isNew) this.#miss(seq);
    if (this.following) this.#ports.timeline.keepNewest(MESSAGES_KEPT_MAX);
  }

  /** The first message of others that the user has not seen: a user at the newest message will come back to it. */
  #markUnseen(seq: number): void {
    const { timeline, signals } = this.#ports;
    // Who has read nothing here has seen what was there.
    const unreadAfter = signals.read > 0 ? signals.read : seq - 1;
    this.#set({ unreadAfter });
    if (!this.following) return this.#miss(seq);
    const leftOut = Math.max(0, timeline.messages[0]!.seq - 1 - unreadAfter);
    this.#openAtUnread(unreadAfter, leftOut + this.#unseenAfter(unreadAfter).length);
  }

  #miss(seq: number): void {
    const { missed } = this.#place;
    if (missed === 0) this.#missedFrom = seq;
    this.#set({ missed: missed + 1 });
  }

  /** A message of another user is deleted: it is no news any more. */
  removed(seq: number): void {
    const { missed, news, unreadAfter = Infinity } = this.#place;
    const isMissed = missed > 0 && seq >= this.#missedFrom;
    const isNews = !isMissed && news !== undefined && seq > unreadAfter;
    if (!isMissed && !isNews) return;
    const left = { missed: missed - Number(isMissed), count: (news?.count ?? 0) - Number(isNews) };
    const isOver = left.missed + left.count === 0;
    this.#set({ missed: left.missed, news: news && !isOver ? { ...news, count: left.count } : undefined });
  }

  #unseenAfter(readSeq: number): Message[] {
    const { timeline, self } = this.#ports;
    return timeline.messages.filter(({ seq, sender, deleted }) => seq > readSeq && sender !== self() && !deleted);
  }

  /** The user has read messages on another device. */
  readElsewhere(): void {
    if (this.#isLooking || !this.#place.news || this.#ports.timeline.hasLater) return;
    const { read } = this.#ports.signals;
    const unseen = this.#unseenAfter(read);
    if (unseen.length === 0) this.#set({ ...AT_NEWEST, unreadAfter: undefined });
    else if (this.#openAtUnread(read, unseen.length)) this.#set({ unreadAfter: read, missed: 0 });
  }

  /** The user marked the messages behind that one as unread, here or on another device. */
  markedUnread(readSeq: number): void {
    this.#ports.signals.keepUnread(readSeq);
    this.#set({ unreadAfter: readSeq });
  }

  /** The room has messages up to there, which come once the user attends to them. */
  counted(lastSeq: number): void {
    this.#lastSeq = Math.max(lastSeq, this.#lastSeq);
    this.#missedThrough = Math.max(lastSeq, this.#missedThrough);
  }

  /** The user has written, and wants to see it. */
  async wrote(): Promise<void> {
    this.#hasWritten = true;
    await this.showNewest();
  }

  /** Begins to follow the newest messages. */
  async showNewest(): Promise<void> {
    const { timeline, history, signals, changed } = this.#ports;
    if (signals.readOn()) changed();
    if (timeline.hasLater && !(await history.loadNewest())) return;
    this.follow(true);
  }

  /** Shows a message of the past, wherever it is. */
  async jumpTo(place: MessagePlace): Promise<Outcome<{ readonly message: Message }>> {
    const { history, failed, changed } = this.#ports;
    const outcome = await history.showAround(place);
    if ("error" in outcome) failed(outcome.error);
    else {
      this.#set({ target: { seq: outcome.message.seq }, following: false });
      changed();
    }
    return outcome;
  }

  /** The newest messages can be followed only where they are loaded. Who does not look does not reach them. */
  follow(wanted: boolean): void {
    if (wanted && !this.#isLooking) return;
    const following = wanted && !this.#ports.timeline.hasLater;
    if (this.following === following && this.#place.missed === 0) return;
    this.#set(following ? AT_NEWEST : { following });
    this.#ports.changed();
  }

  #set(changed: Partial<Place>): void {
    this.#place = { ...this.#place, ...changed };
  }
}

type Place = Omit<ReadingState, "readSeq" | "lastSeq" | "keptUnread">;

const AT_NEWEST: Partial<Place> = { following: true, missed: 0, news: undefined };
