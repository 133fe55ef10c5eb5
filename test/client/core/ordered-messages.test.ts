// Tests that the application sees each message once and in order, and that gaps are fetched or reported.
import { beforeEach, describe, expect, it } from "vitest";

import { FETCH_TRIES, MISSING_FETCHED_MAX, PAGE_MESSAGES } from "../../../client/core/ordered-messages.ts";
import { ModelRoom, Page } from "../../host/client-world.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

let clock: VirtualClock;
let room: ModelRoom;
let page: Page;
beforeEach(() => {
  clock = new VirtualClock();
  room = new ModelRoom(clock);
  say(3);
  page = new Page({ room, clock });
  page.connect();
  page.settle();
});

function say(count: number): void {
  for (let n = 0; n < count; n++) room.say("ben", `${room.lastSeq + 1}`);
}
const shown = (): number[] => page.delivered.map(({ seq }) => seq);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

function comeBack(): void {
  page.connect();
  page.settle();
}

describe("messages in order", () => {
  it("are fetched where a reconnect was not recovered, in pages", () => {
    page.cut();
    say(PAGE_MESSAGES * 2 + 1);
    comeBack();
    expect(shown()).toEqual(range(4, room.lastSeq));
    expect([page.fetches, page.gaps]).toEqual([3, []]);
  });

  it("are not fetched where it was", () => {
    say(1);
    page.settle();
    page.cut();
    say(2);
    page.connect({ recovers: true });
    page.settle();
    expect(shown()).toEqual([4, 5, 6]);
    expect(page.fetches).toBe(0);
  });

  it("are not fetched beyond a bound: the older part of a long absence is skipped and reported", () => {
    page.cut();
    say(MISSING_FETCHED_MAX + 10);
    comeBack();
    expect(page.gaps).toEqual([{ from: 4, to: 13, reason: "too many" }]);
    expect(shown()).toEqual(range(14, room.lastSeq));
  });

  it("skip trimmed ones", () => {
    page.cut();
    say(20);
    room.firstSeq = 10;
    comeBack();
    expect(page.gaps).toEqual([{ from: 4, to: 9, reason: "missing" }]);
    expect(shown()).toEqual(range(10, 23));
  });

  it("go on behind a hole in the room's order, as soon as history proves that it is one", () => {
    room.skip(2);
    say(1);
    page.settle();
    expect(page.gaps).toEqual([{ from: 4, to: 5, reason: "missing" }]);
    expect(shown()).toEqual([6]);
  });

  it.each([1, MISSING_FETCHED_MAX + 100])("go on at once behind %i places that a crash left empty", (count) => {
    page.cut();
    say(2);
    room.skip(count);
    comeBack();
    expect(page.gaps).toEqual([{ from: 6, to: room.lastSeq, reason: "missing" }]);
    say(1);
    page.settle();
    expect(shown()).toEqual([4, 5, room.lastSeq]);
    expect([page.fetches, clock.quietMs]).toEqual([1, Infinity]);
  });

  it("that came by themselves are handed on, though history does not have them", () => {
    room.skip(1);
    say(2);
    room.crash();
    room.crash();
    page.settle();
    expect([shown(), page.gaps]).toEqual([[5, 6], [{ from: 4, to: 4, reason: "missing" }]]);
  });

  it("are fetched again when history does not answer, and reported as unavailable when it never does", () => {
    page.fetchesToFail = 1;
    page.cut();
    say(1);
    comeBack();
    expect(shown()).toEqual([]);
    clock.advance(clock.quietMs);
    page.settle();
    expect(shown()).toEqual([4]);

    page.fetchesToFail = FETCH_TRIES;
    page.cut();
    say(1);
    comeBack();
    for (let tries = 1; tries < FETCH_TRIES; tries++) {
      clock.advance(clock.quietMs);
      page.settle();
    }
    expect(page.gaps).toEqual([{ from: 5, to: 5, reason: "unavailable" }]);
  });

  it("are given up when history promises more and never brings it", () => {
    page.cut();
    say(1);
    room.page = () => ({ messages: [], hasMore: true });
    comeBack();
    for (let tries = 1; tries < FETCH_TRIES; tries++) {
      clock.advance(clock.quietMs);
      page.settle();
    }
    expect([page.gaps, page.fetches]).toEqual([[{ from: 4, to: 4, reason: "unavailable" }], FETCH_TRIES]);
  });

  it("survive a connection that breaks while they are fetched", () => {
    page.cut();
    say(PAGE_MESSAGES + 1);
    page.connect();
    page.deliver("toPage");
    page.deliver("toRoom");
    page.deliver("toPage");
    // With the last one that was known, to see whether it still stands there.
    expect(shown()).toHaveLength(PAGE_MESSAGES - 1);
    page.cut();
    comeBack();
    expect(shown()).toEqual(range(4, room.lastSeq));
  });

  it("are not delivered again because a welcome was behind them", () => {
    say(2);
    page.settle();
    page.messages.welcome(4, room.epoch);
    page.messages.receive(room.log.at(-1)!);
    say(1);
    page.settle();
    expect([shown(), page.restarts]).toEqual([[4, 5, 6], 0]);
  });
});

