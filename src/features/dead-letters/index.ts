// Dead letters: batches of links and parts of announcements that no room took. Relay and announcements both carry this part, and a Worker
// that has both of them takes it once.
import { deadLettersOf } from "../../rpc/dead-letters.ts";
import type { InWorker } from "../../worker/feature.ts";
import { DEAD_LETTER_CALLS } from "./http.ts";

export const DEAD_LETTERS: InWorker = {
  name: "dead-letters",
  http: DEAD_LETTER_CALLS,
  gauges: async (bindings) => {
    const dead = await deadLettersOf(bindings)?.count();
    return dead === undefined ? {} : { dead_letters: [{ value: dead }] };
  },
};
