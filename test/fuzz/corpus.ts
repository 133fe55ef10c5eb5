// Reads and writes the kept inputs, a JSON list per target: inputs that reached new code, and inputs that once failed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const CORPUS_DIR = path.join(import.meta.dirname, "corpus");
/** Longer ones are found again when they are needed; the corpus is to stay small. */
const KEPT_CHARS_MAX = 1000;
const KEPT_INPUTS_MAX = 200;

const fileOf = (target: string): string => path.join(CORPUS_DIR, `${target}.json`);

export function readCorpus(target: string): string[] {
  const file = fileOf(target);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}

/** @returns how many of them were kept */
export function keepInCorpus(target: string, inputs: readonly string[]): number {
  const before = readCorpus(target);
  const short = inputs.filter((input) => input.length <= KEPT_CHARS_MAX);
  const after = [...new Set([...before, ...short])].slice(0, Math.max(before.length, KEPT_INPUTS_MAX));
  if (after.length > before.length) writeFileSync(fileOf(target), `${JSON.stringify(after, null, 2)}\n`);
  return after.length - before.length;
}
