// Counts the cost of an announcement: queue messages, calls, rows (ANN-5, ANN-8).
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { ChatRoom } from "../../durable/chat-room.ts";
import { callApi } from "./api-caller.ts";
import { join, useSettings } from "./rooms.ts";
import { rowsWrittenByAll } from "./rows-written.ts";

const FOLLOWERS = 80;
const ROOMS = 16;

useSettings({ API_RATE: "10000", API_BURST: "10000" });
afterEach(() => vi.restoreAllMocks());

const roomOf = (i: number): string => `followed-${i % ROOMS}`;

it("80 followers in 16 rooms: a message of the queue, a call per room, and two rows in all", async () => {
  const users = Array.from({ length: FOLLOWERS }, (_, i) => `follower-${i}`);
  const people = await Promise.all(users.map((user, i) => join(roomOf(i), user)));
  const queued = vi.spyOn(env.RELAY_QUEUE, "sendBatch");
  const calls = vi.spyOn(ChatRoom.prototype, "takeAnnounced");

  async function announce(data: string): Promise<object> {
    queued.mockClear();
    calls.mockClear();
    const { rows, alarms } = await rowsWrittenByAll(roomOf(0), async () => {
      const { body } = await callApi("POST", "/api/announce", { body: { users, data } });
      const all = { done: true, accepted: FOLLOWERS, delivered: FOLLOWERS, absent: 0, failed: 0 };
      await vi.waitFor(async () => expect((await callApi("GET", `/api/announce/${body.id}`)).body).toMatchObject(all));
    });
    const messages = queued.mock.calls.reduce((sum, [batch]) => sum + [...batch].length, 0);
    return { messages, calls: calls.mock.calls.length, rows, alarms };
  }

  expect(await announce("nobody knows yet where they are")).toMatchObject({ messages: 2 });
  await vi.waitFor(
    async () => {
      const { found, unknown } = await env.LOBBY.getByName("0-of-1").find(users);
      expect(unknown).toEqual([]);
      expect(found.flatMap(([, here]) => here as readonly number[])).toHaveLength(FOLLOWERS);
    },
    { interval: 200 },
  );
  expect(await announce("now it is known")).toEqual({ messages: 1, calls: ROOMS, rows: 2, alarms: 0 });
  for (const person of people) expect(await person.receives("announcement", 2)).toHaveLength(2);
});
