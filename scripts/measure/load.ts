// `npm run load`: puts a server of this project, or another Socket.IO server, under load. docs/load.md explains it and its report.
import { existsSync } from "node:fs";

import { runCommand } from "../options.ts";
import { readPort } from "../port.ts";
import { EXIT_INTERRUPTED, onStop } from "../stopping.ts";
import type { TokenFor } from "./crowd.ts";
import { readArguments, type LoadArguments } from "./load-arguments.ts";
import { progressOn } from "./progress.ts";
import { requireWritable, textOf, writeFiles } from "./report.ts";
import { Run } from "./run.ts";
import { reportOf } from "./run-report.ts";
import { tokenSource } from "./tokens.ts";

const PATH_TEMPLATE = "/rooms/{room}/socket.io/";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const HEALTH_MS_MAX = 5000;
/** A terminal tells its Ctrl-C to every process of the command: the same one may arrive twice. */
const SAME_INTERRUPT_MS = 1000;

await runCommand("load", () => load(readArguments(process.argv.slice(2))));

/** @returns the exit code */
async function load(wishes: LoadArguments): Promise<number> {
  const { url, pathTemplate = PATH_TEMPLATE, prefix, workload, pid } = wishes;
  requireWritable(wishes);
  if (pid !== undefined && !existsSync(`/proc/${pid}`)) throw new Error(`There is no process ${pid} to watch.`);
  const interrupt = onInterrupt();
  const origin = url ?? `http://127.0.0.1:${readPort(process.env["PORT"])}`;
  await requireServer(origin, url === undefined);
  const tokenFor = tokenSource(wishes.tokens, origin, LOOPBACK.test(new URL(origin).hostname));
  const isParley = wishes.pathTemplate === undefined;
  const job = { workload, place: { origin, pathTemplate, prefix }, server: origin, isParley };
  const reading = await new Run(
    { ...job, pids: pid === undefined ? [] : [pid] },
    {
      tokenFor,
      interrupt,
      progress: progressOn(process.stderr),
      ...(wishes.asksCounts && { countsWith: { token: wishes.metricsToken ?? process.env["METRICS_TOKEN"] } }),
    },
  ).run();
  if (wishes.deletesRooms) await deleteRooms(origin, wishes, tokenFor);
  const report = reportOf(`Load test of ${origin}`, reading);
  console.log(textOf(report));
  writeFiles(wishes, report);
  return { clean: 0, faults: 1, incomplete: 1, interrupted: EXIT_INTERRUPTED }[reading.outcome];
}

/** The first Ctrl-C asks for the results so far, another one ends at once. */
function onInterrupt(): AbortSignal {
  const controller = new AbortController();
  let firstAtMs: number | undefined;
  onStop(() => {
    const nowMs = Date.now();
    if (firstAtMs !== undefined && nowMs - firstAtMs > SAME_INTERRUPT_MS) process.exit(EXIT_INTERRUPTED);
    firstAtMs ??= nowMs;
    controller.abort();
  });
  return controller.signal;
}

/** @throws Error with the reason why no server answers, and a hint */
async function requireServer(origin: string, isUsual: boolean): Promise<void> {
  try {
    await fetch(`${origin}/health`, { signal: AbortSignal.timeout(HEALTH_MS_MAX) });
  } catch (error) {
    const hint = isUsual
      ? "Start a server (npm start), or name one with --url."
      : "Is it running, and is the port right?";
    throw new Error(`No server answers at ${origin}. ${hint}`, { cause: error });
  }
}

async function deleteRooms(origin: string, { prefix, workload }: LoadArguments, tokenFor: TokenFor): Promise<void> {
  const headers = { Authorization: `Bearer ${await tokenFor(`${prefix}-service`, "service")}` };
  for (let number = 0; number < workload.rooms; number++) {
    const { ok, status } = await fetch(`${origin}/api/rooms/${prefix}-${number}`, { method: "DELETE", headers });
    if (!ok) return console.error(`Rooms could not be deleted: ${status}`);
  }
}
