// Sends typing events and read marks for the user, rarely. room-parts.ts owns it.
import type { Welcome } from "../../src/protocol/chat-events.ts";
import type { Room } from "../core/api.ts";
import type { Clock } from "../core/clock.ts";

/** The room forgets a typing event after so long (TYP-2). */
const TYPING_MS = 5000;
const TYPING_AGAIN_MS = 3000;
const READ_EVERY_MS = 1000;

export class Signals {
  /** The user has read the room up to this `seq`. */
  read = 0;
  /** Events that change nothing where the user is, as the welcome says. */
  rests: NonNullable<Welcome["rests"]> = [];
  readonly #room: Room;
  readonly #clock: Clock;
  #typingSaidAtMs = 0;
  /** How far the room knows that the user has read. */
  #reported = 0;
  /** The user wants to find messages as unread that they see: marks wait until they read on. */
  #isKeptUnread = false;
  #cancelReport: (() => void) | undefined;

  constructor(room: Room, clock: Clock) {
    this.#room = room;
    this.#clock = clock;
  }

  /** Whether the room counts the user among those who type. */
  get isTyping(): boolean {
    return this.#clock.now() - this.#typingSaidAtMs < TYPING_MS;
  }

  typing(on: boolean): void {
    const nowMs = this.#clock.now();
    const isSaid = nowMs - this.#typingSaidAtMs < TYPING_AGAIN_MS;
    if (on ? isSaid : !this.isTyping || this.#typingSaidAtMs === 0) return;
    this.#typingSaidAtMs = on ? nowMs : 0;
    this.#say("typing", { on });
  }

  /** @param wentBack the user has set the mark back */
  welcome(readSeq: number, wentBack: boolean): void {
    this.#typingSaidAtMs = 0;
    // On another device, while this one was away; what it has read since is still to be reported.
    if (wentBack && readSeq < this.read && this.read <= this.#reported) this.keepUnread(readSeq);
    // The room may have lost a mark in a crash.
    this.#reported = 0;
    this.heard(readSeq);
  }

  /** The room knows that mark, from this or another device. */
  heard(seq: number): void {
    this.#reported = Math.max(seq, this.#reported);
    // Further than here: the user reads on, on another device.
    if (seq > this.read) this.#isKeptUnread = false;
    this.markRead(seq);
  }

  get isKeptUnread(): boolean {
    return this.#isKeptUnread;
  }

  /** What comes after the mark stays unread until `readOn`. @param seq where the room says that it is */
  keepUnread(seq = this.read): void {
    this.#cancelReport?.();
    this.#cancelReport = undefined;
    this.#isKeptUnread = true;
    if (seq < this.read) this.read = this.#reported = seq;
  }

  /** @returns whether marks waited for it */
  readOn(): boolean {
    const wasKept = this.#isKeptUnread;
    this.#isKeptUnread = false;
    return wasKept;
  }

  /** The room may have lost the messages that the user read. */
  restart(): void {
    this.read = 0;
  }

  /** @returns whether that is further than before */
  markRead(seq: number): boolean {
    if (this.#isKeptUnread) return false;
    const isFurther = seq > this.read;
    if (isFurther) this.read = seq;
    if (this.read > this.#reported)
      this.#cancelReport ??= this.#clock.after(READ_EVERY_MS, () => {
        this.#cancelReport = undefined;
        this.#report();
      });
    return isFurther;
  }

  /** Sends a waiting read mark at once. */
  flush(): void {
    if (!this.#cancelReport) return;
    this.#cancelReport();
    this.#cancelReport = undefined;
    this.#report();
  }

  #report(): void {
    if (this.#room.connection.state !== "connected" || this.read <= this.#reported) return;
    this.#reported = this.read;
    this.#say("read", { seq: this.read });
  }

  /** Sends an event whose loss does not matter. */
  #say(...said: ["typing", { on: boolean }] | ["read", { seq: number }]): void {
    if (this.#room.connection.state !== "connected") return;
    if (said[0] === "read" && this.rests.includes("read")) return;
    this.#room.ask(said[0] as "read", said[1] as { seq: number }).catch(() => {});
  }
}
