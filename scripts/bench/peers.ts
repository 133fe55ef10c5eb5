// The measured servers: how the bench starts each of them and speaks to it. All do the same visible job; this project also
// stores.
import { spawnSync } from "node:child_process";
import path from "node:path";

import { PROJECT_ROOT } from "../local-variables.ts";
import { freePort } from "../port.ts";
import type { ServerFacts } from "./load/job.ts";
import type { Wire } from "./load/member.ts";
import { forgetStateDir, newStateDir, Process, SERVER_CORE, type Command } from "./spawn.ts";

export const PEERS_DIR = path.join(PROJECT_ROOT, ".bench", "peers");
const HOST = "127.0.0.1";
export const SECRET = "a-secret-that-only-the-bench-knows";

/** Limits against floods, which the generator would trip over: all come from one address. All else is as by default. */
export const PARLEY_SETTINGS = {
  MAX_CONNECTIONS_PER_IP: "0",
  CONNECT_RATE_PER_IP: "0",
  MESSAGE_RATE: "1000",
  MESSAGE_BURST: "1000",
} as const;

export interface StartOptions {
  /** Whether a client may recover its session. Ours always lets it. */
  readonly recovery: boolean;
}

export interface RunningServer {
  readonly facts: ServerFacts;
  /** Where rooms are kept. */
  readonly stateDir?: string;
  stop(): Promise<void>;
}

/** A measured server. */
export interface Contender {
  readonly name: string;
  /** A description, with the parts of the job that it adds or leaves out. */
  readonly title: string;
  /** Whether it comes out of .bench/peers. */
  readonly isInstalled: boolean;
  /** Why it cannot take part here, if it cannot. */
  missing?(): string | undefined;
}

export interface Peer extends Contender {
  start(options: StartOptions): Promise<RunningServer>;
}

const SOCKETIO_PATH = "/socket.io/?EIO=4&transport=websocket&room={room}&user={user}";
const PARLEY_PATH = "/rooms/{room}/socket.io/?EIO=4&transport=websocket&recovery=on";

export const wires = {
  parley: { protocol: "socketio", extended: false, path: PARLEY_PATH },
  shim: { protocol: "socketio", extended: true, path: `${PARLEY_PATH}&ext=1` },
  socketio: { protocol: "socketio", extended: false, path: SOCKETIO_PATH },
  plain: { protocol: "plain", extended: false, path: "/?room={room}&user=somebody" },
  plainJoined: { protocol: "plain", extended: false, path: "/?room={room}&joined" },
} as const satisfies Record<string, Wire>;

export const bunProgram = path.join(
  PEERS_DIR,
  "node_modules",
  "@oven",
  `bun-${process.platform}-${process.arch}`,
  "bin",
  "bun",
);
export const peerScript = (name: string): string => path.join(PEERS_DIR, `${name}.js`);

export const PEERS: readonly Peer[] = [
  {
    name: "socketio-ws",
    title: "Socket.IO on Node (ws): in memory",
    isInstalled: true,
    start: ({ recovery }) =>
      listening([[process.execPath, peerScript("socketio"), ...(recovery ? ["--recovery"] : [])]], wires.socketio),
  },
  {
    name: "parley",
    title: "Parley, stock clients: stores every message",
    isInstalled: false,
    start: () => startParley(wires.parley),
  },
  {
    name: "parley-shim",
    title: "Parley, its own client: stores every message",
    isInstalled: false,
    start: () => startParley(wires.shim),
  },
  {
    name: "socketio-bun",
    title: "Socket.IO on Bun (bun-engine): in memory",
    isInstalled: true,
    start: ({ recovery }) =>
      listening([[bunProgram, peerScript("socketio-bun"), ...(recovery ? ["--recovery"] : [])]], wires.socketio),
  },
  {
    name: "socketio-redis",
    title: "Socket.IO on Node × 2 + Redis adapter: in memory; CPU of all three processes",
    isInstalled: true,
    missing: missingRedis,
    start: () => startRedisPair(),
  },
  {
    name: "ws",
    title: "bare WebSockets on Node (ws): in memory, no protocol",
    isInstalled: true,
    start: () => listening([[process.execPath, peerScript("ws")]], wires.plain),
  },
  {
    name: "bare-object",
    title: "ceiling: bare Durable Object, a frame per message; in memory, no protocol",
    isInstalled: false,
    start: () => startBareObject(wires.plain),
  },
  {
    name: "bare-batches",
    title: "ceiling: bare Durable Object, a frame per batch; in memory, no protocol",
    isInstalled: false,
    start: () => startBareObject(wires.plainJoined),
  },
];

