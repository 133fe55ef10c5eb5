// Webhooks: a room's events for the operator's server, by a queue. Off while WEBHOOK_URL is not set.
import type { Feature } from "../../extension/extension.ts";
import type { WebhookEvent } from "../../protocol/webhook-events.ts";
import type { BuiltIn } from "../built-in.ts";
import { deliverWebhooks, replayDeadWebhooks } from "./consumer.ts";
import { Webhooks } from "./webhooks.ts";

const signs = ["WEBHOOKS", "WEBHOOK_URL"];

const FEATURE: BuiltIn = {
  name: "webhooks",
  roomPart: (room, { direct }, { env: { WEBHOOKS }, settings: { webhookUrl } }) => {
    if (direct.isDirect || webhookUrl === undefined || !WEBHOOKS) return undefined;
    const deliver = async (events: readonly WebhookEvent[]): Promise<void> =>
      void (await WEBHOOKS.send({ room: room.name, events }));
    return new Webhooks(room, deliver);
  },
  queues: {
    webhooks: { suffix: "-webhooks", signs, binding: "WEBHOOKS", consume: deliverWebhooks },
    webhooksDead: { suffix: "-webhooks-dead", signs, binding: "WEBHOOKS_DEAD", consume: replayDeadWebhooks },
  },
  // HOOK-6.
  needs: ({ webhookUrl }, bindings, names) =>
    webhookUrl === undefined || names.webhooks === false
      ? []
      : ["WEBHOOKS", "WEBHOOKS_DEAD"]
          .filter((name) => !bindings[name])
          .map((name) => `WEBHOOK_URL: needs the queue binding ${name}, which the Wrangler configuration lacks`),
};

export const webhooks = (): Feature => FEATURE;
