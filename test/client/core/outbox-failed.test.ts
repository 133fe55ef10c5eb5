// Tests failed messages: kept for their writer across reloads and tabs, and never sent automatically.
import { beforeEach, describe, expect, it } from "vitest";

import { FAILED_MAX } from "../../../client/core/outbox-messages.ts";
import { unsentKeys } from "../../../client/core/outbox-storage.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { ACK_TIMEOUT_MS, ModelRoom, Page } from "../../host/client-world.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

type Refusal = ModelRoom["refusals"][number];
const MUTED: Refusal = { code: "MUTED", message: "You are muted" };

let clock: VirtualClock;
let room: ModelRoom;
let storage: FakeLocalStorage;
beforeEach(() => {
  clock = new VirtualClock();
  room = new ModelRoom(clock);
  storage = new FakeLocalStorage();
});

type Options = Partial<ConstructorParameters<typeof Page>[0]>;
const load = (options: Options = {}): Page => new Page({ room, clock, storage, ...options });
const stored = (): string[] => room.log.map(({ sender, content }) => `${sender}: ${content}`);
const unsent = (of: Page): string[] =>
  of.outbox.unsent.map((is) => `${is.content} ${is.state === "failed" ? is.error.code : is.state}`);

function enter(options: Options = {}): Page {
  const page = load(options);
  page.enter();
  return page;
}

function refuse(page: Page, content: string, error: Refusal = MUTED): void {
  room.refusals.push(error);
  page.say(content);
  page.settle();
}

describe("a message that failed", () => {
  it("is there after a reload with its reason, and is not sent by itself", () => {
    refuse(enter(), "hello");
    const next = enter();
    expect(next.outbox.unsent).toEqual([{ clientMsgId: "hello", content: "hello", state: "failed", error: MUTED }]);
    next.say("after");
    next.settle();
    expect([stored(), unsent(next)]).toEqual([["ada: after"], ["hello MUTED"]]);
  });

  it("rejected by a rule of the room's owner, it is not sent again, also where it waited for the connection", () => {
    const page = load();
    page.say("spam");
    page.say("hello");
    room.refusals.push({ code: "REJECTED", message: "No spam here." });
    page.enter();
    page.settle();
    expect([stored(), unsent(page)]).toEqual([["ada: hello"], ["spam REJECTED"]]);
    page.settle();
    expect(unsent(enter())).toEqual(["spam REJECTED"]);
  });

  it("does not say after a reload when to try again: that was true when it failed", () => {
    refuse(enter(), "hello", { code: "SLOW_MODE", message: "Slow mode is on", retryAfterMs: 700_000 });
    expect(load().outbox.unsent[0]).toMatchObject({ error: { code: "SLOW_MODE", message: "Slow mode is on" } });
    expect(load().outbox.unsent[0]!.error).not.toHaveProperty("retryAfterMs");
  });

  it("is sent after a reload when its writer wants it to be, and forgotten when not", () => {
    const page = enter();
    for (const content of ["one", "two"]) refuse(page, content);
    const next = enter();
    next.outbox.add(next.outbox.failed("one")!);
    next.settle();
    expect(next.outbox.discard("two")).toBe(true);
    expect([stored(), unsent(next), storage.length]).toEqual([["ada: one"], [], 0]);
    expect(load().outbox.unsent).toEqual([]);
  });

  it(`is one of the last ${FAILED_MAX}: older ones are forgotten in the storage too`, () => {
    const page = enter();
    for (let n = 0; n <= FAILED_MAX; n++) refuse(page, `m${n}`);
    expect(storage.length).toBe(FAILED_MAX);
    expect(unsent(load()).slice(0, 2)).toEqual(["m1 MUTED", "m2 MUTED"]);
  });

  it("is not sent by the next page either where the storage does not take the reason", () => {
    const page = enter();
    page.cut();
    page.say("hello");
    storage.setItem = () => {
      throw new Error("QuotaExceededError");
    };
    room.refusals.push(MUTED);
    page.connect();
    page.settle();
    expect(unsent(page)).toEqual(["hello MUTED"]);
    enter();
    expect(stored()).toEqual([]);
  });

  it("is not sent automatically, with any reason in the storage", () => {
    refuse(enter(), "hello");
    const [key] = unsentKeys(storage, "https://chat.example", "ada");
    for (const failure of [true, null, {}, { code: 7 }])
      storage.setItem(key!, JSON.stringify({ v: 1, clientMsgId: "hello", content: "hello", order: 1, failure }));
    expect(unsent(enter())).toEqual(["hello NO_ANSWER"]);
    expect(stored()).toEqual([]);
  });

  it("may have arrived all the same: then it is sent, and kept no longer", () => {
    const page = enter();
    page.say("hello");
    const [arrive] = page.toRoom.splice(0);
    for (let n = 0; n < 5; n++) {
      clock.advance(ACK_TIMEOUT_MS);
      page.toRoom.length = 0;
      clock.advance(clock.quietMs);
    }
    expect(unsent(page)).toEqual(["hello NO_ANSWER"]);
    arrive!();
    page.settle();
    expect([unsent(page), storage.length]).toEqual([[], 0]);
  });
});

