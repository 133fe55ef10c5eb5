// Tests messages that were sent and never answered: stored once all the same, and blocking no later one.
import { beforeEach, describe, expect, it } from "vitest";

import { LOOKUP_PAGES_MAX } from "../../../client/core/posted-lookup.ts";
import { PAGE_MESSAGES } from "../../../client/core/ordered-messages.ts";
import { BREAKS_MAX, RECOGNISED_MS, TRIES_MAX } from "../../../client/core/outbox.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { ACK_TIMEOUT_MS, ModelRoom, Page } from "../../host/client-world.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

let clock: VirtualClock;
let room: ModelRoom;
let storage: FakeLocalStorage;
let page: Page;
beforeEach(() => {
  clock = new VirtualClock();
  room = new ModelRoom(clock);
  storage = new FakeLocalStorage();
  page = load();
});

const load = (): Page => new Page({ room, clock, storage });
const stored = (): string[] => room.log.map(({ content }) => content);

describe("a message whose answer was lost, and that the room delivers before its next try", () => {
  /** The room takes it late and shows it, and the answer is lost. */
  function show(): void {
    page.enter();
    page.say("hello");
    const [arrive] = page.toRoom.splice(0);
    clock.advance(ACK_TIMEOUT_MS);
    page.answersToLose = 1;
    arrive!();
    page.settle();
  }

  it("counts as sent, where the room shows only stored messages", () => {
    show();
    expect([page.fates, clock.quietMs > 0]).toEqual([["hello pending", "hello sent"], true]);
    page.passTime();
    expect(stored()).toEqual(["hello"]);
  });

  it("is asked about again, where a crash may still take it", () => {
    room.durability = "relaxed";
    show();
    expect(page.fates).toEqual(["hello pending"]);
    page.passTime();
    expect(page.states.at(-1)).toMatchObject({ state: "sent", answer: { seq: 1, duplicate: true } });
    expect(stored()).toEqual(["hello"]);
  });

  it("is sent again, where a crash took it", () => {
    room.durability = "relaxed";
    show();
    room.crash();
    page.cut();
    page.enter();
    expect([page.fates, stored()]).toEqual([["hello pending", "hello sent"], ["hello"]]);
  });

  it("is sent, when a recovery of a relaxed room replays it", () => {
    room.durability = "relaxed";
    room.say("ben", "before");
    page.enter();
    page.say("hello");
    page.deliver("toRoom");
    page.cut();
    page.connect({ recovers: true });
    page.deliver("toPage");
    expect(page.fates).toEqual(["hello pending", "hello sent"]);
  });
});

describe("a message that is in flight whenever a connection breaks", () => {
  function breakConnections(count: number): void {
    for (let n = 0; n < count; n++) {
      page.connect();
      page.deliver("toPage");
      page.cut();
    }
  }

  it("fails in the end, and the messages behind it are sent", () => {
    page.say("poison");
    page.say("after");
    breakConnections(BREAKS_MAX);
    expect(page.failures).toEqual([]);
    breakConnections(1);
    expect(page.failures).toEqual(["poison NO_ANSWER"]);
    page.enter();
    expect(stored()).toEqual(["after"]);
  });

  it("does not pay for connections that break on others, or before an answer came", () => {
    page.say("one");
    breakConnections(BREAKS_MAX);
    room.refusals.push({ code: "RATE_LIMITED", message: "Rate limit exceeded", retryAfterMs: 700 });
    page.enter();
    page.cut();
    breakConnections(BREAKS_MAX);
    page.enter();
    page.say("two");
    breakConnections(BREAKS_MAX);
    expect([stored(), page.failures]).toEqual([["one"], []]);
  });
});

describe("a message whose answer was lost so long ago that the room does not recognise it any more", () => {
  /** Sends a message whose answer is lost, and lets the room forget it. */
  function sendAndForget({ arrives }: { arrives: boolean }): Page {
    page.enter();
    page.say("hello");
    if (arrives) page.deliver("toRoom");
    page.cut();
    clock.advance(RECOGNISED_MS * 2);
    return load();
  }

  it("is found in history", () => {
    const next = sendAndForget({ arrives: true });
    next.enter();
    expect([stored(), next.fates]).toEqual([["hello"], ["hello sent"]]);
  });

  it("is looked up when the room allows it, however often it puts that off", () => {
    const next = sendAndForget({ arrives: true });
    const error = { code: "RATE_LIMITED", message: "Rate limit exceeded", retryAfterMs: 700 } as const;
    for (let n = 0; n < TRIES_MAX + 1; n++) next.fetchRefusals.push(error);
    next.enter();
    for (let n = 0; n < TRIES_MAX; n++) {
      clock.advance(700);
      next.settle();
    }
    expect(next.fates).toEqual([]);
    clock.advance(700);
    next.settle();
    expect([stored(), next.fates]).toEqual([["hello"], ["hello sent"]]);
  });

  it("fails when history answers neither yes nor no", () => {
    const next = sendAndForget({ arrives: true });
    for (let n = 0; n < TRIES_MAX; n++) next.fetchRefusals.push({ code: "FORBIDDEN", message: "" });
    next.enter();
    next.passTime();
    expect(next.failures).toEqual(["hello NO_ANSWER"]);
  });

  it("is looked up as well when the clock was set back and the age is unknown", () => {
    page.enter();
    page.say("hello");
    page.deliver("toRoom");
    page.cut();
    clock.nowMs -= 60_000;
    const next = load();
    next.enter();
    expect([stored(), next.fates, next.fetches]).toEqual([["hello"], ["hello sent"], 1]);
  });

  it("is sent when history does not have it", () => {
    const next = sendAndForget({ arrives: false });
    for (let n = 0; n < PAGE_MESSAGES + 1; n++) room.say("ben", "meanwhile");
    next.enter();
    expect(stored().filter((content) => content === "hello")).toHaveLength(1);
    expect(next.fates).toEqual(["hello sent"]);
  });

  it.each([
    ["does not reach back", () => void (room.firstSeq = 3)],
    [
      "is too long to search",
      () => {
        for (let n = 0; n <= LOOKUP_PAGES_MAX * PAGE_MESSAGES; n++) room.say("ben", "meanwhile");
      },
    ],
  ])("fails when history %s; who tries again takes the risk", (_why, happen) => {
    const next = sendAndForget({ arrives: false });
    for (let n = 0; n < 5; n++) room.say("ben", "meanwhile");
    happen();
    next.enter();
    expect(next.failures).toEqual(["hello UNCERTAIN"]);
    next.outbox.add(next.outbox.failed("hello")!);
    next.settle();
    expect(room.log.at(-1)).toMatchObject({ content: "hello" });
  });
});
