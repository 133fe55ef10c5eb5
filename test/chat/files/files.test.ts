// Uploads that the room permits, and attachments that it accepts. FILE-1, FILE-2
import { describe, expect, it } from "vitest";

import { UPLOAD_COST } from "../../../src/chat/files/attachments.ts";
import { MESSAGE_FILES_MAX, POST_WINDOW_MS, REQUEST_LIMIT } from "../../../src/protocol/limits.ts";
import { fileKey, parseFileKey } from "../../../src/protocol/file-key.ts";
import { ChatRoom } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { FACTS, FileRoom, LIMITS, roomWithFile } from "../../host/file-room.ts";

describe("FILE-2: an attachment", () => {
  it("is posted by its uploader, sent to everyone, and read back, also after a sleep", async () => {
    const { room, ada, attachment } = await roomWithFile();
    const ben = await room.join("ben");
    room.quiet();
    room.shell.evict();
    expect(await ada.ask("chat-message", { content: "", attachment })).toMatchObject({ ok: true, seq: 1 });
    expect(ben.received("chat-message")).toMatchObject([{ content: "", attachment }]);
    expect(await ben.ask("history", {})).toMatchObject({ messages: [{ attachment }] });
    expect(room.log.messages[0]!.attachment).toEqual(attachment);
  });

  it("may not be posted by another user, by socket or from outside", async () => {
    const { room, attachment } = await roomWithFile();
    const ben = await room.join("ben");
    const refused = { error: { code: "INVALID_PAYLOAD", message: expect.stringMatching(/^attachment: /) } };
    expect(await ben.ask("chat-message", { content: "x", attachment })).toMatchObject(refused);
    expect(
      await room.ask("chat-message", { user: "svc", role: "service" }, { content: "x", attachment }),
    ).toMatchObject(refused);
    expect(room.log.lastSeq).toBe(0);
  });

  it("is accepted only as it was signed", async () => {
    const { ada, attachment } = await roomWithFile();
    const parsed = parseFileKey(attachment.key)!;
    const { width: _width, ...narrow } = attachment;
    const twisted: unknown[] = [
      { ...attachment, name: "you.png" },
      { ...attachment, type: "text/html" },
      { ...attachment, size: 99 },
      { ...attachment, width: 4 },
      narrow,
      { ...attachment, key: `${attachment.key}0` },
      { ...attachment, key: "../secret" },
      { ...attachment, key: fileKey({ ...parsed, room: "other" }) },
      { ...attachment, key: fileKey({ ...parsed, epoch: "e2" }) },
      { ...attachment, key: fileKey({ ...parsed, uploadedMs: parsed.uploadedMs + 1 }) },
      { ...attachment, key: fileKey({ ...parsed, id: "0".repeat(20) }) },
      { ...attachment, key: fileKey({ ...parsed, mac: "0".repeat(32) }) },
      { ...attachment, size: -1 },
      { ...attachment, name: "" },
      {},
      { key: attachment.key },
      "text",
    ];
    for (const each of twisted as Array<typeof attachment>) {
      const answer = await ada.ask("chat-message", { content: "x", attachment: each });
      expect(answer, JSON.stringify(each)).toMatchObject({
        error: { code: expect.stringMatching(/INVALID_PAYLOAD|RATE/) },
      });
    }
  });

  it("of another room of the same server is refused: each room has its own key", async () => {
    const [{ attachment }, { room, ada }] = [await roomWithFile(), await roomWithFile()];
    Object.assign(room.log, { key: "another key" });
    expect(await ada.ask("chat-message", { content: "x", attachment })).toMatchObject({
      error: { code: "INVALID_PAYLOAD" },
    });
  });

  it("drops unknown fields", async () => {
    const { room, ada, attachment } = await roomWithFile();
    await ada.ask("chat-message", { content: "", attachment: { ...attachment, url: "https://evil.test" } });
    expect(room.log.messages[0]!.attachment).toEqual(attachment);
  });

  it("may be posted for an hour", async () => {
    const { room, ada, attachment } = await roomWithFile();
    room.shell.advance(POST_WINDOW_MS);
    expect(await ada.ask("chat-message", { content: "1", attachment })).toMatchObject({ ok: true });
    room.shell.advance(1000);
    expect(await ada.ask("chat-message", { content: "2", attachment })).toMatchObject({
      error: { code: "INVALID_PAYLOAD", message: expect.stringContaining("too long ago") },
    });
  });

  it("sent again with the same clientMsgId is the same message", async () => {
    const { ada, attachment } = await roomWithFile();
    const post = { content: "", attachment, clientMsgId: "once" };
    expect(await ada.ask("chat-message", post)).toMatchObject({ ok: true, seq: 1 });
    expect(await ada.ask("chat-message", post)).toMatchObject({ ok: true, seq: 1, duplicate: true });
  });

  it("lets the content be empty, in a post and in an edit", async () => {
    const { room, ada, attachment } = await roomWithFile();
    expect(await ada.ask("chat-message", { content: " " })).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
    await ada.ask("chat-message", { content: "look", attachment });
    room.quiet();
    await ada.ask("chat-message", { content: "words" });
    room.quiet();
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: "" })).toMatchObject({ ok: true });
    expect(await ada.ask("edit-message", { id: `${EPOCH}-2`, content: "" })).toMatchObject({
      error: { code: "INVALID_PAYLOAD" },
    });
    expect(room.log.messages).toMatchObject([{ content: "", attachment }, { content: "words" }]);
    expect(await ada.ask("changes", { after: 0 })).toMatchObject({ messages: [{ content: "", attachment }] });
  });
});

