// The servers that the bench compares, as data, and how they start. All do the same visible job; Parley also stores. Called by bench.ts and
// crash.ts, and by the screenshots for a server of theirs.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { PROJECT_ROOT } from "../local-variables.ts";
import { freePort } from "../port.ts";
import { ProcessGroup } from "../process-group.ts";
import type { Workload } from "./reading.ts";

export const HOST = "127.0.0.1";
const SERVER_CORE = 0;
const INSTALL_MS_MAX = 300_000;
const SOURCES = path.join(import.meta.dirname, "peers");
export const PEERS_DIR = path.join(PROJECT_ROOT, ".bench", "peers");
export const SECRET = "a-secret-that-only-the-bench-knows";
export const PARLEY = { isParley: true, pathTemplate: "/rooms/{room}/socket.io/", jwtSecret: SECRET } as const;

const OTHER_PATH = "/socket.io/?room={room}&user={user}";
const BUN = path.join(PEERS_DIR, "node_modules", "@oven", `bun-${process.platform}-${process.arch}`, "bin", "bun");

/** Limits against floods, which a generator with one address would trip over. All else is as by default. */
export const PARLEY_SETTINGS = {
  MAX_CONNECTIONS_PER_IP: "0",
  CONNECT_RATE_PER_IP: "0",
  MESSAGE_RATE: "1000",
  MESSAGE_BURST: "1000",
} as const;

export interface Peer {
  readonly name: string;
  /** A description, with the parts of the job that it adds or leaves out. */
  readonly title: string;
  readonly server: "parley" | "bare-object" | "class-object" | "stock-object" | "socketio" | "socketio-bun";
  /** Whether its clients speak the dialect of Parley's own. */
  readonly isOwn?: true;
  /** Whether its clients take the events of a turn in one. */
  readonly bundles?: true;
  /** Of Parley, besides those above, for a room of so many members. */
  readonly settingsFor?: (users: number) => Readonly<Record<string, string>>;
}

export const PEERS: readonly Peer[] = [
  { name: "socketio-ws", title: "Socket.IO on Node (ws): in memory", server: "socketio" },
  { name: "parley", title: "Parley, stock clients: stores every message", server: "parley" },
  {
    name: "parley-bundles",
    title: "Parley, stock clients with bundles: stores every message",
    server: "parley",
    bundles: true,
  },
  { name: "parley-shim", title: "Parley, its own client: stores every message", server: "parley", isOwn: true },
  { name: "socketio-bun", title: "Socket.IO on Bun (bun-engine): in memory", server: "socketio-bun" },
  { name: "bare-object", title: "ceiling: bare Durable Object, a frame per message; in memory", server: "bare-object" },
  {
    name: "bare-batches",
    title: "ceiling: bare Durable Object, a frame per batch; in memory",
    server: "bare-object",
    isOwn: true,
  },
  { name: "class-object", title: "a class of parley-rooms/socketio: in memory", server: "class-object" },
  { name: "stock-object", title: "Socket.IO on an object: in memory", server: "stock-object" },
  {
    name: "one-object",
    title: "Parley, one object with all members",
    server: "parley",
    settingsFor: (users) => ({ MAX_MEMBERS: String(users), MAX_SHARDS: "0" }),
  },
  {
    name: "shards",
    title: "Parley, a room and eight shards",
    server: "parley",
    settingsFor: (users) => ({ MAX_MEMBERS: String(Math.ceil(users / 9)), MAX_SHARDS: "8" }),
  },
];

export interface RunningServer {
  readonly origin: string;
  readonly pathTemplate: string;
  readonly isParley: boolean;
  /** The roots of its process trees. */
  readonly pids: readonly number[];
  readonly jwtSecret?: string;
  stop(): Promise<void>;
}

export async function startPeer({ server, settingsFor }: Peer, { users, breaks }: Workload): Promise<RunningServer> {
  // Parley always lets a client recover its session.
  const flags = breaks ? ["--recovery"] : [];
  switch (server) {
    case "parley":
      return startParley(settingsFor?.(users), SERVER_CORE);
    case "bare-object":
    case "class-object":
    case "stock-object": {
      const place = await newPlace();
      return whenReady(spawnOnPort([path.join("measure", "object-server.ts"), server], place, {}, SERVER_CORE), place);
    }
    case "socketio":
      return startListening({ args: [path.join(PEERS_DIR, "socketio.js"), ...flags] });
    case "socketio-bun":
      return startListening({ program: BUN, args: [path.join(PEERS_DIR, "socketio-bun.js"), ...flags] });
  }
}

