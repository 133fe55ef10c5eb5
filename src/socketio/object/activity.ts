// Counts the work of an object: causes of waking, billed requests, and the time in which it could not sleep. Called by internals.ts,
// socket-object.ts and connection-requests.ts.
import type { Transport } from "../engine/engine.ts";
import type { Meter } from "../engine/backpressure.ts";

/** An application may add causes of its own. */
export type WakeCause = "connect" | "poll" | "message" | "close" | "alarm" | "call" | (string & {});

/** The input that woke an instance. */
export interface Wake {
  /** In milliseconds since 1970. */
  readonly atMs: number;
  readonly cause: WakeCause;
  /** The first due deadline of an alarm, the name of a call, the input for a cause of the application's own, otherwise the transport. */
  readonly detail: string;
}

/** Stands for calls without a name. */
const NO_DETAIL = "-";

export class Activity {
  readonly meter: Meter;
  readonly #beganAtMs = Date.now();
  readonly #onWoken: (wake: Wake) => void;
  readonly #onEnd: () => void;
  #wake: Wake | undefined;
  #held = 0;
  #heldSinceMs = 0;

  /** @param onEnd called at the end of work that outlasted its input */
  constructor(meter: Meter, onWoken: (wake: Wake) => void, onEnd: () => void = () => {}) {
    this.meter = meter;
    this.#onWoken = onWoken;
    this.#onEnd = onEnd;
  }

  /** The first input of this instance. */
  get wake(): Wake | undefined {
    return this.#wake;
  }

  woken(cause: WakeCause, detail = "websocket"): void {
    if (this.#wake) return;
    this.#wake = { atMs: this.#beganAtMs, cause, detail };
    this.meter.count(`wakes:${cause},${detail}`);
    this.#onWoken(this.#wake);
  }

  /** Counts a billed request. */
  request(kind: "call" | "alarm", detail = NO_DETAIL): void {
    this.woken(kind, detail);
    this.meter.count(`requests:${kind}`);
  }

  /**
   * Counts a request of a client: for a connection, or of one over long-polling.
   * @param cause of the application's own for the connection, if any
   */
  connection(
    { method, transport }: { readonly method: string; readonly transport: Transport },
    sid: string | undefined,
    cause?: string,
  ): void {
    const isNew = sid === undefined || transport === "websocket";
    if (cause !== undefined) this.woken(cause, "connect");
    else this.woken(isNew ? "connect" : "poll", transport);
    this.meter.count(`requests:${isNew ? "connect" : method === "POST" ? "post" : "poll"}`);
  }

  /**
   * Called when a timer, a poll or work begins that keeps the object awake. That time is billed; the ten seconds that the object stays after
   * it are free.
   * @returns a function that ends the hold, once
   */
  hold(): () => void {
    if (this.#held++ === 0) this.#heldSinceMs = Date.now();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.settle();
      this.#held--;
    };
  }

  /** Holds the object for as long as `work` goes on. */
  during<Result>(work: Result): Result {
    if (work instanceof Promise) {
      const release = this.hold();
      const end = (): void => {
        release();
        this.#onEnd();
      };
      work.then(end, end);
    }
    return work;
  }

  /** Counts the time so far. */
  settle(): void {
    if (this.#held === 0) return;
    const nowMs = Date.now();
    if (nowMs > this.#heldSinceMs) this.meter.count("awake_ms", nowMs - this.#heldSinceMs);
    this.#heldSinceMs = nowMs;
  }
}
