// The servers of the scenario `followers`, which can post one text to many rooms. run.ts starts them.
import {
  listening,
  missingRedis,
  peerScript,
  startBareObject,
  startParley,
  startRedisPair,
  wires,
  type Peer,
  type RunningServer,
} from "./peers.ts";

export interface AnnouncingPeer extends Peer {
  /** Whether it knows each user's room. */
  readonly knowsUsers: boolean;
}

/** The quickest that a deployment lets one service call. */
const SETTINGS = { API_RATE: "1000", API_BURST: "1000" };

export const ANNOUNCING_PEERS: readonly AnnouncingPeer[] = [
  {
    name: "parley-queue",
    title: "Parley, RELAY=queue",
    isInstalled: false,
    knowsUsers: true,
    start: () => announcing(startParley(wires.parley, { ...SETTINGS, RELAY: "queue" }), "/api/announce"),
  },
  {
    name: "parley-direct",
    title: "Parley, RELAY=direct",
    isInstalled: false,
    knowsUsers: true,
    start: () => announcing(startParley(wires.parley, { ...SETTINGS, RELAY: "direct" }), "/api/announce"),
  },
  {
    name: "plain-rpc",
    title: "plain RPC: a Worker calls bare Durable Objects; no protocol, nothing is tried again",
    isInstalled: false,
    knowsUsers: false,
    start: () => announcing(startBareObject(wires.plain)),
  },
  {
    name: "socketio-ws",
    title: "Socket.IO on Node (ws): one process",
    isInstalled: true,
    knowsUsers: true,
    start: () => announcing(listening([[process.execPath, peerScript("socketio"), "--announces"]], wires.socketio)),
  },
  {
    name: "socketio-redis",
    title: "Socket.IO on Node × 2 + Redis adapter",
    isInstalled: true,
    knowsUsers: true,
    missing: missingRedis,
    start: () => announcing(startRedisPair("--announces")),
  },
];

async function announcing(server: Promise<RunningServer>, announcePath = "/announce"): Promise<RunningServer> {
  const { facts, ...rest } = await server;
  return { ...rest, facts: { ...facts, announcePath } };
}
