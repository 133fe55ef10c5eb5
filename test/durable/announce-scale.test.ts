// Counts the cost of an announcement: queue messages, calls, rows (ANN-5, ANN-8).
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { ANNOUNCE_ROOMS } from "./announce-taking.ts";
import { callApi } from "./api-caller.ts";
import { isArmed, join, useSettings } from "./rooms.ts";
import { rowsWrittenByAll, type Counted } from "./rows-written.ts";

const FOLLOWERS = 80;
const ROOMS = 16;

useSettings({ API_RATE: "10000", API_BURST: "10000" });
afterEach(() => vi.restoreAllMocks());

/** Until no alarm rings during one of them. */
const ANNOUNCEMENTS_MAX = 10;

interface Announced extends Counted {
  /** Of the queue. */
  readonly messages: number;
  /** Of rooms. */
  readonly calls: number;
}

const roomOf = (i: number): string => `followed-${i % ROOMS}`;

it("80 followers in 16 rooms: a message of the queue, a call per room, and two rows in all", async () => {
  const users = Array.from({ length: FOLLOWERS }, (_, i) => `follower-${i}`);
  const people = await Promise.all(users.map((user, i) => join(roomOf(i), user)));
  const queued = vi.spyOn(env.RELAY_QUEUE, "sendBatch");
  const calls = vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced");

  async function announce(data: string): Promise<Announced> {
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
  let announced = 1;
  let counted: Announced;
  // Again, if the alarm of any room rang meanwhile, also of those of other tests: it writes rows, too.
  do {
    for (let room = 0; room < ROOMS; room++) await isArmed(roomOf(room));
    counted = await announce("now it is known");
    announced++;
  } while (counted.alarms > 0 && announced < ANNOUNCEMENTS_MAX);
  expect(counted).toEqual({ messages: 1, calls: ROOMS, rows: 2, alarms: 0 });
  for (const person of people) expect(await person.receives("announcement", announced)).toHaveLength(announced);
});
