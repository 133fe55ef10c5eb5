// The calls of one object to one sibling: one at a time, and what comes meanwhile goes with the next. A call that fails is not repeated, as with
// the other adapters of socket.io. Made by siblings.ts.
import { inTime, type After } from "./in-time.ts";
import { sizeOf, type Packed } from "./packed.ts";

/** Whether clients are connected to an object. */
export interface Presence {
  readonly hasClients: boolean;
  /** Since when, by its own clock: an earlier one that arrives later does not count. */
  readonly atMs: number;
}

export interface SiblingCall {
  /** The id of the calling object. */
  readonly from: string;
  readonly presence: Presence;
  readonly messages: readonly Packed[];
}

/** Passes a call to the sibling. @returns whether clients are connected there */
export type CallSibling = (call: SiblingCall) => Promise<Presence>;

/** What the links of an object share. */
export interface LinkContext {
  readonly own: string;
  readonly presence: () => Presence;
  /** @returns the way to the sibling: a new one, if the last one is broken */
  readonly wayTo: (uid: string) => CallSibling | undefined;
  readonly report: (problem: string, error: unknown) => void;
  readonly after: After;
}

/** As long as the adapter waits for the answers of others. */
export const CALL_MS = 5000;

/** Until an object with clients calls a sibling again that has failed, and does not know of them. */
export const AGAIN_MS = 30_000;

/** Bytes of one call, of the 32 MiB that the platform allows. */
export const CALL_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes that wait for one sibling. What comes then is lost to it. */
export const QUEUE_BYTES_MAX = 16 * 1024 * 1024;

export class SiblingLink {
  readonly uid: string;
  readonly #context: LinkContext;
  #way: CallSibling;
  #queue: Packed[] = [];
  #queuedBytes = 0;
  #isCalling = false;
  /** Called when the sibling has answered the next call, or that has failed. */
  #told: Array<() => void> = [];
  /** What the sibling said last. */
  #heard: Presence | undefined;
  #isFailing = false;
  #isFull = false;
  #forgetRetry = (): void => {};

  constructor(uid: string, way: CallSibling, context: LinkContext) {
    this.uid = uid;
    this.#way = way;
    this.#context = context;
  }

  /** Whether the sibling has been asked for its clients. */
  get isKnown(): boolean {
    return this.#heard !== undefined || this.#isFailing;
  }

  /** One that never answered may have clients. */
  get mayHaveClients(): boolean {
    return this.#heard?.hasClients ?? true;
  }

  heard(presence: Presence): void {
    if (!this.#heard || presence.atMs >= this.#heard.atMs) this.#heard = presence;
  }

  send(message: Packed): void {
    const bytes = sizeOf(message);
    if (this.#queuedBytes + bytes > QUEUE_BYTES_MAX) return this.#full();
    this.#queue.push(message);
    this.#queuedBytes += bytes;
    this.#begin();
  }

  #full(): void {
    if (!this.#isFull) this.#context.report(`sibling ${this.uid} is too slow, and misses messages`, undefined);
    this.#isFull = true;
  }

  /** Tells the sibling whether clients are connected here. @returns done when it has answered, or failed */
  tell(): Promise<void> {
    const told = new Promise<void>((resolve) => this.#told.push(resolve));
    this.#begin();
    return told;
  }

  /** Called when there are no more clients here. */
  leave(): void {
    this.#forgetRetry();
    if (this.mayHaveClients) void this.tell();
  }

  #begin(): void {
    if (this.#isCalling) return;
    this.#isCalling = true;
    // All that the running code sends goes with one call.
    void Promise.resolve().then(() => this.#callAll());
  }

  async #callAll(): Promise<void> {
    while (this.#queue.length > 0 || this.#told.length > 0) await this.#call();
    this.#isCalling = false;
    this.#isFull = false;
  }

  async #call(): Promise<void> {
    const told = this.#told;
    this.#told = [];
    this.#forgetRetry();
    const { own, presence, wayTo, report, after } = this.#context;
    try {
      const call = this.#way({ from: own, presence: presence(), messages: this.#take() });
      this.heard(await inTime(call, CALL_MS, after));
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) report(`sibling ${this.uid} failed, and misses messages`, error);
      this.#isFailing = true;
      // A failed call may have broken the stub.
      this.#way = wayTo(this.uid) ?? this.#way;
      // It must learn of the clients here.
      if (presence().hasClients) this.#forgetRetry = after(AGAIN_MS, () => void this.tell());
    }
    for (const done of told) done();
  }

  #take(): Packed[] {
    let bytes = 0;
    let count = 0;
    for (const message of this.#queue) {
      bytes += sizeOf(message);
      if (count > 0 && bytes > CALL_BYTES_MAX) break;
      count++;
    }
    const taken = this.#queue.splice(0, count);
    for (const message of taken) this.#queuedBytes -= sizeOf(message);
    return taken;
  }
}
