// The model behind `npm run cost`, held against rooms in workerd: the same people and posts, predicted and counted, line by line.
import { expect, it } from "vitest";

import { predict } from "../../scripts/cost/run-model.ts";
import { countReports } from "./count-reports.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join } from "./rooms.ts";
import { queriesMade, rowsWrittenByAll } from "./rows-written.ts";

const [ROOMS, MEMBERS, PER_ROOM_PER_SECOND, SECONDS] = [6, 4, 4, 12];
const FLUSH_WINDOW_MS = 50;
const PING_INTERVAL_SECONDS = 45;
/** The alarm of a room with people is set when it has been calm for a moment. */
const CALM_MS = 600;
const DEVIATION_MAX = 0.05;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Posts at random moments, as independent users do. @returns the number of acks */
async function talk(members: readonly RawClient[], untilMs: number): Promise<number> {
  const answers: Array<Promise<{ ok?: true }>> = [];
  while (Date.now() < untilMs) {
    await pause((-Math.log(1 - Math.random()) / PER_ROOM_PER_SECOND) * 1000);
    const member = members[Math.trunc(Math.random() * members.length)]!;
    answers.push(member.ask("chat-message", { content: `at ${Date.now()}` }));
  }
  return (await Promise.all(answers)).filter(({ ok }) => ok).length;
}

it("rows, alarms, requests and reports of a run are predicted within 5 %", async () => {
  const rooms = Array.from({ length: ROOMS }, freshRoom);
  let [posts, connectedAt, postingFrom, postingTo, reports, lobbyRows] = [0, 0, 0, 0, 0, 0];
  const startedMs = Date.now();
  const second = (): number => (Date.now() - startedMs) / 1000;
  const { rows, alarms } = await rowsWrittenByAll(rooms[0]!, async () => {
    const made = await queriesMade(rooms[0]!, async () => {
      reports = await countReports(async () => {
        const seats = rooms.map((room) =>
          Promise.all(Array.from({ length: MEMBERS }, (_, seat) => join(room, `user-${seat}`))),
        );
        const people = await Promise.all(seats);
        connectedAt = second();
        await pause(CALM_MS);
        postingFrom = second();
        const untilMs = Date.now() + SECONDS * 1000;
        const acked = await Promise.all(people.map((members) => talk(members, untilMs)));
        postingTo = second();
        posts = acked.reduce((sum, count) => sum + count, 0);
      });
    });
    lobbyRows = made.lobbyRows;
  });
  const { events: predicted } = predict({
    connects: ROOMS * MEMBERS,
    rooms: ROOMS,
    shimShare: 0,
    pollingShare: 0,
    posts,
    connectedAt,
    postingFrom,
    postingTo,
    askedAt: second(),
    flushWindowMs: FLUSH_WINDOW_MS,
    flushBurst: 8,
    pingIntervalSeconds: PING_INTERVAL_SECONDS,
  });
  const counted = { alarms, reports, rowsWritten: rows - alarms + lobbyRows };
  for (const [line, count] of Object.entries(counted) as Array<[keyof typeof counted, number]>) {
    const deviation = Math.abs(predicted[line] - count) / count;
    expect(deviation, `${line}: predicted ${predicted[line]}, counted ${count}`).toBeLessThan(DEVIATION_MAX);
  }
});
