// Changes while a client was away: the `rev` that it remembers, and the pages that follow it.
import { describe, expect, it } from "vitest";

import { CLOCK_SLACK_MS } from "../../../src/chat/messages/message-changes.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import type { Client } from "../../host/harness.ts";

const idOf = (seq: number): string => `${EPOCH}-${seq.toString(36)}`;

async function talk(messages: number): Promise<{ room: ChatRoom; ada: Client; ben: Client }> {
  const room = new ChatRoom({ messageRate: UNLIMITED });
  const [ada, ben] = [await room.join("ada"), await room.join("ben")];
  for (let i = 1; i <= messages; i++) {
    ada.emit("chat-message", { content: `text ${i}` });
    room.quiet();
  }
  room.shell.advance(2 * CLOCK_SLACK_MS);
  return { room, ada, ben };
}

const revOf = (client: Client): number => (client.received("welcome").at(-1) as { rev: number }).rev;

describe("MSG-6: changes", () => {
  it("are the changes of messages after the newest rev that a client has", async () => {
    const { room, ada, ben } = await talk(4);
    await ada.ask("edit-message", { id: idOf(1), content: "before" });
    const { rev } = ben.received("message-edited")[0] as { rev: number };
    ben.leave();
    room.shell.advance(2 * CLOCK_SLACK_MS);
    room.shell.evict();
    await ada.ask("react", { id: idOf(3), emoji: "👍", on: true });
    await ada.ask("delete-message", { id: idOf(2) });
    await ada.ask("edit-message", { id: idOf(3), content: "after" });
    room.shell.advance(2 * CLOCK_SLACK_MS);
    room.shell.evict();
    const back = await room.join("ben");
    const answer = await back.ask("changes", { after: rev + CLOCK_SLACK_MS });
    const { messages } = await back.ask("history", {});
    expect(answer).toEqual({ ok: true, messages: [messages[1], messages[2]], rev: revOf(back), hasMore: false });
    expect(messages.slice(1, 3)).toMatchObject([{ deleted: true }, { content: "after", reactions: [{ count: 1 }] }]);
    expect(await back.ask("changes", { after: answer.rev })).toMatchObject({ messages: [] });
  });

  it("come in pages, each message once, at the place of its last change", async () => {
    const { ada } = await talk(5);
    for (const [at, seq] of [5, 1, 3, 2, 5].entries())
      await ada.ask("react", { id: idOf(seq), emoji: `:${at}:`, on: true });
    const seen: number[] = [];
    let page = { rev: 0, hasMore: true, messages: [] as Message[] };
    while (page.hasMore) {
      page = await ada.ask("changes", { after: page.rev, limit: 2 });
      seen.push(...page.messages.map(({ seq }) => seq));
    }
    expect(seen).toEqual([1, 3, 2, 5]);
  });

  it("may repeat a change, and never miss one, also where the clock went back between two incarnations of a room", async () => {
    const { room, ada, ben } = await talk(2);
    await ada.ask("edit-message", { id: idOf(1), content: "edited" });
    const { rev } = ben.received("message-edited")[0] as { rev: number };
    room.shell.crash();
    room.shell.nowMs -= CLOCK_SLACK_MS / 2;
    const [again, back] = [await room.join("ada"), await room.join("ben")];
    await again.ask("delete-message", { id: idOf(2) });
    for (const after of [rev, revOf(back)]) {
      const { messages } = await back.ask("changes", { after });
      expect(messages).toContainEqual(expect.objectContaining({ seq: 2, deleted: true }));
    }
  });

  it("leave out messages that the room has dropped", async () => {
    const { room, ada } = await talk(3);
    for (const seq of [1, 3]) await ada.ask("edit-message", { id: idOf(seq), content: "edited" });
    room.log.retention = { messages: 1, ageMs: Infinity };
    await ada.ask("chat-message", { content: "the last" });
    expect(await ada.ask("changes", { after: 0 })).toMatchObject({ ok: true, messages: [], hasMore: false });
  });
});

describe("MSG-7: recovery", () => {
  /** A member whose client can recover: the test disconnects it. */
  async function traveller(room: ChatRoom, user: string): Promise<{ rev: number; back: () => Promise<Client> }> {
    const client = await room.join(user, RECOVERS);
    const [{ rev }] = client.received("welcome") as [{ rev: number }];
    client.leave();
    return { rev, back: () => room.join(user, RECOVERS, recoveryAuthOf(client)) };
  }

  it("replays messages as they stand now, and `changes` has the older ones", async () => {
    const { room, ada } = await talk(1);
    const cleo = await traveller(room, "cleo");
    await ada.ask("edit-message", { id: idOf(1), content: "edited" });
    for (let i = 2; i <= 3; i++) ada.emit("chat-message", { content: `missed ${i}` });
    room.quiet();
    await ada.ask("edit-message", { id: idOf(2), content: "edited, too" });
    await ada.ask("delete-message", { id: idOf(3) });
    const back = await cleo.back();
    expect(back.received("chat-message")).toMatchObject([
      { seq: 2, content: "edited, too" },
      { seq: 3, content: "", deleted: true },
    ]);
    expect(back.received("welcome")).toHaveLength(1);
    const { messages } = await back.ask("changes", { after: cleo.rev });
    expect(messages.map(({ seq, content }: Message) => [seq, content])).toEqual([
      [1, "edited"],
      [2, "edited, too"],
      [3, ""],
    ]);
  });

  it("replays no message that was deleted after it was replayed to another client", async () => {
    const { room, ada } = await talk(1);
    const travellers = [await traveller(room, "cleo"), await traveller(room, "dora")];
    ada.emit("chat-message", { content: "missed" });
    room.quiet();
    expect((await travellers[0]!.back()).received("chat-message")).toMatchObject([{ content: "missed" }]);
    await ada.ask("delete-message", { id: idOf(2) });
    expect((await travellers[1]!.back()).received("chat-message")).toMatchObject([{ content: "", deleted: true }]);
  });
});
