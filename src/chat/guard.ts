// Between asking and doing: every operation, by whichever door it was asked, waits for the features' leave. So a
// rule such as "who is muted may not speak" stands in one place, and no feature has to know of another's.
import type { Answer, ErrorAnswer } from "../protocol/chat-events.ts";
import type { Caller, Operation, Reply } from "./operation.ts";
import type { Feature } from "./room.ts";

/** The same operation, run only where no feature refuses it; features that want to hear the answer. */
export function guarded(event: string, operation: Operation, features: readonly Feature[]): Operation {
  return {
    ...operation,
    run: (caller, payload, reply) => {
      const refusal = firstRefusal(event, caller, features);
      if (refusal && !operation.isRepeat?.(caller, payload)) return reply(refusal);
      return operation.run(caller, payload, followed(event, caller, { features, reply }));
    },
  };
}

function firstRefusal(event: string, caller: Caller, features: readonly Feature[]): ErrorAnswer | undefined {
  for (const feature of features) {
    const refusal = feature.refuse?.(event, caller);
    if (refusal) return refusal;
  }
  return undefined;
}

function followed(
  event: string,
  caller: Caller,
  { features, reply }: { readonly features: readonly Feature[]; readonly reply: Reply<Answer<object>> },
): Reply<Answer<object>> {
  const listeners = features.flatMap((feature) => feature.follow?.(event, caller) ?? []);
  if (listeners.length === 0) return reply;
  return (answer) => {
    for (const listener of listeners) listener(answer);
    reply(answer);
  };
}
