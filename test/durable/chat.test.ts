// Promises of a room that need a real object: order, durability, and storage failures.
import { runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import type { Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

const seqsOf = (client: RawClient): number[] => client.received<Message>("chat-message").map(({ seq }) => seq);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

it("all members see the same messages in the same order, before their senders get the acks: CHAT-2", async () => {
  const room = freshRoom();
  const members = await Promise.all(upTo(20).map((i) => join(room, `user-${i}`)));
  const posts = members.flatMap((member, user) =>
    upTo(10).map((i) => member.call<PostAnswer>("chat-message", { content: `${user}: ${i}` })),
  );
  // The server sends the ack of the last message after it.
  for (const member of members) await member.receives("chat-message", posts.length);
  for (const member of members)
    await member.until("the acks", () => member.packets.filter(({ type }) => type === PacketType.ACK)[9]);
  expect(posts.every(({ answer }) => "ok" in answer)).toBe(true);
  const [first, ...others] = members.map((member) => member.received<Message>("chat-message"));
  expect(first!.map(({ seq }) => seq)).toEqual(upTo(posts.length));
  for (const messages of others) expect(messages).toEqual(first);
  // Each user's own messages stand in the order they were sent in.
  for (let user = 0; user < members.length; user++) {
    const own = first!.filter(({ sender }) => sender === `user-${user + 1}`).map(({ content }) => content);
    expect(own).toEqual(upTo(10).map((i) => `${user}: ${i}`));
  }
  for (const { packets } of members) {
    const acks = packets.flatMap(({ type, data }, index) =>
      type === PacketType.ACK ? [{ index, seq: (data as [{ seq: number }])[0].seq }] : [],
    );
    expect(acks).toHaveLength(10);
    for (const { index, seq } of acks) {
      const seenAt = packets.findIndex(({ type, data }) => {
        if (type !== PacketType.EVENT) return false;
        const [event, message] = data as [string, Message];
        return event === "chat-message" && message.seq === seq;
      });
      expect(seenAt).toBeGreaterThan(-1);
      expect(seenAt).toBeLessThan(index);
    }
  }
});

it("a message that cannot be stored is not shown, is answered INTERNAL, and skips no seq", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const ben = await join(room, "ben");
  await ada.ask("chat-message", { content: "before" });
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await breakStorage(room, true);
  const answer = await ada.ask("chat-message", { content: "lost", clientMsgId: "again" });
  expect(answer).toMatchObject({ error: { code: "INTERNAL", message: expect.any(String) } });
  await breakStorage(room, false);
  expect(log.mock.calls.flat().join(" "), "what the operator reads").toContain(room);
  log.mockRestore();
  // Sent again, it is no duplicate: it was never stored.
  const again = await ada.ask("chat-message", { content: "found", clientMsgId: "again" });
  expect(again).toMatchObject({ ok: true, seq: 2 });
  expect(again["duplicate"]).toBeUndefined();
  await ben.receives("chat-message", 2);
  expect(ben.received<Message>("chat-message").map(({ content }) => content)).toEqual(["before", "found"]);
  expect(seqsOf(ben)).toEqual([1, 2]);
});

/** Makes every insert of a room fail, as on a full disk, or undoes that. */
function breakStorage(room: string, broken: boolean): Promise<void> {
  return runInDurableObject(stubOf(room), (_instance, { storage: { sql } }) => {
    const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'";
    for (const { name } of sql.exec<{ name: string }>(query).toArray()) {
      const trigger = `"full_${name}"`;
      if (!broken) sql.exec(`DROP TRIGGER ${trigger}`);
      else sql.exec(`CREATE TRIGGER ${trigger} BEFORE INSERT ON "${name}" BEGIN SELECT RAISE(ABORT, 'full'); END`);
    }
  });
}
