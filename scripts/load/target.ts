// The server under load: one that runs already, or one of the bench's that the test starts.
import { readPort } from "../port.ts";
import { installPeers } from "../bench/install.ts";
import { PEERS, PEERS_DIR, type Peer } from "../bench/peers.ts";
import type { LoadArguments } from "./arguments.ts";
import type { Where } from "./client-slot.ts";
import { noTokens, tokenSource, type TokenFor } from "./tokens.ts";

const PATH_TEMPLATE = "/rooms/{room}/socket.io/";
/** As the bench's Socket.IO servers read it. */
const PEER_PATH_TEMPLATE = "/socket.io/?room={room}&user={user}";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const HEALTH_MS_MAX = 5000;

/** Those of the bench's peers that speak Socket.IO from one address. */
export const LOAD_PEERS = ["parley", "parley-shim", "socketio-ws", "socketio-bun"] as const;

export interface LoadTarget {
  readonly where: Where;
  readonly isLoopback: boolean;
  readonly tokenFor: TokenFor;
  /** Whether rooms can be read back and deleted over the API. */
  readonly isParley: boolean;
  /** The process to watch. */
  readonly pid?: number;
  /** The protocol that the server speaks with all clients, if it was started for one. */
  readonly shimShare?: number;
  stop(): Promise<void>;
}

/** @throws Error with the reason why no server answers, and a hint */
export async function openTarget(args: LoadArguments): Promise<LoadTarget> {
  if (args.peer !== undefined) return startPeer(PEERS.find(({ name }) => name === args.peer)!);
  const origin = args.url ?? `http://127.0.0.1:${readPort(process.env["PORT"])}`;
  await requireServer(origin, args.url === undefined ? "npm start" : undefined);
  const isLoopback = LOOPBACK.test(new URL(origin).hostname);
  const { pathTemplate = PATH_TEMPLATE } = args;
  return {
    where: { origin, pathTemplate },
    isLoopback,
    tokenFor: tokenSource(args.tokens, origin, isLoopback),
    isParley: args.pathTemplate === undefined,
    ...(args.serverPid !== undefined && { pid: args.serverPid }),
    stop: () => Promise.resolve(),
  };
}

/** @param command starts the usual server; absent when the caller named another one */
export async function requireServer(origin: string, command: string | undefined): Promise<void> {
  try {
    await fetch(`${origin}/health`, { signal: AbortSignal.timeout(HEALTH_MS_MAX) });
  } catch (error) {
    const hint =
      command === undefined
        ? "Is it running, and is the port right?"
        : `Start a server (${command}), or name one with --url.`;
    throw new Error(`No server answers at ${origin}. ${hint}`, { cause: error });
  }
}

async function startPeer(peer: Peer): Promise<LoadTarget> {
  if (peer.isInstalled) await installPeers(PEERS_DIR);
  const server = await peer.start({ recovery: true });
  const { facts } = server;
  const origin = `http://${facts.host}:${facts.ports[0]!}`;
  const isParley = facts.jwtSecret !== undefined;
  return {
    where: { origin, pathTemplate: isParley ? PATH_TEMPLATE : PEER_PATH_TEMPLATE },
    isLoopback: true,
    tokenFor: isParley ? tokenSource({ kind: "secret", secret: facts.jwtSecret }, origin, true) : noTokens,
    isParley,
    pid: facts.pids[0]!,
    ...(facts.wire.extended && { shimShare: 1 }),
    stop: () => server.stop(),
  };
}
