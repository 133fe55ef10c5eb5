// Decides when the page is drawn: once per frame, however much has changed; on a slow machine a busy room less often, so that most of the
// time is left for the reader's keys. The chat store calls it.

/** What rooms say takes at most one part in so many of the time … */
const SHARE = 4;
/** … unless it would wait for longer. */
const WAIT_MAX_MS = 100;

export interface DrawingPorts {
  readonly draw: () => void;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly frame: (draw: () => void) => number;
  readonly cancel: (frame: number) => void;
}

export const inBrowser = (draw: () => void): DrawingPorts => ({
  draw,
  now: () => performance.now(),
  frame: (draw) => requestAnimationFrame(draw),
  cancel: (frame) => cancelAnimationFrame(frame),
});

export class Drawing {
  readonly #ports: DrawingPorts;
  #frame = 0;
  #waiting: ReturnType<typeof setTimeout> | undefined;
  /** Before it, what rooms say waits. */
  #nextAt = 0;
  #lastCost = 0;

  constructor(ports: DrawingPorts) {
    this.#ports = ports;
  }

  /** The reader did something. */
  soon(): void {
    this.#forget();
    if (this.#frame === 0) this.#frame = this.#ports.frame(() => this.#draw());
  }

  /** A room said something. */
  inTurn(): void {
    if (this.#frame !== 0 || this.#waiting !== undefined) return;
    const wait = this.#nextAt - this.#ports.now();
    if (wait <= 0) return this.soon();
    this.#waiting = setTimeout(() => this.soon(), wait);
  }

  stop(): void {
    this.#forget();
    this.#ports.cancel(this.#frame);
  }

  #forget(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
  }

  #draw(): void {
    this.#frame = 0;
    const { draw, now } = this.#ports;
    const from = now();
    draw();
    const to = now();
    const cost = to - from;
    // A single draw that takes long, as that of the whole page, holds nothing up.
    this.#nextAt = to + Math.min(WAIT_MAX_MS, (SHARE - 1) * Math.min(cost, this.#lastCost));
    this.#lastCost = cost;
  }
}