/** Servers that print `listening PORT` themselves. */
export async function listening(
  commands: readonly string[][],
  wire: Wire,
  helpers: readonly Process[] = [],
): Promise<RunningServer> {
  const processes = commands.map((args) => new Process({ args, core: SERVER_CORE, env: { NODE_ENV: "production" } }));
  const all = [...helpers, ...processes];
  return orStop(all, undefined, async () => {
    const ports = await Promise.all(processes.map(async (one) => Number((await one.prints(/listening (\d+)/))[1])));
    return { host: HOST, ports, pids: all.map(({ pid }) => pid), wire };
  });
}

export function startParley(wire: Wire, settings: NonNullable<Command["env"]> = {}): Promise<RunningServer> {
  return startOnPort(wire, "self-host.ts", { JWT_SECRET: SECRET, ...PARLEY_SETTINGS, ...settings }, SECRET);
}

export function startBareObject(wire: Wire): Promise<RunningServer> {
  return startOnPort(wire, path.join("bench", "bare-object.ts"), {});
}

/** Servers that get their port as an argument and keep their state in a folder. */
export async function startOnPort(
  wire: Wire,
  script: string,
  env: NonNullable<Command["env"]>,
  jwtSecret?: string,
): Promise<RunningServer> {
  const port = await freePort(HOST);
  const stateDir = newStateDir();
  const args = [process.execPath, path.join(PROJECT_ROOT, "scripts", script), "--state", stateDir];
  const one = new Process({ args, core: SERVER_CORE, env: { ...env, HOST, PORT: String(port) } });
  return orStop([one], stateDir, async () => {
    await one.prints(/Ready on/);
    return { host: HOST, ports: [port], pids: [one.pid], wire, ...(jwtSecret && { jwtSecret }) };
  });
}

export async function startRedisPair(...flags: readonly string[]): Promise<RunningServer> {
  const { redis, url } = await startRedis();
  const node = [process.execPath, peerScript("socketio"), url, ...flags];
  return listening([node, node], wires.socketio, [redis]);
}

/** Without persistence, for us alone. */
export async function startRedis(): Promise<{ redis: Process; url: string }> {
  const port = await freePort(HOST);
  const settings = ["--port", String(port), "--bind", HOST, "--save", "", "--appendonly", "no", "--daemonize", "no"];
  const redis = new Process({ args: ["redis-server", ...settings], core: SERVER_CORE });
  try {
    await redis.prints(/Ready to accept connections/);
  } catch (error) {
    await redis.stop();
    throw error;
  }
  return { redis, url: `redis://${HOST}:${port}` };
}

export function missingRedis(): string | undefined {
  const isThere = spawnSync("redis-server", ["--version"], { stdio: "ignore" }).status === 0;
  return isThere ? undefined : "no redis-server on PATH";
}

/** A server that does not come up leaves nothing behind. */
async function orStop(
  processes: readonly Process[],
  stateDir: string | undefined,
  ready: () => Promise<ServerFacts>,
): Promise<RunningServer> {
  const stop = async (): Promise<void> => {
    await Promise.all(processes.map((one) => one.stop()));
    if (stateDir !== undefined) forgetStateDir(stateDir);
  };
  try {
    return { facts: await ready(), stop, ...(stateDir !== undefined && { stateDir }) };
  } catch (error) {
    await stop();
    throw error;
  }
}
