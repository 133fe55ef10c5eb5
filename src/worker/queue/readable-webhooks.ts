// Whether something in the queue of webhooks is what rooms put there. People put messages into queues by hand, too: none of
// that may cost the events that come along.
import { z } from "zod";

import { isTooDeep } from "../../protocol/nesting.ts";
import { readAs } from "../../protocol/read-as.ts";
import type { WebhookBatch } from "../../protocol/webhook-events.ts";

/** What is told of a message lies some levels down, and holds nothing that nests. */
const LEVELS_MAX = 20;

/** Of whatever type: a newer room may tell what this Worker does not know, and the receiver may. */
const event = z
  .object({ id: z.string(), type: z.string(), room: z.string(), at: z.number(), order: z.number() })
  .catchall(z.json());
const batch = z.object({ room: z.string(), events: z.array(event) });

export const isReadableWebhooks = (body: unknown): body is WebhookBatch =>
  !isTooDeep(body, LEVELS_MAX) && readAs(batch, body).success;
