// Tells the addresses of the chat from those of the Worker that it is mounted in. Called by parley.ts, before any setting is read.
import { GUEST_PATH } from "./api/guest.ts";
import type { ApiCall } from "./api/call.ts";
import { enginePath } from "./connect/base-path.ts";

/** These alone: nothing below them is the chat's. */
const EXACT_PATHS: ReadonlySet<string> = new Set(["/health", "/metrics", "/openapi.json"]);

/** @param path of a call, such as `/api/rooms/:room/messages` */
function rootOf(path: string): string {
  const [, first, second] = path.split("/") as [string, string, ...string[]];
  return first === "api" ? `/${first}/${second}` : `/${first}`;
}

/** @returns a function that takes a path behind the base path, and tells whether it is the chat's */
export function chatPaths(calls: readonly ApiCall[]): (path: string) => boolean {
  /** The chat has all paths below these: `/files`, `/api/rooms` and so on, not `/api` itself, because the Worker may have further paths there. */
  const roots = [...new Set([GUEST_PATH, ...calls.map(({ path }) => rootOf(path))])];
  return (path) =>
    EXACT_PATHS.has(path) ||
    enginePath(path) !== undefined ||
    roots.some((root) => path === root || path.startsWith(`${root}/`));
}
