// Counts the work of functions that read text, without a clock: how often they ask regular expressions. Called by tests of links and of markup.
// A thread counts, because V8 asks all regular expressions more slowly, for good, where their `exec` was once replaced.
import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

import { parseMarkup } from "../../client/store/markup.ts";
import { linksIn } from "../../src/protocol/text/links.ts";
import { mentionPlaces } from "../../src/protocol/text/mentions.ts";

type Exec = (this: RegExp, text: string) => RegExpExecArray | null;

const READERS = {
  addresses: (text: string) => [linksIn(text), mentionPlaces(text)],
  /** Each mark looks for its end, which is in another paragraph. */
  markup: (text: string) => parseMarkup(`https://a${text}\n\nx*`, ["a"]),
} satisfies Record<string, (text: string) => unknown>;

interface Given {
  readonly reader: keyof typeof READERS;
  readonly units: readonly string[];
}

/** @returns the units of which four times the text takes more than about four times the steps */
export async function steepUnits(reader: Given["reader"], units: readonly string[]): Promise<string[]> {
  const thread = new Worker(import.meta.filename, { workerData: { reader, units } satisfies Given });
  const [steep] = (await once(thread, "message")) as [string[]];
  return steep;
}

function count({ reader, units }: Given): void {
  const exec: Exec = Reflect.get(RegExp.prototype, "exec");
  let steps = 0;
  const counted: Exec = function (text) {
    steps++;
    return exec.call(this, text);
  };
  Object.assign(RegExp.prototype, { exec: counted });
  const stepsOf = (unit: string, length: number): number => {
    steps = 0;
    READERS[reader](unit.repeat(Math.ceil(length / unit.length)));
    return steps;
  };
  const isSteep = (unit: string): boolean => stepsOf(unit, 8000) >= 5 * stepsOf(unit, 2000) + 250;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- to a thread, not to a window
  parentPort!.postMessage(units.filter(isSteep));
}

if (!isMainThread) count(workerData as Given);
