// Where in the room the reader is: at the newest message or elsewhere, what came meanwhile, and what was jumped to. The visit
// owns it; the message list draws it and reports where the reader goes.
import type { Message, Welcome } from "../../../src/protocol/chat-events.ts";
import type { Gap } from "../../api.ts";
import type { History } from "./history.ts";
import type { Signals } from "./signals.ts";
import type { Timeline } from "./timeline.ts";

/** Messages on the page while the reader follows the newest; older ones make room. */
const MESSAGES_KEPT_MAX = 1_000;

interface ReadingPorts {
  readonly timeline: Timeline;
  readonly history: History;
  readonly signals: Signals;
  readonly changed: () => void;
  readonly failed: (text: string) => void;
}

export class Reading {
  /** Whether the reader looks at the newest messages; if not, nothing is taken away under their eyes. */
  following = true;
  /** Messages of others that came while the reader looked elsewhere. */
  missed = 0;
  /** What is new to the reader comes after this seq. */
  unreadAfter: number | undefined;
  /** The message that was jumped to last; another object each time. */
  target: { readonly seq: number } | undefined;
  /** Long messages that the reader has opened, by `id`. */
  readonly opened = new Set<string>();
  readonly #ports: ReadingPorts;

  constructor(ports: ReadingPorts) {
    this.#ports = ports;
  }

  /** The first welcome of a visit. */
  begin({ unread, readSeq }: Welcome): void {
    if (unread > 0 && readSeq > 0) this.unreadAfter = readSeq;
  }

  /** The timeline has another message. */
  arrived(isOwn: boolean): void {
    if (this.following) this.#ports.timeline.keepNewest(MESSAGES_KEPT_MAX);
    else if (!isOwn) this.missed += 1;
  }

  leaveOut(gap: Gap): void {
    this.#ports.timeline.leaveOut(gap, this.following);
  }

  /** The reader has written, and wants to see it. */
  async wrote(): Promise<void> {
    if (this.#ports.timeline.hasLater) await this.jumpToNewest();
    this.following = true;
    this.missed = 0;
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
    if (following) this.missed = 0;
    this.#ports.changed();
  }

  /** Shows all of a long message, from where the reader is in it. */
  open(id: string): void {
    this.opened.add(id);
    this.following = false;
    this.#ports.changed();
  }

  /** The reader has all up to this one on the screen. */
  saw(seq: Message["seq"]): void {
    this.#ports.signals.saw(seq);
  }
}
