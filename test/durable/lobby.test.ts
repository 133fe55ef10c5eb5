// The list of rooms over real objects: the rows that it writes, the rooms that each caller gets, through sleep and deletion.
// LOB-1 to LOB-3, LOB-6, LOB-7
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { Lobby } from "../../src/features/directory/object.ts";
import { lobbyNames, type RoomQuery, type RoomReport } from "../../src/protocol/room-list.ts";
import { callApi, pagesFrom, refusal, type CallOptions } from "./api-caller.ts";
import { countReports } from "./count-reports.ts";
import { RawClient } from "./raw-client.ts";
import { alarmOf, isArmed, isAtRest, join, Sleeper, stubOf, withSettings, workerWith } from "./rooms.ts";
import { holdAlarms, queriesMade, rowsWritten } from "./rows-written.ts";

interface Listed {
  readonly room: string;
  readonly members: number;
  readonly lastSeq: number;
  readonly lastActivity: number | null;
  readonly name?: string;
}

let names = 0;
/** Begins the names of one test's rooms: the lobby is one for all tests. */
const freshPrefix = (): string => `list-${++names}-`;

const storedIn = ({ storage }: DurableObjectState): string =>
  JSON.stringify(storage.sql.exec("SELECT body FROM room_pages").toArray());

const list = async (prefix: string, query = "", options: CallOptions = {}): Promise<Listed[]> =>
  (await callApi("GET", `/api/rooms?prefix=${prefix}${query}`, options)).body.rooms;

/** Waits until the lobby has the reports: each comes right after its input. */
const expectListed = (prefix: string, rooms: ReadonlyArray<Partial<Listed>>): Promise<void> =>
  vi.waitFor(async () => expect(await list(prefix, "&sort=name")).toMatchObject(rooms));

const post = (room: string) => callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });

const lobby = () => env.LOBBY.getByName(lobbyNames(1)[0]!);

const evictLobby = (): Promise<void> => evictDurableObject(lobby());

/** As after a long quiet time: the next report is stored at once. A busy lobby waits for more reports before it stores. */
async function quiet(): Promise<void> {
  await evictLobby();
  await list("x");
}

afterEach(() => vi.restoreAllMocks());

it("keeps the list through a sleep of the lobby", async () => {
  const room = freshPrefix();
  await join(room, "ada");
  await expectListed(room, [{ members: 1 }]);
  await evictLobby();
  expect(await list(room)).toMatchObject([{ members: 1 }]);
});

describe("its cost: LOB-2, LOB-7", () => {
  it("a message after quiet: a request and a row of the lobby; no row and no alarm of the room's", async () => {
    const room = freshPrefix();
    await post(room);
    await expectListed(room, [{ lastSeq: 1 }]);
    // The one alarm that a room with messages has: for the day on which it forgets them.
    await isAtRest(room);
    // An hour later its memory is gone.
    await new Sleeper(room).sleep();
    await quiet();
    let [lobbyRows, reports] = [0, 0];
    const rows = await rowsWritten(
      room,
      async () => {
        ({ lobbyRows } = await queriesMade(room, async () => {
          reports = await countReports(async () => {
            await post(room);
            await expectListed(room, [{ lastSeq: 2 }]);
          });
        }));
      },
      freshPrefix(),
    );
    expect(rows).toEqual({ rows: 1, alarms: 0 });
    expect({ reports, lobbyRows }).toEqual({ reports: 1, lobbyRows: 1 });
  });

  it("a token that an empty room refuses: a request and a row of the lobby; no row and no alarm of the room's", async () => {
    const room = freshPrefix();
    await quiet();
    holdAlarms();
    let [lobbyRows, reports] = [0, 0];
    const rows = await rowsWritten(
      room,
      async () => {
        ({ lobbyRows } = await queriesMade(room, async () => {
          reports = await countReports(async (soFar) => {
            const stranger = await RawClient.open({ room });
            await expect(stranger.connect({ token: "nonsense" })).rejects.toMatchObject({
              data: { code: "UNAUTHORIZED" },
            });
            stranger.close();
            await vi.waitFor(() => expect(soFar()).toBe(1));
          });
        }));
      },
      freshPrefix(),
    );
    expect(rows).toEqual({ rows: 0, alarms: 0 });
    expect({ reports, lobbyRows }).toEqual({ reports: 1, lobbyRows: 1 });
    expect(await alarmOf(room)).toBe(null);
  });

  it("an idle room: nothing, however often it is listed and read", async () => {
    const room = freshPrefix();
    await join(room, "ada");
    await expectListed(room, [{ members: 1 }]);
    const reports = await countReports(async () => {
      for (let i = 0; i < 5; i++) {
        await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
        await list(room);
        await callApi("GET", `/api/rooms/${room}`);
      }
    });
    expect(reports).toBe(0);
  });
});

