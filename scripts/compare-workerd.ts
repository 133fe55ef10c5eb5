// Compares workerd versions: deliveries per second of server CPU, memory and file descriptors per socket.
// The pinned version was chosen with it.
//   node scripts/compare-workerd.ts [--versions a,b] [--rounds 5] [--members 500] [--seconds 6]
//                                   [--in-flight 32] [--json FILE] [--cache DIR]
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import type { Load, Reading } from "./compare-workerd/generator.ts";
import { perCpuSecond, summarize, table, type Mode, type Sample } from "./compare-workerd/report.ts";
import { installOnce, installWorkerd, startServer, type Server } from "./compare-workerd/server.ts";
import { pinTo, requireProc } from "./process.ts";
import { onStop } from "./stopping.ts";

type Settings = Omit<Load, "url" | "serverPid">;

const MODES: readonly Mode[] = ["single", "batched"];
const DEFAULT_VERSIONS = "1.20260815.1,1.20260831.1,1.20260911.1,1.20260918.1,1.20261102.1,1.20261117.1";
const WS_VERSION = "8.23.0";
const SERVER_CORE = 0;
const GENERATOR_CORE = 1;
const MEMBERS_MAX = 5_000;
const ROUNDS_MAX = 50;
const SECONDS_MAX = 60;
// 32 texts under way saturate every version; 1 shows the cost of a lone frame, where no two sends to a socket coalesce.
const IN_FLIGHT_DEFAULT = 32;
const IN_FLIGHT_MAX = 1_000;
// Connecting, warming up and starting Node; a run that takes longer than this on top of its interval is stuck.
const GENERATOR_EXTRA_MS_MAX = 60_000;

const projectRoot = path.join(import.meta.dirname, "..");
const interrupted = new AbortController();

const options = readOptions();

function readOptions() {
  try {
    return parseArgs({
      options: {
        versions: { type: "string", default: DEFAULT_VERSIONS },
        rounds: { type: "string", default: "5" },
        members: { type: "string", default: "500" },
        seconds: { type: "string", default: "6" },
        "in-flight": { type: "string", default: String(IN_FLIGHT_DEFAULT) },
        json: { type: "string" },
        cache: { type: "string", default: path.join(projectRoot, ".bench", "workerd") },
      },
    }).values;
  } catch (error) {
    return fail(error);
  }
}

function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  console.error(interrupted.signal.aborted ? "interrupted" : `compare-workerd: ${message}`);
  process.exit(1);
}

function count(name: "rounds" | "members" | "seconds" | "in-flight", max: number): number {
  const value = Number(options[name]);
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} must be a whole number from 1 to ${max}, not "${options[name]}"`);
  }
  return value;
}

function versionList(): string[] {
  const versions = [...new Set(options.versions.split(",").map((version) => version.trim()))];
  const odd = versions.find((version) => !/^1\.\d{8}\.\d+$/.test(version));
  if (odd !== undefined) {
    throw new Error(`--versions: "${odd}" is not a workerd version such as 1.20260831.1`);
  }
  return versions;
}

async function runGenerator(load: Load): Promise<Reading> {
  const file = path.join(import.meta.dirname, "compare-workerd", "generator.ts");
  const command = [...pinTo(GENERATOR_CORE), process.execPath, file, JSON.stringify(load)];
  const timeout = load.seconds * 1000 + GENERATOR_EXTRA_MS_MAX;
  const limits = { timeout, killSignal: "SIGKILL", signal: interrupted.signal } as const;
  try {
    const { stdout } = await promisify(execFile)(command[0] ?? "", command.slice(1), limits);
    return JSON.parse(stdout) as Reading;
  } catch (error) {
    const { killed, stderr, message } = error as {
      killed?: boolean;
      stderr?: string;
      message: string;
    };
    const reason = killed === true ? `was not done after ${timeout} ms` : `failed: ${stderr || message}`;
    throw new Error(`the generator ${reason}`, { cause: error });
  }
}

async function sampleOnce(binary: string, mode: Mode, load: Settings): Promise<Reading> {
  interrupted.signal.throwIfAborted();
  // A fresh server each time: no version profits from a heap another run has warmed up or filled.
  const server: Server = await startServer(binary, pinTo(SERVER_CORE));
  try {
    return await runGenerator({
      ...load,
      url: `ws://127.0.0.1:${server.port}/${mode}`,
      serverPid: server.pid,
    });
  } finally {
    await server.stop();
  }
}

async function collect(binaries: Map<string, string>, rounds: number, load: Settings): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round++) {
    // Interleaved, so that other load on the machine hits every version alike.
    for (const [version, binary] of binaries) {
      for (const mode of MODES) {
        const sample = { version, mode, round, ...(await sampleOnce(binary, mode, load)) };
        if (sample.deliveries === 0) {
          throw new Error(`${version} delivered nothing in ${load.seconds} s (${mode})`);
        }
        samples.push(sample);
        const busy = Math.round((sample.serverCpuSeconds / sample.wallSeconds) * 100);
        const speed = Math.round(perCpuSecond(sample) / 1000);
        console.error(`round ${round}/${rounds}  ${version}  ${mode}: ${speed}k per CPU-s, server ${busy} % busy`);
      }
    }
  }
  return samples;
}

async function main(): Promise<void> {
  requireProc("compare-workerd");
  const versions = versionList();
  const rounds = count("rounds", ROUNDS_MAX);
  const cache = path.resolve(options.cache);
  const load: Settings = {
    members: count("members", MEMBERS_MAX),
    seconds: count("seconds", SECONDS_MAX),
    inFlight: count("in-flight", IN_FLIGHT_MAX),
    wsFolder: path.join(cache, "generator"),
  };
  const { signal } = interrupted;
  await installOnce(load.wsFolder, "ws", WS_VERSION, signal);
  const binaries = new Map<string, string>();
  for (const version of versions) {
    binaries.set(version, await installWorkerd(cache, version, signal));
  }

  const loadBefore = os.loadavg()[0] ?? 0;
  const samples = await collect(binaries, rounds, load);
  const summaries = versions.map((version) => summarize(version, samples));
  console.log(table(summaries));
  console.log(
    `\n${load.members} members, ${load.inFlight} texts in flight, ${load.seconds} s a run, ` +
      `${rounds} rounds; load average before the first: ${loadBefore.toFixed(1)}`,
  );
  if (options.json !== undefined) {
    const { wsFolder: _, ...settings } = load;
    const report = { ...settings, rounds, loadBefore, summaries, samples };
    writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
  }
}

onStop(() => interrupted.abort());

await main().catch(fail);
