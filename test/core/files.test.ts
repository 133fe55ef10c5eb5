// Files as the room sees them: whom it lets upload, which attachments it believes, and when files go.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { POST_WINDOW_MS, UPLOAD_COST } from "../../src/chat/attachments.ts";
import { REQUEST_LIMIT } from "../../src/chat/chat.ts";
import { SWEEP_RETRY_MS } from "../../src/chat/file-sweep.ts";
import { fileKey, parseFileKey } from "../../src/protocol/file-key.ts";
import type { Attachment } from "../../src/protocol/files-events.ts";
import { ChatRoom, EPOCH, identityOf, ROOM, type Person } from "./chat-room.ts";
import { MemoryFiles } from "./memory-files.ts";
import { fc } from "./properties.ts";

const DAY_MS = 86_400_000;
const KEPT_MS = 30 * DAY_MS;
const LIMITS = { bytesMax: 1000, types: ["image/png"] };
const FACTS = { name: "me.png", type: "image/png", size: 100, width: 3, height: 4 };

class FileRoom extends ChatRoom {
  readonly files: MemoryFiles;
  #ids = 0;

  constructor(files = new MemoryFiles()) {
    super({}, {}, { files: { store: files, limits: LIMITS, keptMs: KEPT_MS } });
    this.files = files;
  }

