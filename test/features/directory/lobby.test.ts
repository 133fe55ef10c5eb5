// The list of rooms: its entries, their order, its readers, and its cost: LOB-1, LOB-4 to LOB-8
import { describe, expect, it, vi } from "vitest";

import { REPORT_BELIEVED_MS } from "../../../src/features/directory/room-facts.ts";
import { UNUSED_DIRECT_MS_MAX } from "../../../src/features/directory/kept-room.ts";
import { JOINED_MAX, SAVE_WINDOW_MS_MAX } from "../../../src/features/directory/lobby.ts";
import { ENTRIES_PER_PAGE } from "../../../src/storage/paged-map.ts";
import { packUnread, readerMark } from "../../../src/protocol/unread.ts";
import {
  lobbyNames,
  lobbyOf,
  mergePages,
  placeOf,
  ROOM_SORTS,
  type RoomQuery,
  type RoomReport,
  type RoomSort,
} from "../../../src/protocol/room-list.ts";
import { SORTED_AT_ONCE_MAX, SORTED_MS_MAX } from "../../../src/features/directory/sorted-rooms.ts";
import { START_MS } from "../../host/harness.ts";
import { RoomPages } from "../../../src/features/directory/room-pages.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";
import { fc } from "../../host/properties.ts";

const reportOf = (room: string, more: Partial<RoomReport> = {}): RoomReport => ({
  room,
  members: 0,
  lastSeq: 1,
  lastActivity: START_MS,
  believedMs: REPORT_BELIEVED_MS,
  madeAtMs: START_MS,
  ...more,
});

const namesIn = (lobby: MemoryLobby, query: Partial<RoomQuery> = {}): string[] =>
  lobby.list(query).map(({ room }) => room);

function lobbyWith(...reports: RoomReport[]): MemoryLobby {
  const lobby = new MemoryLobby();
  for (const report of reports) lobby.report(report);
  return lobby;
}

it(`LOB-9: of a user's rooms those that the token opens are listed, ${JOINED_MAX} with the newest messages`, () => {
  const unread = packUnread([[readerMark("ada"), 1]]);
  const read = (room: string, lastActivity: number): RoomReport => reportOf(room, { lastActivity, unread });
  const busy = Array.from({ length: JOINED_MAX }, (_, at) => read(`busy-${at}`, START_MS));
  const lobby = lobbyWith(read("team-tea", START_MS - 2), read("quiet", START_MS - 1), ...busy);
  const listed = (rooms?: readonly string[]): string[] => lobby.joined("ada", 0, rooms).rooms.map(({ room }) => room);
  expect(listed(["team-*"])).toEqual(["team-tea"]);
  expect(listed(["quiet", "team-*", "busy-7"])).toEqual(["busy-7", "quiet", "team-tea"]);
  expect(listed().sort()).toEqual(busy.map(({ room }) => room).sort());
});

it("DM-4: a user's conversations follow the reports, and are found without a look at those of others", () => {
  const direct = (name: string, users: readonly [string, string], more: Partial<RoomReport> = {}): RoomReport =>
    reportOf(name, { members: 0, lastSeq: 1, lastActivity: START_MS, direct: { users, read: [0, 0] }, ...more });
  const others = Array.from({ length: 300 }, (_, at) => direct(`dm~${at}`, [`user ${at}`, `other ${at}`]));
  const lobby = lobbyWith(...others, direct("dm~ab", ["ada", "ben"]));
  lobby.advance(120_000);
  lobby.restart();
  expect(lobby.directOf("ada"), "as stored").toEqual(["ben"]);
  lobby.report(direct("dm~ac", ["ada", "cyd"]));
  lobby.report(direct("dm~ac", ["ada", "cyd"], { lastSeq: 2 }));
  expect(lobby.directOf("ada").sort()).toEqual(["ben", "cyd"]);
  expect(lobby.directOf("cyd")).toEqual(["ada"]);
  lobby.report({ ...reportOf("dm~ab", { members: 0, lastSeq: 0, lastActivity: null }), madeAtMs: lobby.nowMs });
  expect([lobby.directOf("ada"), lobby.directOf("ben")]).toEqual([["cyd"], []]);
  const look = vi.spyOn(RoomPages.prototype, "all");
  expect(lobby.directOf("user 7")).toEqual(["other 7"]);
  expect(lobby.directOf("nobody")).toEqual([]);
  expect(look).not.toHaveBeenCalled();
  look.mockRestore();
});

