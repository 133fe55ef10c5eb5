// The end of files, and their cost to a room, with the platform's own storage. FILE-2, FILE-5, FILE-6
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { VERSION_KEY } from "../../src/socketio/object/stored-format.ts";
import { SqlSearchIndex } from "../../src/features/search/sql-search-index.ts";
import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { callApi, request } from "../durable/api-caller.ts";
import { png, read, text, uploaded } from "../durable/files.ts";
import { freshRoom, isArmed, join, Sleeper, stubOf } from "../durable/rooms.ts";
import { rowsWritten } from "../durable/rows-written.ts";

const keysOf = async (room: string): Promise<string[]> =>
  (await env.FILES.list({ prefix: `${room}!` })).objects.map(({ key }) => key);

const untilGone = (room: string): Promise<void> => vi.waitFor(async () => expect(await keysOf(room)).toEqual([]));

const idOf = (answer: PostAnswer): string => (answer as { id: string }).id;

async function roomWithPicture() {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const attachment = await uploaded(room, png(3, 4), { name: "secret.png" });
  const id = idOf(await ada.ask<PostAnswer>("chat-message", { content: "look", attachment }));
  return { room, ada, attachment, id };
}

describe("a message that carries a file: FILE-2", () => {
  it("is the same after a sleep, in history, export, changes and versions, and after edits", async () => {
    const { room, ada, attachment, id } = await roomWithPicture();
    expect(await ada.ask("edit-message", { id, content: "look!" })).toMatchObject({ ok: true });
    expect(await ada.ask("react", { id, emoji: "👍", on: true })).toMatchObject({ ok: true });
    await new Sleeper(room).sleep();
    const message = { id, content: "look!", attachment };
    expect(await ada.ask("history", {})).toMatchObject({ messages: [message] });
    expect(await ada.ask("changes", { after: 0 })).toMatchObject({ messages: [message] });
    const exported = await (await request("GET", `/api/rooms/${room}/export`)).text();
    expect(JSON.parse(exported)).toMatchObject(message);
    expect((await read(attachment.key)).status).toBe(200);
  });

  it("costs as much as one without; an upload costs one row in the life of a room, and a read none", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await ada.ask("chat-message", { content: "first" });
    await isArmed(room);
    const upload = () => uploaded(room, png(3, 4));
    expect(await rowsWritten(room, upload)).toEqual({ rows: 1, alarms: 0 });
    expect(await rowsWritten(room, upload)).toEqual({ rows: 0, alarms: 0 });
    const attachment = await upload();
    expect(await rowsWritten(room, () => ada.ask("chat-message", { content: "", attachment }))).toEqual({
      rows: 1,
      alarms: 0,
    });
    const readTwice = async () => {
      for (let i = 0; i < 2; i++) await (await read(attachment.key)).bytes();
    };
    expect(await rowsWritten(room, readTwice)).toEqual({ rows: 0, alarms: 0 });
  });

  it("is one operation of the storage to upload, and one to read", async () => {
    const room = freshRoom();
    const bucket = Object.getPrototypeOf(env.FILES) as R2Bucket;
    const methods = ["put", "get", "head", "list", "delete"] as const;
    const spies = methods.map((method) => vi.spyOn(bucket, method));
    const counted = async (work: () => Promise<unknown>): Promise<string> => {
      for (const spy of spies) spy.mockClear();
      await work();
      return methods.flatMap((method, at) => spies[at]!.mock.calls.map(() => method)).join();
    };
    let key = "";
    expect(await counted(async () => ({ key } = await uploaded(room, png(3, 4))))).toBe("put");
    expect(await counted(async () => (await read(key)).bytes())).toBe("get");
    expect(await counted(() => read(key, { method: "HEAD" }))).toBe("head");
    const etag = (await read(key, { method: "HEAD" })).headers.get("ETag")!;
    expect(await counted(() => read(key, { headers: { "If-None-Match": etag } }))).toBe("head");
    expect(await counted(async () => (await read(key, { headers: { Range: "bytes=1-2" } })).bytes())).toBe("get");
    for (const spy of spies) spy.mockRestore();
  });
});

describe("deleting the message: FILE-5", () => {
  it("deletes the file, and no client reads it again", async () => {
    const { room, ada, attachment, id } = await roomWithPicture();
    const ben = await join(room, "ben");
    expect(await ada.ask("delete-message", { id })).toEqual({ ok: true });
    await ben.receives("message-deleted");
    await untilGone(room);
    expect((await read(attachment.key)).status).toBe(404);
    expect(await ben.ask("history", {})).toMatchObject({ messages: [{ id, content: "", deleted: true }] });
    const stored = await runInDurableObject(stubOf(room), (_room, { storage }) =>
      JSON.stringify([
        storage.sql.exec("SELECT * FROM batches_1").toArray(),
        [...storage.kv.list({ prefix: "file-discarded" })],
      ]),
    );
    expect(stored).not.toContain("secret.png");
    expect(stored).not.toContain(attachment.key);
  });
});