describe("GET /api/rooms: LOB-1", () => {
  it("lists rooms with members, lastSeq and lastActivity, and none that was only read", async () => {
    const prefix = freshPrefix();
    await join(`${prefix}a`, "ada");
    await post(`${prefix}b`);
    await callApi("GET", `/api/rooms/${prefix}c`);
    await expectListed(prefix, [
      { room: `${prefix}a`, members: 1, lastSeq: 0, lastActivity: null },
      { room: `${prefix}b`, members: 0, lastSeq: 1, lastActivity: expect.any(Number) },
    ]);
    const { body } = await callApi("GET", `/api/rooms/${prefix}b`);
    expect(await list(prefix, "&sort=name&limit=1")).toHaveLength(1);
    expect({ ok: true, ...(await list(`${prefix}b`))[0] }).toEqual(body);
  });

  it("has the names that rooms have been given, also after a sleep, and finds rooms by their ids", async () => {
    const room = `${freshPrefix()}coffee`;
    await post(room);
    await quiet();
    const body = { action: "describe", name: "Coffee & code", topic: "What we brew" };
    await callApi("POST", `/api/rooms/${room}/moderation`, { body });
    await expectListed(room, [{ room, name: "Coffee & code" }]);
    await vi.waitFor(() => runInDurableObject(lobby(), (_lobby, state) => expect(storedIn(state)).toContain("& code")));
    await evictLobby();
    await expectListed(room, [{ room, name: "Coffee & code", lastSeq: 1 }]);
    const { body: overview } = await callApi("GET", `/api/rooms/${room}`);
    expect(overview).toMatchObject({ room, name: "Coffee & code", topic: "What we brew" });
    await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "describe", name: "" } });
    await vi.waitFor(async () => expect((await list(room))[0]).not.toHaveProperty("name"));
  });

  it("wakes no room", async () => {
    const prefix = freshPrefix();
    const rooms = ["a", "b", "c"].map((name) => prefix + name);
    for (const room of rooms) await join(room, "ada");
    await expectListed(
      prefix,
      rooms.map((room) => ({ room, members: 1 })),
    );
    const watcher = `${prefix}watcher`;
    for (const room of rooms) await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    // A room that is made looks into its storage first.
    const listing = await queriesMade(watcher, () => list(prefix));
    expect(listing.besidesLobby).toBe(0);
    const looking = await queriesMade(watcher, () => callApi("GET", `/api/rooms/${rooms[0]}`));
    expect(looking.besidesLobby).toBeGreaterThan(0);
  });

  it("pages through the list in every order: API-7, LOB-5", async () => {
    const prefix = freshPrefix();
    const rooms = ["a", "b", "c", "d", "e"].map((name) => prefix + name);
    for (const room of rooms) await post(room);
    await join(rooms[2]!, "ada");
    await vi.waitFor(async () => expect((await list(prefix, "&sort=members"))[0]).toMatchObject({ room: rooms[2] }));
    for (const sort of ["name", "activity", "members"]) {
      const whole = (await list(prefix, `&sort=${sort}`)).map(({ room }) => room);
      const pages = await pagesFrom(`/api/rooms?prefix=${prefix}&sort=${sort}&limit=2`);
      const paged = pages.flatMap((page) => (page.rooms as Listed[]).map(({ room }) => room));
      expect(paged, sort).toEqual(whole);
      expect(paged).toHaveLength(5);
    }
  });

  it.each([
    ["limit=0", "limit"],
    ["limit=501", "limit"],
    ["sort=size", "sort"],
    ["cursor=x", "cursor"],
    [`cursor=${btoa('["name",0,"a"]')}`, "cursor"],
    [`cursor=${btoa('["activity","0","a"]')}`, "cursor"],
    [`cursor=${btoa('["activity",0,"../"]')}`, "cursor"],
    [`prefix=${"x".repeat(65)}`, "prefix"],
  ])("%s: 400", async (query, path) => {
    const refused = await callApi("GET", `/api/rooms?${query}`);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(refused.body.error.issues).toMatchObject([{ path }]);
  });
});

