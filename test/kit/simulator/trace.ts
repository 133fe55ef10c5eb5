// Prints the events of a run (option `trace`).
import { workerData } from "node:worker_threads";

export const isTracing = (workerData as { readonly trace?: boolean } | null)?.trace === true;

/** @param atMs since the run began */
export function trace(atMs: number, ...what: readonly unknown[]): void {
  if (isTracing) console.log(atMs, ...what.map((part) => (typeof part === "string" ? part : JSON.stringify(part))));
}