  /** What the Worker is answered that wants to store a file. */
  async permit(
    person: string | Person,
    facts: object = {},
  ): Promise<{ attachment?: Attachment; error?: { code: string } }> {
    const { user, name, role } = identityOf(person);
    const id = String(++this.#ids).padStart(20, "0");
    const answer = Promise.withResolvers<object>();
    await this.chat.permitUpload({ user, name, role }, { id, ...FACTS, ...facts }, answer.resolve);
    return answer.promise;
  }

  /** An upload, whole. */
  async upload(person: string | Person): Promise<Attachment> {
    const { attachment } = await this.permit(person);
    this.files.keys.add(attachment!.key);
    return attachment!;
  }

  /** Lets time pass, and what is due be done to its end. */
  async pass(ms: number): Promise<void> {
    this.shell.advance(ms);
    for (let i = 0; i < 20; i++) {
      await setImmediate();
      this.shell.advance(0);
    }
  }
}

/** A file, and nobody there whose heartbeats would have to be counted for a month. */
async function quietRoomWithFile(): Promise<{ room: FileRoom; attachment: Attachment }> {
  const room = new FileRoom();
  return { room, attachment: await room.upload("ada") };
}

async function roomWithFile(): Promise<{
  room: FileRoom;
  attachment: Attachment;
  ada: Awaited<ReturnType<ChatRoom["join"]>>;
}> {
  const room = new FileRoom();
  const ada = await room.join("ada");
  return { room, ada, attachment: await room.upload("ada") };
}

describe("FILE-2: an attachment", () => {
  it("is posted by who uploaded it, heard by everyone, and read back, also after a sleep", async () => {
    const { room, ada, attachment } = await roomWithFile();
    const ben = await room.join("ben");
    room.quiet();
    room.shell.evict();
    expect(await ada.ask("chat-message", { content: "", attachment })).toMatchObject({ ok: true, seq: 1 });
    expect(ben.received("chat-message")).toMatchObject([{ content: "", attachment }]);
    expect(await ben.ask("history", {})).toMatchObject({ messages: [{ attachment }] });
    expect(room.log.messages[0]!.attachment).toEqual(attachment);
  });

  it("is not another's to post, by either door", async () => {
    const { room, attachment } = await roomWithFile();
    const ben = await room.join("ben");
    const refused = { error: { code: "INVALID_PAYLOAD", message: expect.stringMatching(/^attachment: /) } };
    expect(await ben.ask("chat-message", { content: "x", attachment })).toMatchObject(refused);
    expect(
      await room.call("chat-message", { user: "svc", role: "service" }, { content: "x", attachment }),
    ).toMatchObject(refused);
    expect(room.log.lastSeq).toBe(0);
  });

  it("is believed only as it was signed, whatever is changed", async () => {
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

  it("of another room of the same server is none: its key is the room's own", async () => {
    const [{ attachment }, { room, ada }] = [await roomWithFile(), await roomWithFile()];
    Object.assign(room.log, { key: "another key" });
    expect(await ada.ask("chat-message", { content: "x", attachment })).toMatchObject({
      error: { code: "INVALID_PAYLOAD" },
    });
  });

  it("drops what it does not know", async () => {
    const { room, ada, attachment } = await roomWithFile();
    await ada.ask("chat-message", { content: "", attachment: { ...attachment, url: "https://evil.test" } });
    expect(room.log.messages[0]!.attachment).toEqual(attachment);
  });

  it("is posted within two days", async () => {
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

  it("makes words needless, in a post and in an edit; without one they are not", async () => {
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

describe("FILE-1: the room's leave to upload", () => {
  it("is not for readers, nor for who asks too often, and no event", async () => {
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

  it("signs nothing that makes no sense", async () => {
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

  it("that could not be noted is none", async () => {
    const room = new FileRoom();
    room.state.failure = new Error("disk full");
    expect(await room.permit("ada")).toMatchObject({ error: { code: "INTERNAL" } });
    expect(room.shell.reports).toHaveLength(1);
  });

  it("is told in welcome, and nowhere where there is no storage of files", async () => {
    expect((await new FileRoom().join("ada")).received("welcome")).toMatchObject([{ files: LIMITS }]);
    expect((await new ChatRoom().join("ada")).received("welcome")[0]).not.toHaveProperty("files");
  });
});

describe("FILE-5: the file of a deleted message", () => {
  const posted = async () => {
    const { room, ada, attachment } = await roomWithFile();
    await ada.ask("chat-message", { content: "look", attachment });
    return { room, ada, attachment };
  };

  it("goes with it, and leaves nothing in the room", async () => {
    const { room, ada } = await posted();
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    expect(room.log.messages[0]).not.toHaveProperty("attachment");
    await room.pass(0);
    expect(room.files.keys.size).toBe(0);
    expect([...room.state.list({ prefix: "file-discarded:" })]).toEqual([]);
    expect(JSON.stringify(room.log.batches)).not.toContain("me.png");
  });

  it("goes after a crash in between, and after trouble with the storage", async () => {
    const { room, ada } = await posted();
    room.files.failure = new Error("R2 is away");
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    room.shell.crash();
    await room.pass(0);
    expect(room.files.keys.size).toBe(1);
    expect(room.shell.reports.length).toBeGreaterThan(0);
    room.files.failure = undefined;
    await room.pass(SWEEP_RETRY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("that was deleted by a moderator goes too; one that stays, stays", async () => {
    const { room, ada, attachment } = await posted();
    const other = await room.upload("ada");
    room.quiet();
    await ada.ask("chat-message", { content: "stays", attachment: other });
    const mona = await room.join({ user: "mona", role: "moderator" });
    room.quiet();
    await mona.ask("delete-message", { id: `${EPOCH}-1` });
    await mona.ask("edit-message", { id: `${EPOCH}-2`, content: "edited" });
    await room.pass(0);
    expect(room.files.keys).toEqual(new Set([other.key]));
    expect(room.files.keys).not.toContain(attachment.key);
  });

  it("a deletion without a file asks nothing of the storage", async () => {
    const room = new FileRoom();
    await room.call("chat-message", "ada", { content: "words" });
    await room.call("delete-message", "ada", { id: `${EPOCH}-1` });
    await room.pass(10 * KEPT_MS);
    expect([room.files.operations, room.state.writes]).toEqual([[], 0]);
  });
});

describe("FILE-6: files that no message can refer to any more", () => {
  it("go when their messages are forgotten, posted or not, also while nobody is there", async () => {
    const { room, attachment } = await quietRoomWithFile();
    room.log.retention = { messages: Infinity, ageMs: KEPT_MS };
    await room.call("chat-message", "ada", { content: "", attachment });
    await room.upload("ada");
    room.shell.evict();
    await room.pass(KEPT_MS);
    expect(room.files.keys.size).toBe(2);
    await room.pass(POST_WINDOW_MS + DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("stay while a message may still stand that carries them", async () => {
    const { room, attachment } = await quietRoomWithFile();
    room.shell.advance(POST_WINDOW_MS);
    await room.call("chat-message", "ada", { content: "", attachment });
    // The log keeps it longer than it has to.
    await room.pass(KEPT_MS + POST_WINDOW_MS);
    expect(room.log.messages).toHaveLength(1);
    expect(room.files.keys).toEqual(new Set([attachment.key]));
  });

  it("go sooner where so many messages are kept, not so long", async () => {
    const { room, attachment } = await quietRoomWithFile();
    await room.call("chat-message", "ada", { content: "", attachment });
    room.shell.advance(POST_WINDOW_MS + DAY_MS);
    room.log.retention = { messages: 2, ageMs: Infinity };
    for (const content of ["1", "2", "3", "4"]) {
      room.quiet();
      await room.call("chat-message", "ada", { content });
      room.log.trim(room.shell.nowMs);
    }
    room.quiet();
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("go although nothing is said after what made the room forget", async () => {
    const { room, attachment } = await quietRoomWithFile();
    await room.call("chat-message", "ada", { content: "", attachment });
    room.shell.advance(POST_WINDOW_MS + DAY_MS);
    room.log.retention = { messages: 1, ageMs: Infinity };
    await room.call("chat-message", "ada", { content: "the newest" });
    room.quiet();
    expect(room.log.messages).toHaveLength(1);
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("of an earlier life of the room go at once, as many as there are, and those of its next life stay", async () => {
    const room = new FileRoom();
    const ofOthers = fileKey({ ...parseFileKey((await room.upload("ada")).key)!, room: `${ROOM}2` });
    for (let i = 0; i < 9; i++)
      room.files.keys.add(fileKey({ ...parseFileKey(ofOthers)!, room: ROOM, epoch: "old", id: `${i}` }));
    room.files.keys.add(ofOthers);
    room.chat.deleteFiles();
    await room.pass(0);
    expect([...room.files.keys].map((key) => key.slice(0, key.lastIndexOf("!") - 29))).toEqual([
      `${ROOM}!${EPOCH}!`,
      `${ROOM}2!${EPOCH}!`,
    ]);
  });

  it("an upload that was under way when the room was deleted goes within a day", async () => {
    const room = new FileRoom();
    const late = (await room.upload("ada")).key.replace(`!${EPOCH}!`, "!old!");
    room.files.keys.clear();
    room.chat.deleteFiles();
    await room.pass(0);
    room.files.keys.add(late);
    room.shell.evict();
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("a room without files has nothing to wake for any more, until the next upload", async () => {
    const { room } = await quietRoomWithFile();
    await room.pass(KEPT_MS + POST_WINDOW_MS + DAY_MS);
    expect(room.files.keys.size).toBe(0);
    await room.pass(DAY_MS);
    expect([room.shell.quietMs, [...room.state.list({ prefix: "file" })]]).toEqual([Infinity, []]);
    await room.upload("ada");
    await room.pass(KEPT_MS + POST_WINDOW_MS + 2 * DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("whatever is uploaded, posted, deleted and forgotten: no file goes that a message carries, and in the end all go", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("upload" as const), post: fc.boolean(), delayMs: fc.nat(POST_WINDOW_MS - 1000) }),
      fc.record({ do: fc.constant("delete" as const), at: fc.nat(20) }),
      fc.record({ do: fc.constant("wait" as const), ms: fc.nat(KEPT_MS / 3) }),
      fc.record({ do: fc.constantFrom("evict" as const, "crash" as const, "trouble" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const room = new FileRoom(new MemoryFiles(2));
        room.log.retention = { messages: 5, ageMs: KEPT_MS };
        const ada = { user: "ada" };
        for (const each of steps) {
          if (each.do === "upload") {
            const attachment = await room.upload(ada);
            await room.pass(each.delayMs + 1000);
            if (each.post) await room.call("chat-message", ada, { content: "", attachment });
          } else if (each.do === "delete") {
            const target = room.log.messages.filter(({ deleted }) => !deleted).at(each.at % 5);
            if (target) await room.call("delete-message", ada, { id: target.id });
          } else if (each.do === "wait") await room.pass(each.ms);
          else if (each.do === "evict") room.shell.evict();
          else if (each.do === "crash") room.shell.crash();
          else room.files.failure = room.files.failure ? undefined : new Error("away");
          const carried = room.log.messages.flatMap(({ attachment }) => attachment?.key ?? []);
          for (const key of carried) expect(room.files.keys).toContain(key);
        }
        room.files.failure = undefined;
        for (let i = 0; i < 4; i++) await room.pass((KEPT_MS + POST_WINDOW_MS) / 2);
        for (let i = 0; i < 4; i++) await room.pass(DAY_MS);
        expect(room.files.keys.size).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
