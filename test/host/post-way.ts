// Prints the way of a post: each function of `src` that one post of one member in a room of two runs through, by file, both in the order
// in which they are first called. docs/architecture.md tells that way in words. Run by hand: `node test/host/post-way.ts`.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Session, type Debugger, type Profiler } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import { roomWith } from "./chat-room.ts";
/* oxlint-disable unicorn/require-post-message-target-origin -- to a thread, not to a window */

const SOURCES = new URL("../../src/", import.meta.url).href;

async function measure(): Promise<void> {
  const { room, people } = await roomWith("ada", "ben");
  // As Parley's own client does, with an id of its own.
  const post = (content: string): Promise<unknown> => people[0]!.ask("chat-message", { content, clientMsgId: content });
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  // The first post makes what later ones find.
  await post("first");
  room.quiet();
  await session.post("Profiler.takePreciseCoverage");
  await post("counted");
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ran = result.filter(({ url }) => url.startsWith(SOURCES)).flatMap(ranIn);
  room.quiet();
  const following = new Worker(import.meta.filename, { workerData: ran });
  await once(following, "message");
  await post("followed");
  following.postMessage("posted");
  const [order] = (await once(following, "message")) as [number[]];
  const files = Map.groupBy(new Set([...order, ...ran.keys()]), (at) => ran[at]!.url.slice(SOURCES.length));
  for (const [file, functions] of files) console.log(`${file}: ${functions.map((at) => ran[at]!.name).join(", ")}`);
  const calls = ran.reduce((sum, { count }) => sum + count, 0);
  console.log(`\n${files.size} files, ${ran.length} functions, ${calls} calls`);
}

/** The functions that ran, and where they start. */
function ranIn({ url, functions }: Profiler.ScriptCoverage) {
  const source = readFileSync(fileURLToPath(url), "utf8");
  return functions.flatMap(({ functionName, ranges: [range] }) => {
    const { count, startOffset } = range!;
    const lines = source.slice(0, startOffset).split("\n");
    const place = { lineNumber: lines.length - 1, columnNumber: lines.at(-1)!.length };
    return count > 0 ? [{ url, name: functionName || "=>", count, place }] : [];
  });
}

/** Stops the main thread at the beginning of each function that ran: coverage counts calls and does not order them. */
async function follow(ran: ReturnType<typeof ranIn>): Promise<void> {
  const posted = once(parentPort!, "message");
  const session = new Session();
  session.connectToMainThread();
  const scripts = new Map<string, string>();
  session.on("Debugger.scriptParsed", ({ params: { url, scriptId } }) => scripts.set(url, scriptId));
  await session.post("Debugger.enable");
  const functions = new Map<string, number>();
  for (const [at, { url, place }] of ran.entries()) {
    const start: Debugger.Location = { scriptId: scripts.get(url)!, ...place };
    const { locations } = await session.post("Debugger.getPossibleBreakpoints", { start, restrictToFunction: true });
    // An arrow that only reads a field has none.
    if (!locations[0]) continue;
    const { breakpointId } = await session.post("Debugger.setBreakpoint", { location: locations[0] });
    functions.set(breakpointId, at);
  }
  const order: number[] = [];
  session.on("Debugger.paused", ({ params: { hitBreakpoints = [] } }) => {
    order.push(...hitBreakpoints.map((id) => functions.get(id)!));
    void session.post("Debugger.resume");
  });
  parentPort!.postMessage("ready");
  await posted;
  parentPort!.postMessage(order);
}

await (isMainThread ? measure() : follow(workerData as ReturnType<typeof ranIn>));
process.exit();
