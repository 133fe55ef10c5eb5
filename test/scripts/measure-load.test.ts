// Tests the arguments of `npm run load`, its plan of users and posts, and its report as data, text and page.
import { describe, expect, it } from "vitest";

import { niceCeiling, roundTicks, shortNumber } from "../../scripts/measure/charts.ts";
import { countedBetween } from "../../scripts/measure/counted.ts";
import { arrivals, requireFiles, seatsFor } from "../../scripts/measure/crowd.ts";
import { Latencies } from "../../scripts/measure/latencies.ts";
import { codeOfFailure } from "../../scripts/measure/light-member.ts";
import { readArguments } from "../../scripts/measure/load-arguments.ts";
import { costBetween, stolenSecondsIn } from "../../scripts/measure/meter.ts";
import { outcomeOf, type Reading } from "../../scripts/measure/reading.ts";
import { htmlOf, textOf } from "../../scripts/measure/report.ts";
import { reportOf } from "../../scripts/measure/run-report.ts";
import { readingOf } from "./readings.ts";

describe("arguments", () => {
  it("are read, and have defaults", () => {
    const asked = "--url http://127.0.0.1:8787/ --users 1000 --rooms 10 --rate 0.1 --duration 60 --json a.json";
    expect(readArguments(asked.split(" "))).toMatchObject({
      url: "http://127.0.0.1:8787",
      workload: { users: 1000, rooms: 10, seconds: 60, postsPerUserPerSecond: 0.1 },
      json: "a.json",
    });
    expect(readArguments([])).toMatchObject({ workload: { users: 100, payloadBytes: 100 }, tokens: { kind: "usual" } });
    expect(readArguments([]).url).toBeUndefined();
    expect(readArguments(["--users", "3"]).workload.rooms).toBe(3);
  });

  it.each([
    [["--users", "0"], /--users must be a number from 1 to/],
    [["--users", "many"], /--users must be a number/],
    [["--rooms", "1.5"], /--rooms must be a whole number/],
    [["--url", "http://x/path"], /--url must be like/],
    [["--shim", "0.7", "--polling", "0.7"], /must not exceed 1/],
    [["--payload", "10"], /--payload must be a number from 39 to/],
    [["--guest", "--token-secret", "x"], /Only one of/],
    [["--room-prefix", "no/room"], /makes no room names/],
    [["--speed", "9"], /Unknown option '--speed'/],
  ])("%j: named", (args, error) => {
    expect(() => readArguments(args)).toThrow(error);
  });
});

describe("the crowd", () => {
  const place = { origin: "http://x", pathTemplate: "/rooms/{room}/socket.io/?user={user}", prefix: "load" };
  const { workload } = readArguments(["--users", "1000", "--shim", "0.5", "--polling", "0.1", "--real", "0.2"]);
  const seats = seatsFor(workload, place);

  it("is spread evenly over the rooms, each user with its endpoint", () => {
    const rooms = Map.groupBy(seats, ({ room }) => room);
    expect([...rooms.values()].map(({ length }) => length)).toEqual(Array(10).fill(100));
    expect(seats[13]).toMatchObject({ user: "load-user-13", room: "load-3", roomNumber: 3 });
    expect(seats[13]!.path).toBe("/rooms/load-3/socket.io/?user=load-user-13");
  });

  it("mixes kinds of clients by their shares, in every room; users that long-poll are a library", () => {
    const share = (of: typeof seats, is: (seat: (typeof seats)[number]) => boolean): number =>
      of.filter(is).length / of.length;
    for (const room of Map.groupBy(seats, ({ room }) => room).values()) {
      expect(share(room, ({ isOwn }) => isOwn)).toBeCloseTo(0.5, 1);
      expect(share(room, ({ isPolling }) => isPolling)).toBeCloseTo(0.1, 1);
    }
    expect(share(seats, ({ isLibrary }) => isLibrary)).toBeCloseTo(0.28, 1);
    expect(seats.filter(({ isPolling, isLibrary }) => isPolling && !isLibrary)).toEqual([]);
  });

  it("of `npm run crash` has in every room two libraries, and an own one among them", () => {
    const { workload: small } = readArguments("--users 16 --rooms 4 --shim 0.5 --real 0.5".split(" "));
    const crowd = seatsFor(small, place);
    const kindOf = ({ isLibrary, isOwn }: (typeof crowd)[number]): string =>
      `${isOwn ? "own" : "stock"} ${isLibrary ? "library" : "light"}`;
    for (const room of Map.groupBy(crowd, ({ room }) => room).values()) {
      expect(room.filter(({ isLibrary }) => isLibrary)).toHaveLength(2);
      expect(room.map(kindOf)).toContain("own library");
      expect(new Set(room.map(kindOf)).size).toBeGreaterThanOrEqual(3);
    }
    const counts = [...Map.groupBy(crowd, kindOf).values()].map(({ length }) => length);
    expect(counts).toHaveLength(4);
    for (const count of counts) expect(Math.abs(count - 4)).toBeLessThanOrEqual(1);
  });

  it("names the limit of this machine that it exceeds, and a remedy", () => {
    expect(() => requireFiles(4000, 1024)).toThrow(/4000 users take 4100 open files, and 1024 .* --room-prefix/);
    expect(() => requireFiles(900, 1024)).not.toThrow();
  });

  it("posts at moments that do not depend on when they are asked for, spread over users", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const take = arrivals(100, 50, 0, random);
    const due: Array<{ user: number; dueUs: number }> = [];
    for (let next = take(60e6); next; next = take(60e6)) due.push(next);
    expect(due.length).toBeGreaterThan(5700);
    expect(due.length).toBeLessThan(6300);
    expect(due.map(({ dueUs }) => dueUs)).toEqual(due.map(({ dueUs }) => dueUs).toSorted((a, b) => a - b));
    expect(new Set(due.map(({ user }) => user)).size).toBe(50);
  });

  it("gives failures short names, the same for the same cause", () => {
    expect(codeOfFailure("the upgrade was refused: HTTP/1.1 429 Too Many Requests")).toBe("429");
    expect(codeOfFailure("connect ECONNREFUSED 127.0.0.1:1")).toBe("ECONNREFUSED");
    expect(codeOfFailure("the connection was closed")).toBe("CLOSED");
  });
});

