// Tests the outbox: messages go out in order, each once, and none is lost silently.
import { beforeEach, describe, expect, it } from "vitest";

import { RETRY_AFTER_MAX_MS } from "../../../client/core/backoff.ts";
import { RECOGNISED_MS, TRIES_MAX, WAITING_MAX_MS } from "../../../client/core/outbox.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { ModelRoom, Page } from "../../host/client-world.ts";
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

const load = (options: { queueLimit?: number } = {}): Page => new Page({ room, clock, storage, ...options });
const stored = (): string[] => room.log.map(({ content }) => content);

describe("sending", () => {
  it("while there is a connection: pending, then sent with the room's answer", () => {
    page.enter();
    page.say("hello");
    expect(page.outbox.unsent).toEqual([{ clientMsgId: "hello", content: "hello", state: "pending" }]);
    page.settle();
    expect(page.states).toEqual([
      { clientMsgId: "hello", content: "hello", state: "pending" },
      {
        clientMsgId: "hello",
        content: "hello",
        state: "sent",
        answer: { ok: true, id: "1-1", seq: 1, timestamp: clock.now() },
      },
    ]);
    expect(page.outbox.unsent).toEqual([]);
  });

  it("is known to have arrived when recovery replays it", () => {
    room.say("ben", "before");
    page.enter();
    page.say("hello");
    page.deliver("toRoom");
    page.cut();
    page.connect({ recovers: true });
    page.deliver("toPage");
    expect(page.fates).toEqual(["hello pending", "hello sent"]);
  });

  it("fails when the room refuses it, and the messages behind it are sent", () => {
    page.enter();
    room.refusals.push({ code: "TOO_LONG", message: "content: at most 1000 characters" });
    page.say("long");
    page.say("short");
    page.settle();
    expect(page.failures).toEqual(["long TOO_LONG"]);
    expect(stored()).toEqual(["short"]);
    // Kept for its writer alone.
    expect(storage.length).toBe(1);
  });

  it("fails when it would have to wait for too long", () => {
    page.enter();
    room.refusals.push({ code: "RATE_LIMITED", message: "", retryAfterMs: RETRY_AFTER_MAX_MS + 1 });
    page.say("hasty");
    page.settle();
    expect(page.failures).toEqual(["hasty RATE_LIMITED"]);
  });

  it("is tried again when the room could not store it, but not for ever", () => {
    page.enter();
    for (let n = 1; n < TRIES_MAX; n++) room.refusals.push({ code: "INTERNAL", message: "" });
    page.say("hello");
    page.settle();
    page.passTime();
    expect(stored()).toEqual(["hello"]);
    for (let n = 1; n <= TRIES_MAX; n++) room.refusals.push({ code: "INTERNAL", message: "" });
    page.say("again");
    page.settle();
    page.passTime();
    expect(page.failures).toEqual(["again INTERNAL"]);
  });

  it("is tried again when a standing connection brings no answer, but not for ever", () => {
    page.enter();
    page.answersToLose = 1;
    page.say("hello");
    page.settle();
    page.passTime();
    expect([page.fates, stored()]).toEqual([["hello pending", "hello sent"], ["hello"]]);
    page.answersToLose = TRIES_MAX;
    page.say("again");
    page.settle();
    page.passTime();
    expect(page.failures).toEqual(["again NO_ANSWER"]);
    expect(stored()).toEqual(["hello", "again"]);
  });
});

it("tries count for their own message: one that is discarded leaves none to the next", () => {
  page.enter();
  for (let n = 1; n < TRIES_MAX; n++) room.refusals.push({ code: "INTERNAL", message: "" });
  page.say("one");
  page.settle();
  for (let n = 2; n < TRIES_MAX; n++) {
    clock.advance(clock.quietMs);
    page.settle();
  }
  expect(page.outbox.discard("one")).toBe(true);
  room.refusals.push({ code: "INTERNAL", message: "" });
  page.say("two");
  page.passTime();
  expect([stored(), page.failures]).toEqual([["two"], []]);
});

it("a message that the room delays says why and for how long, and waits so long, with all later messages", () => {
  page.enter();
  const error = { code: "SLOW_MODE", message: "Slow mode is on", retryAfterMs: 4000 } as const;
  room.refusals.push(error);
  for (const content of ["one", "two"]) page.say(content);
  page.settle();
  expect(page.states.at(-1)).toMatchObject({ clientMsgId: "one", state: "pending", error });
  clock.advance(3999);
  page.settle();
  expect(stored()).toEqual([]);
  clock.advance(1);
  page.settle();
  expect([stored(), page.fates.at(-1)]).toEqual([["one", "two"], "two sent"]);
});

