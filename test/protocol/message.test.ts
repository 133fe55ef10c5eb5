// Tests of the functions on a message's fields: ids, which contain the incarnation of their log, so that after a restored backup the id of a lost
// message names no other one (CHAT-9), and texts, which have one normal form (MSG-12).
import { describe, expect, it } from "vitest";

import { CHAT_EVENTS } from "../../src/protocol/chat-events.ts";
import { messageId, normalContent, parseMessageId } from "../../src/protocol/message.ts";
import { nameIncarnation, UNNAMED_INCARNATION } from "../../src/storage/incarnations.ts";
import { ChatRoom } from "../host/chat-room.ts";
import { START_MS } from "../host/harness.ts";
import { EPOCH } from "../host/memory-log.ts";

describe("an id", () => {
  it("contains the position of its message, and the incarnation in which it was posted", () => {
    const incarnation = nameIncarnation(START_MS, "abc", UNNAMED_INCARNATION);
    expect(parseMessageId("e1", messageId("e1", 71, incarnation))).toEqual({ seq: 71, incarnation });
    expect(parseMessageId("e1", messageId("e1", 71))).toEqual({ seq: 71, incarnation: UNNAMED_INCARNATION });
  });

  it.each(["e1", "e1-", "e1-01", "e1-Z", "e2-1", "-1", "", "e1x", "e1-1.5"])("%j is none of this log", (id) => {
    expect(parseMessageId("e1", id)).toBeUndefined();
  });
});

describe("CHAT-9: an id of an incarnation that a restored backup removed", () => {
  it.each(CHAT_EVENTS.filter(({ schema }) => "id" in schema.shape).map(({ name }) => name))(
    "is NOT_FOUND for %s, though another message stands there now",
    async (event) => {
      const room = new ChatRoom();
      const mona = await room.join({ user: "mona", role: "moderator" });
      room.log.incarnation = "0000000new";
      const { id } = await mona.ask("chat-message", { content: "new" });
      expect(id).toBe(messageId(EPOCH, 1, "0000000new"));
      const payload = { content: "changed", emoji: "+", on: true, seq: 1 };
      for (const lost of [messageId(EPOCH, 1, "0000000old"), messageId(EPOCH, 1)])
        expect(await mona.ask(event, { ...payload, id: lost })).toMatchObject({ error: { code: "NOT_FOUND" } });
      expect(await mona.ask(event, { ...payload, id })).toMatchObject({ ok: true });
    },
  );

  it("cannot be answered", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    room.log.incarnation = "0000000new";
    const { id } = await ada.ask("chat-message", { content: "new" });
    const lost = messageId(EPOCH, 1, "0000000old");
    const answer = await ada.ask("chat-message", { content: "yes", replyTo: lost });
    expect(answer).toMatchObject({ error: { code: "NOT_FOUND" } });
    const post = ada.call("chat-message", { content: "yes", replyTo: id });
    room.quiet();
    expect(post.answer).toMatchObject({ ok: true });
  });
});

describe("MSG-12: a content", () => {
  it.each([
    ["a\r\nb\rc", "a\nb\nc"],
    ["a\vb\fc\u0085d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"],
    ["  hello  ", "hello"],
    ["\n \n  hello\n\n", "hello"],
    ["    if (x) {\n        y();\n    }\n", "    if (x) {\n        y();\n    }"],
    ["\r\n\tq:\r\n\t\tr\r\n", "\tq:\n\t\tr"],
    ["```js\r\n  x\r\n```", "```js\n  x\n```"],
    ["a\0b\u0007c\u009Fd\te", "abcd\te"],
    ["\uD83D!", "\uFFFD!"],
    ["👩‍🚀 ❤️", "👩‍🚀 ❤️"],
    ["می‌شود", "می‌شود"],
  ])("%j is kept as %j", (given, kept) => {
    expect(normalContent(given)).toBe(kept);
    expect(normalContent(kept)).toBe(kept);
  });

  it.each([
    "",
    " \n\t",
    "\0",
    "\u200B",
    "\u2060\u200D",
    "\uFEFF \u00AD",
    "\u2800",
    "\u3164\u115F",
    "\u{E0020}",
    "\uFE0F",
    "\u202E",
  ])("%j is empty: nothing of it can be seen", (given) => {
    expect(normalContent(given)).toBe("");
  });
});
