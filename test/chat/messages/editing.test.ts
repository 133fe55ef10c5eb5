// Messages that change: edits, deletions, and the parts that stay.
import { describe, expect, it } from "vitest";

import { EDITS_KEPT_CHARS_MAX, EDITS_KEPT_MAX } from "../../../src/chat/messages/editing.ts";
import { ChatRoom, ROOM, roomWith } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { START_MS, type Client } from "../../host/harness.ts";

const MODERATOR = { user: "mona", role: "moderator" } as const;
const READER = { user: "rita", role: "reader" } as const;
const ID = `${EPOCH}-1`;

/** ada has said "hello" and ben listens; so do a moderator and a reader. */
async function talk(): Promise<{ room: ChatRoom; ada: Client; ben: Client; mona: Client; rita: Client }> {
  const { room, people } = await roomWith("ada", "ben", MODERATOR, READER);
  const [ada, ben, mona, rita] = people as [Client, Client, Client, Client];
  await ada.ask("chat-message", { content: "hello" });
  room.quiet();
  return { room, ada, ben, mona, rita };
}

const history = async (client: Client): Promise<unknown[]> => (await client.ask("history", {})).messages as unknown[];

describe("MSG-1: edit-message", () => {
  it("changes an author's message for everyone and in the history", async () => {
    const { room, ada, ben } = await talk();
    const editedAt = room.shell.nowMs;
    expect(await ada.ask("edit-message", { id: ID, content: " hello, @ben " })).toEqual({ ok: true, editedAt });
    const edit = { content: "hello, @ben", editedAt, mentions: ["ben"] };
    const heard = { id: ID, seq: 1, ...edit, by: "ada", rev: expect.any(Number) };
    for (const client of [ada, ben]) expect(client.received("message-edited")).toEqual([heard]);
    const message = { id: ID, seq: 1, room: ROOM, sender: "ada", name: "ada", timestamp: expect.any(Number) };
    room.shell.evict();
    expect(await history(ben)).toEqual([{ ...message, ...edit }]);
  });

  it("with the same content again sends no event", async () => {
    const { room, ada, ben } = await talk();
    const first = await ada.ask("edit-message", { id: ID, content: "hi" });
    room.quiet();
    expect(await ada.ask("edit-message", { id: ID, content: "hi" })).toEqual(first);
    expect(ben.received("message-edited")).toHaveLength(1);
  });

  it("lets moderators and the backend edit any message at any time", async () => {
    const room = new ChatRoom({ editWindowMs: 1000 });
    const [ada, ben, mona] = [await room.join("ada"), await room.join("ben"), await room.join(MODERATOR)];
    await ada.ask("chat-message", { content: "hello" });
    room.shell.advance(60_000);
    expect(await mona.ask("edit-message", { id: ID, content: "moderated" })).toMatchObject({ ok: true });
    const service = { user: "backend", role: "service" } as const;
    expect(await room.ask("edit-message", service, { id: ID, content: "served" })).toMatchObject({ ok: true });
    expect(ben.received("message-edited")).toMatchObject([{ content: "moderated" }, { content: "served" }]);
    expect(await history(ben)).toMatchObject([{ sender: "ada", content: "served" }]);
  });

  it("lets authors edit for EDIT_WINDOW_SECONDS; with 0, never", async () => {
    const room = new ChatRoom({ editWindowMs: 60_000 });
    const ada = await room.join("ada");
    await ada.ask("chat-message", { content: "hello" });
    expect(ada.received("welcome")).toMatchObject([{ settings: { editWindowSeconds: 60 } }]);
    room.shell.advance(60_000);
    expect(await ada.ask("edit-message", { id: ID, content: "in time" })).toMatchObject({ ok: true });
    room.shell.advance(1);
    const late = { error: { code: "FORBIDDEN", message: expect.stringContaining("60 s") } };
    expect(await ada.ask("edit-message", { id: ID, content: "late" })).toMatchObject(late);
    const strict = new ChatRoom({ editWindowMs: 0 });
    const ben = await strict.join("ben");
    await ben.ask("chat-message", { content: "hello" });
    expect(await ben.ask("edit-message", { id: ID, content: "!" })).toMatchObject({ error: { code: "FORBIDDEN" } });
  });

  it("stores a message of a relaxed room first", async () => {
    const room = new ChatRoom({ durability: "relaxed" });
    const ada = await room.join("ada");
    for (let i = 0; i < 6; i++) {
      ada.emit("chat-message", { content: `${i}` });
      room.shell.advance(60);
    }
    const seq = ada.received("chat-message").length;
    expect(room.log.lastSeq).toBeLessThan(seq);
    const id = `${EPOCH}-${seq}`;
    expect(await ada.ask("edit-message", { id, content: "edited" })).toMatchObject({ ok: true });
    expect(room.log.messages.at(-1)).toMatchObject({ id, content: "edited" });
  });
});

