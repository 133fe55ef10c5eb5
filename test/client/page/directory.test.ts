// Tests how the page follows what is new in the reader's rooms, and how often it asks.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { NEWS_EVERY_MS, NEWS_UNSEEN_EVERY_MS } from "../../../client/core/own-rooms.ts";
import { RoomDirectory } from "../../../client/page/state/room-directory.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { FakeTabs } from "../../host/fake-tabs.ts";

const MINUTE_MS = 60_000;

/** What the server answers to the calls, by the part of the address behind /api/; a number is a refusal, a text a page of somebody else. */
let answers: { unread: object | number | string; rooms: object | number };
/** The addresses that were asked for. */
let asked: string[];
let changes: number;
let directory: RoomDirectory;
/** Answers the question that waits for a change. */
let release: (() => void) | undefined;

const times = (call: string): number => asked.filter((address) => address.startsWith(call)).length;
const setVisibility = (visibilityState: "visible" | "hidden"): void => {
  Object.assign(document, { visibilityState });
  document.dispatchEvent(new Event("visibilitychange"));
};
/** The window, whose page may go into the cache of pages that the browser brings back. */
let page: EventTarget;
/** The other tabs of the browser. */
let tabs: FakeTabs;
let isNotifying: boolean;
const open = (token = "token"): RoomDirectory =>
  new RoomDirectory({
    base: "http://chat.example",
    token: () => token,
    changed: () => void changes++,
    isNotifying: () => isNotifying,
  });

