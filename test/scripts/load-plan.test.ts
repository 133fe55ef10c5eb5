// Tests the load test's arguments, its distribution of clients, and its plan of posts.
import { describe, expect, it } from "vitest";

import { readArguments } from "../../scripts/load/arguments.ts";
import { mergeSpans } from "../../scripts/load/worker-pool.ts";
import { codeOfFailure } from "../../scripts/load/light-member.ts";
import { Arrivals } from "../../scripts/load/pacing.ts";
import { seatAll, type Wishes } from "../../scripts/load/client-slots.ts";

const PEERS = ["parley", "socketio-ws"];
const CONTRACT =
  "--url http://127.0.0.1:8787 --users 1000 --rooms 10 --rate 0.1 --duration 60 --json a.json --html a.html";
const read = (...args: string[]) => readArguments(args, PEERS);

describe("arguments", () => {
  it("are those of the contract", () => {
    const asked = read(...CONTRACT.split(" "));
    expect(asked).toMatchObject({ url: "http://127.0.0.1:8787", users: 1000, rooms: 10, durationSeconds: 60 });
    expect(asked).toMatchObject({
      pace: { kind: "rate", perUserPerSecond: 0.1 },
      jsonFile: "a.json",
      htmlFile: "a.html",
    });
  });

  it("have defaults, among them the local server and its secret", () => {
    expect(read()).toMatchObject({ users: 100, rooms: 10, payloadBytes: 100, tokens: { kind: "usual" } });
    expect(read()).not.toHaveProperty("url");
    expect(read("--think", "2-8").pace).toEqual({ kind: "think", minSeconds: 2, maxSeconds: 8 });
    expect(read("--users", "3").rooms).toBe(3);
  });

  it("--big fills one room, whose users share the rate", () => {
    expect(read("--big")).toMatchObject({ users: 9000, rooms: 1, isBig: true });
    expect(read("--big").pace).toEqual({ kind: "rate", perUserPerSecond: 10 / 9000 });
    const small = read("--big", "--users", "100", "--rate", "5", "--duration", "3");
    expect(small).toMatchObject({ users: 100, rooms: 1, durationSeconds: 3 });
    expect(small.pace).toEqual({ kind: "rate", perUserPerSecond: 0.05 });
    expect(read().isBig).toBe(false);
  });

  it.each([
    [["--big", "--rooms", "2"], /--big fills one room/],
    [["--users", "0"], /--users must be a number from 1 to/],
    [["--users", "many"], /--users must be a number/],
    [["--rooms", "1.5"], /--rooms must be a whole number/],
    [["--url", "http://x/path"], /--url must be like/],
    [["--peer", "nobody"], /There is no peer "nobody"; there are parley, socketio-ws/],
    [["--url", "http://x", "--peer", "parley"], /exclude each other/],
    [["--rate", "1", "--think", "1"], /exclude each other/],
    [["--think", "8-2"], /--think must be seconds/],
    [["--shim", "0.7", "--polling", "0.7"], /must not exceed 1/],
    [["--payload", "10"], /--payload must be a number from 39 to/],
    [["--guest", "--token-secret", "x"], /Only one of/],
    [["--room-prefix", "no/room"], /makes no room names/],
    [["--speed", "9"], /Unknown option '--speed'/],
  ])("%j: named", (args, error) => {
    expect(() => read(...args)).toThrow(error);
  });
});

const MACHINE = { openFilesMax: 20_000, portsPerAddress: 28_000, hasLoopbackRange: true };
const WISHES: Wishes = { users: 100, rooms: 10, roomPrefix: "load", shimShare: 0, pollingShare: 0, realShare: 0 };