describe("MSG-2: versions", () => {
  it("are listed to moderators, the oldest first", async () => {
    const { room, ada, mona } = await talk();
    room.shell.advance(1000);
    await ada.ask("edit-message", { id: ID, content: "hello!" });
    await mona.ask("edit-message", { id: ID, content: "hello?" });
    room.shell.evict();
    expect(await mona.ask("versions", { id: ID })).toEqual({
      ok: true,
      versions: [
        { content: "hello", timestamp: START_MS + 1000, by: "ada" },
        { content: "hello!", timestamp: room.shell.nowMs, by: "ada" },
        // No two edits have the same moment.
        { content: "hello?", timestamp: room.shell.nowMs + 1, by: "mona" },
      ],
    });
  });

  it("keep the first text and the newest edits, up to a number", async () => {
    const { room, ada, mona } = await talk();
    for (let i = 1; i <= EDITS_KEPT_MAX + 2; i++) {
      await ada.ask("edit-message", { id: ID, content: `edit ${i}` });
      room.quiet();
    }
    const { versions } = await mona.ask("versions", { id: ID });
    expect(versions.map(({ content }: { content: string }) => content)).toEqual([
      "hello",
      ...Array.from({ length: EDITS_KEPT_MAX }, (_, i) => `edit ${i + 3}`),
    ]);
  });

  it("keep edits up to a total length, and the present text at any length", async () => {
    const room = new ChatRoom({ maxContentLength: 100_000 }, { maxPayloadBytes: 200_000 });
    const mona = await room.join(MODERATOR);
    await mona.ask("chat-message", { content: "hello" });
    const long = EDITS_KEPT_CHARS_MAX / 2;
    for (const letter of "abcd") {
      await mona.ask("edit-message", { id: ID, content: letter.repeat(long) });
      room.quiet();
    }
    const { versions } = await mona.ask("versions", { id: ID });
    expect(versions.map(({ content }: { content: string }) => content[0]).join("")).toBe("hbcd");
  });
});

