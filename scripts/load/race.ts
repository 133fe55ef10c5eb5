// `npm run load -- --race`: players arrive at a server of the typing race of docs/examples, and race. load-test.ts calls it; docs/load.md explains it.
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { installPeers } from "../bench/install.ts";
import type { RaceJob, RaceReading, RaceWindow, ServerFacts } from "../bench/load/job.ts";
import { runRace } from "../bench/load/race.ts";
import { PEERS_DIR, wires, type RunningServer } from "../bench/peers.ts";
import { RACING_PEERS } from "../bench/racers.ts";
import { number, whole, type Values } from "../measuring/option-values.ts";
import { readPort } from "../port.ts";
import { requireServer } from "./target.ts";

const MIB = 2 ** 20;
const ARRIVALS_MAX = 500;
const DURATION_SECONDS_MAX = 3600;
const P95_MS_MAX = 60_000;
/** A player types 60 words a minute. */
const KEYSTROKE_MS = 200;
const WAIT_MS = 3000;

interface RaceArguments {
  readonly url: string;
  /** Whether no other server was named. */
  readonly isUsual: boolean;
  readonly peer?: string;
  readonly job: RaceJob;
  readonly serverPid?: number;
  readonly jsonFile?: string;
}

/** @throws Error with the wrong argument, and its allowed values */
export function readRaceArguments(args: readonly string[]): RaceArguments {
  const text = { type: "string" } as const;
  const options = {
    url: text,
    peer: text,
    arrivals: text,
    duration: text,
    tick: text,
    limit: text,
    pid: text,
    json: text,
  };
  const { values } = parseArgs({ args: [...args], options: { race: { type: "boolean" }, ...options } });
  const { url = `http://127.0.0.1:${readPort(process.env["PORT"])}`, peer, json } = values;
  const names = RACING_PEERS.map(({ name }) => name);
  if (peer !== undefined && !names.includes(peer))
    throw new Error(`There is no peer "${peer}" that races; there are ${names.join(", ")}.`);
  if (peer !== undefined && values.url !== undefined) throw new Error("--url and --peer exclude each other.");
  if (!/^http:\/\/[^/]+\/?$/.test(url)) throw new Error(`--url must be like http://127.0.0.1:8787, not "${url}".`);
  if (peer === undefined && values.tick !== undefined) throw new Error("--tick is for a server that --peer starts.");
  return {
    url,
    isUsual: values.url === undefined,
    ...(peer !== undefined && { peer }),
    job: {
      kind: "race",
      arrivalsPerSecond: number(values, "arrivals", 4, 0.1, ARRIVALS_MAX),
      keystrokeMs: KEYSTROKE_MS,
      p95MsMax: number(values, "limit", 50, 1, P95_MS_MAX),
      seconds: number(values, "duration", 60, 1, DURATION_SECONDS_MAX),
      tickMs: whole(values, "tick", 0, 0, KEYSTROKE_MS),
      waitMs: WAIT_MS,
    },
    ...(values.pid !== undefined && { serverPid: runningProcess(values) }),
    ...(json !== undefined && { jsonFile: json }),
  };
}

function runningProcess(values: Values): number {
  const pid = whole(values, "pid", 1, 1, 2 ** 31);
  if (!existsSync(`/proc/${pid}`)) throw new Error(`There is no process ${pid} to watch.`);
  return pid;
}

/** @returns the exit code: 0 if nothing failed and the server was quick enough to the end */
export async function raceTest({ url, isUsual, peer, job, serverPid, jsonFile }: RaceArguments): Promise<number> {
  if (peer === undefined) await requireServer(new URL(url).origin, isUsual ? "npm run race" : undefined);
  const server = peer === undefined ? undefined : await startPeer(peer, job);
  try {
    console.log("clients   ping p50 / p95 ms   keystroke p95 ms   keystrokes/s   server CPU   memory");
    const reading = await runRace(server?.facts ?? factsOf(url, serverPid), job, (window) => console.log(row(window)));
    console.log(verdictOf(reading, job));
    if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify({ asked: job, reading }, null, 2)}\n`);
    return reading.endedBy === "server" || Object.keys(reading.failures).length > 0 ? 1 : 0;
  } finally {
    await server?.stop();
  }
}

async function startPeer(name: string, job: RaceJob): Promise<RunningServer> {
  const peer = RACING_PEERS.find((one) => one.name === name)!;
  if (peer.isInstalled) await installPeers(PEERS_DIR);
  return peer.start(job);
}

function factsOf(url: string, pid: number | undefined): ServerFacts {
  const { hostname, port } = new URL(url);
  return { host: hostname, ports: [Number(port || 80)], pids: pid === undefined ? [] : [pid], wire: wires.parley };
}

function row({ clients, p50Ms, p95Ms, keystrokeP95Ms, keystrokes, serverBusy, residentBytes }: RaceWindow): string {
  const ms = (value: number): string => (Number.isNaN(value) ? "–" : value.toFixed(1));
  return [
    String(clients).padStart(7),
    `${ms(p50Ms)} / ${ms(p95Ms)}`.padStart(19),
    ms(keystrokeP95Ms).padStart(18),
    String(Math.round(keystrokes / 2)).padStart(14),
    // Only with --pid or --peer the load test knows the server's process.
    (residentBytes === 0 ? "–" : `${Math.round(serverBusy * 100)} %`).padStart(12),
    (residentBytes === 0 ? "–" : `${Math.round(residentBytes / MIB)} MiB`).padStart(8),
  ].join(" ");
}

function verdictOf({ held, endedBy, finishes, refusals, failures }: RaceReading, { p95MsMax }: RaceJob): string {
  const failed = Object.entries(failures).map(([what, times]) => `${what} (${times}×)`);
  const end = {
    server: `Held ${held.clients} clients; beyond that the p95 of the ping event was above ${p95MsMax} ms.`,
    generator: `Held ${held.clients} clients; for more this generator has no time.`,
    time: `Held ${held.clients} clients to the end.`,
  }[endedBy];
  return `${end} ${finishes} finishes, ${refusals} late keystrokes. ${failed.length === 0 ? "Nothing failed." : `Failed: ${failed.join("; ")}`}`;
}
