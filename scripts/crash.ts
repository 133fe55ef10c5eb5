// `npm run crash`: kills the server of `npm run serve` again and again under load, at random moments, and checks the
// promises each time (docs/reliability.md).

import { seededRandom } from "./crash/random.ts";
import { CrashRounds, type Crash, type RoundReading } from "./crash/rounds.ts";
import type { Person } from "./crash/people.ts";
import { SmallDisk } from "./crash/small-disk.ts";
import { Victim } from "./crash/victim.ts";
import { helpOf } from "./help.ts";
import { exitOnStop } from "./stopping.ts";
import { readOptions } from "./options.ts";

const ROUNDS_DEFAULT = 50;
const ROUNDS_MAX = 10_000;
const SEED_MAX = 2 ** 31;

// However it ends, the server that it started ends with it.
exitOnStop();

try {
  process.exit((await run()) ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

async function run(): Promise<boolean> {
  const { rounds, seed, durability, relay, isDiskFull } = readArguments();
  const what = isDiskFull ? "rounds with a full disk" : "rounds";
  console.log(`${rounds} ${what}, durability ${durability}, relay ${relay}, seed ${seed}`);
  const disk = isDiskFull ? new SmallDisk() : undefined;
  const victim = await Victim.make({ DURABILITY: durability, RELAY: relay }, disk?.stateDir);
  try {
    const crashRounds = await CrashRounds.begin(victim, { durability, relay, random: seededRandom(seed) });
    const readings: RoundReading[] = [];
    for (let round = 1; round <= rounds; round++) {
      const reading = await (disk ? crashRounds.starve(disk) : crashRounds.round());
      readings.push(reading);
      print(round, reading);
      // A fault that was found once stays in the history.
      if (reading.wrong.length > 0) break;
    }
    return conclude(readings, crashRounds.people);
  } finally {
    await victim.forget();
  }
}

function print(round: number, { kills, wrong, stored, settledMs }: RoundReading): void {
  const seconds = (settledMs / 1000).toFixed(1);
  console.log(`round ${round}: killed ${kills.join(", ")}; ${stored} stored, all quiet ${seconds} s after the start`);
  for (const what of wrong) console.log(`  WRONG  ${what}`);
}

function conclude(readings: readonly RoundReading[], people: readonly Person[]): boolean {
  const total = (of: (person: Person) => number): number => people.reduce((sum, person) => sum + of(person), 0);
  const wrong = readings.reduce((sum, { wrong: { length } }) => sum + length, 0);
  const kills = readings.reduce((sum, { kills: { length } }) => sum + length, 0);
  console.log(
    `${readings.length} rounds, ${kills} kills, ${readings.at(-1)?.stored ?? 0} messages stored (copies among them)`,
  );
  console.log(`acked ${total(({ acked }) => acked.size)}, seen ${total(seenBy)}`);
  console.log(
    `came back ${total(({ returns }) => returns.recovered)} times recovered, ${total(({ returns }) => returns.afresh)} times afresh`,
  );
  const refused = Object.entries(
    Object.groupBy(
      people.flatMap(({ refusals }) => refusals),
      (code) => code,
    ),
  );
  if (refused.length > 0) console.log(`refused ${refused.map(([code, all]) => `${all!.length} × ${code}`).join(", ")}`);
  console.log(`dead letters ${readings.at(-1)?.deadLetters ?? 0}, wrong ${wrong}`);
  return wrong === 0;
}

function seenBy({ stretches }: Person): number {
  return stretches.reduce((sum, { messages }) => sum + messages.length, 0);
}

function readArguments(): { rounds: number; seed: number; isDiskFull: boolean } & Pick<Crash, "durability" | "relay"> {
  const { values } = readOptions(helpOf("crash"), {
    options: {
      rounds: { type: "string", default: String(ROUNDS_DEFAULT) },
      durability: { type: "string", default: "strict" },
      relay: { type: "string", default: "direct" },
      "full-disk": { type: "boolean", default: false },
      seed: { type: "string", default: String(Math.floor(Math.random() * SEED_MAX)) },
    },
  });
  return {
    isDiskFull: values["full-disk"],
    rounds: wholeNumber("rounds", values.rounds, 1, ROUNDS_MAX),
    seed: wholeNumber("seed", values.seed, 0, SEED_MAX),
    durability: oneOf("durability", values.durability, ["strict", "relaxed"]),
    relay: oneOf("relay", values.relay, ["direct", "queue"]),
  };
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name} must be a whole number from ${min} to ${max}, not "${text}".\n${helpOf("crash")}`);
}

function oneOf<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const value = values.find((known) => known === text);
  if (value !== undefined) return value;
  throw new Error(`--${name} must be ${values.join(" or ")}, not "${text}".\n${helpOf("crash")}`);
}
