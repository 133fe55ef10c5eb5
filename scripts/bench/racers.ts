// The servers of the scenario `race`: the typing race of docs/examples, by the same rules. run.ts starts them.
import path from "node:path";

import { PROJECT_ROOT } from "../local-variables.ts";
import { bunProgram, listening, peerScript, startOnPort, wires, type Contender, type RunningServer } from "./peers.ts";

/** Between two keystrokes that are shown one by one, and the wait of a race that is not full. */
export interface RaceOptions {
  readonly tickMs: number;
  readonly waitMs: number;
}

export interface RacingPeer extends Contender {
  start(options: RaceOptions): Promise<RunningServer>;
}

const RULES = path.join(PROJECT_ROOT, "docs", "examples", "typing-race");

const raceServer = (program: string, script: string, { tickMs, waitMs }: RaceOptions): Promise<RunningServer> =>
  listening(
    [[program, peerScript(script), "--rules", RULES, "--wait", String(waitMs), "--tick", String(tickMs)]],
    wires.socketio,
  );

export const RACING_PEERS: readonly RacingPeer[] = [
  {
    name: "socketio-ws",
    title: "Socket.IO on Node (ws): in memory",
    isInstalled: true,
    start: (options) => raceServer(process.execPath, "race-node", options),
  },
  {
    name: "socketio-bun",
    title: "Socket.IO on Bun (bun-engine): in memory",
    isInstalled: true,
    start: (options) => raceServer(bunProgram, "race-bun", options),
  },
  {
    name: "parley",
    title: "Parley: stores races, and positions every second",
    isInstalled: false,
    start: ({ tickMs, waitMs }) => {
      const env = { TICK_MS: String(tickMs), WAIT_MS: String(waitMs) };
      return startOnPort(wires.parley, path.join("bench", "race-object.ts"), env);
    },
  },
];
