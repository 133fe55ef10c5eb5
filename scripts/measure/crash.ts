// `npm run crash`: kills the server of `npm run serve` again and again under load, at random moments, and checks the promises of
// docs/reliability.md: no acked message is lost, and each member gets every message once, in order.
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";

import { helpOf } from "../help.ts";
import { seededRandom } from "../random.ts";
import { exitOnStop } from "../stopping.ts";
import { holdsWithin, type Crowd } from "./crowd.ts";
import { whole } from "./option-values.ts";
import { HOST, newPlace, PARLEY, spawnParley, type Place } from "./peers.ts";
import { faultsIn, type Workload } from "./reading.ts";
import { FILE_OPTIONS, filesFrom, textOf, writeFiles, type Files } from "./report.ts";
import { reportOf } from "./run-report.ts";
import { Run } from "./run.ts";
import { forgetStateDir, type Process } from "./spawn.ts";
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

/** Of each room's four members two are client libraries; half of each kind speak as Parley's own client, which repeats unanswered posts. */
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
class Victim {
  readonly origin: string;
  readonly #place: Place;
  #process: Process | undefined;

  constructor(place: Place) {
    this.origin = `http://${HOST}:${place.port}`;
    this.#place = place;
  }

  /** Starts it, without waiting for it. */
  spawn(): Process {
    return (this.#process = spawnParley(this.#place));
  }

  async start(): Promise<void> {
    await this.spawn().prints(/Ready on/);
  }

  async kill(): Promise<void> {
    await this.#process?.stop();
  }

  async forget(): Promise<void> {
    await this.kill();
    forgetStateDir(this.#place.stateDir);
  }
}

// However it ends, the server that it started ends with it.
exitOnStop();
try {
  process.exit((await crash(readWishes())) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

function readWishes(): Files & { readonly rounds: number; readonly seed: number } {
  try {
    const { values } = parseArgs({
      options: { ...FILE_OPTIONS, rounds: { type: "string" }, seed: { type: "string" } },
    });
    const seed = Math.floor(Math.random() * SEED_MAX);
    return {
      ...filesFrom(values),
      rounds: whole(values, "rounds", ROUNDS_USUAL, 1, ROUNDS_MAX),
      seed: whole(values, "seed", seed, 0, SEED_MAX),
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${helpOf("crash")}`, { cause: error });
  }
}

/** @returns whether all promises held */
async function crash({ rounds, seed, ...files }: ReturnType<typeof readWishes>): Promise<boolean> {
  console.log(`${rounds} rounds, seed ${seed}`);
  const victim = new Victim(await newPlace());
  const random = seededRandom(seed);
  try {
    await victim.start();
    const { pathTemplate, isParley, jwtSecret } = PARLEY;
    const place = { origin: victim.origin, pathTemplate, prefix: "crashed" };
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
    await victim.forget();
  }
}

/** Kills the server under load; in half of the rounds once more, while it starts or while members come back. */
async function killOnce(victim: Victim, crowd: Crowd, random: () => number): Promise<string> {
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
