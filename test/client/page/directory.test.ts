// Tests how often the page asks for the list of rooms.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { ASK_FOR_NEWS_MS, RoomDirectory } from "../../../client/page/state/room-directory.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";

const MINUTE_MS = 60_000;
let asked = 0;
let directory: RoomDirectory;

beforeEach(async () => {
  asked = 0;
  vi.useFakeTimers();
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  vi.stubGlobal("fetch", async () => {
    asked += 1;
    return Response.json({ rooms: [] });
  });
  directory = new RoomDirectory({ base: "http://chat.example", token: () => "token", changed: () => {} });
  await vi.advanceTimersByTimeAsync(0);
  asked = 0;
});
afterEach(() => {
  directory.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("asks four times a minute while no other room can have news", async () => {
  directory.saw("here", 1);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(asked).toBe(4);
});

it("asks every 5 s once the reader has been in another room, and not at all while the page is hidden", async () => {
  directory.saw("here", 1);
  directory.saw("there", 1);
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(asked).toBe(MINUTE_MS / ASK_FOR_NEWS_MS);
  Object.assign(document, { visibilityState: "hidden" });
  await vi.advanceTimersByTimeAsync(MINUTE_MS);
  expect(asked).toBe(MINUTE_MS / ASK_FOR_NEWS_MS);
});
