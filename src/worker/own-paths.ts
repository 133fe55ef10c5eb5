// Tells the addresses of the chat from those of the Worker that it is mounted in. Called by parley.ts, before any setting is read.
import { GUEST_PATH } from "./api/guest.ts";
import { CALLS } from "./api/calls.ts";
import { enginePath } from "./connect/base-path.ts";

const SINGLE: ReadonlySet<string> = new Set(["/health", "/metrics", "/openapi.json"]);

/** `/api/rooms`, `/files` and so on: of `/api` the host may have paths of its own. */
const ROOTS = [...new Set([GUEST_PATH, ...CALLS.map(({ path }) => rootOf(path))])];

function rootOf(path: string): string {
  const [, first, second] = path.split("/") as [string, string, ...string[]];
  return first === "api" ? `/${first}/${second}` : `/${first}`;
}

/** @param path behind the base path */
export function isOwnPath(path: string): boolean {
  return (
    SINGLE.has(path) ||
    enginePath(path) !== undefined ||
    ROOTS.some((root) => path === root || path.startsWith(`${root}/`))
  );
}
