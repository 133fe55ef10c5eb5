// Queues the frames that a long-polling client has not fetched yet. In memory only: a polling session ends when its object sleeps or dies,
// and its client opens another one. Called by effects.ts, polling-transport.ts and transport-upgrades.ts.
import { bundleEvents, type Bundling } from "../wire/bundles.ts";
import { frameBytes, type Frame } from "../wire/engine-io.ts";

/** Bytes queued for a client; a session with more is closed, unless its server allows more. */
export const POLL_QUEUE_BYTES_MAX = 1024 * 1024;

/** Packets of one poll. python-engineio, and clients modelled on it, drop a connection whose poll brings more. */
export const POLL_PACKETS_MAX = 16;

export class PollQueue {
  /** The arrival of the waiting poll, if there is one; in ms since 1970. */
  waitingSinceMs: number | undefined;
  /** POSTs whose bodies are being read. */
  posts = 0;
  #frames: Frame[] = [];
  #bytes = 0;
  /** How many of the first frames have been through `bundleEvents`. */
  #bundled = 0;
  readonly #packetsMax: number;
  readonly #bytesMax: number;

  /**
   * @param packetsMax packets that the client takes in one poll
   * @param bytesMax bytes that may be queued
   */
  constructor(packetsMax = POLL_PACKETS_MAX, bytesMax = POLL_QUEUE_BYTES_MAX) {
    this.#packetsMax = packetsMax;
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOverflowing(): boolean {
    return this.#bytes > this.#bytesMax;
  }

  push(frames: readonly Frame[]): void {
    for (const frame of frames) {
      this.#frames.push(frame);
      this.#bytes += frameBytes(frame);
    }
  }

  /** @returns the frames of the next poll, with the events that nobody has fetched in bundles (BUN-1) */
  take(bundling?: Bundling): Frame[] {
    if (bundling) this.#bundle(bundling);
    if (this.#frames.length <= this.#packetsMax) return this.takeAll();
    const frames = this.#frames.splice(0, this.#packetsMax);
    for (const frame of frames) this.#bytes -= frameBytes(frame);
    this.#bundled = Math.max(0, this.#bundled - frames.length);
    return frames;
  }

  /** Reads each frame once: otherwise a client with a long queue of answers, which it fetches a few at a time, would hold up its object. */
  #bundle(bundling: Bundling): void {
    const fresh = this.#frames.splice(this.#bundled);
    for (const frame of fresh) this.#bytes -= frameBytes(frame);
    this.push(bundleEvents(fresh, bundling));
    this.#bundled = this.#frames.length;
  }

  takeAll(): Frame[] {
    const frames = this.#frames;
    this.#frames = [];
    this.#bytes = 0;
    this.#bundled = 0;
    return frames;
  }
}
