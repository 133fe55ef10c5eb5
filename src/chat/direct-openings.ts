// How many conversations a user may begin (DM-5): each is a room with a row of its own, and an entry in the other one's list,
// who is not asked. Called by the rooms for the event, and by the Worker for the call.
import type { OpenDirectAnswer } from "../protocol/direct-events.ts";
import { refuse } from "./answers.ts";
import { Buckets, type RateLimit } from "./rate-limit.ts";

/** DM-5: twenty at once, then ten a minute. */
export const OPENINGS: RateLimit = { perSecond: 10 / 60, burst: 20 };

export class DirectOpenings {
  readonly #buckets = new Buckets(OPENINGS);

  /**
   * Opens one for a user who may. What was open before costs nothing.
   * @param now in milliseconds since 1970
   */
  async open(user: string, now: () => number, open: () => Promise<OpenDirectAnswer>): Promise<OpenDirectAnswer> {
    const taking = this.#buckets.take(user, now());
    if (!taking.ok)
      return refuse("RATE_LIMITED", "Rate limit exceeded: too many new conversations.", taking.retryAfterMs);
    const answer = await open();
    if ("error" in answer || !answer.isNew) this.#buckets.charge(user, now(), -1);
    return answer;
  }
}

/** Of this isolate, by whichever way they are opened. */
export const directOpenings = new DirectOpenings();
