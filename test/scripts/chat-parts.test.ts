// The queues that create-parley adds have the batches and retries of this repository's own deployment, and the doctor's.
import path from "node:path";

import { expect, it } from "vitest";

import { QUEUES } from "../../scripts/chat-parts.ts";
import { readConfig } from "../../scripts/create-parley/existing/config-file.ts";

it.each(QUEUES)("$binding is consumed as in wrangler.toml", ({ suffix, consumer, dead }) => {
  const { config } = readConfig(path.join(import.meta.dirname, "../.."));
  const consumers = config.queues!.consumers!;
  expect(consumers).toContainEqual({
    queue: `parley${suffix}`,
    ...consumer,
    dead_letter_queue: `parley${dead.suffix}`,
  });
  const ofDead = consumers.filter(({ queue }) => queue === `parley${dead.suffix}`);
  expect(ofDead).toEqual(dead.consumer ? [{ queue: `parley${dead.suffix}`, ...dead.consumer }] : []);
});
