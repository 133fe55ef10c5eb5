// Whether something in the queue of webhooks has the shape of what rooms put there. People put messages into queues by hand,
// too: none of that may keep the events that come along from the receiver.
import { z } from "zod";

import { readAs } from "../../protocol/read-as.ts";
import type { WebhookBatch } from "../../protocol/webhook-events.ts";

export const STRANGE = "it is not shaped like what rooms tell";

/** Of whatever type: a newer room may tell what this Worker does not know, and the receiver may. */
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

/** Those that can be delivered, and the others. */
export function sortOut(messages: readonly Message[]): [Array<Message<WebhookBatch>>, Message[]] {
  const readable: Array<Message<WebhookBatch>> = [];
  const strange: Message[] = [];
  for (const message of messages) {
    if (isReadable(message.body)) readable.push(message as Message<WebhookBatch>);
    else strange.push(message);
  }
  return [readable, strange];
}

/** What can be said of it in the log, whatever it is. */
export function describeWebhooks(body: unknown): { readonly rooms: readonly string[]; readonly events: number } {
  return isReadable(body) ? { rooms: [body.room], events: body.events.length } : { rooms: [], events: 0 };
}

/** A queue carries whatever can be cloned, a POST does not. */
function isJson(body: unknown): boolean {
  try {
    JSON.stringify(body);
    return true;
  } catch {
    return false;
  }
}
