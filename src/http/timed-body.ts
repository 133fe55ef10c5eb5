// Reads a body piece by piece until a deadline; the reader of a body that never ends would hold its pieces for ever. Called by uploads and
// by body.ts.

/** The body did not come in time. */
export class BodyTooLate extends Error {}

export class TimedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #timer: ReturnType<typeof setTimeout>;
  #isLate = false;

  constructor(stream: ReadableStream<Uint8Array>, msMax: number) {
    this.#reader = stream.getReader();
    // A client that breaks off makes `next` fail, which is enough.
    this.#reader.closed.catch(() => {});
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      void this.cancel().catch(() => {});
    }, msMax);
  }

  /**
   * @returns the next piece, or nothing at the end
   * @throws BodyTooLate when the time is over
   */
  async next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#reader.read();
    if (this.#isLate) throw new BodyTooLate();
    return done ? undefined : value;
  }

  /** Nothing more of it is wanted. */
  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }

  /** It is read, or left to itself. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