it.each([
  ["delete", "of a deleted message: FILE-5", (room: string, id: string) => `/api/rooms/${room}/messages/${id}`],
  ["list", "of a deleted room: FILE-6", (room: string) => `/api/rooms/${room}`],
] as const)("where R2 fails to %s, the room goes on after a sleep: no file stays %s", async (name, _of, pathOf) => {
  const { room, id } = await roomWithPicture();
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const failing = vi
    .spyOn(Object.getPrototypeOf(env.FILES) as R2Bucket, name)
    .mockRejectedValue(new Error("R2 is away"));
  expect(await callApi("DELETE", pathOf(room, id))).toMatchObject({ status: 200 });
  // Rooms of other tests may ask R2, too.
  await vi.waitFor(() => expect(JSON.stringify(failing.mock.calls)).toContain(`${room}!`));
  failing.mockRestore();
  expect(await keysOf(room)).toHaveLength(1);
  await new Sleeper(room).sleep();
  // It wakes for any reason, and finds the work that is left.
  expect(await callApi("GET", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
  await untilGone(room);
  log.mockRestore();
});

describe("deleting the room: FILE-6", () => {
  it("deletes all of its files, and none of another room", async () => {
    const { room, attachment } = await roomWithPicture();
    await uploaded(room, text("never posted"), { type: "text/plain" });
    const other = await uploaded(`${room}0`, png(1, 1));
    expect(await callApi("DELETE", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
    await untilGone(room);
    expect((await read(attachment.key)).status).toBe(404);
    expect((await read(other.key)).status).toBe(200);
  });

  it("keeps nothing else because of them: no messages, bans or index: API-9", async () => {
    const { room, ada } = await roomWithPicture();
    await ada.ask("chat-message", { content: "more" });
    await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "ban", user: "bad" } });
    const tablesOf = "SELECT name FROM sqlite_master WHERE name LIKE 'search%' OR name LIKE 'batches%'";
    const look = () =>
      runInDurableObject(stubOf(room), (_room, { storage }) => ({
        tables: storage.sql.exec(tablesOf).toArray().length,
        keys: [...storage.kv.list()].map(([key]) => key),
      }));
    await runInDurableObject(stubOf(room), (_room, { storage }) =>
      new SqlSearchIndex(storage).add({ firstSeq: 1, lastSeq: 1 }, [{ firstSeq: 1, terms: ["look"] }]),
    );
    const before = await look();
    expect(before.tables).toBeGreaterThan(3);
    expect(before.keys.length).toBeGreaterThan(1);
    expect(await callApi("DELETE", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
    const { tables, keys } = await look();
    // And the version of the stored data.
    expect(keys).toEqual(["file-sweep", VERSION_KEY]);
    expect(tables).toBeLessThanOrEqual(1);
  });

  it("voids earlier signatures, and the room begun anew has files of its own", async () => {
    const { room, attachment } = await roomWithPicture();
    await callApi("DELETE", `/api/rooms/${room}`);
    const ada = await join(room, "ada");
    expect(await ada.ask("chat-message", { content: "x", attachment })).toMatchObject({
      error: { code: "INVALID_PAYLOAD" },
    });
    const next = await uploaded(room, png(5, 6));
    expect(await ada.ask("chat-message", { content: "", attachment: next })).toMatchObject({ ok: true, seq: 1 });
    await vi.waitFor(async () => expect(await keysOf(room)).toEqual([next.key]));
    expect((await read(next.key)).status).toBe(200);
  });

  it.each(["at once", "a moment later"])(
    "leaves no file for ever where the process dies %s after erasing",
    async (when) => {
      const { room } = await roomWithPicture();
      await uploaded(room, text("never posted"), { type: "text/plain" });
      const log = vi.spyOn(console, "error").mockImplementation(() => undefined);
      await runInDurableObject(stubOf(room), (_room, state) => {
        const storage = Object.getPrototypeOf(state.storage) as DurableObjectStorage;
        const spies = (["deleteAll", "transactionSync"] as const).map((name) => {
          const erase = storage[name] as (this: DurableObjectStorage, ...args: unknown[]) => unknown;
          return vi.spyOn(storage, name).mockImplementation(function (this: DurableObjectStorage, ...args: unknown[]) {
            for (const spy of spies) spy.mockRestore();
            const erased = erase.apply(this, args);
            const die = (): void => state.abort("died in a test");
            if (when === "at once") void Promise.resolve(erased).then(die);
            else setTimeout(die, 20);
            return erased as never;
          });
        });
      });
      await callApi("DELETE", `/api/rooms/${room}`);
      const found = await callApi("GET", `/api/rooms/${room}`);
      // A deletion that failed is asked for again.
      if (found.body.lastSeq !== 0)
        expect(await callApi("DELETE", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
      await untilGone(room);
      log.mockRestore();
    },
  );

  it("spares files that are uploaded to the room begun anew, also after the search for old files has begun", async () => {
    const { room } = await roomWithPicture();
    const bucket = Object.getPrototypeOf(env.FILES) as R2Bucket;
    const [inTime, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const list = vi.spyOn(bucket, "list");
    list.mockImplementationOnce(async function (this: R2Bucket, ...args) {
      list.mockRestore();
      inTime.resolve();
      await release.promise;
      return this.list(...args);
    });
    await callApi("DELETE", `/api/rooms/${room}`);
    await inTime.promise;
    await callApi("DELETE", `/api/rooms/${room}`);
    const ada = await join(room, "ada");
    const attachment = await uploaded(room, png(5, 6));
    expect(await ada.ask("chat-message", { content: "look", attachment })).toMatchObject({ ok: true });
    release.resolve();
    // The look that was held up ends behind this one at the latest.
    await vi.waitFor(async () => expect(await keysOf(room)).toEqual([attachment.key]));
    for (let rounds = 0; rounds < 10; rounds++) expect((await read(attachment.key)).status).toBe(200);
  });

  it("without files asks nothing of their storage", async () => {
    const room = freshRoom();
    await join(room, "ada");
    const list = vi.spyOn(Object.getPrototypeOf(env.FILES) as R2Bucket, "list");
    expect(await callApi("DELETE", `/api/rooms/${room}`)).toMatchObject({ status: 200 });
    await callApi("GET", `/api/rooms/${room}`);
    expect(list).not.toHaveBeenCalled();
    list.mockRestore();
  });
});
