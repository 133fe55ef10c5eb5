// `npm run drain`: drains thousands of clients from a server on this machine and measures how evenly and how soon they come
// back, and whether one missed a message (docs/reliability.md).
import { setTimeout as pause } from "node:timers/promises";

import { Backend } from "./crash/rooms.ts";
import { Victim } from "./crash/victim.ts";
import { Announcements } from "./drain/announcements.ts";
import { arrivalsOf, SLICE_MS } from "./drain/arrivals.ts";
import { gatherGuests, type Guest, type Kind } from "./drain/crowd.ts";
import { helpOf } from "./help.ts";
import { exitOnStop } from "./stopping.ts";
import { readOptions } from "./options.ts";

const SETTLE_MS = 3000;
const BACK_MS_MAX = 120_000;
const CAUGHT_UP_MS_MAX = 60_000;
const POLL_MS = 50;
/** The server ends when this part of the window is over, and is started again at once. */
const RESTART_AT = 0.3;

interface Wishes {
  readonly guests: number;
  readonly rooms: number;
  readonly withinMs: number;
  readonly kind: Kind;
  readonly isRestarting: boolean;
}

// However it ends, the server that it started ends with it.
exitOnStop();

try {
  process.exit((await run(readArguments())) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

async function run(wishes: Wishes): Promise<boolean> {
  const { guests, rooms: count, withinMs, kind, isRestarting } = wishes;
  const rooms = Array.from({ length: count }, (_, number) => `drained-${number}`);
  const victim = await Victim.make({});
  try {
    await victim.start();
    const backend = await Backend.of(victim.origin);
    let drainedMs = Infinity;
    const arrivedMs: number[] = [];
    const crowd = await gatherGuests(kind, victim.origin, { guests, rooms }, () => {
      if (drainedMs < Infinity) arrivedMs.push(performance.now() - drainedMs);
    });
    const talk = new Announcements(backend, rooms);
    await pause(SETTLE_MS);
    drainedMs = performance.now();
    await backend.call("POST", "/api/drain", { rooms, reconnectWithinMs: withinMs });
    const drainMs = performance.now() - drainedMs;
    const downMs = isRestarting ? await restart(victim, withinMs) : 0;
    await until(() => crowd.every(isBack), BACK_MS_MAX);
    await talk.stop();
    const caughtUp = await untilCaughtUp(crowd, backend, rooms);
    const recoveredMs = performance.now() - drainedMs;
    console.log(`${guests} ${kind} clients in ${count} rooms, sent away for up to ${withinMs} ms`);
    console.log(
      `the drain took ${drainMs.toFixed(0)} ms${isRestarting ? `; the server was away for ${downMs.toFixed(0)} ms` : ""}`,
    );
    tell(crowd, arrivalsOf(arrivedMs, withinMs));
    console.log(
      `all back ${(Math.max(...arrivedMs) / 1000).toFixed(1)} s, all caught up ${(recoveredMs / 1000).toFixed(1)} s after the drain`,
    );
    return conclude(crowd, caughtUp, talk.said);
  } finally {
    await victim.forget();
  }
}

/** Restarts the server as a deploy does. @returns how long it did not answer, in ms */
async function restart(victim: Victim, withinMs: number): Promise<number> {
  await pause(withinMs * RESTART_AT);
  const endedMs = performance.now();
  await victim.kill();
  await victim.start();
  return performance.now() - endedMs;
}

function isBack({ isConnected, returns }: Guest): boolean {
  return isConnected && returns.connects > 1;
}

/** @returns the newest place of each room */
async function untilCaughtUp(
  crowd: readonly Guest[],
  backend: Backend,
  rooms: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const answers = rooms.map(
    async (room) => [room, (await backend.call<{ lastSeq: number }>("GET", `/api/rooms/${room}`)).lastSeq] as const,
  );
  const newest = new Map(await Promise.all(answers));
  await until(() => crowd.every(({ room, seqs }) => (seqs.at(-1) ?? 0) >= newest.get(room)!), CAUGHT_UP_MS_MAX);
  return newest;
}

async function until(isDone: () => boolean, timeoutMs: number): Promise<void> {
  const startedMs = performance.now();
  while (!isDone() && performance.now() - startedMs < timeoutMs) await pause(POLL_MS);
}

function tell(crowd: readonly Guest[], { count, peak, mean, slices }: ReturnType<typeof arrivalsOf>): void {
  const recovered = crowd.reduce((sum, { returns }) => sum + returns.recovered, 0);
  console.log(`${count} came back, ${recovered} of them recovered`);
  console.log(
    `arrivals in ${SLICE_MS} ms: ${peak} at most, ${mean.toFixed(0)} on average of the window (${(peak / mean).toFixed(2)}×)`,
  );
  console.log(`  ${slices.join(" ")}`);
}

/** All members got all announcements from the first on, each once and in order. */
function conclude(crowd: readonly Guest[], newest: ReadonlyMap<string, number>, said: number): boolean {
  let [lost, doubled, away] = [0, 0, 0];
  for (const guest of crowd) {
    const seen = new Set(guest.seqs);
    doubled += guest.seqs.length - seen.size;
    lost += Math.max(0, newest.get(guest.room)! - seen.size);
    if (!isBack(guest)) away++;
  }
  console.log(`${said} messages said, ${lost} lost, ${doubled} doubled, ${away} clients not back`);
  return lost === 0 && doubled === 0 && away === 0;
}

function readArguments(): Wishes {
  const { values } = readOptions(helpOf("drain"), {
    options: {
      guests: { type: "string", default: "2000" },
      rooms: { type: "string", default: "20" },
      within: { type: "string", default: "10000" },
      kind: { type: "string", default: "own" },
      restart: { type: "boolean", default: false },
    },
  });
  const [guests, rooms, withinMs] = [Number(values.guests), Number(values.rooms), Number(values.within)];
  const { kind, restart: isRestarting } = values;
  const isRight = [guests, rooms, withinMs].every((value) => Number.isInteger(value) && value > 0) && rooms <= 100;
  if (!isRight || (kind !== "own" && kind !== "stock")) throw new Error(`100 rooms at most.\n${helpOf("drain")}`);
  return { guests, rooms, withinMs, kind, isRestarting };
}
