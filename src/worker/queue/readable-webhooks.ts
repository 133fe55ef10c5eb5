// Checks the shape of messages in the webhooks' queue. Operators put messages there by hand; such a message must not hold up events. Used
// by webhooks.ts and dead-webhooks.ts.
import { z } from "zod";

import { readAs } from "../../protocol/read-as.ts";
import type { WebhookBatch } from "../../protocol/webhook-events.ts";

export const STRANGE = "it is not shaped like what rooms tell";

/** Of any type: the receiver may know types of newer rooms that this Worker does not know. */
const event = z.looseObject({
  id: z.string(),
  type: z.string(),
  room: z.string(),
  at: z.number(),
  order: z.number(),
  data: z.looseObject({}),
});
const batch = z.object({ room: z.string(), events: z.array(event).min(1) });

const isReadable = (body: unknown): body is WebhookBatch => readAs(batch, body).success && isJson(body);

/** Separates messages that can be delivered from the others. */
export function sortOut(messages: readonly Message[]): [Array<Message<WebhookBatch>>, Message[]] {
  const readable: Array<Message<WebhookBatch>> = [];
  const strange: Message[] = [];
  for (const message of messages) {
    if (isReadable(message.body)) readable.push(message as Message<WebhookBatch>);
    else strange.push(message);
  }
  return [readable, strange];
}

/** Describes anything for the log. */
export function describeWebhooks(body: unknown): { readonly rooms: readonly string[]; readonly events: number } {
  return isReadable(body) ? { rooms: [body.room], events: body.events.length } : { rooms: [], events: 0 };
}

/** A queue carries all that can be cloned, a POST carries JSON. */
function isJson(body: unknown): boolean {
  try {
    JSON.stringify(body);
    return true;
  } catch {
    return false;
  }
}
