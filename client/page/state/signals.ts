// Sends typing events and read marks for the reader, rarely. The room view owns it.
import type { Room } from "../../core/api.ts";

/** The room forgets a typing event after 5 s (TYP-2). */
const TYPING_AGAIN_MS = 3000;
const READ_EVERY_MS = 1000;

export class Signals {
  /** The reader has seen the room up to this `seq`. */
  seen = 0;
  readonly #room: Room;
  #typingSaidAt = 0;
  /** How far the room knows the reader has read. */
  #reported = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(room: Room) {
    this.#room = room;
  }

  typing(on: boolean): void {
    const now = Date.now();
    const isSaid = now - this.#typingSaidAt < TYPING_AGAIN_MS;
    if (on === isSaid || (!on && this.#typingSaidAt === 0)) return;
    this.#typingSaidAt = on ? now : 0;
    this.#say("typing", { on });
  }

  welcome(readSeq: number): void {
    this.#reported = readSeq;
    this.#typingSaidAt = 0;
    this.saw(this.seen);
  }

  /** The room may have lost the messages that the reader saw. */
  restart(): void {
    this.seen = 0;
  }

  /** The reader has all messages up to this one on the screen. */
  saw(seq: number): void {
    this.seen = Math.max(seq, this.seen);
    if (this.seen > this.#reported) this.#timer ??= setTimeout(() => this.#reportRead(), READ_EVERY_MS);
  }

  close(): void {
    if (this.#timer !== undefined) this.#reportRead();
    clearTimeout(this.#timer);
  }

  #reportRead(): void {
    this.#timer = undefined;
    if (this.#room.connection.state !== "connected" || this.seen <= this.#reported) return;
    this.#reported = this.seen;
    this.#say("read", { seq: this.seen });
  }

  /** Sends an event whose loss does not matter. */
  #say(...said: ["typing", { on: boolean }] | ["read", { seq: number }]): void {
    if (this.#room.connection.state !== "connected") return;
    this.#room.ask(said[0] as "read", said[1] as { seq: number }).catch(() => {});
  }
}