describe("the report", () => {
  const shown = (reading: Reading) => {
    const report = reportOf("Load test of http://x", reading);
    return { text: textOf(report), html: htmlOf(report) };
  };

  it("of a clean run says so", () => {
    const { text, html } = shown(readingOf());
    expect(text).toMatch(/connections {2}150 of 150 in \(100 %\)/);
    expect(text).toMatch(/\nNo faults: nothing lost, doubled or out of order\.$/);
    expect(html).toContain('class="verdict good"');
  });

  it("lists faults, and each error with its count", () => {
    const reading = readingOf({
      faults: { lost: 2, outOfOrder: 1 },
      errors: { "post: RATE_LIMITED": 3 },
      outcome: "faults",
    });
    const { text, html } = shown(reading);
    expect(text).toMatch(/\| lost: .* \| 2 /);
    expect(text).toContain("3 × post: RATE_LIMITED");
    expect(text).toMatch(/FAULTS: 3\. The server did not do what it promised\.$/);
    expect(html).toContain('class="verdict bad"');
  });

  it("names a history that could not be read: what was acked there may be lost", () => {
    const problem = "load-3: history was refused: INTERNAL";
    const { text, html } = shown(readingOf({ faults: { unread: 1 }, history: { rooms: 9, messages: 5, problem } }));
    for (const words of [text, html])
      expect(words).toContain(`NOT of 1 room, so acked messages there may not be stored (${problem}).`);
  });

  it("says in which share of the time the host took CPU time", () => {
    const { rows } = readingOf();
    const { text, html } = shown(readingOf({ rows: [{ ...rows[0]!, second: 3, stolenCores: 0.5 }] }));
    expect(text).toContain("its host took 0.50 of 2 cores on average, 0.50 at most");
    expect(html).toContain("CPU time that the host gave to other machines");
    expect(shown(readingOf()).text).not.toMatch(/host took/);
  });

  it("is a page of its own: charts, both schemes, nothing from elsewhere, no markup from names", () => {
    const { html } = shown(readingOf());
    expect(html.match(/<svg /g)!.length).toBeGreaterThanOrEqual(6);
    expect(html).toContain("color-scheme: light dark");
    expect(html).toMatch(/--ground: light-dark\(#\w+, #\w+\)/);
    expect(html).not.toMatch(/(src|href)=|url\(|<script|@import/);
    expect(html).toContain("&#60;a &#38; b&#62;");
    expect(html).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("labels axes with round numbers", () => {
    expect(roundTicks(2, 48, 6).map(([x]) => x)).toEqual([10, 20, 30, 40]);
    expect(roundTicks(5, 5, 6).map(([x]) => x)).toEqual([5]);
    expect([0, 0.3, 7, 42, 410].map(niceCeiling)).toEqual([1, 0.4, 10, 50, 500]);
    expect([0, 1.25, 42, 12_500, 3_400_000].map(shortNumber)).toEqual(["0", "1.25", "42", "12.5k", "3.4M"]);
  });
});

describe("a run of which much did not happen", () => {
  const HELD = "No posted message was lost, doubled or out of order.";

  it.each<[string, Parameters<typeof readingOf>[0], string]>([
    ["somebody did not get in", { connections: { in: 149 } }, `1 of 150 users did not get in. ${HELD}`],
    ["members were away at the end", { connections: { away: 3 } }, `3 of 150 users were away at the end. ${HELD}`],
    [
      "more than a hundredth of the posts have no ack",
      { messages: { posts: 990, unsent: 10, acks: 989, refusals: 1 } },
      `11 of 1000 posts that were due have no ack (10 not sent, 1 refused, 0 unanswered). ${HELD}`,
    ],
    [
      "nobody posted",
      { messages: { posts: 0, unsent: 3, acks: 0 } },
      "3 of 3 posts that were due have no ack (3 not sent, 0 refused, 0 unanswered). Nothing was posted.",
    ],
  ])("is incomplete if %s", (_what, changes, words) => {
    const reading = readingOf(changes);
    expect(outcomeOf(reading, false)).toBe("incomplete");
    expect(outcomeOf(reading, true)).toBe("interrupted");
    const report = reportOf("x", { ...reading, outcome: "incomplete" });
    expect(textOf(report).split("\n").at(-1)).toBe(`INCOMPLETE: ${words}`);
    expect(htmlOf(report)).not.toMatch(/class="verdict (good|bad)"|No faults/);
  });

  it("is whole if a few connections broke, and came back", () => {
    const messages = { posts: 990, unsent: 6, acks: 988, refusals: 2 };
    expect(outcomeOf(readingOf({ connections: { drops: 5, returns: 5 }, messages }), false)).toBe("clean");
  });

  it("has faults, if there are any besides", () => {
    expect(outcomeOf(readingOf({ connections: { in: 5 }, faults: { unanswered: 1 } }), true)).toBe("faults");
  });
});

describe("measurements", () => {
  it("know latencies to one percent, and nothing as 0", () => {
    const latencies = new Latencies();
    expect(latencies.percentiles).toMatchObject({ count: 0, p50Ms: 0, maxMs: 0 });
    for (const us of [0.4, 5000, 6000, 7000, 90_000]) latencies.add(us);
    const { count, p50Ms, maxMs } = latencies.percentiles;
    expect(count).toBe(5);
    expect(Math.abs(p50Ms - 6)).toBeLessThan(0.06);
    expect(Math.abs(maxMs - 90)).toBeLessThan(0.9);
  });

  it("count processes that came between two looks from their start, and those that went no longer", () => {
    const at = (atMs: number, ...cpu: Array<[number, number]>) => ({
      atMs,
      cpuOf: new Map(cpu),
      residentBytes: 0,
      own: { user: 0, system: atMs * 500 },
      stolenSeconds: atMs / 8000,
    });
    const cost = costBetween(at(1000, [1, 5], [2, 1]), at(3000, [1, 6], [3, 0.5]));
    expect(cost).toEqual({ seconds: 2, serverCpuSeconds: 1.5, generatorBusy: 0.5, stolenCores: 0.125 });
    expect(stolenSecondsIn("cpu  10 2 3 400 5 6 7 250 1 0\ncpu0 5 1 1 200 2 3 3 125 0 0\n")).toBe(2.5);
    expect(stolenSecondsIn("cpu  10 2 3 400\n")).toBe(0);
  });

  it("of the server's events are the difference of two scrapes, summed over labels; a missing series is left out", () => {
    const scrape = (posts: number, room: number, lobby: number): string =>
      `# HELP parley_messages_posted_total Messages.\nparley_messages_posted_total ${posts}\n` +
      `parley_rows_written_total{object="room"} ${room}\nparley_rows_written_total{object="lobby"} ${lobby}\n`;
    expect(countedBetween(scrape(100, 50, 5), scrape(160, 90, 8))).toEqual({ posts: 60, rowsWritten: 43 });
    expect(countedBetween("", "")).toEqual({});
    const frames =
      'parley_frames_received_total{transport="websocket"} 7\nparley_frames_received_total{transport="polling"} 90';
    expect(countedBetween("", frames)).toEqual({ framesIn: 7 });
  });
});
