// Tour chapter: the webhooks that a room sends to a backend. Skipped unless the server's WEBHOOK_URL points to the tour.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { text } from "node:stream/consumers";

import type { WebhookDelivery, WebhookEvent } from "../../../src/protocol/webhook-events.ts";
import { good, type Stage } from "../stage.ts";

const PATIENCE_MS = 15_000;

export interface Hook {
  readonly url: string;
  readonly secret: string;
}

export async function webhooks(stage: Stage, hook: Hook | undefined): Promise<void> {
  stage.chapter("Webhooks");
  if (!hook || new URL(hook.url).hostname !== "127.0.0.1") {
    await stage.step(
      "to see them, give the server and the tour a place on this machine",
      () => "WEBHOOK_URL=http://127.0.0.1:9099/hook WEBHOOK_SECRET=a-long-random-text npm start",
    );
    return;
  }
  const receiver = new Receiver(hook);
  await receiver.listen();
  try {
    const ada = await stage.enter("ada");
    const { id } = good(await ada.ask("chat-message", { content: "Does anybody listen?" }));
    await stage.step("ada posts; this program gets a signed webhook, with ids against doubles", () =>
      receiver.hears((event) => event.type === "message.posted" && event.data.message.id === id),
    );
    ada.leave();
    await stage.step("she leaves, and does not come back within the grace", () =>
      receiver.hears(({ type, room }) => type === "member.left" && room === stage.room),
    );
  } finally {
    receiver.close();
  }
}

class Receiver {
  readonly #hook: Hook;
  readonly #server: Server;
  readonly #events: WebhookEvent[] = [];

  constructor(hook: Hook) {
    this.#hook = hook;
    this.#server = createServer((request, response) => {
      void this.#receive(request).then((status) => response.writeHead(status).end());
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(Number(new URL(this.#hook.url).port), "127.0.0.1");
    await once(this.#server, "listening");
  }

  async #receive(request: IncomingMessage): Promise<number> {
    const delivered = await text(request);
    const signed = `${request.headers["parley-timestamp"] as string}.${delivered}`;
    const signature = `v1=${createHmac("sha256", this.#hook.secret).update(signed).digest("hex")}`;
    if (request.headers["parley-signature"] !== signature) return 401;
    this.#events.push(...(JSON.parse(delivered) as WebhookDelivery).events);
    this.#server.emit("told");
    return 204;
  }

  async hears(passes: (event: WebhookEvent) => boolean): Promise<WebhookEvent> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const event = this.#events.find(passes);
      if (event) return event;
      await once(this.#server, "told", { signal });
    }
  }

  close(): void {
    this.#server.close();
  }
}
