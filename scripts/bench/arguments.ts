// The command line of `npm run bench`: scenarios, peers, rounds. Pure; names every mistake.
import { parseArgs } from "node:util";

const ROUNDS_DEFAULT = 3;
const ROUNDS_MAX = 20;

export interface BenchArguments {
  readonly scenarios: readonly string[];
  readonly peers: readonly string[];
  readonly rounds: number;
  readonly isQuick: boolean;
  readonly jsonFile?: string;
  /** The chart of the scenario `race`. */
  readonly chartFile?: string;
}

/** Names that exist, in the order in which they run. */
export interface Known {
  readonly scenarios: readonly string[];
  readonly peers: readonly string[];
}

/** @throws Error with the wrong argument, and its allowed values */
export function readArguments(args: readonly string[], known: Known): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "string" },
      chart: { type: "string" },
      rounds: { type: "string" },
      quick: { type: "boolean", default: false },
      peers: { type: "string" },
    },
  });
  const { json, chart, rounds, quick, peers } = values;
  const chosen = choose("scenario", positionals, known.scenarios);
  if (chart !== undefined && !chosen.includes("race")) throw new Error("--chart is of the scenario race.");
  return {
    scenarios: chosen,
    peers: choose("peer", peers?.split(",").map((name) => name.trim()) ?? [], known.peers),
    rounds: roundsOf(rounds, quick ? 1 : ROUNDS_DEFAULT),
    isQuick: quick,
    ...(json !== undefined && { jsonFile: json }),
    ...(chart !== undefined && { chartFile: chart }),
  };
}

/** Nothing chosen means everything. */
function choose(kind: string, chosen: readonly string[], all: readonly string[]): readonly string[] {
  const odd = chosen.find((name) => !all.includes(name));
  if (odd !== undefined) throw new Error(`There is no ${kind} "${odd}"; there are ${all.join(", ")}.`);
  return chosen.length === 0 ? all : all.filter((name) => chosen.includes(name));
}

function roundsOf(text: string | undefined, usual: number): number {
  if (text === undefined) return usual;
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > ROUNDS_MAX)
    throw new Error(`--rounds must be a whole number from 1 to ${ROUNDS_MAX}, not "${text}".`);
  return rounds;
}