describe("FILE-2: several files of one message", () => {
  const FILES = ["1.png", "2.png", "3.pdf"];

  /** The first has a preview. */
  async function roomWithFiles() {
    const room = new FileRoom();
    const ada = await room.join("ada");
    const [first, ...further] = await Promise.all(
      FILES.map(async (name) => (await room.permit("ada", { name })).attachment!),
    );
    const preview = (await room.permit("ada", { name: "1.png", size: 20 })).attachment!;
    return { room, ada, attachments: [{ ...first!, preview }, ...further] as const };
  }

  it("are in it with their previews for everyone and in the history, also after a sleep; `attachment` is the first", async () => {
    const { room, ada, attachments } = await roomWithFiles();
    const ben = await room.join("ben");
    expect(await ada.ask("chat-message", { content: "", attachments: [...attachments] })).toMatchObject({ ok: true });
    const message = { content: "", attachment: attachments[0], attachments };
    expect(ben.received("chat-message")).toMatchObject([message]);
    room.quiet();
    room.shell.evict();
    expect(await ben.ask("history", {})).toMatchObject({ messages: [message] });
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: "words" })).toMatchObject({ ok: true });
    expect(await ada.ask("edit-message", { id: `${EPOCH}-1`, content: "" })).toMatchObject({ ok: true });
    expect(await ben.ask("changes", { after: 0 })).toMatchObject({ messages: [message] });
  });

  it("may be given as messages have them; a list of one file is the same as that file", async () => {
    const { room, ada, attachments } = await roomWithFiles();
    const [one, two, three] = attachments;
    await ada.ask("chat-message", { content: "", attachment: one, attachments: [one, two] });
    room.quiet();
    await ada.ask("chat-message", { content: "", attachments: [three] });
    expect(room.log.messages).toMatchObject([{ attachment: one, attachments: [one, two] }, { attachment: three }]);
    expect(room.log.messages[1]).not.toHaveProperty("attachments");
  });

  it("are at most ten, each once, all of them the user's own, as they were signed", async () => {
    const { room, ada, attachments } = await roomWithFiles();
    const [one, two] = attachments;
    const bens = (await room.permit("ben")).attachment!;
    const refused: ReadonlyArray<readonly [object, RegExp]> = [
      [{ attachments: [] }, /^attachments: /],
      [{ attachments: Array.from({ length: MESSAGE_FILES_MAX + 1 }, () => two) }, /^attachments: /],
      [{ attachments: [two, two] }, /^attachments: a file can be in a message once/],
      [{ attachments: [two, { ...one, preview: two }] }, /^attachments: a file can be in a message once/],
      [{ attachments: [two, bens] }, /^attachments\.1: not an upload of yours/],
      [{ attachments: [{ ...two, preview: bens }] }, /^attachments\.0\.preview: not an upload of yours/],
      [{ attachments: [one, { ...two, name: "2.exe" }] }, /^attachments\.1: not an upload of yours/],
      [{ attachment: { ...two, preview: { ...one.preview, size: 21 } } }, /^attachment\.preview: not an upload/],
      [{ attachment: two, attachments: [one, two] }, /^attachment: beside attachments/],
    ];
    for (const [files, message] of refused)
      expect(await ada.ask("chat-message", { content: "x", ...files }), JSON.stringify(files)).toMatchObject({
        error: { code: "INVALID_PAYLOAD", message: expect.stringMatching(message) },
      });
    expect(room.log.lastSeq).toBe(0);
    const ten = await Promise.all(
      Array.from({ length: MESSAGE_FILES_MAX }, async () => {
        room.shell.advance(1000);
        return (await room.permit("ada")).attachment!;
      }),
    );
    expect(await ada.ask("chat-message", { content: "", attachments: ten })).toMatchObject({ ok: true });
  });

  it("may each be posted for an hour", async () => {
    const { room, ada, attachments } = await roomWithFiles();
    room.shell.advance(POST_WINDOW_MS + 1000);
    const late = (await room.permit("ada")).attachment!;
    expect(await ada.ask("chat-message", { content: "", attachments: [late, ...attachments] })).toMatchObject({
      error: { message: "attachments.1: uploaded too long ago; upload it again" },
    });
  });
});

