// Finds the numbers of a workload that double the bill when raised alone.
import { billOf } from "./bill.ts";
import { eventsOf, type Workload } from "./model.ts";
import type { Prices } from "./prices.ts";

const FACTOR_MAX = 1000;
const HALVINGS = 40;

export interface Sensitivity {
  readonly what: string;
  readonly now: number;
  /** The bill if it were twice as much. */
  readonly totalIfTwice: number;
  /** The value at which the bill is twice as high; `undefined` where none is within reach. */
  readonly doublesAt: number | undefined;
}

interface Knob {
  readonly what: string;
  readonly name: NumberName;
  readonly maxOf?: (workload: Workload) => number;
}

type NumberName = { [Name in keyof Workload]: Workload[Name] extends number ? Name : never }[keyof Workload];

const KNOBS: readonly Knob[] = [
  { what: "users", name: "users" },
  { what: "rooms (for the same users)", name: "rooms" },
  { what: "messages per user and minute", name: "messagesPerUserMinute" },
  { what: "online hours a day", name: "onlineHours", maxOf: () => 24 },
  { what: "connects per user and day", name: "connectsPerUserDay" },
  { what: "milliseconds of work per frame", name: "handlerMs" },
  { what: "payload bytes", name: "payloadBytes" },
  { what: "days of history", name: "historyDays" },
  { what: "share that long-polls", name: "pollingShare", maxOf: ({ shimShare }) => 1 - shimShare },
];

/** A share of nothing is turned up from here. */
const FROM_NOTHING = 0.001;

export function sensitivities(workload: Workload, prices: Prices): Sensitivity[] {
  const total = (changed: Workload): number => billOf(eventsOf(changed), prices).total;
  const aim = 2 * total(workload);
  return KNOBS.map(({ what, name, maxOf = () => Infinity }) => {
    const max = maxOf(workload);
    const now = workload[name];
    const from = now || FROM_NOTHING;
    const at = (factor: number): number => total({ ...workload, [name]: Math.min(max, from * factor) });
    const factor = firstAtLeast(at, aim, Math.min(FACTOR_MAX, max / from));
    return {
      what,
      now,
      totalIfTwice: total({ ...workload, [name]: Math.min(max, now * 2) }),
      doublesAt: factor === undefined ? undefined : from * factor,
    };
  });
}

/** @returns the smallest argument up to `max` at which a rising function reaches the aim */
function firstAtLeast(at: (factor: number) => number, aim: number, max: number): number | undefined {
  if (at(max) < aim) return undefined;
  let [low, high] = [1, max];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.sqrt(low * high);
    if (at(middle) >= aim) high = middle;
    else low = middle;
  }
  return high;
}
