// Lives of a log: names that grow, and ids that say in which of them a message was posted.
import { describe, expect, it } from "vitest";

import { nameLife, UNNAMED_LIFE } from "../../../src/socketio/recovery/lives.ts";
import { messageId, placeOf } from "../../../src/chat/log/message-id.ts";
import { ChatRoom, EPOCH } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";

describe("a life's name", () => {
  it("is higher than those of all lives before it, whatever the clock says", () => {
    let name = UNNAMED_LIFE;
    for (const nowMs of [START_MS, START_MS, START_MS + 10, START_MS - 3_600_000, START_MS + 60_000, 0]) {
      const next = nameLife(nowMs, "chance", name);
      expect(next > name, `${next} after ${name}`).toBe(true);
      expect(next).toMatch(/^[0-9a-z]{10}$/);
      name = next;
    }
  });

  it("is another one for each object that opens the same log in the same second", () => {
    expect(nameLife(START_MS, "abc", UNNAMED_LIFE)).not.toBe(nameLife(START_MS, "abd", UNNAMED_LIFE));
    expect(nameLife(START_MS, "-", UNNAMED_LIFE)).toMatch(/^[0-9a-z]{10}$/);
  });
});

describe("an id", () => {
  it("says where its message is, and in which life it was posted", () => {
    const life = nameLife(START_MS, "abc", UNNAMED_LIFE);
    expect(placeOf("e1", messageId("e1", 71, life))).toEqual({ seq: 71, life });
    expect(placeOf("e1", messageId("e1", 71))).toEqual({ seq: 71, life: UNNAMED_LIFE });
  });

  it.each(["e1", "e1-", "e1-01", "e1-Z", "e2-1", "-1", "", "e1x", "e1-1.5"])("%j is none of this log", (id) => {
    expect(placeOf("e1", id)).toBeUndefined();
  });
});

describe("CHAT-9: an id of a life that a restored backup took away", () => {
  it.each(["get-message", "edit-message", "delete-message", "react", "reactions", "versions"])(
    "is NOT_FOUND for %s, though another message stands there now",
    async (event) => {
      const room = new ChatRoom();
      const mona = await room.join({ user: "mona", role: "moderator" });
      room.log.life = "0000000new";
      const { id } = await mona.ask("chat-message", { content: "new" });
      expect(id).toBe(messageId(EPOCH, 1, "0000000new"));
      const payload = { content: "changed", emoji: "+", on: true };
      for (const lost of [messageId(EPOCH, 1, "0000000old"), messageId(EPOCH, 1)])
        expect(await mona.ask(event, { ...payload, id: lost })).toMatchObject({ error: { code: "NOT_FOUND" } });
      expect(await mona.ask(event, { ...payload, id })).toMatchObject({ ok: true });
    },
  );

  it("cannot be answered", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    room.log.life = "0000000new";
    const { id } = await ada.ask("chat-message", { content: "new" });
    const lost = messageId(EPOCH, 1, "0000000old");
    const answer = await ada.ask("chat-message", { content: "yes", replyTo: lost });
    expect(answer).toMatchObject({ error: { code: "NOT_FOUND" } });
    const post = ada.call("chat-message", { content: "yes", replyTo: id });
    room.quiet();
    expect(post.answer).toMatchObject({ ok: true });
  });
});
