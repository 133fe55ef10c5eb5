// Deletion of files: with their message, when the log drops it, and with the room. FILE-5, FILE-6
import { describe, expect, it } from "vitest";

import type { Attachment } from "../../../src/protocol/chat-events.ts";
import { PASS_MS, POST_WINDOW_MS } from "../../../src/protocol/limits.ts";
import type { RoomReport } from "../../../src/protocol/room-list.ts";
import { SWEEP_RETRY_MS, UNPOSTED_EVERY_MS_MIN, UNPOSTED_MS } from "../../../src/chat/files/file-sweep.ts";
import { fileKey, parseFileKey } from "../../../src/protocol/file-key.ts";
import { identityOf, ROOM } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { DAY_MS, FileRoom, KEPT_MS, quietRoomWithFile, roomWithFile } from "../../host/file-room.ts";
import { MemoryFiles } from "../../host/memory-files.ts";
import { fc } from "../../host/properties.ts";

describe("FILE-5: the file of a deleted message", () => {
  const posted = async () => {
    const { room, ada, attachment } = await roomWithFile();
    await ada.ask("chat-message", { content: "look", attachment });
    return { room, ada, attachment };
  };

  it("is deleted with it, and leaves nothing in the room", async () => {
    const { room, ada } = await posted();
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    expect(room.log.messages[0]).not.toHaveProperty("attachment");
    await room.pass(0);
    expect(room.files.keys.size).toBe(0);
    expect([...room.state.list({ prefix: "file-discarded:" })]).toEqual([]);
    expect(JSON.stringify(room.log.batches)).not.toContain("me.png");
  });

  it("may not be read, even while it is still stored: FILE-4", async () => {
    const { room, ada, attachment } = await posted();
    const other = await room.upload("ada");
    const read = ({ key }: Attachment) => room.chat.calls.permitReading(identityOf("ben"), { key, epoch: EPOCH });
    expect(read(attachment)).toEqual({ ok: true });
    room.files.failure = new Error("R2 is away");
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    await room.pass(0);
    room.shell.evict();
    expect(read(attachment)).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(read(other)).toEqual({ ok: true });
  });

  it("may not be read with a pass, which ends after an hour by itself: FILE-10", async () => {
    const { room, ada, attachment } = await posted();
    const file = { key: attachment.key, epoch: EPOCH };
    const give = () => (room.chat.calls.passTo(identityOf("ben"), file) as { pass: string }).pass;
    const first = give();
    expect(room.chat.calls.permitPass(first, file)).toEqual({ ok: true });
    room.shell.advance(PASS_MS);
    expect(room.chat.calls.permitPass(first, file)).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    const second = give();
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    expect(room.chat.calls.permitPass(second, file)).toMatchObject({ error: { code: "NOT_FOUND" } });
  });

  it("goes with all others of its message, and their previews, also after a crash and a failure in between", async () => {
    const { room, attachment, ada } = await roomWithFile();
    const [second, preview, other] = await Promise.all(["ada", "ada", "ada"].map((user) => room.upload(user)));
    await ada.ask("chat-message", { content: "", attachments: [attachment, { ...second!, preview: preview! }] });
    room.quiet();
    await ada.ask("chat-message", { content: "", attachment: other! });
    room.files.failure = new Error("R2 is away");
    await ada.ask("delete-message", { id: `${EPOCH}-1` });
    room.shell.crash();
    await room.pass(0);
    expect(room.files.keys.size).toBe(4);
    expect(room.shell.problems.at(-1)).toMatchObject({ problem: "files could not be deleted" });
    room.files.failure = undefined;
    await room.pass(SWEEP_RETRY_MS);
    expect(room.files.keys).toEqual(new Set([other!.key]));
    expect(JSON.stringify(room.log.batches[0])).not.toContain("me.png");
  });

  it("a deletion without a file makes no call to the storage", async () => {
    const room = new FileRoom();
    await room.ask("chat-message", "ada", { content: "words" });
    await room.ask("delete-message", "ada", { id: `${EPOCH}-1` });
    await room.pass(10 * KEPT_MS);
    expect([room.files.operations, room.state.writes]).toEqual([[], 0]);
  });
});

