// Wraps the production Worker for `npm run serve`: registers the TCP connection of each upgrade, so that rooms can end it. Plain
// JavaScript: esbuild bundles it for workerd, and a Worker's platform types are not those of the scripts beside it.
import { setTcpHost } from "../../src/rpc/tcp-connections.ts";
import app from "../../src/index.ts";
import { CLOSING_MS } from "../../src/socketio/wire/closings.ts";
import { TcpConnections } from "./tcp-connections.js";

export * from "../../src/index.ts";

/**
 * An entry that requests reach without Miniflare's routers in front of it: each of those is a JavaScript hop that an
 * open WebSocket keeps in memory for as long as it lives (docs/decisions/platform.md).
 */
export const direct = {
  async fetch(request, env, ctx) {
    const seen = asSeenByProxy(request);
    const response = isUpgrade(request) ? await connect(seen, env, ctx) : await app.fetch(seen, env, ctx);
    if (response.status !== 404 || (request.method !== "GET" && request.method !== "HEAD")) return response;
    const asset = await env.ASSETS.fetch(request);
    return asset.status === 404 ? response : compressed(asset, request);
  },
};

export default app;

const TEXT = /^(text\/|application\/(javascript|json)|image\/svg)/;
/** By ETag: each file of the page is compressed once. */
const compressedBodies = new Map();

/** Compresses a file of the page, as Cloudflare does in front of a Worker. */
async function compressed(asset, request) {
  const [etag, type] = ["ETag", "Content-Type"].map((name) => asset.headers.get(name) ?? "");
  if (asset.status !== 200 || etag === "" || !TEXT.test(type)) return asset;
  const headers = new Headers(asset.headers);
  headers.set("Vary", "Accept-Encoding");
  const isTaken = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(request.headers.get("Accept-Encoding") ?? "");
  if (!isTaken || request.method === "HEAD") return new Response(asset.body, { headers });
  let body = compressedBodies.get(etag);
  if (!body) {
    body = await new Response(asset.body.pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
    compressedBodies.set(etag, body);
  } else await asset.body.cancel();
  headers.set("Content-Encoding", "gzip");
  headers.set("ETag", etag.replace(/^(W\/)?/, "W/"));
  headers.delete("Content-Length");
  return new Response(body, { headers, encodeBody: "manual" });
}

const tcp = new TcpConnections();
setTcpHost(tcp);

/** The longest that there is: 24 days, after which a connection that still stands is cut, and made again by its client. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const isUpgrade = ({ headers }) => headers.get("Upgrade")?.toLowerCase() === "websocket";

/**
 * workerd keeps the TCP connection of a WebSocket, and what came of an unfinished frame, for as long as the peer likes, also
 * when the WebSocket was closed. Aborting the room's request ends it. The request that waits here for that takes 14 KB, so a
 * room lets it go for most members. LIM-6
 */
async function connect(request, env, ctx) {
  const cutting = new AbortController();
  const { id, isCut } = tcp.register(request, cutting.signal);
  const response = await app.fetch(request, env, ctx);
  if (response.status === 101) {
    // A timer, because workerd ends a request that waits for nothing of its own.
    setTimeout((closed) => tcp.closed(closed), TIMER_MS_MAX, id);
    ctx.waitUntil(cutIf(isCut, cutting));
  } else tcp.closed(id);
  return response;
}

async function cutIf(isCut, cutting) {
  if (!(await isCut)) return;
  await scheduler.wait(CLOSING_MS);
  cutting.abort();
}

/** Headers that say what a proxy saw, or that a client without one made up. A request without them stays as it is: to copy it costs. */
const OF_PROXIES = ["X-Forwarded-For", "X-Forwarded-Proto", "CF-Connecting-IP"];

/**
 * The request as the nearest proxy received it. Cloudflare gives the client's address in CF-Connecting-IP; here a proxy
 * gives it in X-Forwarded-For, where its own entry is the last.
 */
function asSeenByProxy(request) {
  if (!OF_PROXIES.some((name) => request.headers.has(name))) return request;
  const url = new URL(request.url);
  if (request.headers.get("X-Forwarded-Proto") === "https") url.protocol = "https:";
  const seen = new Request(url, request);
  const address = request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
  if (address) seen.headers.set("CF-Connecting-IP", address);
  else seen.headers.delete("CF-Connecting-IP");
  return seen;
}