describe("FILE-1: permission to upload", () => {
  it("is refused to readers and to users who ask too often, and is no event", async () => {
    const room = new FileRoom();
    expect(await room.permit({ user: "rita", role: "reader" })).toMatchObject({ error: { code: "FORBIDDEN" } });
    const atOnce = Math.floor(REQUEST_LIMIT.burst / UPLOAD_COST);
    for (let i = 0; i < atOnce; i++) expect(await room.permit("ada")).toMatchObject({ ok: true });
    expect(await room.permit("ada")).toMatchObject({
      error: { code: "RATE_LIMITED", retryAfterMs: expect.any(Number) },
    });
    expect(await room.permit("ben")).toMatchObject({ ok: true });
    const cyd = await room.join("cyd");
    expect(await cyd.ask("upload-file", { id: "0".repeat(20), ...FACTS })).toMatchObject({
      error: { code: "UNKNOWN_EVENT" },
    });
  });

  it.each<[size: number, atOnce: number]>([
    [65_535, 10],
    [65_536, 9],
    [10 * 1024 * 1024, 1],
    [100_000_000, 1],
  ])("costs by the size too: of files of %i bytes a user stores %i at once", async (size, atOnce) => {
    const room = new FileRoom();
    for (let i = 0; i < atOnce; i++) expect(await room.permit("ada", { size })).toMatchObject({ ok: true });
    expect(await room.permit("ada", { size })).toMatchObject({ error: { code: "RATE_LIMITED" } });
    room.shell.advance((1000 * REQUEST_LIMIT.burst) / REQUEST_LIMIT.perSecond);
    expect(await room.permit("ada", { size })).toMatchObject({ ok: true });
  });

  it("is refused for an invalid description", async () => {
    const room = new FileRoom();
    for (const facts of [{ name: "" }, { size: 0 }, { size: 1.5 }, { type: "" }, { width: 0 }, { id: "!" }]) {
      expect(await room.permit("ada", facts), JSON.stringify(facts)).toMatchObject({
        error: { code: "INVALID_PAYLOAD" },
      });
    }
  });

  it("costs one row in the room's life, and none after that, nor by posting", async () => {
    const room = new FileRoom();
    const ada = await room.join("ada");
    await room.permit("ada");
    expect(room.state.writes).toBe(1);
    const { attachment } = await room.permit("ada");
    room.shell.evict();
    await room.permit("ada");
    expect(room.state.writes).toBe(1);
    await ada.ask("chat-message", { content: "", attachment });
    expect([room.state.writes, room.log.rowsWritten]).toEqual([1, 1]);
  });

  it("is refused where the room cannot store that it expects a file", async () => {
    const room = new FileRoom();
    room.state.failure = new Error("disk full");
    expect(await room.permit("ada")).toMatchObject({ error: { code: "INTERNAL" } });
    expect(room.shell.problems).toHaveLength(1);
  });

  it("has its limits in the welcome, where there is a storage of files", async () => {
    expect((await new FileRoom().join("ada")).received("welcome")).toMatchObject([{ files: LIMITS }]);
    expect((await new ChatRoom().join("ada")).received("welcome")[0]).not.toHaveProperty("files");
  });
});