describe("FILE-6: files that no message can refer to any more", () => {
  it("are deleted when the log drops their messages, also in an empty room", async () => {
    const { room, attachment } = await quietRoomWithFile();
    room.log.retention = { messages: Infinity, ageMs: KEPT_MS };
    await room.ask("chat-message", "ada", { content: "", attachment });
    room.shell.evict();
    await room.pass(KEPT_MS);
    expect(room.files.keys.size).toBe(1);
    await room.pass(POST_WINDOW_MS + DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("are deleted some minutes after they can't be posted any more; those that were posted stay, however many messages follow", async () => {
    const room = new FileRoom(new MemoryFiles(10));
    const [first, second, preview] = [await room.upload("ada"), await room.upload("ada"), await room.upload("ada")];
    const posted = [first, second, preview].map(({ key }) => key);
    const forgotten = await room.upload("ben");
    room.shell.advance(POST_WINDOW_MS);
    const attachments = [first, { ...second, preview }];
    await room.ask("chat-message", "ada", { content: "in the last moment", attachments });
    const later = await room.upload("ben");
    await room.pass(UNPOSTED_MS - POST_WINDOW_MS + UNPOSTED_EVERY_MS_MIN);
    expect(room.files.keys).toEqual(new Set([...posted, later.key]));
    expect(room.files.keys).not.toContain(forgotten.key);
    await room.pass(UNPOSTED_MS + UNPOSTED_EVERY_MS_MIN);
    expect(room.files.keys).toEqual(new Set(posted));
  });

  it("are deleted through sleep, a crash and a storage that is away, and counted in bytes", async () => {
    const reports: RoomReport[] = [];
    const reportToLobby = async (report: RoomReport) => (reports.push(report), {});
    const room = new FileRoom(new MemoryFiles(2), { flushWindowMs: 0 }, { reportToLobby });
    for (let i = 0; i < 5; i++) await room.upload("ada");
    room.shell.evict();
    room.files.failure = new Error("R2 is away");
    await room.pass(UNPOSTED_MS);
    expect(room.files.keys.size).toBe(5);
    room.files.failure = undefined;
    room.shell.crash();
    await room.pass(3 * UNPOSTED_EVERY_MS_MIN + SWEEP_RETRY_MS);
    expect(room.files.keys.size).toBe(0);
    await room.ask("chat-message", "ada", { content: "so that the room reports" });
    await room.pass(120_000);
    const deleted = reports.reduce((sum, { delta }) => sum + (delta?.counts["file_bytes:deleted"] ?? 0), 0);
    expect(deleted).toBeGreaterThan(0);
  });

  it("cost one listing and a row or two per hour with uploads, and none in other hours", async () => {
    const { room, attachment } = await quietRoomWithFile();
    await room.ask("chat-message", "ada", { content: "", attachment });
    const writes = room.state.writes;
    await room.pass(UNPOSTED_MS);
    expect(room.files.operations).toEqual([`list ${ROOM}!${EPOCH}!`]);
    expect(room.state.writes - writes).toBe(1);
    await room.pass(DAY_MS);
    expect(room.files.operations).toHaveLength(1);
  });

  it("stay while a stored message may have them", async () => {
    const { room, attachment } = await quietRoomWithFile();
    room.shell.advance(POST_WINDOW_MS);
    await room.ask("chat-message", "ada", { content: "", attachment });
    // The log keeps the message longer than it has to.
    await room.pass(KEPT_MS + POST_WINDOW_MS);
    expect(room.log.messages).toHaveLength(1);
    expect(room.files.keys).toEqual(new Set([attachment.key]));
  });

  it("are deleted sooner where retention is by number and not by age", async () => {
    const { room, attachment } = await quietRoomWithFile();
    await room.ask("chat-message", "ada", { content: "", attachment });
    room.shell.advance(POST_WINDOW_MS + DAY_MS);
    room.log.retention = { messages: 2, ageMs: Infinity };
    for (const content of ["1", "2", "3", "4"]) {
      room.quiet();
      await room.ask("chat-message", "ada", { content });
      room.log.trim(room.shell.nowMs);
    }
    room.quiet();
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("are deleted where no post follows after the log dropped messages", async () => {
    const { room, attachment } = await quietRoomWithFile();
    await room.ask("chat-message", "ada", { content: "", attachment });
    room.shell.advance(POST_WINDOW_MS + DAY_MS);
    room.log.retention = { messages: 1, ageMs: Infinity };
    await room.ask("chat-message", "ada", { content: "the newest" });
    room.quiet();
    expect(room.log.messages).toHaveLength(1);
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("of a room that was deleted are all deleted at once, and those of the room begun anew stay", async () => {
    const room = new FileRoom();
    const ofOthers = fileKey({ ...parseFileKey((await room.upload("ada")).key)!, room: `${ROOM}2` });
    for (let i = 0; i < 9; i++)
      room.files.keys.add(fileKey({ ...parseFileKey(ofOthers)!, room: ROOM, epoch: "old", id: `${i}` }));
    room.files.keys.add(ofOthers);
    room.chat.calls.prepareErase()!();
    room.shell.evict();
    await room.pass(0);
    expect([...room.files.keys].map((key) => key.slice(0, key.lastIndexOf("!") - 29))).toEqual([
      `${ROOM}!${EPOCH}!`,
      `${ROOM}2!${EPOCH}!`,
    ]);
  });

  it("an upload that was under way when the room was deleted is deleted within a day", async () => {
    const room = new FileRoom();
    const late = (await room.upload("ada")).key.replace(`!${EPOCH}!`, "!old!");
    room.files.keys.clear();
    room.chat.calls.prepareErase()!();
    room.shell.evict();
    await room.pass(0);
    room.files.keys.add(late);
    room.shell.evict();
    await room.pass(DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("a room without files has no deadline until the next upload", async () => {
    const { room } = await quietRoomWithFile();
    await room.pass(KEPT_MS + POST_WINDOW_MS + DAY_MS);
    expect(room.files.keys.size).toBe(0);
    await room.pass(DAY_MS);
    expect([room.shell.quietMs, [...room.state.list({ prefix: "file" })]]).toEqual([Infinity, []]);
    await room.upload("ada");
    await room.pass(KEPT_MS + POST_WINDOW_MS + 2 * DAY_MS);
    expect(room.files.keys.size).toBe(0);
  });

  it("no file of a stored message is deleted, and in the end all are, after any sequence of uploads, posts, deletions and trims", async () => {
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
            if (each.post) await room.ask("chat-message", ada, { content: "", attachment });
          } else if (each.do === "delete") {
            const target = room.log.messages.filter(({ deleted }) => !deleted).at(each.at % 5);
            if (target) await room.ask("delete-message", ada, { id: target.id });
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
