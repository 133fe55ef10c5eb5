// Runs the processes of the scenario `emits`: each waits for a word, emits, and prints the time it took. run.ts calls it.
import path from "node:path";

import { freePort } from "../port.ts";
import { missingRedis, PEERS_DIR, startRedis, type Contender } from "./peers.ts";
import { forgetStateDir, newStateDir, Process, SERVER_CORE } from "./spawn.ts";

const HOST = "127.0.0.1";
const DONE = /emitted in ([\d.]+) s/;

export interface Emitter {
  /** The roots of its process trees. */
  readonly pids: readonly number[];
  /** @returns seconds from the first emit to the last one's end */
  emit(timeoutMs: number): Promise<number>;
  stop(): Promise<void>;
}

export interface EmittingPeer extends Contender {
  start(count: number, chars: number): Promise<Emitter>;
}

export const EMITTING_PEERS: readonly EmittingPeer[] = [
  {
    name: "socketio-ws",
    title: "Socket.IO on Node: in memory",
    isInstalled: true,
    start: (count, chars) => ready([startNode(count, chars)], /listening/),
  },
  {
    name: "parley",
    title: "Parley: in memory",
    isInstalled: false,
    start: (count, chars) => startObject(count, chars, []),
  },
  {
    name: "parley-stored",
    title: "Parley: each emit a row of its recovery log",
    isInstalled: false,
    start: (count, chars) => startObject(count, chars, ["--stored"]),
  },
  {
    name: "parley-relayed",
    title: "Parley: in memory, and relayed to another room by direct calls, 100 to a call",
    isInstalled: false,
    start: (count, chars) => startObject(count, chars, ["--relayed"]),
  },
  {
    name: "socketio-redis",
    title: "Socket.IO on Node + Redis adapter: flushed every 1,000",
    isInstalled: true,
    missing: missingRedis,
    start: async (count, chars) => {
      const { redis, url } = await startRedis();
      return ready([startNode(count, chars, url), redis], /listening/);
    },
  },
];

function startNode(count: number, chars: number, ...redisUrl: string[]): Process {
  const args = [process.execPath, path.join(PEERS_DIR, "emits.js"), String(count), String(chars), ...redisUrl];
  return new Process({ args, core: SERVER_CORE, env: { NODE_ENV: "production" } });
}

async function startObject(count: number, chars: number, flags: readonly string[]): Promise<Emitter> {
  const stateDir = newStateDir();
  const script = path.join(import.meta.dirname, "emits-object.ts");
  const args = [process.execPath, script, String(count), String(chars), ...flags, "--state", stateDir];
  const env = { HOST, PORT: String(await freePort(HOST)) };
  return ready([new Process({ args, env, core: SERVER_CORE })], /Ready on/, stateDir);
}

/** The first process is the one that emits. */
async function ready(processes: readonly Process[], pattern: RegExp, stateDir?: string): Promise<Emitter> {
  const emitter = processes[0]!;
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one.stop()));
    if (stateDir !== undefined) forgetStateDir(stateDir);
  };
  try {
    await emitter.prints(pattern);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pids: processes.map(({ pid }) => pid),
    stop,
    emit: async (timeoutMs) => {
      emitter.write("go\n");
      return Number((await emitter.prints(DONE, timeoutMs))[1]);
    },
  };
}
