// The load generator of compare-workerd, a process of its own so that its CPU time never mixes with the server's: connects
// the members, posts, and prints deliveries and latencies as one JSON line.
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSeconds, openFiles, residentBytes } from "../process.ts";

export interface Load {
  url: string;
  serverPid: number;
  members: number;
  seconds: number;
  /** Texts under way at any time. The same number for each version makes the same batches for each version. */
  inFlight: number;
  /** A folder whose node_modules holds ws. */
  wsFolder: string;
}

export interface Reading {
  deliveries: number;
  serverCpuSeconds: number;
  wallSeconds: number;
  bytesPerSocket: number;
  filesPerSocket: number;
}

/** The little of `ws` that is used here. */
interface Socket {
  on(event: "message", listener: (data: Buffer) => void): void;
  once(event: "open" | "error" | "close", listener: (reason?: unknown) => void): void;
  send(text: string): void;
  terminate(): void;
}
type SocketClass = new (url: string, options: object) => Socket;

const TEXT = "x".repeat(100);
const SEPARATOR_BYTES = 1;
// All texts have one length, so a frame's length tells how many it carries, with no parsing on the hot path.
const SLOT_BYTES = TEXT.length + SEPARATOR_BYTES;
const CONNECTS_AT_ONCE = 50;
const WARM_UP_SECONDS = 1.5;
const SETTLE_MS = 300;

async function connectAll(load: Load): Promise<Socket[]> {
  const require = createRequire(`${load.wsFolder}/`);
  const WebSocket = require("ws") as SocketClass;
  const sockets: Socket[] = [];
  while (sockets.length < load.members) {
    const count = Math.min(CONNECTS_AT_ONCE, load.members - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => connect(WebSocket, load.url)))));
  }
  return sockets;
}

function connect(WebSocket: SocketClass, url: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
    socket.once("error", reject);
    socket.once("open", () => resolve(socket));
  });
}

/** Closed loop: for each text the first member sees, the next member in turn says one. Returns the counter. */
function startTraffic(sockets: Socket[], inFlight: number): () => number {
  let deliveries = 0;
  let turn = 0;
  const say = (texts: number): void => {
    for (let i = 0; i < texts; i++) sockets[turn++ % sockets.length]?.send(TEXT);
  };
  sockets.forEach((socket, index) => {
    socket.on("message", (data) => {
      const texts = (data.length + SEPARATOR_BYTES) / SLOT_BYTES;
      deliveries += texts;
      if (index === 0) say(texts);
    });
  });
  say(inFlight);
  return () => deliveries;
}

async function measure(load: Load): Promise<Reading> {
  // The first connection starts the isolate and the object; only the growth by further members counts.
  const [first] = await connectAll({ ...load, members: 1 });
  first?.terminate();
  await sleep(SETTLE_MS);
  const bytesBefore = residentBytes(load.serverPid);
  const filesBefore = openFiles(load.serverPid);
  const sockets = await connectAll(load);
  await sleep(SETTLE_MS);
  const bytesPerSocket = (residentBytes(load.serverPid) - bytesBefore) / load.members;
  const filesPerSocket = (openFiles(load.serverPid) - filesBefore) / load.members;

  const delivered = startTraffic(sockets, load.inFlight);
  await sleep(WARM_UP_SECONDS * 1000);
  const start = {
    deliveries: delivered(),
    cpu: cpuSeconds(load.serverPid),
    wallMs: performance.now(),
  };
  await sleep(load.seconds * 1000);
  return {
    deliveries: delivered() - start.deliveries,
    serverCpuSeconds: cpuSeconds(load.serverPid) - start.cpu,
    wallSeconds: (performance.now() - start.wallMs) / 1000,
    bytesPerSocket,
    filesPerSocket,
  };
}

const reading = await measure(JSON.parse(process.argv[2] ?? "") as Load);
// Exits with the sockets open: closing them one by one would only make the server broadcast to the rest.
process.stdout.write(`${JSON.stringify(reading)}\n`, () => process.exit(0));