describe("MSG-3: delete-message", () => {
  it("leaves an empty message at its place, for everyone and in the history", async () => {
    const { room, ada, ben } = await talk();
    expect(await ada.ask("delete-message", { id: ID })).toEqual({ ok: true });
    for (const client of [ada, ben])
      expect(client.received("message-deleted")).toEqual([{ id: ID, seq: 1, by: "ada", rev: expect.any(Number) }]);
    room.shell.evict();
    const place = { id: ID, seq: 1, room: ROOM, sender: "ada", name: "ada", timestamp: START_MS + 1000 };
    expect(await history(ben)).toEqual([{ ...place, content: "", deleted: true }]);
  });

  it("removes versions, reactions, mentions and the reply, too", async () => {
    const { room, ada, ben, mona } = await talk();
    await ada.ask("chat-message", { content: "secret @ben", replyTo: ID });
    const id = `${EPOCH}-2`;
    await ada.ask("edit-message", { id, content: "secret too" });
    await ben.ask("react", { id, emoji: "👍", on: true });
    await mona.ask("delete-message", { id });
    const { timestamp } = room.log.appended[1]!;
    expect((await history(ben))[1]).toEqual({
      id,
      seq: 2,
      room: ROOM,
      sender: "ada",
      name: "ada",
      timestamp,
      content: "",
      deleted: true,
      deletedBy: "mona",
    });
    expect(JSON.stringify([room.log.batches, [...room.log.changes]])).not.toMatch(/secret|👍/);
    expect(await mona.ask("versions", { id })).toEqual({ ok: true, versions: [] });
  });

  it("is answered when it is repeated, and sends one event", async () => {
    const { ada, ben, mona } = await talk();
    for (const client of [ada, mona, ada]) expect(await client.ask("delete-message", { id: ID })).toEqual({ ok: true });
    expect(ben.received("message-deleted")).toHaveLength(1);
    expect(await ben.ask("delete-message", { id: ID })).toMatchObject({ error: { code: "FORBIDDEN" } });
  });

  it("does not let a repeated post store the message again", async () => {
    const { room, ada, ben } = await talk();
    const draft = { content: "once", clientMsgId: "c1" };
    const { id, seq, timestamp } = await ada.ask("chat-message", draft);
    room.quiet();
    await ada.ask("delete-message", { id });
    room.shell.evict();
    expect(await ada.ask("chat-message", draft)).toEqual({ ok: true, id, seq, timestamp, duplicate: true });
    expect(ben.received("chat-message")).toHaveLength(2);
  });

  it("leaves replies to the message, and allows new ones", async () => {
    const { room, ada, ben } = await talk();
    await ben.ask("chat-message", { content: "hi ada", replyTo: ID });
    room.quiet();
    await ada.ask("delete-message", { id: ID });
    expect(await ben.ask("chat-message", { content: "what was that?", replyTo: ID })).toMatchObject({ ok: true });
    expect(await history(ada)).toMatchObject([{ deleted: true }, { replyTo: ID }, { replyTo: ID }]);
  });

  it("ends edits of the message and reactions to it", async () => {
    const { ada, mona } = await talk();
    await ada.ask("delete-message", { id: ID });
    const gone = { error: { code: "NOT_FOUND" } };
    for (const client of [ada, mona]) {
      expect(await client.ask("edit-message", { id: ID, content: "back" })).toMatchObject(gone);
      expect(await client.ask("react", { id: ID, emoji: "👍", on: true })).toMatchObject(gone);
      expect(await client.ask("reactions", { id: ID })).toMatchObject(gone);
    }
  });
});

describe("changing a message is refused", () => {
  const EDIT = ["edit-message", { id: ID, content: "mine" }] as const;
  const DELETE = ["delete-message", { id: ID }] as const;

  it.each([EDIT, DELETE])("FORBIDDEN: %s by another member or a reader", async (event, payload) => {
    const { ben, rita, ada } = await talk();
    for (const client of [ben, rita]) {
      expect(await client.ask(event, payload)).toMatchObject({ error: { code: "FORBIDDEN" } });
    }
    expect(await history(ada)).toMatchObject([{ content: "hello" }]);
  });

  it.each(["edit-message", "delete-message", "versions"])("NOT_FOUND: %s of no message", async (event) => {
    const { mona } = await talk();
    for (const id of ["x", `${EPOCH}-2`, `${EPOCH}-0`, `${EPOCH}--1`, "other-1"]) {
      expect(await mona.ask(event, { id, content: "x" })).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
  });

  it.each([EDIT, DELETE])("INTERNAL: %s could not be stored, and sends no event", async (event, payload) => {
    const { room, ada, ben } = await talk();
    room.log.failure = new Error("disk full");
    expect(await ada.ask(event, payload)).toMatchObject({ error: { code: "INTERNAL" } });
    room.log.failure = undefined;
    expect([...ben.received("message-edited"), ...ben.received("message-deleted")]).toEqual([]);
    expect(await history(ada)).toMatchObject([{ content: "hello" }]);
    expect(room.shell.problems).toMatchObject([{ problem: "a change could not be stored" }]);
  });
});