describe("a queue without a connection", () => {
  it("fails the oldest beyond its limit with QUEUE_FULL", () => {
    page = load({ queueLimit: 2 });
    for (const content of ["one", "two"]) page.say(content);
    expect(page.failures).toEqual([]);
    page.say("three");
    expect(page.failures).toEqual(["one QUEUE_FULL"]);
    page.enter();
    expect(stored()).toEqual(["two", "three"]);
  });

  it("keeps messages that may be stored already, and drops the oldest of the others", () => {
    page = load({ queueLimit: 2 });
    page.enter();
    page.say("one");
    for (const arrive of page.cut()) arrive();
    for (const content of ["two", "three"]) page.say(content);
    expect(page.failures).toEqual(["two QUEUE_FULL"]);
    page.enter();
    expect(stored()).toEqual(["one", "three"]);
    expect(page.fates).toContain("one sent");
  });

  it("is not limited while there is one", () => {
    page = load({ queueLimit: 1 });
    page.enter();
    for (const content of ["one", "two", "three"]) page.say(content);
    page.settle();
    expect(stored()).toEqual(["one", "two", "three"]);
  });

  it("takes a failed message again under the same id, and forgets one that is discarded", () => {
    page = load({ queueLimit: 1 });
    for (const content of ["one", "two", "three"]) page.say(content);
    expect(page.outbox.unsent.map(({ content, state }) => `${content} ${state}`)).toEqual([
      "one failed",
      "two failed",
      "three pending",
    ]);
    expect([page.outbox.discard("two"), page.outbox.discard("three"), page.outbox.discard("nobody")]).toEqual([
      true,
      true,
      false,
    ]);
    page.enter();
    page.outbox.add(page.outbox.failed("one")!);
    expect(page.outbox.discard("one")).toBe(false);
    page.settle();
    expect(room.log).toMatchObject([{ content: "one", clientMsgId: "one" }]);
  });
});

describe("across a reload", () => {
  it("waiting messages are sent by the next page, in order and once", () => {
    for (const content of ["one", "two", "three"]) page.say(content);
    const next = load();
    expect(next.outbox.unsent.map(({ content }) => content)).toEqual(["one", "two", "three"]);
    next.say("four");
    next.enter();
    expect(stored()).toEqual(["one", "two", "three", "four"]);
    expect(storage.length).toBe(0);
  });

  it("two pages of one browser send each message once, and both know", () => {
    page.say("hello");
    const other = load();
    other.enter();
    clock.advance(RECOGNISED_MS * 2);
    page.enter();
    expect(stored()).toEqual(["hello"]);
    expect([page.fates, other.fates]).toEqual([["hello pending", "hello elsewhere"], ["hello sent"]]);
  });

  it("a message that waited for more than a day is not sent any more", () => {
    page.say("good morning");
    clock.advance(WAITING_MAX_MS + 1);
    const next = load();
    next.enter();
    expect([stored(), next.failures]).toEqual([[], ["good morning EXPIRED"]]);
  });

  it("thousands may expire, and a message written since is sent", () => {
    const count = 10_000;
    page = load({ queueLimit: count + 1 });
    for (let n = 0; n < count; n++) page.say(`${n}`);
    // No two of them have the same moment.
    clock.advance(WAITING_MAX_MS + count);
    page.say("good evening");
    page.enter();
    expect([page.failures.length, stored()]).toEqual([count, ["good evening"]]);
  });

  it("ignores nonsense in the storage", () => {
    const prefix = "parley.outbox https://chat.example model ";
    for (const text of ["", "{", "null", "[]", '{"v":1,"clientMsgId":"other","content":"x","order":1}'])
      storage.setItem(`${prefix}x${text.length}`, text);
    const next = load();
    expect(next.outbox.unsent).toEqual([]);
  });

  it("leaves messages of another release where they are", () => {
    const key = "parley.outbox https://chat.example model later";
    const later = JSON.stringify({ v: 2, clientMsgId: "later", content: "hello", order: 1 });
    storage.setItem(key, later);
    const next = load();
    expect(next.outbox.unsent).toEqual([]);
    expect(storage.getItem(key)).toBe(later);
  });

  it("with a full or blocked storage, only a reload loses messages", () => {
    storage.setItem = () => {
      throw new Error("QuotaExceededError");
    };
    page.say("hello");
    page.enter();
    expect(stored()).toEqual(["hello"]);
  });
});
