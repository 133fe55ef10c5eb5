// The property of webhooks: through sleep, crashes and failures, the queue gets every event, and a receiver that applies them ends with
// the true state.
import { expect, it } from "vitest";

import { RESTART_GRACE_MS } from "../../../src/features/webhooks/presence-feed.ts";
import { WEBHOOK_RETRY_MS } from "../../../src/features/webhooks/webhooks.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import type { WebhookEvent } from "../../../src/protocol/webhook-events.ts";
import type { Client } from "../../host/harness.ts";
import { fc, runs } from "../../host/properties.ts";
import { WebhookRoom, type Mood } from "../../host/webhook-room.ts";

type Step =
  | { readonly do: "come" | "go"; readonly user: string }
  | { readonly do: "post"; readonly count: number }
  | { readonly do: "edit" | "delete" | "react"; readonly seq: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "queue"; readonly mood: Mood }
  | { readonly do: "sleep" | "evict" | "crash" | "storage fails" | "storage works" };

const user = fc.constantFrom("ada", "ben", "cleo");
const seq = fc.integer({ min: 1, max: 8 });
const moods = fc.constantFrom<Mood>("takes", "takes", "refuses", "takes and says it did not", "is silent");

const calm: Array<fc.WeightedArbitrary<Step>> = [
  { weight: 4, arbitrary: fc.record({ do: fc.constant("post"), count: fc.constantFrom(1, 1, 2, 150) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("edit", "edit", "delete", "react"), seq }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("come", "go"), user }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(0, 60, 1500, 6100, 12_000, 40_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("queue"), mood: moods }) },
  { weight: 3, arbitrary: fc.constant({ do: "sleep" }) },
  { weight: 2, arbitrary: fc.constant({ do: "crash" }) },
];

const rough: Array<fc.WeightedArbitrary<Step>> = [
  ...calm,
  { weight: 3, arbitrary: fc.constant({ do: "evict" }) },
  { weight: 3, arbitrary: fc.constantFrom({ do: "storage fails" as const }, { do: "storage works" as const }) },
];

const programOf = (steps: Array<fc.WeightedArbitrary<Step>>): fc.Arbitrary<Step[]> =>
  fc.array(fc.oneof(...steps), { maxLength: 40 });

class Life {
  readonly room: WebhookRoom;
  tabs: Array<{ readonly user: string; readonly client: Client }> = [];
  #texts = 0;

  constructor(room: WebhookRoom) {
    this.room = room;
  }

  async take(step: Step): Promise<void> {
    const { room } = this;
    switch (step.do) {
      case "come":
        return void this.tabs.push({ user: step.user, client: await room.join(step.user) });
      case "go":
        return this.#go(step.user);
      case "post":
        for (let i = 0; i < step.count; i++) room.call("chat-message", "ada", { content: `text ${++this.#texts}` });
        return room.pass(0);
      case "edit":
      case "delete":
      case "react":
        this.#change(step.do, step.seq);
        return room.pass(0);
      case "wait":
        return room.pass(step.ms);
      case "queue":
        room.queue.mood = step.mood;
        return;
      case "sleep":
        await room.pass(1500);
        if (room.shell.canSleep) room.shell.evict();
        return;
      case "evict":
        return room.shell.evict();
      case "crash":
        room.shell.crash();
        this.tabs = [];
        return;
      case "storage fails":
      case "storage works":
        room.state.failure = step.do === "storage fails" ? new Error("disk full") : undefined;
    }
  }

  #go(user: string): void {
    const at = this.tabs.findIndex((tab) => tab.user === user);
    if (at >= 0) this.tabs.splice(at, 1)[0]!.client.leave();
  }

  #change(what: "edit" | "delete" | "react", seqAsked: number): void {
    const id = this.room.log.messages[seqAsked - 1]?.id ?? "none";
    if (what === "edit") this.room.call("edit-message", "ada", { id, content: `edit ${++this.#texts}` });
    else if (what === "delete") this.room.call("delete-message", "ada", { id });
    else this.room.call("react", "ada", { id, emoji: "👍", on: ++this.#texts % 2 === 0 });
  }

  /** All that was in the way is over, and time enough passes. */
  async end(): Promise<void> {
    this.room.queue.mood = "takes";
    this.room.state.failure = undefined;
    await this.room.pass(WEBHOOK_RETRY_MS.max + RESTART_GRACE_MS + 60_000);
  }
}

/** The state of a receiver: each event counts once, and of each message and member the latest. */
function booksOf(events: readonly WebhookEvent[]): {
  messages: Map<string, Message | "deleted">;
  members: Set<string>;
  isOccupied: boolean;
} {
  const known = new Map(events.toReversed().map((event) => [event.id, event]));
  const messages = new Map<string, Message | "deleted">();
  const members = new Set<string>();
  let isOccupied = false;
  for (const event of [...known.values()].sort((a, b) => a.order - b.order)) {
    if (event.type === "message.deleted") messages.set(event.data.id, "deleted");
    else if ("message" in event.data) messages.set(event.data.message.id, event.data.message);
    else if (event.type === "member.joined") members.add(event.data.user);
    else if (event.type === "member.left") members.delete(event.data.user);
    else isOccupied = event.type === "room.occupied";
  }
  return { messages, members, isOccupied };
}

function expectMessagesTold({ log, queue }: WebhookRoom): void {
  const seqs = [...new Set(queue.of("message.posted").map(({ data }) => data.message.seq))];
  expect(seqs, "every message, at least once, in order").toEqual(log.appended.map((message) => message.seq));
  const { messages } = booksOf(queue.events);
  for (const { id, content, deleted } of log.messages) {
    const known = messages.get(id)!;
    if (deleted) expect(known, `${id} is deleted`).toBe("deleted");
    else expect((known as Message).content, `what ${id} says`).toBe(content);
  }
}

it("HOOK-3: every message, edit and deletion is sent at least once and in order, through all failures", async () => {
  await fc.assert(
    fc.asyncProperty(programOf(rough), fc.constantFrom("strict", "relaxed"), async (steps, durability) => {
      const life = new Life(new WebhookRoom({ durability }));
      for (const step of steps) await life.take(step);
      await life.end();
      expectMessagesTold(life.room);
    }),
    runs(400),
  );
});

it("HOOK-4: a receiver that applies the events knows the members, through all failures", async () => {
  await fc.assert(
    fc.asyncProperty(programOf(calm), async (steps) => {
      const life = new Life(new WebhookRoom());
      for (const step of steps) await life.take(step);
      await life.end();
      expectMessagesTold(life.room);
      const { members, isOccupied } = booksOf(life.room.queue.events);
      const present = new Set(life.tabs.map(({ user: here }) => here));
      expect(members).toEqual(present);
      expect(isOccupied).toBe(present.size > 0);
    }),
    runs(400),
  );
});
