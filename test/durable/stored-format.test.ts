// Data of other versions of the code: migrated where it is older, refused unharmed where it is newer.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

import { openStored, type StoredFormat, VERSION_KEY } from "../../src/socketio/object/stored-format.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi } from "./api-caller.ts";
import { withStorage } from "./logs.ts";
import { alarmOf, freshRoom, join, stubOf } from "./rooms.ts";
import { upgrade } from "./raw-client.ts";
import { rowsWritten } from "./rows-written.ts";

const NEWER = 2;

const versionIn = (storage: DurableObjectStorage): unknown => storage.kv.get(VERSION_KEY);

/** Puts an object to sleep, with data that a later release has migrated. */
async function leave(stub: DurableObjectStub, version: number): Promise<void> {
  await runInDurableObject(stub, (_object, { storage }) => storage.kv.put(VERSION_KEY, version));
  await evictDurableObject(stub, { webSockets: "hibernate" });
}

/** The migrations of a later release: each notes its version, and adds a line to the stored data. */
const formatOf = (version: number): StoredFormat => ({
  of: "the test",
  migrations: Array.from({ length: version - 1 }, (_, at) => ({ sql }: DurableObjectStorage) => {
    sql.exec("INSERT INTO lines (line) VALUES (?)", `by the migration to ${at + 2}`);
  }),
});

const linesIn = ({ sql }: DurableObjectStorage): string[] =>
  sql
    .exec<{ line: string }>("SELECT line FROM lines")
    .toArray()
    .map(({ line }) => line);

/** Stores a line as the release with that version did. */
function storeAs(version: number, storage: DurableObjectStorage): void {
  const { sql } = openStored(storage, formatOf(version));
  sql.exec("CREATE TABLE lines (line TEXT NOT NULL)");
  sql.exec("INSERT INTO lines (line) VALUES ('first')");
}

const onEmpty = <Result>(run: (storage: DurableObjectStorage) => Result): Promise<Result> =>
  withStorage((storage) => {
    storage.kv.delete(VERSION_KEY);
    return run(storage);
  });