describe("conversations without a message: LOB-8", () => {
  const direct = (other: string, more: Partial<RoomReport> = {}): RoomReport =>
    reportOf(`dm~${other}`, {
      lastSeq: 0,
      lastActivity: null,
      believedMs: 0,
      direct: { users: ["ada", other], read: [0, 0] },
      ...more,
    });

  it("leave the lists of both users after a week and free their row; those with a message stay", () => {
    const lobby = lobbyWith(
      direct("ben"),
      direct("cyd", { lastSeq: 1, lastActivity: START_MS }),
      direct("dan", { lastSeq: 1 }),
    );
    lobby.advance(UNUSED_DIRECT_MS_MAX - 1);
    expect([lobby.directOf("ada").sort(), lobby.directOf("ben")]).toEqual([["ben", "cyd", "dan"], ["ada"]]);
    lobby.advance(1);
    expect([lobby.directOf("ada").sort(), lobby.directOf("ben")]).toEqual([["cyd", "dan"], []]);
    lobby.report(reportOf("another"));
    lobby.nowMs -= 60_000;
    expect(lobby.directOf("ada").sort(), "it is forgotten, and not only hidden").toEqual(["cyd", "dan"]);
  });

  it("come back when one of the users comes in, and stay while occupied", () => {
    const lobby = lobbyWith(direct("ben"));
    lobby.advance(UNUSED_DIRECT_MS_MAX);
    lobby.report(direct("ben", { members: 1, believedMs: REPORT_BELIEVED_MS, madeAtMs: lobby.nowMs }));
    expect(lobby.directOf("ada")).toEqual(["ben"]);
    lobby.advance(REPORT_BELIEVED_MS + UNUSED_DIRECT_MS_MAX);
    expect(lobby.directOf("ada")).toEqual([]);
  });
});

describe("the listed rooms: LOB-1", () => {
  it("lists the last report of each room", () => {
    const lobby = lobbyWith(reportOf("a"), reportOf("a", { members: 3, lastSeq: 7 }));
    expect(lobby.list()).toEqual([{ room: "a", members: 3, lastSeq: 7, lastActivity: START_MS }]);
  });

  it("lists no empty room without a message", () => {
    const lobby = lobbyWith(reportOf("a", { members: 1, lastSeq: 0, lastActivity: null }));
    expect(namesIn(lobby)).toEqual(["a"]);
    lobby.report(reportOf("a", { members: 0, lastSeq: 0, lastActivity: null }));
    lobby.report(reportOf("b", { members: 0, lastSeq: 0, lastActivity: null }));
    expect(namesIn(lobby)).toEqual([]);
  });

  it("filters by token, prefix and occupancy", () => {
    const lobby = lobbyWith(reportOf("team-a", { members: 2 }), reportOf("team-b"), reportOf("other", { members: 1 }));
    expect(namesIn(lobby, { rooms: ["team-*"] })).toEqual(["team-a", "team-b"]);
    expect(namesIn(lobby, { rooms: ["other", "nothing"] })).toEqual(["other"]);
    expect(namesIn(lobby, { rooms: [] })).toEqual([]);
    expect(namesIn(lobby, { prefix: "team" })).toEqual(["team-a", "team-b"]);
    expect(namesIn(lobby, { isOccupied: true })).toEqual(["other", "team-a"]);
    expect(namesIn(lobby, { isOccupied: true, prefix: "o", rooms: ["team-*"] })).toEqual([]);
  });

  it("lists no rooms between two people for members: LOB-6", () => {
    const lobby = lobbyWith(reportOf("dm~ada~ben"), reportOf("dm-team"), reportOf("x.dm~y"));
    expect(namesIn(lobby, { isForMembers: true })).toEqual(["dm-team", "x.dm~y"]);
    expect(namesIn(lobby)).toHaveLength(3);
  });

  it("takes a room for empty when its report has expired: LOB-4", () => {
    const lobby = lobbyWith(
      reportOf("a", { members: 2 }),
      reportOf("b", { members: 1, lastSeq: 0, lastActivity: null }),
    );
    lobby.advance(REPORT_BELIEVED_MS - 1);
    expect(lobby.list({ isOccupied: true })).toMatchObject([{ members: 2 }, { members: 1 }]);
    lobby.restart();
    lobby.advance(1);
    expect(lobby.list()).toMatchObject([{ room: "a", members: 0, lastSeq: 1 }]);
  });
});

