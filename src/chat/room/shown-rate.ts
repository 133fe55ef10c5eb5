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
  /** Whose messages were shown in this window. */
  readonly #shown = new Set<string>();
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

  /** @param isAlwaysShown asked only for messages that have no place by the rate */
  take(messages: readonly Message[], nowMs: number, isAlwaysShown: (message: Message) => boolean): ShownStep[] {
    // A clock that was set back begins another window.
    if (nowMs < this.#windowFromMs || nowMs >= this.#windowFromMs + WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#left = this.#perSecond;
      this.#shown.clear();
    }
    const steps: ShownStep[] = [];
    let run: Message[] = [];
    const endRun = (): void => {
      if (run.length > 0) steps.push({ shown: run });
      run = [];
    };
    for (const message of messages) {
      const { seq, sender } = message;
      if (this.#hasPlaceFor(sender) || isAlwaysShown(message)) {
        this.#left = Math.max(0, this.#left - 1);
        this.#shown.add(sender);
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

  /** The last places are for those who had none: one member alone, as fast as the room allows, would take all of them. */
  #hasPlaceFor(sender: string): boolean {
    return this.#left > 0 && (2 * this.#left >= this.#perSecond || !this.#shown.has(sender));
  }

  /** The messages that nobody has been told of, if there are any. */
  tell(): ShownStep[] {
    const notShown = this.#untold;
    this.#untold = undefined;
    return notShown ? [{ notShown }] : [];
  }
}
