// A room with a webhook, and a queue that takes events, refuses them or never answers. Called by the tests of webhooks.
import type { ChatSettings } from "../../src/chat/room/room.ts";
import type { WebhookEvent } from "../../src/protocol/webhook-events.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";
import type { Client } from "./harness.ts";

export type Mood = "takes" | "refuses" | "takes and says it did not" | "is silent";

type EventOf<Type extends WebhookEvent["type"]> = Extract<WebhookEvent, { readonly type: Type }>;

export class WebhookRoom extends ChatRoom {
  readonly queue: FakeQueue;

  constructor(settings: Partial<ChatSettings> = {}) {
    const queue = new FakeQueue();
    super({ messageRate: UNLIMITED, ...settings }, {}, { deliver: queue.deliver });
    this.queue = queue;
  }
}

export class FakeQueue {
  mood: Mood = "takes";
  /** The batches that the queue took. */
  readonly batches: WebhookEvent[][] = [];
  /** Calls of `deliver`. */
  asked = 0;
  #answer: (() => void) | undefined;

  readonly deliver = async (events: readonly WebhookEvent[]): Promise<void> => {
    this.asked++;
    if (this.mood === "is silent") return new Promise((resolve) => (this.#answer = resolve));
    if (this.mood === "refuses") throw new Error("the queue is down");
    // As the queue would carry it.
    this.batches.push(JSON.parse(JSON.stringify(events)) as WebhookEvent[]);
    if (this.mood !== "takes") throw new Error("the line broke");
  };

  /** Answers the last call that got no answer. */
  answerAtLast(): void {
    this.#answer?.();
  }

  get events(): WebhookEvent[] {
    return this.batches.flat();
  }

  /** In short: `joined ada`, `posted 1 hello`. */
  get story(): string[] {
    return this.events.map(tell);
  }

  of<Type extends WebhookEvent["type"]>(type: Type): Array<EventOf<Type>> {
    return this.events.filter((event): event is EventOf<Type> => event.type === type);
  }
}

function tell(event: WebhookEvent): string {
  switch (event.type) {
    case "message.posted":
    case "message.edited":
      return `${event.type.slice(8)} ${event.data.message.seq} ${event.data.message.content}`;
    case "message.deleted":
      return `deleted ${event.data.seq} by ${event.data.by}`;
    case "member.joined":
    case "member.left":
      return `${event.type.slice(7)} ${event.data.user}`;
    case "room.occupied":
    case "room.vacated":
      return event.type.slice(5);
  }
}

export async function roomWithAda(settings = {}): Promise<{ room: WebhookRoom; ada: Client }> {
  const room = new WebhookRoom(settings);
  const ada = await room.join({ user: "ada", name: "Ada" });
  await room.pass(5000);
  return { room, ada };
}

/** The same, after the queue has taken and forgotten the first events. */
export async function withEmptyQueue(): Promise<{ room: WebhookRoom; ada: Client }> {
  const parts = await roomWithAda();
  parts.room.queue.batches.length = 0;
  return parts;
}

export async function say(client: Client, content: string): Promise<string> {
  const { id } = await client.ask<{ id: string }>("chat-message", { content });
  return id;
}

/** One after the other, each in a batch of its own. */
export async function sayAll(room: WebhookRoom, client: Client, contents: readonly string[]): Promise<void> {
  for (const content of contents) {
    await say(client, content);
    await room.pass(60);
  }
}