describe("permission to list rooms: LOB-6", () => {
  it("lists the rooms that the token opens", async () => {
    const prefix = freshPrefix();
    const rooms = [`${prefix}a`, `${prefix}b`];
    for (const room of rooms) await post(room);
    await expectListed(prefix, [{ room: rooms[0]! }, { room: rooms[1]! }]);
    const seen = async (as: CallOptions["as"], begin: string): Promise<string[]> =>
      (await list(begin, "&sort=name", { as: as! })).map(({ room }) => room);
    for (const role of ["member", "reader"]) {
      expect(await seen({ role, user: "ada" }, prefix)).toEqual(rooms.slice(0, 2));
      expect(await seen({ role, user: "ada", rooms: [rooms[1]!] }, prefix)).toEqual([rooms[1]]);
      expect(await seen({ role, user: "ada", rooms: [] }, "")).toEqual([]);
    }
  });

  it("refuses members in production unless ROOM_LIST is on", async () => {
    const statusOf = async (role: string, settings: Record<string, string>): Promise<number> =>
      (await callApi("GET", "/api/rooms", { as: { role }, fetcher: workerWith(settings) })).status;
    expect(await statusOf("member", { ENVIRONMENT: "production", GUEST_ACCESS: "off" })).toBe(403);
    expect(await statusOf("reader", { ROOM_LIST: "off" })).toBe(403);
    expect(await statusOf("moderator", { ROOM_LIST: "off" })).toBe(200);
    expect(await statusOf("service", { ROOM_LIST: "off" })).toBe(200);
    expect(await statusOf("member", { ENVIRONMENT: "production", ROOM_LIST: "on" })).toBe(200);
    expect(await callApi("GET", "/api/rooms", { as: null })).toMatchObject({ status: 401 });
  });
});

describe("the list follows the rooms: LOB-3", () => {
  it("drops a deleted room, and lists it again as a new one", async () => {
    const room = `${freshPrefix()}a`;
    await join(room, "ada");
    await post(room);
    await expectListed(room, [{ members: 1 }]);
    await callApi("DELETE", `/api/rooms/${room}`);
    await expectListed(room, []);
    await post(room);
    await expectListed(room, [{ members: 0, lastSeq: 1 }]);
  });

  it("follows members who come and go, also through a sleep of the room", async () => {
    const room = `${freshPrefix()}a`;
    const ada = await join(room, "ada");
    await expectListed(room, [{ members: 1 }]);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    ada.close();
    await expectListed(room, []);
    await sleeper.see();
  });

  it("lists a room that died as empty once its alarm rings, also if it was read before", async () => {
    const room = `${freshPrefix()}a`;
    await join(room, "ada");
    await post(room);
    await expectListed(room, [{ members: 1 }]);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    await isArmed(room);
    const alarmAtMs = await alarmOf(room);
    await runInDurableObject(stubOf(room), (_instance, ctx) => ctx.abort("gone")).catch(() => {});
    await callApi("GET", `/api/rooms/${room}/messages`);
    await new Sleeper(room).sleep();
    expect(await alarmOf(room)).toBe(alarmAtMs);
    await runDurableObjectAlarm(stubOf(room));
    await expectListed(room, [{ members: 0, lastSeq: 1 }]);
  });
});

