// A room that is deleted while reports of it are under way to a lobby far away: it does not come back into the list.
import { afterEach, expect, it, vi } from "vitest";

import { Lobby } from "../../durable/lobby.ts";
import type { RoomReport } from "../../src/protocol/room-list.ts";
import { callApi } from "./api-caller.ts";
import { freshRoom, join } from "./rooms.ts";

const LOOK_MS = 5;
const report = Reflect.get(Lobby.prototype, "report");
/** Reports on their way, and those that were let go: by number, in the order in which they were made. */
const underWay = new Set<number>();
const letThrough = new Set<number>();
let made = 0;
let arrived: RoomReport[] = [];
afterEach(() => {
  Lobby.prototype.report = report;
  arrived = [];
});

/** From now on reports wait on their way until they are let go. */
function holdReports(): void {
  Lobby.prototype.report = async function (this: Lobby, given) {
    const number = ++made;
    underWay.add(number);
    // An object may not be woken by a promise of another one's: it looks by itself.
    while (!letThrough.has(number)) await scheduler.wait(LOOK_MS);
    const answer = await report.call(this, given);
    arrived.push(given);
    return answer;
  };
}

async function letGo(latestFirst: boolean): Promise<void> {
  const waiting = latestFirst ? [...underWay].reverse() : [...underWay];
  underWay.clear();
  for (const number of waiting) {
    const before = arrived.length;
    letThrough.add(number);
    await vi.waitFor(() => expect(arrived.length, `report ${number}`).toBeGreaterThan(before));
  }
}

it.each([
  { order: "as they were made", latestFirst: false },
  { order: "the other way round", latestFirst: true },
])("API-9: reports arrive $order", async ({ latestFirst }) => {
  const room = freshRoom();
  await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "hello" } });
  const listed = async (): Promise<object[]> => (await callApi("GET", `/api/rooms?prefix=${room}`)).body.rooms;
  await vi.waitFor(async () => expect(await listed()).toHaveLength(1));
  holdReports();
  await join(room, "ada");
  await vi.waitFor(() => expect(underWay.size).toBe(1));
  expect((await callApi("DELETE", `/api/rooms/${room}`)).status).toBe(200);
  await vi.waitFor(() => expect(underWay.size).toBe(2));
  await letGo(latestFirst);
  expect(arrived).toHaveLength(2);
  expect(await listed()).toEqual([]);
});
