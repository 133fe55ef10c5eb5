// Reads a body chunk by chunk until a deadline; the reader of a body that never ends would hold its chunks for ever. Called by uploads and
// by body.ts; src/worker/app.ts answers what was lost.

/** The sender did not send the body in time, or broke off, or wrote it wrong; the message says which. */
export class BodyLost extends Error {
  isLate = false;
}

export class TimedBody {
  /** That have come so far. */
  bytes = 0;
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
   * @returns the next chunk, or nothing at the end
   * @throws BodyLost
   */
  async next(): Promise<Uint8Array | undefined> {
    // Where the time is over, some streams end and others fail.
    const chunk = await this.#reader.read().catch(String);
    const isLate = this.#isLate;
    if (isLate || typeof chunk === "string")
      throw Object.assign(new BodyLost(isLate ? "the body took too long" : (chunk as string)), { isLate });
    this.bytes += chunk.value?.byteLength ?? 0;
    return chunk.value;
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
