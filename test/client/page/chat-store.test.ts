// Tests the page's state as a whole: two readers use one tab after each other, and the page notifies each of their own messages only.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ExtendedWebSocket } from "../../../client/core/extended-transports.ts";
import { NEWS_EVERY_MS } from "../../../client/core/own-rooms.ts";
import { ChatStore } from "../../../client/page/state/chat-store.ts";
import type { Spoken, Notifier } from "../../../client/page/state/notifier.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { FakeTabs } from "../../host/fake-tabs.ts";
import { FakeWebSocket } from "../../host/fake-websocket.ts";

/** By user, the newest message that mentions them, in a room that is not on the screen. */
let mentioned: Record<string, { readonly room: string; readonly seq: number }>;
/** Until it resolves, the server does not tell what is new. */
let answering: Promise<void>;
let told: string[];
let store: ChatStore;

const tokenOf = (user: string): string => `x.${btoa(JSON.stringify({ sub: user }))}.x`;
const joinAs = async (user: string): Promise<void> => {
  await store.join({ name: user, room: "here", token: tokenOf(user) });
  await vi.advanceTimersByTimeAsync(0);
};

beforeEach(() => {
  vi.useFakeTimers();
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
  vi.spyOn(ExtendedWebSocket.prototype, "createSocket").mockImplementation((url: string) => new FakeWebSocket(url));
  const notifier = { isOn: true, muted: new Set(), notify: ({ room, seq }: Spoken) => told.push(`${room} ${seq}`) };
  store = new ChatStore({
    base: "http://chat.example",
    changed: () => {},
    notifier: notifier as unknown as Notifier,
  });
});
afterEach(async () => {
  store.close();
  await vi.advanceTimersByTimeAsync(0);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
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