describe("the version of stored data", () => {
  it("is stored with the first data, and not by reading", async () => {
    await onEmpty((storage) => {
      const opened = openStored(storage, formatOf(3));
      expect(opened.kv.get("anything")).toBeUndefined();
      expect(opened.sql.exec("SELECT name FROM sqlite_master WHERE name = 'lines'").toArray()).toEqual([]);
      expect(versionIn(storage)).toBeUndefined();
      opened.kv.put("anything", 1);
      expect(versionIn(storage)).toBe(3);
    });
  });

  it("is stored with the next data where the first was taken back", async () => {
    await onEmpty((storage) => {
      const opened = openStored(storage, formatOf(1));
      const failing = (): void =>
        opened.transactionSync(() => {
          opened.sql.exec("CREATE TABLE lines (line TEXT)");
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      expect(versionIn(storage)).toBeUndefined();
      opened.sql.exec("CREATE TABLE lines (line TEXT)");
      expect(versionIn(storage)).toBe(1);
    });
  });

  it("decides which migrations run, in their order, once", async () => {
    await onEmpty((storage) => {
      storeAs(2, storage);
      for (let wakes = 0; wakes < 2; wakes++) {
        openStored(storage, formatOf(4));
        expect(linesIn(storage)).toEqual(["first", "by the migration to 3", "by the migration to 4"]);
        expect(versionIn(storage)).toBe(4);
      }
    });
  });

  it("and the data stay as they were where a migration fails", async () => {
    await onEmpty((storage) => {
      storeAs(1, storage);
      const { of, migrations } = formatOf(3);
      const failing = (): void => {
        throw new Error("this row cannot be read");
      };
      const open = (): unknown => openStored(storage, { of, migrations: [...migrations, failing] });
      expect(open).toThrow("this row cannot be read");
      expect(linesIn(storage)).toEqual(["first"]);
      expect(versionIn(storage)).toBe(1);
    });
  });

  it("of a later release is refused, by an error that names both", async () => {
    await onEmpty((storage) => {
      storeAs(3, storage);
      const open = (): unknown => openStored(storage, formatOf(2));
      expect(open).toThrow("the test holds data of version 3, and this release reads up to version 2");
      expect(linesIn(storage)).toEqual(["first"]);
    });
  });
});

describe("a room with data of a later release", () => {
  it("closes its connections with 1012, refuses others with 503, and loses nothing", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await ada.ask("chat-message", { content: "before" });
    await leave(stubOf(room), NEWER);

    ada.send('42["typing",{"on":true}]');
    await ada.until("the closing", () => ada.closed);
    expect(ada.closed).toEqual({ code: 1012, reason: "service restart" });
    const unavailable = { error: { code: "UNAVAILABLE", message: expect.any(String) } };
    const refused = await upgrade({ room });
    expect([refused.status, refused.headers.get("Retry-After"), await refused.json()]).toEqual([503, "1", unavailable]);
    for (const [method, path] of [
      ["GET", "messages"],
      ["POST", "messages"],
      ["DELETE", ""],
    ] as const) {
      const body = method === "POST" ? { content: "lost?" } : undefined;
      expect(await callApi(method, `/api/rooms/${room}/${path}`.replace(/\/$/, ""), { body })).toMatchObject({
        status: 503,
        body: unavailable,
      });
    }

    await leave(stubOf(room), 1);
    const { body } = await callApi("GET", `/api/rooms/${room}/messages`);
    expect((body.messages as Message[]).map(({ content }) => content)).toEqual(["before"]);
    await (await join(room, "ada")).ask("chat-message", { content: "after" });
  });

  it("keeps its alarm for the release that can run it", async () => {
    const room = freshRoom();
    await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "before" } });
    await runInDurableObject(stubOf(room), (_room, { storage }) => storage.setAlarm(Date.now() + 3_600_000));
    await leave(stubOf(room), NEWER);
    expect(await runDurableObjectAlarm(stubOf(room))).toBe(true);
    const alarmMs = await runInDurableObject(stubOf(room), (_room, { storage }) => storage.getAlarm());
    expect(alarmMs! - Date.now()).toBeGreaterThan(60_000);
    await leave(stubOf(room), 1);
    expect(await alarmOf(room)).not.toBeNull();
  });

  it("costs a row more with its first connection, and none later", async () => {
    const room = freshRoom();
    const { rows, alarms } = await rowsWritten(room, () => join(room, "ada"));
    expect(rows - alarms).toBe(4);
  });
});

describe("other objects with data of a later release", () => {
  const name = "of-a-later-release";
  const failureOf = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      return await call();
    } catch (error) {
      return error;
    }
  };

  it.each([
    ["a lobby", env.LOBBY.getByName(name), () => env.LOBBY.getByName(name).scrape()],
    ["dead letters", env.DEAD_LETTERS.getByName(name), () => env.DEAD_LETTERS.getByName(name).count()],
    ["announcements", env.ANNOUNCEMENTS.getByName(name), () => env.ANNOUNCEMENTS.getByName(name).find("a1")],
  ])("refuse calls: %s", async (_what, stub, call: () => Promise<unknown>) => {
    await call();
    await leave(stub, NEWER);
    const message = expect.stringMatching(/holds data of version 2, and this release reads up to version 1/);
    expect(await failureOf(call)).toMatchObject({ message, retryable: true });
  });

  it("keep announcements that wait", async () => {
    const stub = env.ANNOUNCEMENTS.getByName(freshRoom());
    const item = { v: 1, announce: { id: "a1" }, to: [{ room: freshRoom() }] } as never;
    await stub.deliver([item], 3600);
    await leave(stub, NEWER);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    await runInDurableObject(stub, async (_object, { storage }) => {
      expect(await storage.getAlarm()).not.toBeNull();
      expect(storage.sql.exec("SELECT item FROM pending").toArray()).toHaveLength(1);
    });
  });
});
