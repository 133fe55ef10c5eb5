// A client that returns and asks for the changes after the newest `rev` it has knows every message as it stands, whatever the room
// and its clock did meanwhile.
import { expect, it } from "vitest";

import { CLOCK_SLACK_MS } from "../../../src/chat/messages/message-changes.ts";
import type { Message, ReactionSummary, ServerToClientEvents } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import type { Client } from "../../host/harness.ts";
import { fc, runs } from "../../host/properties.ts";

type Heard<Event extends keyof ServerToClientEvents> = Parameters<ServerToClientEvents[Event]>[0];

/** The state that a client has of all messages, from the answers that it got. */
class Reader {
  readonly messages = new Map<number, Message>();
  readonly #room: ChatRoom;
  #rev = 0;
  #client: Client | undefined;
  #heard = 0;

  constructor(room: ChatRoom) {
    this.#room = room;
  }

  async come(): Promise<void> {
    if (this.#client && !this.#client.closing) return;
    this.#client = await this.#room.join("ben");
    this.#heard = this.#client.packets.length;
    const after = Math.max(0, ...this.messages.keys());
    for (const message of (await this.#client.ask("history", { after, limit: 200 })).messages as Message[])
      this.messages.set(message.seq, message);
    for (let hasMore = true; hasMore;) {
      const page = await this.#client.ask("changes", { after: this.#rev, limit: 3 });
      for (const message of page.messages as Message[]) this.messages.set(message.seq, message);
      this.#rev = page.rev as number;
      ({ hasMore } = page);
    }
  }

  leave(): void {
    this.listen();
    this.#client?.leave();
    this.#client = undefined;
  }

  /** Takes in the events since the last time. */
  listen(): void {
    const packets = this.#client?.packets ?? [];
    for (const { data } of packets.slice(this.#heard)) if (Array.isArray(data)) this.#hear(data[0], data[1]);
    this.#heard = packets.length;
  }

  #hear(event: unknown, payload: unknown): void {
    if (event === "chat-message") this.messages.set((payload as Message).seq, payload as Message);
    if (event === "message-edited") this.#onEdited(payload as Heard<"message-edited">);
    if (event === "message-deleted") this.#onDeleted(payload as Heard<"message-deleted">);
    if (event === "reaction") this.#onReaction(payload as Heard<"reaction">);
  }

  #onEdited({ seq, rev, by, ...edit }: Heard<"message-edited">): void {
    const { mentions: _mentions, editedBy: _editedBy, ...message } = this.messages.get(seq)!;
    this.messages.set(seq, { ...message, ...edit, ...(by !== message.sender && { editedBy: by }) });
    this.#rev = rev;
  }

  #onDeleted({ seq, rev, by }: Heard<"message-deleted">): void {
    const { id, room, sender, name, timestamp } = this.messages.get(seq)!;
    const deletedBy = by === sender ? {} : { deletedBy: by };
    this.messages.set(seq, { id, seq, room, sender, name, content: "", timestamp, deleted: true, ...deletedBy });
    this.#rev = rev;
  }

  #onReaction({ seq, rev, emoji, user, on, count }: Heard<"reaction">): void {
    const { reactions = [], ...message } = this.messages.get(seq)!;
    const users = (reactions.find((summary) => summary.emoji === emoji)?.users ?? []).filter((other) => other !== user);
    const changed: ReactionSummary = { emoji, count, users: on ? [...users, user] : users };
    const isNew = reactions.every((summary) => summary.emoji !== emoji);
    const all = isNew
      ? [...reactions, changed]
      : reactions.map((summary) => (summary.emoji === emoji ? changed : summary));
    const left = all.filter((summary) => summary.count > 0);
    this.messages.set(seq, left.length > 0 ? { ...message, reactions: left } : message);
    this.#rev = rev;
  }
}

type Step =
  | { readonly do: "ask"; readonly event: string; readonly user: string; readonly payload: object }
  | { readonly do: "come" | "leave" | "sleep" | "crash" }
  | { readonly do: "clock"; readonly ms: number };

const id = fc.integer({ min: 1, max: 4 }).map((seq) => `${EPOCH}-${seq}`);
/** Mostly the author: another one may do nothing but react. */
const user = fc.constantFrom("ada", "ada", "ada", "ben");
const content = fc.constantFrom("one", "two, @ada", "three", "four");
const ask = (event: string, payload: fc.Arbitrary<object>): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constant("ask" as const), event: fc.constant(event), user, payload });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: ask("chat-message", fc.record({ content })) },
  { weight: 3, arbitrary: ask("edit-message", fc.record({ id, content })) },
  { weight: 1, arbitrary: ask("delete-message", fc.record({ id })) },
  {
    weight: 4,
    arbitrary: ask("react", fc.record({ id, emoji: fc.constantFrom("👍", "🎉"), on: fc.boolean() })),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>({ do: "come" }, { do: "leave" }, { do: "sleep" }, { do: "crash" }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("clock" as const),
      ms: fc.constantFrom(1, 1000, CLOCK_SLACK_MS, 10 * CLOCK_SLACK_MS),
    }),
  },
);

async function play(steps: readonly Step[], clockSteps: number): Promise<{ room: ChatRoom; reader: Reader }> {
  const room = new ChatRoom({ messageRate: UNLIMITED });
  const reader = new Reader(room);
  let setBack = clockSteps;
  for (const content of ["first", "second"]) void room.ask("chat-message", "ada", { content });
  room.quiet();
  for (const step of steps) {
    reader.listen();
    if (step.do === "ask") void room.ask(step.event, step.user, step.payload);
    else if (step.do === "clock") room.shell.advance(step.ms);
    else if (step.do === "come") await reader.come();
    else if (step.do === "leave") reader.leave();
    else {
      room.quiet();
      reader.listen();
      if (step.do === "crash") room.shell.crash();
      // Another machine goes on with the room, and its clock is behind.
      if (setBack-- > 0) room.shell.nowMs -= CLOCK_SLACK_MS / 4;
      if (step.do === "sleep") room.shell.evict();
    }
  }
  room.quiet();
  reader.listen();
  await reader.come();
  return { room, reader };
}

it("MSG-6: a client that asks for changes knows every message as it stands", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), fc.nat(2), async (steps, clockSteps) => {
      const { room, reader } = await play(steps, clockSteps);
      const known = [...reader.messages.values()].sort((a, b) => a.seq - b.seq);
      expect(known).toEqual(room.log.messages);
    }),
    runs(1000),
  );
});
