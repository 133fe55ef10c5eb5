// Bounds the messages that a crowd sees in a second (CROWD-1): more than that nobody can read. The others are stored, and all members hear which
// they are, before the next message that they see. Called by room.ts.
import type { Message, NotShown } from "../../protocol/chat-events.ts";

const WINDOW_MS = 1000;

/** Messages to show together, or those to tell of that were not shown. */
export type ShownStep = { readonly shown: readonly Message[] } | { readonly notShown: NotShown };

export class ShownRate {
  readonly #perSecond: number;
  #windowFromMs = -Infinity;
  #left = 0;
  /** Messages that were not shown, and that nobody has been told of. */
  #untold: NotShown | undefined;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Until when the members have to hear of messages that were not shown, in milliseconds since 1970; `undefined` where there are none. */
  get dueMs(): number | undefined {
    return this.#untold && this.#windowFromMs + WINDOW_MS;
  }

  /** The last message before those that nobody has been told of; `undefined` where there are none. */
  get toldSeq(): number | undefined {
    return this.#untold && this.#untold.from - 1;
  }

  /** @param isAlwaysShown asked only for messages beyond the rate */
  take(messages: readonly Message[], nowMs: number, isAlwaysShown: (message: Message) => boolean): ShownStep[] {
    // A clock that was set back begins another window.
    if (nowMs < this.#windowFromMs || nowMs >= this.#windowFromMs + WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#left = this.#perSecond;
    }
    const steps: ShownStep[] = [];
    let run: Message[] = [];
    const endRun = (): void => {
      if (run.length > 0) steps.push({ shown: run });
      run = [];
    };
    for (const message of messages) {
      const { seq } = message;
      if (this.#left > 0 || isAlwaysShown(message)) {
        this.#left = Math.max(0, this.#left - 1);
        steps.push(...this.tell());
        run.push(message);
      } else {
        endRun();
        this.#untold = { from: this.#untold?.from ?? seq, to: seq };
      }
    }
    endRun();
    return steps;
  }

  /** The messages that nobody has been told of, if there are any. */
  tell(): ShownStep[] {
    const notShown = this.#untold;
    this.#untold = undefined;
    return notShown ? [{ notShown }] : [];
  }
}
