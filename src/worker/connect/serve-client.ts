// serveClient: serves the client's file where a server on Node has it, for pages that load `/socket.io/socket.io.js`. Workers give it to `connect` as
// `otherwise`; `parley-rooms/serve-client` exports it.
import given from "socket.io-client/dist/socket.io.js" with { type: "text" };

import { refuseAddress } from "./no-address.ts";

/** Wrangler puts in the text. Bundlers that do not know imports of text run the file, and give what it exports. */
const script = typeof given === "string" ? given : "";

/** Its first line names the release. */
const ETAG = `"${/ v(\S+)/.exec(script)?.[1]}"`;

/** @returns the client's file for `/socket.io/socket.io.js`, behind any path; 404 for all other addresses */
export function serveClient(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (script === "" || !pathname.endsWith("/socket.io/socket.io.js")) return refuseAddress(pathname);
  // As on Node.
  const headers = { "Cache-Control": "public, max-age=0", ETag: ETAG };
  if (request.headers.get("If-None-Match")?.includes(ETAG)) return new Response(null, { status: 304, headers });
  return new Response(script, { headers: { ...headers, "Content-Type": "text/javascript; charset=utf-8" } });
}
