// Tests the list of the user's own rooms that an application follows, outside of a browser, whose server the test plays.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { followRooms, type MentionsQuery, type OwnRooms } from "../../../client/core/own-rooms.ts";

const WAIT_MS = 25_000;

/** The server gives this answer to every request. */
let answer: object;
let asked: URL[];
let own: OwnRooms;
let told: number;

beforeEach(async () => {
  vi.useFakeTimers();
  [asked, told] = [[], 0];
  answer = { rooms: [{ room: "tea", unread: 1, lastActivity: 1 }], version: "1" };
  vi.stubGlobal("fetch", async (address: string) => {
    const url = new URL(address);
    asked.push(url);
    const waitMs = Number(url.searchParams.get("wait")) * 1000;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return Response.json({ ok: true, ...answer });
  });
  own = followRooms("http://chat.example", { token: "token" });
  own.subscribe(() => void told++);
  await vi.advanceTimersByTimeAsync(0);
});
afterEach(() => {
  own.close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("the list", () => {
  it("stays the same, and no listener is called, while the server answers that nothing has changed", async () => {
    const before = own.getSnapshot();
    expect([before, told]).toEqual([[{ room: "tea", unread: 1, lastActivity: 1 }], 1]);
    answer = { ...answer, version: "2" };
    await vi.advanceTimersByTimeAsync(4 * WAIT_MS);
    expect(asked.at(-1)!.searchParams.get("since")).toBe("2");
    expect(own.getSnapshot()).toBe(before);
    expect(told).toBe(1);
  });

  it("is another one once a room has changed, also where the version has not", async () => {
    const rooms = [{ room: "tea", unread: 1, lastActivity: 2 }];
    answer = { ...answer, rooms };
    await vi.advanceTimersByTimeAsync(2 * WAIT_MS);
    expect([own.getSnapshot(), told]).toEqual([rooms, 2]);
  });
});

it("mentions: a part of the query that is undefined is not sent, as if it were absent", async () => {
  const query: { readonly [Part in keyof MentionsQuery]: MentionsQuery[Part] | undefined } = {
    room: undefined,
    limit: 5,
  };
  void own.mentions(query as MentionsQuery);
  await vi.advanceTimersByTimeAsync(0);
  expect([asked.at(-1)!.pathname, asked.at(-1)!.search]).toEqual(["/api/mentions", "?limit=5"]);
});

it("where no token is to be had, mentions have an error and no list comes, until there is one", async () => {
  const token = vi
    .fn(() => "token")
    .mockImplementationOnce(signedOut)
    .mockImplementationOnce(signedOut);
  const other = followRooms("http://chat.example", { token });
  const mentions = await other.mentions();
  expect([mentions, other.getSnapshot()]).toEqual([
    { error: { code: "NO_ANSWER", message: "There is no token: Error: signed out" } },
    undefined,
  ]);
  await vi.advanceTimersByTimeAsync(6000);
  expect(other.getSnapshot()).toHaveLength(1);
  other.close();
});

function signedOut(): never {
  throw new Error("signed out");
}