describe("orders and pages: LOB-5", () => {
  const reports = [
    reportOf("a", { members: 1, lastActivity: START_MS + 1 }),
    reportOf("b", { members: 5, lastActivity: START_MS }),
    reportOf("c", { members: 5, lastActivity: null, lastSeq: 0 }),
    reportOf("B", { members: 0, lastActivity: START_MS + 1 }),
  ];

  it.each<[RoomSort, string[]]>([
    ["activity", ["B", "a", "b", "c"]],
    ["members", ["b", "c", "a", "B"]],
    ["name", ["B", "a", "b", "c"]],
  ])("by %s", (sort, names) => {
    expect(namesIn(lobbyWith(...reports), { sort })).toEqual(names);
  });

  const room = fc.stringMatching(/^[a-d]{1,3}$/);
  const reported = fc.record({
    room,
    members: fc.nat(3),
    lastSeq: fc.integer({ min: 1, max: 3 }),
    lastActivity: fc.option(fc.integer({ min: START_MS, max: START_MS + 3 })),
    believedMs: fc.constant(REPORT_BELIEVED_MS),
    madeAtMs: fc.constant(START_MS),
  });

  it("pages follow one another without a gap, however many lobbies share the rooms", () => {
    fc.assert(
      fc.property(
        fc.array(reported, { maxLength: 40 }),
        fc.constantFrom(...ROOM_SORTS),
        fc.integer({ min: 1, max: 7 }),
        (all, sort, limit) => {
          const one = lobbyWith(...all);
          const whole = one.list({ sort });
          for (const count of [1, 4]) {
            const lobbies = new Map(lobbyNames(count).map((name) => [name, new MemoryLobby()]));
            for (const report of all) lobbies.get(lobbyOf(report.room, count))!.report(report);
            const pages = [];
            let after: RoomQuery["after"];
            for (let hasMore = true; hasMore;) {
              const asked = [...lobbies.values()].map((lobby) => lobby.page({ sort, limit, after }));
              const page = mergePages(asked, { sort, limit });
              pages.push(...page.rooms);
              ({ hasMore } = page);
              if (hasMore) after = placeOf(sort, page.rooms.at(-1)!);
            }
            expect(pages).toEqual(whole);
          }
        },
      ),
    );
  });

  it("spreads rooms over the lobbies by name", () => {
    const counts = new Map<string, number>(lobbyNames(4).map((name) => [name, 0]));
    for (let i = 0; i < 4000; i++) {
      const name = lobbyOf(`room-${i}`, 4);
      counts.set(name, counts.get(name)! + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(800);
    expect(new Set([...lobbyNames(4), ...lobbyNames(1), ...lobbyNames(2)]).size).toBe(7);
  });
});

describe("storing: LOB-7", () => {
  it("stores a report after quiet at once, many rooms to a row", () => {
    const lobby = lobbyWith(reportOf("a"));
    expect([lobby.writes, lobby.isSaved]).toEqual([1, true]);
    lobby.advance(10_000);
    lobby.report(reportOf("b"));
    expect(lobby.writes).toBe(2);
    lobby.restart();
    expect(namesIn(lobby)).toEqual(["a", "b"]);
  });

  it("stores continuing reports together, once a minute at most, and the last ones at the end", () => {
    const lobby = new MemoryLobby();
    const hour = (): number => {
      const before = lobby.writes;
      for (let i = 0; i < 36_000; i++) {
        lobby.report(reportOf(`room-${i % 200}`, { lastSeq: i + 1 }));
        lobby.advance(100);
      }
      return lobby.writes - before;
    };
    hour();
    expect(hour()).toBeLessThanOrEqual(60);
    expect(lobby.isSaved).toBe(false);
    lobby.advance(SAVE_WINDOW_MS_MAX);
    expect(lobby.isSaved).toBe(true);
    const before = lobby.list();
    lobby.restart();
    expect(lobby.list()).toEqual(before);
  });

  it("adds up the shards of big rooms, until their members are gone", () => {
    const inShards = (members: number, ...shards: [number, number]): Partial<RoomReport> => ({
      members,
      shards,
      delta: { id: members, counts: { posted: 1 } },
    });
    const lobby = lobbyWith(reportOf("a", inShards(9, 2, 7)), reportOf("b", inShards(5, 1, 3)), reportOf("c"));
    expect(lobby.scrape()).toMatchObject({ shards: 3, inShards: 10 });
    lobby.restart();
    lobby.report(reportOf("a", { members: 0, lastSeq: 9 }));
    expect(lobby.scrape()).toMatchObject({ shards: 1, inShards: 3 });
    lobby.report(reportOf("b", { members: 2 }));
    expect(lobby.scrape()).toMatchObject({ shards: 0, inShards: 0 });
  });

  it("counts its own rows with the next row that it writes", () => {
    const lobby = new MemoryLobby();
    for (let round = 1; round <= 5; round++) {
      lobby.report(reportOf("general", { lastSeq: round, delta: { id: round, counts: { posted: 1 } } }));
      lobby.advance(2 * SAVE_WINDOW_MS_MAX);
      for (let i = 0; i < 3; i++) lobby.scrape();
      expect(lobby.scrape().totals).toMatchObject({ posted: round, reports: round });
      expect(lobby.scrape().totals["rows:lobby"] ?? 0).toBe(lobby.writes - 1);
    }
  });

  it("writes one row per report, however many rooms there are, and reuses the entries of rooms that left", () => {
    const lobby = new MemoryLobby();
    const names = Array.from({ length: 3 * ENTRIES_PER_PAGE }, (_, i) => `room-${i}`);
    for (const name of names) lobby.report(reportOf(name));
    lobby.advance(SAVE_WINDOW_MS_MAX);
    const rowsOf = (work: () => void): number => {
      lobby.advance(10 * SAVE_WINDOW_MS_MAX);
      const before = lobby.writes;
      work();
      lobby.advance(SAVE_WINDOW_MS_MAX);
      return lobby.writes - before;
    };
    expect(rowsOf(() => lobby.report(reportOf("room-700", { members: 1 })))).toBe(1);
    const gone = { lastSeq: 0, lastActivity: null };
    expect(rowsOf(() => lobby.report(reportOf("room-0", gone)))).toBe(1);
    expect(rowsOf(() => lobby.report(reportOf("room-0", gone)))).toBe(0);
    expect(rowsOf(() => lobby.report(reportOf("a-new-one")))).toBe(1);
    lobby.restart();
    expect(namesIn(lobby).sort()).toEqual(["a-new-one", ...names.slice(1)].sort());
  });

  it("retries a failed write and loses nothing", () => {
    const lobby = new MemoryLobby();
    lobby.failure = new Error("full");
    lobby.report(reportOf("a"));
    lobby.advance(5000);
    expect(namesIn(lobby)).toEqual(["a"]);
    expect(lobby.problems).toContain("reports of rooms could not be stored");
    lobby.failure = undefined;
    lobby.advance(2 * SAVE_WINDOW_MS_MAX);
    expect(lobby.isSaved).toBe(true);
    lobby.restart();
    expect(namesIn(lobby)).toEqual(["a"]);
  });

  it("drops the rooms that were quiet the longest from a full list, and no occupied one", () => {
    const lobby = new MemoryLobby(20);
    for (let i = 0; i < 20; i++) {
      lobby.report(reportOf(`room-${i}`, { members: i === 0 ? 1 : 0, lastActivity: START_MS + i }));
    }
    expect(namesIn(lobby)).toHaveLength(20);
    lobby.report(reportOf("one-more", { lastActivity: START_MS + 100 }));
    expect(namesIn(lobby)).toHaveLength(19);
    expect(namesIn(lobby)).toEqual(expect.arrayContaining(["room-0", "room-3", "one-more"]));
    expect(namesIn(lobby)).not.toContain("room-1");
  });

  it("drops small rooms of one author first, however new they are, also after a restart of the lobby", () => {
    const lobby = new MemoryLobby(30);
    const known = ["talk", "diary", "duet"];
    lobby.report(reportOf("talk", { lastSeq: 500, isShared: true }));
    lobby.report(reportOf("duet", { lastSeq: 2, isShared: true }));
    lobby.report(reportOf("diary", { lastSeq: 500 }));
    // Once it was known that two have written, it stays so.
    lobby.report(reportOf("duet", { lastSeq: 3, madeAtMs: START_MS + 1 }));
    lobby.advance(SAVE_WINDOW_MS_MAX);
    lobby.restart();
    for (let i = 0; i < 500; i++) lobby.report(reportOf(`spam-${i}`, { lastActivity: START_MS + 1000 + i }));
    expect(namesIn(lobby)).toEqual(expect.arrayContaining(known));
    // Rooms of one author go before those of several.
    for (let i = 0; i < 500; i++)
      lobby.report(reportOf(`novel-${i}`, { lastSeq: 500, lastActivity: START_MS + 2000 + i }));
    expect(namesIn(lobby)).toEqual(expect.arrayContaining(["talk", "duet"]));
    expect(namesIn(lobby)).not.toContain("diary");
  });
});

describe("reports that overtake one another", () => {
  it("takes the report that was made last, in any order of arrival: LOB-1", () => {
    const lobby = lobbyWith(reportOf("a", { members: 2 }));
    lobby.report(reportOf("a", { lastActivity: null, madeAtMs: START_MS + 20 }));
    lobby.report(reportOf("a", { members: 2, madeAtMs: START_MS + 10 }));
    expect(namesIn(lobby)).toEqual([]);
    lobby.report(reportOf("a", { members: 1, madeAtMs: START_MS + 30 }));
    expect(namesIn(lobby)).toEqual(["a"]);
  });

  it("takes the reports of a room whose clock was set back", () => {
    const lobby = lobbyWith(reportOf("a", { members: 2 }));
    lobby.report(reportOf("a", { members: 1, madeAtMs: START_MS - 3_600_000 }));
    expect(lobby.list()).toMatchObject([{ members: 1 }]);
  });
});

it("sorts a large list once a second at most: LOB-7", () => {
  const lobby = new MemoryLobby();
  const names = Array.from({ length: SORTED_AT_ONCE_MAX + 1 }, (_, i) => `room-${String(i).padStart(5, "0")}`);
  for (const name of names) lobby.report(reportOf(name));
  expect(namesIn(lobby, { limit: 2 })).toEqual(names.slice(0, 2));
  lobby.report(reportOf("a-newcomer"));
  expect(namesIn(lobby, { limit: 1 })).toEqual(names.slice(0, 1));
  lobby.advance(SORTED_MS_MAX);
  expect(namesIn(lobby, { limit: 1 })).toEqual(["a-newcomer"]);
  expect(namesIn(lobby, { limit: 2, prefix: "room-010" })).toEqual(["room-01000"]);
});
