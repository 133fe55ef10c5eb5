// `npm run cost`: prices a month of a workload, from parameters or from the counters of a load test. docs/cost.md explains
// the model.
import { readFileSync, writeFileSync } from "node:fs";

import { readArguments, type CostArguments } from "./cost/arguments.ts";
import { billOf } from "./cost/bill.ts";
import { htmlOf } from "./cost/html.ts";
import { eventsOf, type Workload } from "./cost/model.ts";
import { peerCosts } from "./cost/peers.ts";
import { readPrices, type Prices } from "./cost/prices.ts";
import { sensitivities } from "./cost/sensitivity.ts";
import { textOf, type Comparison, type CostReport } from "./cost/text.ts";
import { settle } from "./cost/workload.ts";
import { parseReport } from "./load/report.ts";
import { helpOf } from "./help.ts";

const SCALES = [10_000, 100_000];

try {
  cost(readWishes());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

function readWishes(): CostArguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${helpOf("cost")}`, { cause: error });
  }
}

function cost({ fromFile, jsonFile, htmlFile, workload: wished }: CostArguments): void {
  const prices = readPrices();
  const run = fromFile === undefined ? undefined : parseReport(readFileSync(fromFile, "utf8"), fromFile);
  const { workload, remarks } = settle(wished, run);
  const report: CostReport = {
    lookedUp: prices.lookedUp,
    asked: compare(workload, prices),
    remarks,
    scaled: SCALES.filter((users) => users !== workload.users).map((users) => compare(scale(workload, users), prices)),
    sensitivities: sensitivities(workload, prices),
    missing: prices.missing,
  };
  console.log(textOf(report));
  if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify(report, null, 2)}\n`);
  if (htmlFile !== undefined) writeFileSync(htmlFile, htmlOf(report));
}

function compare(workload: Workload, prices: Prices): Comparison {
  const events = eventsOf(workload);
  return { workload, bill: billOf(events, prices), peers: peerCosts(workload, events, prices) };
}

/** As many to a room as before. */
function scale(workload: Workload, users: number): Workload {
  return { ...workload, users, rooms: Math.max(1, Math.round((workload.rooms * users) / workload.users)) };
}