describe("a room that is deleted while reports of it are under way to a lobby far away does not come back into the list", () => {
  const LOOK_MS = 5;
  const report = Reflect.get(Lobby.prototype, "report");
  afterEach(() => {
    Lobby.prototype.report = report;
    arrived = [];
  });
  /** Reports on their way, and those that were let go: by number, in the order in which they were made. */
  const underWay = new Set<number>();
  const letThrough = new Set<number>();
  let made = 0;
  let arrived: RoomReport[] = [];

  /** From now on reports wait on their way until they are let go. */
  function holdReports(): void {
    Lobby.prototype.report = async function (this: Lobby, given) {
      const number = ++made;
      underWay.add(number);
      // An object may not be woken by a promise of another one's: it looks by itself.
      while (!letThrough.has(number)) await scheduler.wait(LOOK_MS);
      const answer = await report.call(this, given);
      arrived.push(given);
      return answer;
    };
  }

  async function letGo(latestFirst: boolean): Promise<void> {
    const waiting = latestFirst ? [...underWay].reverse() : [...underWay];
    underWay.clear();
    for (const number of waiting) {
      const before = arrived.length;
      letThrough.add(number);
      await vi.waitFor(() => expect(arrived.length, `report ${number}`).toBeGreaterThan(before));
    }
  }

  it.each([
    { order: "as they were made", latestFirst: false },
    { order: "the other way round", latestFirst: true },
  ])("API-9: reports arrive $order", async ({ latestFirst }) => {
    const room = `${freshPrefix()}a`;
    await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });
    const listed = async (): Promise<object[]> => (await callApi("GET", `/api/rooms?prefix=${room}`)).body.rooms;
    await vi.waitFor(async () => expect(await listed()).toHaveLength(1));
    holdReports();
    await join(room, "ada");
    await vi.waitFor(() => expect(underWay.size).toBe(1));
    expect((await callApi("DELETE", `/api/rooms/${room}`)).status).toBe(200);
    await vi.waitFor(() => expect(underWay.size).toBe(2));
    await letGo(latestFirst);
    expect(arrived).toHaveLength(2);
    expect(await listed()).toEqual([]);
  });
});

it("four lobbies that share the rooms are one list to clients, page by page, and a drain reaches all: LOB-5", async () => {
  const shared = { LOBBIES: "4" };
  const fetcher = workerWith(shared);
  const rooms = Array.from({ length: 12 }, (_, i) => `shared-${String(i).padStart(2, "0")}`);
  await withSettings(shared, () => Promise.all(rooms.map((room) => join(room, "ada"))));
  await vi.waitFor(async () =>
    expect((await callApi("GET", "/api/rooms", { fetcher })).body.rooms).toHaveLength(rooms.length),
  );

  const query: RoomQuery = { sort: "name", limit: 100 };
  const pages = await Promise.all(lobbyNames(4).map((name) => env.LOBBY.getByName(name).list(query)));
  for (const page of pages) expect(page.rooms.length).toBeGreaterThan(0);

  const paged = await pagesFrom("/api/rooms?sort=name&limit=5", { fetcher });
  expect(paged.flatMap((page) => (page.rooms as Listed[]).map(({ room }) => room))).toEqual(rooms);

  const { body } = await callApi("POST", "/api/drain", { body: { reconnectWithinMs: 0 }, fetcher });
  expect(body).toEqual({ ok: true, rooms: rooms.map((room) => ({ room, connections: 1 })) });
});