beforeEach(async () => {
  [asked, changes, release, isNotifying] = [[], 0, undefined, false];
  answers = { unread: { rooms: [], version: "1" }, rooms: { rooms: [] } };
  vi.useFakeTimers();
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  tabs = new FakeTabs();
  vi.stubGlobal("navigator", { locks: tabs.locks });
  vi.stubGlobal("BroadcastChannel", tabs.Channel);
  page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  vi.stubGlobal("fetch", async (address: string, { signal, headers }: RequestInit) => {
    const call = address.slice("http://chat.example/api/".length);
    asked.push(`${call} ${JSON.stringify(headers)}`);
    if (/wait=[1-9]/.test(call))
      await new Promise<void>((resolve, reject) => {
        release = resolve;
        signal!.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const answer = call.startsWith("unread") ? answers.unread : answers.rooms;
    if (typeof answer === "string") return new Response(answer);
    return typeof answer === "number" ? new Response(null, { status: answer }) : Response.json({ ok: true, ...answer });
  });
  directory = open();
  await vi.advanceTimersByTimeAsync(0);
});
afterEach(() => {
  directory.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("what is new", () => {
  it("is asked for once, and then waited for: one request stands while nothing happens", async () => {
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(asked.filter((address) => address.startsWith("unread"))).toEqual([
      'unread?wait=0&since= {"authorization":"Bearer token"}',
      'unread?wait=25&since=1 {"authorization":"Bearer token"}',
    ]);
  });

  it("is shown at once, and asked for again at most every second and a half while much happens", async () => {
    for (let version = 2; version < 12; version++) {
      await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
      answers.unread = { rooms: [{ room: "there", unread: version }], version: `${version}` };
      release!();
      await vi.advanceTimersByTimeAsync(0);
      expect(directory.own).toEqual([{ room: "there", unread: version }]);
    }
    expect(times("unread")).toBeLessThanOrEqual(12);
  });

  it("is asked for once a minute while the page is out of view, and at once when it is back", async () => {
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    setVisibility("hidden");
    await vi.advanceTimersByTimeAsync(0);
    const before = asked.length;
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    const since = asked.slice(before);
    expect(since).toHaveLength((10 * MINUTE_MS) / NEWS_UNSEEN_EVERY_MS);
    expect(since.every((address) => address.startsWith("unread?wait=0&"))).toBe(true);
    setVisibility("visible");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.slice(-2).map((address) => address.split("?")[0])).toEqual(
      expect.arrayContaining(["unread", "rooms"]),
    );
  });

  it("is waited for out of view where the reader wants to be told, in one of the browser's tabs, and all of them know it", async () => {
    isNotifying = true;
    const other = open();
    await vi.advanceTimersByTimeAsync(0);
    setVisibility("hidden");
    await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
    const before = asked.length;
    answers.unread = { rooms: [{ room: "there", unread: 1 }], version: "2" };
    release!();
    await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
    expect(asked.slice(before).map((address) => address.split(" ")[0])).toEqual(["unread?wait=25&since=2"]);
    for (const { own } of [directory, other]) expect(own).toEqual([{ room: "there", unread: 1 }]);
    // The tab that asks is closed: another one goes on.
    directory.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.at(-1)).toContain("unread?wait=25&since=2");
    other.close();
  });

  it("is not asked for by a page that is put aside whole, which holds no lock then, and is when it comes back", async () => {
    setVisibility("hidden");
    await vi.advanceTimersByTimeAsync(0);
    expect((await tabs.locks.query()).held).toHaveLength(1);
    page.dispatchEvent(new Event("pagehide"));
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    const before = asked.length;
    expect((await tabs.locks.query()).held).toEqual([]);
    Object.assign(document, { visibilityState: "visible" });
    page.dispatchEvent(Object.assign(new Event("pageshow"), { persisted: true }));
    await vi.advanceTimersByTimeAsync(0);
    expect(asked.slice(before).map((address) => address.split("?")[0])).toEqual(["unread"]);
  });

  it("of one user is not shown in a tab of another one", async () => {
    const tokenOf = (user: string): string => `x.${btoa(JSON.stringify({ sub: user }))}.x`;
    const [ada, ben] = [open(tokenOf("ada")), open(tokenOf("ben"))];
    await vi.advanceTimersByTimeAsync(0);
    expect([ada.own, ben.own]).toEqual([[], []]);
    const channel = new tabs.Channel("parley news http://chat.example") as unknown as BroadcastChannel;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    channel.postMessage({ user: "ben", rooms: [{ room: "of-ben" }], version: "9" });
    expect([ada.own, ben.own]).toEqual([[], [{ room: "of-ben" }]]);
    ada.close();
    ben.close();
  });

  it("stays as it was while the server fails, or the page of a network's sign-in answers instead, and is asked for every five seconds", async () => {
    answers.unread = { rooms: [{ room: "there", unread: 3 }], version: "2" };
    await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
    release!();
    for (const trouble of ["<p>Sign in to this network</p>", 503]) {
      await vi.advanceTimersByTimeAsync(5000);
      answers.unread = trouble;
      release!();
      await vi.advanceTimersByTimeAsync(0);
      expect(directory.own).toEqual([{ room: "there", unread: 3 }]);
    }
    // From now on each question fails at once.
    vi.stubGlobal("fetch", async (address: string) => {
      asked.push(address.slice("http://chat.example/api/".length));
      return new Response(null, { status: 503 });
    });
    const before = times("unread");
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(times("unread") - before).toBe(12);
    expect(directory.own).toEqual([{ room: "there", unread: 3 }]);
  });

  it("is asked for without a token where the server knows the reader by a cookie", async () => {
    directory.close();
    asked = [];
    directory = open("");
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toContain("unread?wait=0&since= {}");
  });
});

describe("the list of all rooms", () => {
  it("is asked for four times a minute", async () => {
    const before = times("rooms");
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(times("rooms") - before).toBe(4);
  });

  it("is not asked for any more where the server lists none", async () => {
    directory.close();
    answers.rooms = 403;
    directory = open();
    await vi.advanceTimersByTimeAsync(0);
    expect(directory.isListable).toBe(false);
    const before = times("rooms");
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS);
    expect(times("rooms")).toBe(before);
  });
});

it("rooms that the reader has left are none of theirs until they enter them again, also after a reload", async () => {
  answers.unread = {
    rooms: [
      { room: "one", unread: 1 },
      { room: "two", unread: 2 },
    ],
    version: "2",
  };
  directory.enter("one");
  directory.enter("two");
  directory.forget("two", 0);
  directory.close();
  directory = open();
  await vi.advanceTimersByTimeAsync(0);
  expect([directory.entered, directory.own.map(({ room }) => room)]).toEqual([["one"], ["one"]]);
  directory.enter("two");
  expect(directory.own.map(({ room }) => room)).toEqual(["one", "two"]);
  expect(directory.entered).toEqual(["one", "two"]);
});

it("rooms are remembered in the order in which they were entered, also those that a number names, and those of an earlier release", () => {
  localStorage.setItem("parley.seen", JSON.stringify({ lobby: 0 }));
  directory.close();
  directory = open();
  for (const room of ["a", "2024"]) directory.enter(room);
  expect(directory.entered).toEqual(["lobby", "a", "2024"]);
  directory.close();
  directory = open();
  directory.enter("a");
  expect(directory.entered).toEqual(["lobby", "2024", "a"]);
  // Too many: those of longest ago go.
  for (let n = 1; n <= 98; n++) directory.enter(`room-${n}`);
  expect(directory.entered.slice(0, 2)).toEqual(["2024", "a"]);
});

it("a person whose conversation the reader has left is there again after writing, and other rooms are not", async () => {
  const direct = { user: "ben", name: "Ben" };
  const answer = (lastSeq: number): void => {
    answers.unread = {
      rooms: [
        { room: "dm~ben", unread: 1, lastSeq, direct },
        { room: "two", unread: 1, lastSeq },
      ],
      version: `at ${lastSeq}`,
    };
  };
  const shown = async (): Promise<string[]> => {
    await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
    release?.();
    await vi.advanceTimersByTimeAsync(0);
    return directory.own.map(({ room }) => room);
  };
  answer(3);
  expect(await shown()).toEqual(["dm~ben", "two"]);
  // The room knew of a message that the list has not told yet.
  directory.forget("dm~ben", 4);
  directory.forget("two", 4);
  expect(await shown()).toEqual([]);
  answer(4);
  expect(await shown()).toEqual([]);
  answer(5);
  expect(await shown()).toEqual(["dm~ben"]);
  directory.close();
  directory = open();
  expect(await shown()).toEqual(["dm~ben"]);
  // The room had not answered when the reader left it.
  directory.forget("dm~ben", 0);
  expect(await shown()).toEqual([]);
});
