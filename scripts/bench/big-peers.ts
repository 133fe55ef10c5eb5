// The servers of the scenario `big`: the same room in one object, and spread over shards. run.ts starts them.
import path from "node:path";

import type { BigJob } from "./load/job.ts";
import { PARLEY_SETTINGS, SECRET, startOnPort, wires, type Contender, type RunningServer } from "./peers.ts";

/** The room that both hold. */
export interface BigRoom {
  readonly members: number;
  /** Besides the room itself, which holds as many members as each of them. */
  readonly shards: number;
  readonly clients: BigJob["clients"];
}

export interface BigPeer extends Contender {
  start(room: BigRoom): Promise<RunningServer>;
}

export const ONE_OBJECT = "one-object";
const KILL_PATH = "/bench/kill";

export const BIG_PEERS: readonly BigPeer[] = [
  {
    name: ONE_OBJECT,
    title: "one object with all members",
    isInstalled: false,
    start: ({ members, clients }) => start(clients, { MAX_MEMBERS: String(members), MAX_SHARDS: "0" }),
  },
  {
    name: "shards",
    title: "a room and shards",
    isInstalled: false,
    start: async ({ members, shards, clients }) => {
      const each = Math.ceil(members / (1 + shards));
      const server = await start(clients, { MAX_MEMBERS: String(each), MAX_SHARDS: String(shards) });
      return { ...server, facts: { ...server.facts, killPath: KILL_PATH } };
    },
  },
];

function start(clients: BigJob["clients"], limits: Readonly<Record<string, string>>): Promise<RunningServer> {
  const env = { JWT_SECRET: SECRET, ...PARLEY_SETTINGS, ...limits };
  return startOnPort(clients === "own" ? wires.shim : wires.parley, path.join("bench", "big-room.ts"), env, SECRET);
}