describe("two tabs", () => {
  it("both know of a message that failed in one of them, and neither sends it", () => {
    const page = load();
    page.say("hello");
    const other = load();
    room.refusals.push(MUTED);
    for (const tab of [page, other]) {
      tab.connect();
      tab.settle();
    }
    expect([unsent(page), unsent(other), stored()]).toEqual([["hello MUTED"], ["hello MUTED"], []]);
  });

  it("one sends it again: the other finds that out when it is to do so, too", () => {
    const page = enter();
    refuse(page, "hello");
    const other = enter();
    other.outbox.add(other.outbox.failed("hello")!);
    other.settle();
    page.outbox.add(page.outbox.failed("hello")!);
    page.settle();
    expect([stored(), unsent(page), page.fates.at(-1)]).toEqual([["ada: hello"], [], "hello elsewhere"]);
  });
});

describe("messages that another user wrote in this browser", () => {
  /** Ada wrote `one`, which was refused, and, when the line was gone, `two`. */
  function leaveTwo(): void {
    const page = enter();
    refuse(page, "one");
    page.cut();
    page.say("two");
  }

  it("is left to them: neither shown nor sent, and there when they come back", () => {
    leaveTwo();
    const bens = enter({ user: "ben" });
    expect([unsent(bens), stored()]).toEqual([[], []]);
    expect(bens.fates).toEqual(["two elsewhere", "one elsewhere"]);
    const adas = enter();
    expect([unsent(adas), stored()]).toEqual([["one MUTED"], ["ada: two"]]);
  });

  it("is not shown from when the token is known on, also without a connection", () => {
    leaveTwo();
    const page = load({ user: "ben" });
    page.outbox.expect("ben");
    expect(unsent(page)).toEqual([]);
  });

  it("messages written before the welcome belong to the token's user", () => {
    const page = load();
    page.outbox.expect("ada");
    page.say("hello");
    expect(unsent(enter({ user: "ben" }))).toEqual([]);
    expect(stored()).toEqual([]);
    enter();
    expect(stored()).toEqual(["ada: hello"]);
  });

  it("asked about: comes as failed, and goes out under the new name only when that is wanted", () => {
    leaveTwo();
    const bens = enter({ user: "ben", inherit: () => "ask" });
    expect([unsent(bens), stored()]).toEqual([["one MUTED", "two OTHER_USER"], []]);
    bens.outbox.add(bens.outbox.failed("two")!);
    bens.settle();
    expect(stored()).toEqual(["ben: two"]);
    expect(bens.outbox.discard("one")).toBe(true);
    expect(storage.length).toBe(0);
  });

  it("asked about and not answered: it is still its writer's", () => {
    leaveTwo();
    enter({ user: "ben", inherit: () => "ask" });
    enter();
    expect(stored()).toEqual(["ada: two"]);
  });

  it("inherited: are sent under the new name and in order; failed ones are not", () => {
    leaveTwo();
    const heir = load({ user: "ada-2", inherit: () => "send" });
    heir.say("three");
    heir.connect();
    heir.settle();
    expect([stored(), unsent(heir)]).toEqual([["ada-2: two", "ada-2: three"], ["one MUTED"]]);
  });

  it("inherited, and tried by them before: is looked for under their name first", () => {
    const page = enter();
    for (const content of ["arrived", "lost"]) page.say(content);
    page.deliver("toRoom");
    page.deliver("toPage");
    page.deliver("toPage");
    const late = page.cut();
    expect(late).toHaveLength(1);
    page.say("never tried");
    const heir = enter({ user: "ada-2", inherit: () => "send" });
    expect(stored()).toEqual(["ada: arrived", "ada-2: lost", "ada-2: never tried"]);
    expect([unsent(heir), storage.length]).toEqual([[], 0]);
  });

  it("inherited by two: one of them sends it", () => {
    leaveTwo();
    const heirs = ["ada-2", "ada-3"].map((user) => load({ user, inherit: () => "send" }));
    for (const heir of heirs) heir.connect();
    for (const heir of heirs) heir.settle();
    expect(stored()).toEqual(["ada-2: two"]);
  });

  it("can be found by its writer in every room; without a known writer by every user", () => {
    leaveTwo();
    load().say("whose?");
    const keysOf = (user: string | undefined): number => unsentKeys(storage, "https://chat.example", user).length;
    expect([keysOf("ada"), keysOf("ben"), keysOf(undefined)]).toEqual([3, 1, 1]);
    expect(unsentKeys(storage, "https://other.example", "ada")).toEqual([]);
  });
});