export interface Place {
  readonly port: number;
  readonly stateDir: string;
}

/** Each has a folder for its state, which goes with the server, or with this process. */
export async function newPlace(): Promise<Place> {
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-measure-"));
  stateDirs.add(stateDir);
  return { port: await freePort(HOST), stateDir };
}

export function forgetPlace({ stateDir }: Place): void {
  rmSync(stateDir, { recursive: true, force: true });
  stateDirs.delete(stateDir);
}

const stateDirs = new Set<string>();
process.once("exit", () => {
  for (const stateDir of stateDirs) rmSync(stateDir, { recursive: true, force: true });
});

/** @param settings besides those of the bench */
export async function startParley(settings?: Readonly<Record<string, string>>, core?: number): Promise<RunningServer> {
  const place = await newPlace();
  return { ...(await whenReady(spawnParley(place, settings, core), place)), ...PARLEY };
}

/** `npm run serve`, which is ready when it prints `Ready on`. */
export function spawnParley(
  place: Place,
  settings: Readonly<Record<string, string>> = {},
  core?: number,
): ProcessGroup {
  return spawnOnPort(["self-host.ts"], place, { ...PARLEY_SETTINGS, JWT_SECRET: SECRET, ...settings }, core);
}

/** Servers that get their port from the environment and keep their state in a folder. */
function spawnOnPort(
  [script, ...args]: readonly [string, ...string[]],
  { port, stateDir }: Place,
  env: Readonly<Record<string, string>>,
  core?: number,
): ProcessGroup {
  return new ProcessGroup({
    args: [path.join(PROJECT_ROOT, "scripts", script), ...args, "--state", stateDir],
    env: { ...env, HOST, PORT: String(port) },
    core,
  });
}

/** Servers that choose their port and print it. */
function startListening(command: {
  readonly program?: string;
  readonly args: readonly string[];
}): Promise<RunningServer> {
  return whenReady(new ProcessGroup({ ...command, core: SERVER_CORE, env: { NODE_ENV: "production" } }));
}

/** A server that does not come up leaves nothing behind. @param place if it was given one */
async function whenReady(group: ProcessGroup, place?: Place): Promise<RunningServer> {
  const stop = async (): Promise<void> => {
    await group.kill();
    if (place) forgetPlace(place);
  };
  const line = place ? /Ready on/ : /listening (\d+)/;
  try {
    await group.prints(line);
    const port = place?.port ?? line.exec(group.output)![1];
    return { origin: `http://${HOST}:${port}`, pathTemplate: OTHER_PATH, isParley: false, pids: [group.pid], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Installs the packages of the other servers into a folder of their own, once for each state of their lockfile. Offline afterwards.
 * @throws Error that says why npm could not
 */
export async function installPeers(): Promise<void> {
  // npm writes it last: with it, an install has come to its end.
  const isWhole = existsSync(path.join(PEERS_DIR, "node_modules", ".package-lock.json"));
  const isInstalled = isWhole && lockOf(PEERS_DIR) === lockOf(SOURCES);
  mkdirSync(PEERS_DIR, { recursive: true });
  cpSync(SOURCES, PEERS_DIR, { recursive: true });
  if (isInstalled) return;
  console.error(`Installing the peers into ${path.relative(process.cwd(), PEERS_DIR)} (once) ...`);
  try {
    // A peer of theirs is the compiler, which runs nothing here.
    const args = ["ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await promisify(execFile)("npm", args, { cwd: PEERS_DIR, timeout: INSTALL_MS_MAX });
  } catch (error) {
    throw new Error(`npm could not install the peers: ${(error as { stderr?: string }).stderr}`, { cause: error });
  }
}

function lockOf(folder: string): string | undefined {
  const file = path.join(folder, "package-lock.json");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
