// Between asking and doing: every operation, by whichever door it was asked, waits for the features' leave. So a
// rule such as "who is muted may not speak" stands in one place, and no feature has to know of another's.
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import type { Caller, Reply } from "./operation.ts";
import type { Feature } from "./room.ts";

/** Whom a room asks before it does what it was asked, and whom it tells of the answer. */
export class Guard {
  readonly #features: readonly Feature[];
  /** Takes what it costs from the caller's bucket of requests, or says when there is enough in it. */
  readonly refuseCost: (caller: Caller, cost: number) => ErrorAnswer | undefined;

  constructor(features: readonly Feature[], refuseCost: Guard["refuseCost"]) {
    this.#features = features;
    this.refuseCost = refuseCost;
  }

  /** Why a feature does not let it happen, if any does not. */
  refuse(event: string, caller: Caller): ErrorAnswer | undefined {
    for (const feature of this.#features) {
      const refusal = feature.refuse?.(event, caller);
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** The same reply, which features that follow what comes of it hear first. */
  followed(event: string, caller: Caller, reply: Reply<Answer<object>>): Reply<Answer<object>> {
    const listeners = this.#features.flatMap((feature) => feature.follow?.(event, caller) ?? []);
    if (listeners.length === 0) return reply;
    return (answer) => {
      for (const listener of listeners) listener(answer);
      reply(answer);
    };
  }
}
