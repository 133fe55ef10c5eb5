// `npm run crash`: kills the server of `npm run serve` again and again under load, at random moments, and checks the promises of
// docs/reliability.md: no acked message is lost, and each member gets every message once, in order.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { runCommand, whole } from "../options.ts";
import type { ProcessGroup } from "../process-group.ts";
import { seededRandom } from "../random.ts";
import { exitOnStop } from "../stopping.ts";
import { holdsWithin, type Crowd } from "./crowd.ts";
import { forgetPlace, HOST, newPlace, PARLEY, spawnParley, type Place } from "./peers.ts";
import { faultsIn, type Workload } from "./reading.ts";
import { FILE_OPTIONS, requireWritable, textOf, writeFiles, type Files } from "./report.ts";
import { reportOf } from "./run-report.ts";
import { Run } from "./run.ts";
import { signed } from "./tokens.ts";

const ROUNDS_USUAL = 50;
const ROUNDS_MAX = 10_000;
const SEED_MAX = 2 ** 31;
const LOAD_MS_MIN = 300;
const LOAD_MS_SPREAD = 2500;
/** A start takes some seconds: a moment in there is in the build, in workerd's start or in that of the first objects. */
const STARTING_MS_SPREAD = 4000;
const RECOVERING_MS_SPREAD = 1500;
const CONNECTED_MS_MAX = 180_000;
/** 1 says that a promise was broken. */
const EXIT_FAILED = 2;

/**
 * Of each room's four members two are client libraries; of each kind about half speak as Parley's own client, which repeats unanswered posts, and
 * in each room a library does.
 */
const WORKLOAD: Workload = {
  rooms: 4,
  users: 16,
  own: 0.5,
  polling: 0,
  library: 0.5,
  postsPerUserPerSecond: 1,
  payloadBytes: 100,
  connectsPerSecond: 100,
  warmUpSeconds: 0,
  seconds: 1,
};

/** The server that is killed: always at the same address and over the same folder. */
function victimAt(place: Place) {
  let server: ProcessGroup | undefined;
  /** Starts it, without waiting for it. */
  const spawn = (): ProcessGroup => (server = spawnParley(place));
  return { spawn, start: () => spawn().prints(/Ready on/), kill: async () => server?.kill() };
}

// However it ends, the server that it started ends with it.
exitOnStop();
await runCommand("crash", async () => ((await crash(readWishes())) ? 0 : 1), EXIT_FAILED);

function readWishes(): Files & { readonly rounds: number; readonly seed: number } {
  const { values } = parseArgs({
    options: { ...FILE_OPTIONS, rounds: { type: "string" }, seed: { type: "string" } },
  });
  return {
    json: values.json,
    html: values.html,
    rounds: whole(values, "rounds", ROUNDS_USUAL, 1, ROUNDS_MAX),
    seed: whole(values, "seed", Math.floor(Math.random() * SEED_MAX), 0, SEED_MAX),
  };
}

/** @returns whether all promises held */
async function crash({ rounds, seed, ...files }: ReturnType<typeof readWishes>): Promise<boolean> {
  requireWritable(files);
  console.log(`${rounds} rounds, seed ${seed}`);
  const folder = await newPlace();
  const victim = victimAt(folder);
  const random = seededRandom(seed);
  try {
    await victim.start();
    const { pathTemplate, isParley, jwtSecret } = PARLEY;
    const place = { origin: `http://${HOST}:${folder.port}`, pathTemplate, prefix: "crashed" };
    const job = { workload: WORKLOAD, place, isParley, pids: [], server: "npm run serve" };
    const disturb = async (crowd: Crowd): Promise<void> => {
      for (let round = 1; round <= rounds; round++)
        console.log(`round ${round}: ${await killOnce(victim, crowd, random)}`);
    };
    const reading = await new Run(job, { tokenFor: signed({ secret: jwtSecret }), disturb }).run();
    const report = reportOf(`${rounds} rounds of crashes, seed ${seed}`, reading);
    const wrong = faultsIn(reading);
    // Members who are away do not post: that is no shortfall here.
    const words =
      wrong > 0 ? `WRONG: ${wrong} broken promises.` : "No acked message was lost, and nothing was doubled.";
    const judged = { ...report, verdict: { words, isGood: wrong === 0 } };
    console.log(textOf(judged));
    writeFiles(files, judged);
    return wrong === 0;
  } finally {
    await victim.kill();
    forgetPlace(folder);
  }
}

/** Kills the server under load; in half of the rounds once more, while it starts or while members come back. */
async function killOnce(victim: ReturnType<typeof victimAt>, crowd: Crowd, random: () => number): Promise<string> {
  await pause(LOAD_MS_MIN + random() * LOAD_MS_SPREAD);
  await victim.kill();
  const kills = ["killed under load"];
  const fate = random();
  if (fate < 0.25) {
    victim.spawn();
    await pause(random() * STARTING_MS_SPREAD);
    await victim.kill();
    kills.push("while it starts");
  } else if (fate < 0.5) {
    await victim.start();
    await pause(random() * RECOVERING_MS_SPREAD);
    await victim.kill();
    kills.push("while members come back");
  }
  await victim.start();
  const readyMs = performance.now();
  if (!(await holdsWithin(CONNECTED_MS_MAX, () => crowd.connected === crowd.members.length)))
    throw new Error(`${crowd.members.length - crowd.connected} members did not come back.`);
  return `${kills.join(", ")}; all back ${((performance.now() - readyMs) / 1000).toFixed(1)} s after the start`;
}
