// Tests a search over a user's rooms: what is asked of the server, and what is shown of it, room by room.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { followRooms, type OwnRooms } from "../../../client/core/own-rooms.ts";
import { createRoomsSearch, type RoomsSearch } from "../../../client/store/rooms-search.ts";
import { FakeTabs } from "../../host/fake-tabs.ts";

interface Asked {
  readonly query: URLSearchParams;
  readonly answer: (body: object) => void;
  readonly fail: () => void;
  isCalledOff: boolean;
}

const named = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, n) => `r${from + n}`);
const messageIn = (room: string, seq: number) => ({ id: `${room}-${seq}`, room, seq, content: `needle ${seq}` });
/** What the server answers of rooms in which it has found one message. */
const foundIn = (rooms: readonly string[], hasMore = false) => ({
  rooms: rooms.map((room) => ({ room, messages: [messageIn(room, 9)], hasMore, before: 5 })),
});

let own: OwnRooms;
let search: RoomsSearch;
/** Searches that the server was asked for. */
let asked: Asked[];
let listed: string[];
let list: () => void;

beforeEach(async () => {
  vi.useFakeTimers();
  [asked, listed] = [[], named(1, 43)];
  vi.stubGlobal("BroadcastChannel", new FakeTabs().Channel);
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  const listing = new Promise<void>((resolve) => (list = resolve));
  vi.stubGlobal("fetch", async (address: string, { signal }: RequestInit) => {
    const { pathname, searchParams: query } = new URL(address);
    if (pathname === "/api/unread") {
      await listing;
      if (query.get("since") !== "") return new Promise(() => {});
      return Response.json({ ok: true, rooms: listed.map((room) => ({ room })), version: "1" });
    }
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const one: Asked = {
        query,
        answer: (body) => {
          isAnswered = true;
          resolve(Response.json({ ok: true, ...body }));
        },
        fail: () => reject(new Error("offline")),
        isCalledOff: false,
      };
      signal!.addEventListener("abort", () => {
        one.isCalledOff = !isAnswered;
        reject(new Error("aborted"));
      });
      asked.push(one);
    });
  });
  own = followRooms("http://chat.example", { token: "token" });
  search = createRoomsSearch(own);
  await vi.advanceTimersByTimeAsync(0);
});
afterEach(() => {
  own.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const turn = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
async function answers(body: object): Promise<void> {
  asked.at(-1)!.answer(body);
  await turn();
}
const state = () => {
  const { found, isBusy, left } = search.getSnapshot();
  const texts = found.map((one) => `${one.room} ${"error" in one ? one.error.code : one.messages.length}`);
  return { texts, isBusy, left };
};

it("asks the 20 newest rooms, five at a time, and the next 20 on demand", async () => {
  list();
  await turn();
  void search.search("needle");
  await turn();
  expect(Object.fromEntries(asked[0]!.query)).toEqual({ query: "needle", rooms: "r1,r2,r3,r4,r5" });
  expect(state()).toEqual({ texts: [], isBusy: true, left: 23 });
  await answers(foundIn(named(1, 5)));
  expect(state()).toEqual({ texts: named(1, 5).map((room) => `${room} 1`), isBusy: true, left: 23 });
  for (const from of [6, 11, 16]) await answers(foundIn(named(from, from + 4)));
  expect(asked).toHaveLength(4);
  expect(state()).toEqual({ texts: named(1, 20).map((room) => `${room} 1`), isBusy: false, left: 23 });
  void search.more();
  for (const from of [21, 26, 31, 36]) {
    await turn();
    await answers(foundIn(named(from, from + 4)));
  }
  void search.more();
  await turn();
  expect(asked.at(-1)!.query.get("rooms")).toBe("r41,r42,r43");
  await answers(foundIn(named(41, 43)));
  expect(state()).toMatchObject({ isBusy: false, left: 0 });
  expect(state().texts).toHaveLength(43);
});

it("asks no more rooms once it is stopped; those are left, and more() goes on with them", async () => {
  list();
  await turn();
  void search.search("needle");
  await turn();
  await answers(foundIn(named(1, 5)));
  search.stop();
  await turn();
  expect(asked.map(({ isCalledOff }) => isCalledOff)).toEqual([false, true]);
  expect(state()).toEqual({ texts: named(1, 5).map((room) => `${room} 1`), isBusy: false, left: 38 });
  void search.more();
  await turn();
  expect(asked.at(-1)!.query.get("rooms")).toBe("r6,r7,r8,r9,r10");
});

it("another search takes the place of one that is under way, whose answer counts no more", async () => {
  list();
  await turn();
  void search.search("needle");
  await turn();
  const [first] = asked;
  void search.search({ query: "pin", from: "ben" });
  await turn();
  first!.answer(foundIn(named(1, 5)));
  await turn();
  expect(first!.isCalledOff).toBe(true);
  expect(Object.fromEntries(asked.at(-1)!.query)).toMatchObject({ query: "pin", from: "ben" });
  expect(state()).toEqual({ texts: [], isBusy: true, left: 23 });
});

it("rooms that fail stand beside what others have found, and are asked again alone; a call that fails fails the rest", async () => {
  listed = named(1, 7);
  list();
  await turn();
  void search.search("needle");
  await turn();
  const error = { code: "RATE_LIMITED", message: "Slower", retryAfterMs: 1000 };
  await answers({ rooms: [...foundIn(["r1"]).rooms, { room: "r2", error }, ...foundIn(["r3", "r4", "r5"]).rooms] });
  asked.at(-1)!.fail();
  await turn();
  const failed = ["r6 NO_ANSWER", "r7 NO_ANSWER"];
  expect(state()).toEqual({
    texts: ["r1 1", "r2 RATE_LIMITED", "r3 1", "r4 1", "r5 1", ...failed],
    isBusy: false,
    left: 0,
  });
  void search.retry();
  await turn();
  expect(asked.at(-1)!.query.get("rooms")).toBe("r2,r6,r7");
  await answers(foundIn(["r2", "r6", "r7"]));
  expect(state().texts).toEqual(named(1, 7).map((room) => `${room} 1`));
});

it("more of one room comes behind what it had found; a failure leaves that as it is", async () => {
  listed = named(1, 2);
  list();
  await turn();
  void search.search("needle");
  await turn();
  await answers(foundIn(["r1", "r2"], true));
  void search.moreIn("r1");
  await turn();
  expect(Object.fromEntries(asked.at(-1)!.query)).toEqual({ query: "needle", rooms: "r1", before: "5", limit: "20" });
  await answers({ rooms: [{ room: "r1", messages: [messageIn("r1", 4)], hasMore: false, before: 1 }] });
  expect(search.getSnapshot().found[0]).toMatchObject({ messages: [{ seq: 9 }, { seq: 4 }], hasMore: false });
  void search.moreIn("r2");
  await turn();
  asked.at(-1)!.fail();
  await turn();
  expect(state()).toEqual({ texts: ["r1 2", "r2 1"], isBusy: false, left: 0 });
});

it("before the list of rooms is there, a search waits for it; the end of the list ends it", async () => {
  void search.search("needle");
  await turn();
  expect([asked.length, state().isBusy]).toEqual([0, true]);
  list();
  await turn();
  expect(asked.at(-1)!.query.get("rooms")).toBe("r1,r2,r3,r4,r5");
  for (const from of [1, 6, 11, 16]) await answers(foundIn(named(from, from + 4)));
  expect(state()).toMatchObject({ isBusy: false, left: 23 });
  void search.more();
  await turn();
  expect(asked.at(-1)!.query.get("rooms")).toBe("r21,r22,r23,r24,r25");
  own.close();
  await turn();
  expect(asked.at(-1)!.isCalledOff).toBe(true);
});

it("an application may name the rooms, and break off", async () => {
  const heard: string[] = [];
  const listening = (async () => {
    for await (const { room } of own.search({ query: "needle", rooms: ["b", "a"] })) {
      heard.push(room);
      break;
    }
  })();
  await turn();
  await answers(foundIn(["b", "a"]));
  await listening;
  expect([heard, asked.length]).toEqual([["b"], 1]);
});
