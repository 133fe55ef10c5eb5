// Tests the page's state as a whole: two readers use one tab after each other, and the page notifies each of their own messages only. Who comes
// back from a sign-in page is signed in if they began that in this browser.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { NEWS_EVERY_MS } from "../../../client/core/own-rooms.ts";
import { ChatStore } from "../../../client/page/state/chat-store.ts";
import type { Spoken, Notifier } from "../../../client/page/state/notifier.ts";
import { takeReturned } from "../../../client/page/state/sign-in.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { FakeTabs } from "../../host/fake-tabs.ts";
import { turn, useDialled } from "../../host/fake-websocket.ts";

const dialled = useDialled();

/** By user, the newest message that mentions them, in a room that is not on the screen. */
let mentioned: Record<string, { readonly room: string; readonly seq: number }>;
/** Until it resolves, the server does not tell what is new. */
let answering: Promise<void>;
let told: string[];
let store: ChatStore;
let open: () => ChatStore;

const tokenOf = (user: string): string => `x.${btoa(JSON.stringify({ sub: user }))}.x`;
const joinAs = async (user: string): Promise<void> => {
  await store.join({ name: user, room: "here", token: tokenOf(user) });
  await vi.advanceTimersByTimeAsync(0);
};

beforeEach(() => {
  [told, answering] = [[], Promise.resolve()];
  mentioned = { ada: { room: "there", seq: 3 }, ben: { room: "far", seq: 9 } };
  const tabs = new FakeTabs();
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("sessionStorage", new FakeLocalStorage());
  vi.stubGlobal("navigator", { locks: tabs.locks });
  vi.stubGlobal("BroadcastChannel", tabs.Channel);
  vi.stubGlobal("addEventListener", () => {});
  vi.stubGlobal("requestAnimationFrame", () => 1);
  vi.stubGlobal("cancelAnimationFrame", () => {});
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  vi.stubGlobal("fetch", async (address: string, { headers }: RequestInit) => {
    if (!address.includes("/api/unread")) return Response.json({ ok: true, rooms: [] });
    await answering;
    const bearer = (headers as Record<string, string>)["authorization"];
    const { room, seq } = Object.entries(mentioned).find(([user]) => bearer === `Bearer ${tokenOf(user)}`)![1];
    const news = { room, lastSeq: seq, unread: 1, mentions: 1, mentionSeq: seq };
    return Response.json({ ok: true, rooms: [news], version: `${seq}` });
  });
  const notify = ({ room, seq }: Spoken): number => told.push(`${room} ${seq}`);
  const notifier = { isOn: true, muted: new Set(), notify, forget: () => {} };
  open = () =>
    new ChatStore({ base: "http://chat.example", changed: () => {}, notifier: notifier as unknown as Notifier });
  store = open();
});
afterEach(async () => {
  store.close();
  await vi.advanceTimersByTimeAsync(0);
  vi.unstubAllGlobals();
});

it("what was said to the next reader before they came is nothing new, whoever was there before; what comes then is", async () => {
  await joinAs("ada");
  store.leave();
  await joinAs("ben");
  expect(told).toEqual([]);
  mentioned["ben"] = { room: "far", seq: 10 };
  await vi.advanceTimersByTimeAsync(NEWS_EVERY_MS);
  expect(told).toEqual(["far 10"]);
});

it("what the reader's list has when it comes is nothing new, also if the list of all rooms came before", async () => {
  let answer = (): void => {};
  answering = new Promise((resolve) => (answer = resolve));
  await joinAs("ada");
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(store.newsCount).toBe(1);
  expect(told).toEqual([]);
});

it("a reader who has signed out is led nowhere by a notification that they press then", async () => {
  await joinAs("ada");
  store.leave();
  store.goTo("there", 3);
  expect(store.view).toBe(undefined);
});

/** What the browser keeps once another reader has signed in in another tab. */
function replaceWith(user: string): void {
  const kept = {
    "parley.token": { name: user, token: tokenOf(user) },
    "parley.join": { name: user, room: "there" },
    "parley.last": { user, room: "there", atMs: Date.now(), historySeconds: 60, messages: [] },
  };
  for (const [key, value] of Object.entries(kept)) localStorage.setItem(key, JSON.stringify(value));
}
const signedOutElsewhere = { key: "parley.join", newValue: null } as StorageEvent;

it("a reader who signed out in another tab is gone here, too, and takes nothing from who has signed in there since", async () => {
  await joinAs("ada");
  replaceWith("ben");
  const kept = ["parley.token", "parley.join", "parley.last"].map((key) => localStorage.getItem(key));
  // A tab that the browser had put to sleep hears of it late.
  store.onKept(signedOutElsewhere);
  expect(store.view).toBe(undefined);
  expect(["parley.token", "parley.join", "parley.last"].map((key) => localStorage.getItem(key))).toEqual(kept);
  expect(store.remembered).toEqual({ isKnown: true, name: "ben", room: "there" });
  // With nobody there since, nothing stays.
  await joinAs("ada");
  for (const key of ["parley.token", "parley.join"]) localStorage.removeItem(key);
  store.onKept(signedOutElsewhere);
  expect([store.view, store.remembered.isKnown, localStorage.getItem("parley.last")]).toEqual([undefined, false, null]);
});

