// Watches the fuzzer from another thread and names the input on which it hangs.
import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";

const HANGS_AFTER_MS = 30_000;
const LOOK_EVERY_MS = 1000;
const INPUT_BYTES_MAX = 16_384;
/** Of the shared memory: how many inputs there were, and the bytes of the current one. */
const [COUNT, BYTES] = [0, 1];
const HEAD_BYTES = 8;

interface Shared {
  readonly memory: SharedArrayBuffer;
}

/** @returns call it with each input before the input runs */
export function startWatchdog(): (input: string) => void {
  const memory = new SharedArrayBuffer(HEAD_BYTES + INPUT_BYTES_MAX);
  const head = new Int32Array(memory, 0, 2);
  const text = Buffer.from(memory, HEAD_BYTES);
  new Worker(new URL(import.meta.url), { workerData: { memory } satisfies Shared }).unref();
  return (input) => {
    head[BYTES] = text.write(input, "utf16le");
    Atomics.add(head, COUNT, 1);
  };
}

function watch({ memory }: Shared): void {
  const head = new Int32Array(memory, 0, 2);
  let [count, sinceMs] = [0, Date.now()];
  setInterval(() => {
    const now = Atomics.load(head, COUNT);
    if (now !== count) [count, sinceMs] = [now, Date.now()];
    else if (Date.now() - sinceMs > HANGS_AFTER_MS) {
      const input = Buffer.from(memory, HEAD_BYTES, head[BYTES]).toString("utf16le");
      writeSync(2, `HANGS on ${JSON.stringify(input)}\n`);
      process.kill(process.pid, "SIGKILL");
    }
  }, LOOK_EVERY_MS);
}

if (!isMainThread) watch(workerData as Shared);
