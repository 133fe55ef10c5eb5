// Tests what the page keeps of the last room for an opening without a network: for whom, how much, and for how long.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { LastReadings } from "../../../client/page/state/last-read.ts";
import type { RoomView } from "../../../client/page/state/room-view.ts";
import { clearStoredData } from "../../../client/page/state/stored-data.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { messageOf } from "../../host/message.ts";

const BASE = "http://chat.example/chat";
const DAY_SECONDS = 86_400;
const NOW = Date.UTC(2026, 10, 20);

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("sessionStorage", new FakeLocalStorage());
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const token = (user: string): string => `x.${btoa(JSON.stringify({ sub: user }))}.x`;
/** A page that opens in the browser of that reader; without one, of a reader whom the server knows by a cookie. */
const page = (user?: string, newest = user): LastReadings => {
  const identity = (of: string | undefined) => ({ name: "Ada", token: of === undefined ? "" : token(of) });
  return new LastReadings(BASE, { kept: identity(user), newest: identity(newest) }, true);
};
const message = (seq: number, content = `m${seq}`, timestamp = NOW - 1000): Message =>
  messageOf(seq, { room: "here", content, timestamp });
interface Shown {
  readonly messages?: readonly Message[];
  readonly user?: string;
  readonly kind?: "connected" | "stopped";
  readonly isLoaded?: boolean;
  readonly historySeconds?: number;
}
const view = ({
  messages = [message(1)],
  user = "ada",
  kind = "connected",
  isLoaded = true,
  historySeconds = 30 * DAY_SECONDS,
}: Shown = {}): RoomView =>
  ({
    room: "here",
    connection: { kind },
    state: {
      messages: { stored: messages, isLoaded },
      modes: { name: "Here" },
      welcome: { user, settings: { historySeconds } },
    },
  }) as unknown as RoomView;

it("the next page of the same reader has it, in that room alone", () => {
  page("ada").keep(view());
  const next = page("ada");
  expect([next.room, next.in("there")]).toEqual(["here", undefined]);
  expect(next.in("here")).toEqual({
    user: "ada",
    room: "here",
    name: "Here",
    atMs: NOW,
    historySeconds: 30 * DAY_SECONDS,
    messages: [message(1)],
  });
});

it("another reader never sees it, and it is deleted as soon as they come; nor does a reader whom only a cookie names", () => {
  for (const other of ["ben", undefined]) {
    page("ada").keep(view());
    expect(page(other).in("here")).toBe(undefined);
    expect(localStorage.length).toBe(0);
  }
  page().keep(view());
  expect(localStorage.length).toBe(0);
});

it("a page whose reader signed out, or in as somebody else, in another tab keeps nothing, and takes nothing from them", () => {
  page("ada", "ben").keep(view());
  expect(localStorage.length).toBe(0);
  page("ben").keep(view({ user: "ben" }));
  page("ada", "ben").keep(view());
  expect(page("ben").in("here")?.user).toBe("ben");
});

it("it goes with a sign-out, and with a room that lets the reader in no more; an unanswered room leaves it as it was", () => {
  page("ada").keep(view());
  page("ada").keep(view({ isLoaded: false, messages: [] }));
  expect(page("ada").in("here")?.messages).toHaveLength(1);
  page("ada").keep(view({ kind: "stopped" }));
  expect(localStorage.length).toBe(0);
  page("ada").keep(view());
  clearStoredData({ base: BASE, user: "ada", writer: "ada" });
  expect(localStorage.length).toBe(0);
});

it("where the storage is full, nothing stays in place of what was read before", () => {
  page("ada").keep(view({ messages: [message(1, "deleted since")] }));
  const ada = page("ada");
  vi.spyOn(localStorage, "setItem").mockImplementation(() => {
    throw new Error("QuotaExceededError");
  });
  ada.keep(view({ messages: [message(2)] }));
  expect([localStorage.length, page("ada").in("here")]).toEqual([0, undefined]);
});

it("a page whose room is left takes nothing from who has signed in in another tab", () => {
  page("ben").keep(view({ user: "ben" }));
  page("ada", "ben").forget();
  expect(page("ben").in("here")?.user).toBe("ben");
});

it("50 messages and 100,000 characters are kept at most, the newest", () => {
  const many = Array.from({ length: 51 }, (_, at) => message(at + 1));
  page("ada").keep(view({ messages: many }));
  expect(
    page("ada")
      .in("here")
      ?.messages.map(({ seq }) => seq),
  ).toEqual(many.slice(1).map(({ seq }) => seq));
  const size = JSON.stringify(message(1, "")).length;
  const filling = [message(1, ""), message(2, "x".repeat(100_000 - 2 * size)), message(3, "")];
  page("ada").keep(view({ messages: filling }));
  expect(
    page("ada")
      .in("here")
      ?.messages.map(({ seq }) => seq),
  ).toEqual([2, 3]);
  page("ada").keep(view({ messages: [message(1, "x".repeat(100_000))] }));
  expect(page("ada").in("here")?.messages).toEqual([]);
});

it("no message is shown, or kept on, that the room itself would have dropped by its age", () => {
  const messages = [message(1, "old", NOW - 1000), message(2, "new", NOW)];
  page("ada").keep(view({ messages, historySeconds: 60 }));
  vi.setSystemTime(NOW + 59_500);
  expect(
    page("ada")
      .in("here")
      ?.messages.map(({ content }) => content),
  ).toEqual(["new"]);
  expect(localStorage.getItem(localStorage.key(0)!)).not.toContain("old");
  vi.setSystemTime(NOW + 60_000);
  expect(page("ada").in("here")?.messages).toEqual([]);
});

it("what is not a page's own is taken away: broken JSON, missing fields, messages without a text", () => {
  page("ada").keep(view());
  const [key, kept] = [localStorage.key(0)!, JSON.parse(localStorage.getItem(localStorage.key(0)!)!) as object];
  for (const broken of [
    { room: 1 },
    { messages: {} },
    { messages: [null] },
    { messages: [{ ...message(1), content: 1 }] },
  ]) {
    localStorage.setItem(key, JSON.stringify({ ...kept, ...broken }));
    expect(page("ada").in("here")).toBe(undefined);
    expect(localStorage.length).toBe(0);
  }
  localStorage.setItem(key, "{");
  expect(page("ada").in("here")).toBe(undefined);
});

it("an embed keeps nothing", () => {
  new LastReadings(BASE, { kept: undefined, newest: { name: "Ada", token: token("ada") } }, false).keep(view());
  expect(localStorage.length).toBe(0);
});
