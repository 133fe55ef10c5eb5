// Builds the workload of a bill from the arguments, a load test's report and defaults, with warnings about unlikely values.
// Pure.
import type { LoadReport } from "../load/report.ts";
import { shortfallsOf } from "../load/shortfall.ts";
import { requireShares } from "./arguments.ts";
import { workloadOf } from "./from-run.ts";
import { inhabited, WORKLOAD, type Workload } from "./model.ts";
import { shardsOf } from "./shards.ts";
import { count } from "./text.ts";

/** The setting MAX_SHARDS: its default and its upper bound. */
const SHARDS_USUAL = 64;
const SHARDS_MAX = 1000;

export interface Settled {
  readonly workload: Workload;
  /** Warnings for the reader of the bill. */
  readonly remarks: readonly string[];
}

/** @throws Error where there can be no such workload */
export function settle(wished: Partial<Workload>, run?: LoadReport): Settled {
  const asked: Workload = { ...WORKLOAD, ...(run && workloadOf(run)), ...wished };
  requireShares(asked);
  const workload = inhabited(asked);
  return { workload, remarks: [...(run ? wholeness(run) : []), ...emptiness(asked, workload), ...crowding(workload)] };
}

function wholeness(run: LoadReport): string[] {
  const shortfalls = shortfallsOf(run);
  if (shortfalls.length === 0) return [];
  return [`The load test was not whole: ${shortfalls.join("; ")}. The bill is for what did happen.`];
}

function emptiness(asked: Workload, { rooms }: Workload): string[] {
  if (asked.rooms === rooms) return [];
  return [
    `Of ${count(asked.rooms)} rooms at least ${count(asked.rooms - rooms)} are empty, and cost nothing: this bill is for ${count(rooms)}.`,
  ];
}

function crowding(workload: Workload): string[] {
  const { users, rooms, maxMembers } = workload;
  const shards = shardsOf(workload);
  if (shards === 0) return [];
  const [each, most] = [count(users / rooms), count(SHARDS_MAX)];
  const held = `${each} users to a room are more than one object holds (MAX_MEMBERS is ${count(maxMembers)})`;
  const taking = `the room takes ${count(shards)} shard${shards === 1 ? "" : "s"} besides`;
  if (shards <= SHARDS_USUAL) return [`${held}: ${taking}.`];
  const usual = `MAX_SHARDS is ${count(SHARDS_USUAL)} where nothing else is set, and ${most} at most`;
  return [`${held}: ${taking}, and ${usual}.${shards > SHARDS_MAX ? " No server has this bill." : ""}`];
}