it("a page that comes back out of the browser's cache shows nothing to who has signed out meanwhile; a browser that stores nothing changes that not", async () => {
  await joinAs("ada");
  store.comeBackFromCache();
  expect(store.view?.room).toBe("here");
  replaceWith("ben");
  store.comeBackFromCache();
  expect(store.view).toBe(undefined);
  await joinAs("ada");
  localStorage.removeItem("parley.token");
  store.comeBackFromCache();
  expect(store.view).toBe(undefined);
  vi.spyOn(localStorage, "setItem").mockImplementation(() => {
    throw new Error("QuotaExceededError");
  });
  await joinAs("ada");
  store.comeBackFromCache();
  expect(store.view?.room).toBe("here");
});

it("who has to sign in again on the way to a message comes there afterwards", async () => {
  await joinAs("ada");
  store.goTo("there", "i3");
  await store.signInAgain();
  expect(store.view).toBe(undefined);
  await store.join({ name: "ada", room: "there", token: tokenOf("ada") });
  expect([store.view?.room, store.standing.wanted]).toEqual(["there", { room: "there", place: "i3" }]);
});

it("where the user id is another claim than `sub`, the next page of the same reader has what they read, and nobody else's has", async () => {
  mentioned["4711"] = mentioned["812"] = { room: "there", seq: 3 };
  await joinAs("4711");
  await dialled.accept();
  const read = { lastSeq: 0, readSeq: 0, unread: 0, rev: 0, epoch: "1" };
  await dialled.emit("welcome", { user: "ada", ...read, presence: { count: 1 }, settings: { historySeconds: 60 } });
  const [, asked] = /42(\d+)\["history"/.exec(dialled.line.sent.join(""))!;
  dialled.line.receive(`43${asked}[{"ok":true,"messages":[],"hasMore":false}]`);
  await turn();
  const goes = (): void => store.lastRead.keep(store.view);
  goes();
  expect(open().lastRead.in("here")?.user).toBe("ada");
  // In another tab somebody else has come.
  localStorage.setItem("parley.token", JSON.stringify({ name: "ben", token: tokenOf("812") }));
  expect(open().lastRead.in("here")).toBe(undefined);
  goes();
  expect(localStorage.getItem("parley.last")).toBe(null);
});

it.each([
  ["/#token=T", { state: "", token: "T" }, "/"],
  ["/?state=made-up#token=T", { state: "made-up", token: "T" }, "/"],
  ["/?state=#token=T", { state: "", token: "T" }, "/"],
  ["/#room&token=T", { state: "", token: "T" }, "/"],
  ["/?state=made-up", { state: "made-up" }, "/"],
  ["/?state=made-up#room", { state: "made-up" }, "/#room"],
  ["/#room", undefined, "/#room"],
])(
  "what the sign-in page, or somebody else, has put into the address %s is taken out of it",
  (address, returned, left) => {
    const location = { href: `http://chat.example${address}` };
    vi.stubGlobal("location", location);
    vi.stubGlobal("history", { replaceState: (_: unknown, __: string, url: URL) => (location.href = url.href) });
    expect(takeReturned()).toEqual(returned);
    expect(location.href).toBe(`http://chat.example${left}`);
  },
);

it("who comes back with a state that this browser made is signed in, and once; no state that is made up, or of another browser, signs anybody in", async () => {
  const foreign = async (page: ChatStore, state: string): Promise<void> => {
    expect(await page.signedIn({ state, token: tokenOf("ben") })).toBe(false);
    expect(page.problem).toBe("This sign-in did not begin in this browser. Sign in here.");
    expect(localStorage.getItem("parley.token")).toBe(null);
  };
  for (const state of ["", "made-up"]) await foreign(store, state);
  let went = "";
  vi.stubGlobal("location", { href: "http://chat.example/#here", assign: (address: string) => (went = address) });
  store.entrance = { guests: false, signIn: "http://id.example/?return={return}" };
  store.signIn("here");
  const back = new URL(new URL(went).searchParams.get("return")!);
  expect(back.href).toMatch(/^http:\/\/chat\.example\/\?state=[0-9a-f]{32}$/);
  const state = back.searchParams.get("state")!;
  const own = localStorage;
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  await foreign(open(), state);
  vi.stubGlobal("localStorage", own);

  expect(await store.signedIn({ state, token: tokenOf("ada") })).toBe(true);
  await vi.advanceTimersByTimeAsync(0);
  expect([store.view?.room, store.reader.user]).toEqual(["here", "ada"]);
  const again = open();
  expect(await again.signedIn({ state, token: tokenOf("ben") })).toBe(false);
  expect([again.view, again.reader.user]).toEqual([undefined, "ada"]);
});
