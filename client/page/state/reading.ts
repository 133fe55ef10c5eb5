// The reader's place in the room: whether they follow the newest message, how many they missed elsewhere, and the message they
// jumped to. The room view owns it; the message list draws it and reports where the reader goes.
import type { Message, Welcome } from "../../../src/protocol/chat-events.ts";
import type { History } from "./history.ts";
import type { Signals } from "./signals.ts";
import type { Timeline } from "./timeline.ts";

/** Messages on the page while the reader follows the newest; older ones make room. */
const MESSAGES_KEPT_MAX = 1_000;

interface ReadingPorts {
  readonly timeline: Timeline;
  readonly history: History;
  readonly signals: Signals;
  readonly self: () => string;
  readonly changed: () => void;
  readonly failed: (text: string) => void;
}

export class Reading {
  /** Whether the reader looks at the newest messages. If not, old messages are not removed. */
  following = true;
  /** Messages of others that came while the reader looked elsewhere. */
  missed = 0;
  /** Messages after this seq are new to the reader. */
  unreadAfter: number | undefined;
  /** The new messages when the room was entered, until the reader has been at their end. */
  news: { readonly count: number; readonly sinceMs: number } | undefined;
  /** The message that the reader jumped to last, or the first unread one; another object each time. */
  target: { readonly seq: number; readonly isUnread?: boolean } | undefined;
  /** Long messages that the reader has opened, by `id`. */
  readonly opened = new Set<string>();
  readonly #ports: ReadingPorts;
  #hasWritten = false;

  constructor(ports: ReadingPorts) {
    this.#ports = ports;
  }

  /** Shows the room from the first unread message on, or at the newest one. */
  async welcome({ rev, unread, readSeq }: Welcome, isFirst: boolean): Promise<void> {
    const { history, timeline } = this.#ports;
    if (isFirst && unread > 0 && readSeq > 0) this.unreadAfter = readSeq;
    const wasLoaded = history.loaded;
    await history.welcome(rev, this.unreadAfter);
    if (wasLoaded || !history.loaded || this.unreadAfter === undefined) return;
    if (this.#hasWritten || !this.#openAtUnread(unread)) this.follow(true);
    if (this.following && timeline.hasLater) await this.jumpToNewest();
  }

  #openAtUnread(count: number): boolean {
    const { timeline, self } = this.#ports;
    const first = timeline.messages.find(({ seq, sender }) => seq > this.unreadAfter! && sender !== self());
    if (!first) return false;
    this.news = { count, sinceMs: first.timestamp };
    this.target = { seq: first.seq, isUnread: true };
    this.follow(false);
    return true;
  }

  /** The room was deleted and begun again, or a backup of it was restored. */
  restart(): void {
    this.unreadAfter = this.news = this.target = undefined;
    this.#ports.history.restart();
    this.#ports.signals.restart();
  }

  /** The timeline has another message. */
  arrived(isOwn: boolean): void {
    if (this.following) this.#ports.timeline.keepNewest(MESSAGES_KEPT_MAX);
    else if (!isOwn) this.missed += 1;
  }

  /** The reader has written, and wants to see it. */
  async wrote(): Promise<void> {
    this.#hasWritten = true;
    if (this.#ports.timeline.hasLater) await this.jumpToNewest();
    this.following = true;
    this.missed = 0;
    this.news = undefined;
  }

  /** Begins to follow the newest messages. */
  async jumpToNewest(): Promise<void> {
    const { timeline, history } = this.#ports;
    if (timeline.hasLater && !(await history.loadNewest())) return;
    this.follow(true);
  }

  /** Shows a message of the past, wherever it is. */
  async jumpTo(seq: Message["seq"]): Promise<void> {
    const { history, failed, changed } = this.#ports;
    const isThere = await history.showAround(seq);
    if (isThere === false) failed("That message is not there any more.");
    if (!isThere) return;
    this.target = { seq };
    this.follow(false);
    changed();
  }

  follow(following: boolean): void {
    if (this.following === following && this.missed === 0) return;
    this.following = following;
    if (following) {
      this.missed = 0;
      this.news = undefined;
    }
    this.#ports.changed();
  }

  /** Shows all of a long message, from where the reader is in it. */
  open(id: string): void {
    this.opened.add(id);
    this.following = false;
    this.#ports.changed();
  }
}