describe("seating", () => {
  it("spreads users evenly over rooms, and over as many processes as it takes", () => {
    const crews = seatAll({ ...WISHES, users: 10_000, rooms: 200 }, true, MACHINE);
    expect(crews.map(({ length }) => length)).toEqual([5000, 5000]);
    const perRoom = Map.groupBy(crews.flat(), ({ room }) => room);
    expect(perRoom.size).toBe(200);
    for (const seats of perRoom.values()) expect(seats).toHaveLength(50);
    expect(new Set(crews.flat().map(({ user }) => user)).size).toBe(10_000);
  });

  it("mixes kinds by their shares, in every room", () => {
    const wishes = { ...WISHES, users: 1000, shimShare: 0.5, pollingShare: 0.1, realShare: 0.2 };
    const seats = seatAll(wishes, true, MACHINE).flat();
    const shareOf = (is: (slot: (typeof seats)[number]) => boolean, of = seats): number =>
      of.filter(is).length / of.length;
    expect(shareOf(({ dialect }) => dialect === "shim")).toBeCloseTo(0.5, 1);
    expect(shareOf(({ transport }) => transport === "polling")).toBeCloseTo(0.1, 1);
    expect(shareOf(({ isReal }) => isReal)).toBeCloseTo(0.2, 1);
    for (const room of Map.groupBy(seats, (slot) => slot.room).values()) {
      expect(shareOf(({ dialect }) => dialect === "shim", room)).toBeGreaterThan(0.4);
      expect(shareOf(({ transport }) => transport === "polling", room)).toBeGreaterThan(0);
    }
  });

  it("takes another loopback address where the ports of one do not suffice, or as many as are asked for", () => {
    const addresses = (wishes: Wishes): number =>
      new Set(
        seatAll(wishes, true, MACHINE)
          .flat()
          .map(({ localAddress }) => localAddress),
      ).size;
    expect(addresses({ ...WISHES, users: 20_000 })).toBe(1);
    expect(addresses({ ...WISHES, users: 50_000 })).toBe(3);
    expect(addresses({ ...WISHES, sources: 7 })).toBe(7);
    expect(seatAll(WISHES, true, MACHINE).flat()[0]).not.toHaveProperty("localAddress");
  });

  it("names the limit of this machine, and a remedy", () => {
    const few = { ...MACHINE, openFilesMax: 1024 };
    expect(() => seatAll({ ...WISHES, users: 4000 }, true, few)).toThrow(
      /4000 users in 1 process take 4100 open files each, and 1024 is the limit here.*--processes 5/,
    );
    expect(seatAll({ ...WISHES, users: 4000, processes: 5 }, true, few)).toHaveLength(5);
    expect(() => seatAll({ ...WISHES, users: 50_000 }, false, MACHINE)).toThrow(/3 addresses.*not on this machine/);
    expect(() => seatAll({ ...WISHES, sources: 2 }, true, { ...MACHINE, hasLoopbackRange: false })).toThrow(
      /--sources 2/,
    );
  });
});

describe("pacing", () => {
  it("keeps its moments however late it is asked, and spreads them over users", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const arrivals = new Arrivals(100, 50, 0, random);
    const due: Array<{ user: number; dueUs: number }> = [];
    for (let next = arrivals.take(60e6); next; next = arrivals.take(60e6)) due.push(next);
    expect(due.length).toBeGreaterThan(5700);
    expect(due.length).toBeLessThan(6300);
    expect(due.every(({ dueUs }, index) => index === 0 || dueUs >= due[index - 1]!.dueUs)).toBe(true);
    expect(due[0]!.dueUs).toBeLessThan(1e6);
    expect(new Set(due.map(({ user }) => user)).size).toBe(50);
  });
});

it("spans of several processes are one", () => {
  expect(
    mergeSpans([{ a: { baseSeq: 3, lastSeq: 9 } }, { a: { baseSeq: 1, lastSeq: 5 }, b: { baseSeq: 0, lastSeq: 1 } }]),
  ).toEqual({ a: { baseSeq: 1, lastSeq: 9 }, b: { baseSeq: 0, lastSeq: 1 } });
});

it("failures have short names, the same for all whom the same befell", () => {
  expect(codeOfFailure("the upgrade was refused: HTTP/1.1 429 Too Many Requests")).toBe("429");
  expect(codeOfFailure("connect ECONNREFUSED 127.0.0.1:1")).toBe("ECONNREFUSED");
  expect(codeOfFailure("the connection was closed")).toBe("CLOSED");
});
