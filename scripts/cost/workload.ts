// Builds the workload of a bill from the arguments, a load test's report and defaults, with warnings about unlikely values.
// Pure.
import type { LoadReport } from "../load/report.ts";
import { shortfallsOf } from "../load/shortfall.ts";
import { requireShares } from "./arguments.ts";
import { workloadOf } from "./from-run.ts";
import { inhabited, WORKLOAD, type Workload } from "./model.ts";
import { count } from "./text.ts";

/** The setting MAX_MEMBERS: its default and its upper bound. */
const MEMBERS_USUAL = 5000;
const MEMBERS_MAX = 32_768;

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

function crowding({ users, rooms }: Workload): string[] {
  const each = users / rooms;
  if (each <= MEMBERS_USUAL) return [];
  const most = count(MEMBERS_MAX);
  return [
    each <= MEMBERS_MAX
      ? `${count(each)} users to a room are more than it lets in: MAX_MEMBERS is ${count(MEMBERS_USUAL)} where nothing else is set, and ${most} at most.`
      : `${count(each)} users to a room are more than any setting lets in: MAX_MEMBERS is ${most} at most. No server has this bill.`,
  ];
}