describe("a room that was deleted while the client was away", () => {
  beforeEach(() => {
    say(2);
    page.settle();
    page.cut();
    room.restart();
    page.delivered.length = 0;
  });

  it.each([
    ["shorter than the old one", 2],
    ["as long as the old one", 5],
    ["longer than the old one", 9],
  ])("begins again, and nothing of its new log is left out: %s", (_length, count) => {
    say(count);
    comeBack();
    expect([page.restarts, shown(), page.gaps]).toEqual([1, range(1, count), []]);
    say(2);
    page.settle();
    expect([page.restarts, shown()]).toEqual([1, range(1, count + 2)]);
  });

  it("is empty, and goes on with the first message", () => {
    comeBack();
    expect(page.restarts).toBe(1);
    say(2);
    page.settle();
    expect(shown()).toEqual([1, 2]);
  });

  it("skips the older part where that is too long, and reports it", () => {
    say(MISSING_FETCHED_MAX + 10);
    comeBack();
    expect(page.gaps).toEqual([{ from: 1, to: 10, reason: "too many" }]);
    expect(shown()).toEqual(range(11, room.lastSeq));
  });

  it("reports it once, however often the connection breaks", () => {
    say(PAGE_MESSAGES + 1);
    page.connect();
    for (let n = 0; n < 2; n++) page.deliver("toPage");
    page.cut();
    comeBack();
    expect([page.restarts, shown()]).toEqual([1, range(1, PAGE_MESSAGES + 1)]);
  });
});

describe("a room whose backup was restored while the client was away", () => {
  beforeEach(() => {
    say(4);
    page.settle();
    page.cut();
    page.delivered.length = 0;
    room.restore(5);
  });

  it.each([
    ["nothing was said since", 0],
    ["less was said since than before", 1],
    ["as much was said since", 2],
    ["more was said since", 3],
    ["much more was said since", PAGE_MESSAGES + 3],
  ])("is another one from there on, and comes again as it is now: %s", (_what, count) => {
    say(count);
    comeBack();
    expect([page.restarts, page.gaps]).toEqual([1, []]);
    expect(page.delivered).toEqual(room.log);
    say(2);
    page.settle();
    expect(page.delivered).toEqual(room.log);
    expect([page.restarts, clock.quietMs]).toEqual([1, Infinity]);
  });

  it("shows no new message before the restore is known", () => {
    say(2);
    page.connect();
    page.deliver("toPage");
    say(1);
    page.deliver("toPage");
    expect(page.delivered).toEqual([]);
    page.settle();
    expect([page.restarts, page.delivered]).toEqual([1, room.log]);
  });

  it("is empty, if the backup was", () => {
    room.restore(0);
    comeBack();
    expect([page.restarts, shown()]).toEqual([1, []]);
    say(1);
    page.settle();
    expect(shown()).toEqual([1]);
  });

  it("is the same room for a client that saw none of the lost messages", () => {
    const early = new Page({ room, clock });
    early.connect();
    early.settle();
    early.cut();
    say(2);
    early.connect();
    early.settle();
    expect([early.restarts, early.delivered]).toEqual([0, room.log.slice(5)]);
  });

  it("hides nothing that is said since from a client that had heard of more, and not fetched it", () => {
    const early = new Page({ room, clock });
    early.connect();
    early.settle();
    early.cut();
    say(6);
    early.connect();
    early.deliver("toPage");
    early.cut();
    room.restore(5);
    say(2);
    early.connect();
    early.settle();
    say(4);
    early.settle();
    expect([early.gaps, early.delivered]).toEqual([[], room.log.slice(5)]);
  });
});

describe("a room of which no backup was restored", () => {
  it.each([
    ["nothing was said", 0, 0],
    ["something was said", 2, 1],
  ])("is asked no more than before, where %s", (_what, count, fetches) => {
    say(1);
    page.settle();
    page.cut();
    say(count);
    comeBack();
    expect([page.restarts, page.fetches, shown()]).toEqual([0, fetches, range(4, room.lastSeq)]);
  });

  it.each(["what was shown last", "and more was posted since"])(
    "is none for a message that a crash took: %s",
    (what) => {
      say(2);
      page.settle();
      page.cut();
      room.crash();
      if (what !== "what was shown last") say(1);
      comeBack();
      expect([page.restarts, clock.quietMs]).toEqual([0, Infinity]);
      say(1);
      page.settle();
      expect(shown()).toEqual(range(4, room.lastSeq));
    },
  );
});
