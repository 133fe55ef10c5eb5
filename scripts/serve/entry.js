// What `npm run serve` puts around the production Worker. Plain JavaScript: esbuild bundles it for workerd, and the
// types of a Worker's platform are not those of the scripts beside it.
import app from "../../src/index.ts";

export * from "../../src/index.ts";

/**
 * An entry that requests reach without Miniflare's routers in front of it: each of those is a JavaScript hop that an
 * open WebSocket keeps in memory for as long as it lives (README.md, "Host it yourself").
 */
export const direct = {
  async fetch(request, env, ctx) {
    const response = await app.fetch(asSeenByProxy(request), env, ctx);
    if (response.status !== 404 || (request.method !== "GET" && request.method !== "HEAD")) return response;
    const asset = await env.ASSETS.fetch(request);
    return asset.status === 404 ? response : asset;
  },
};

export default app;

/**
 * The request as the nearest proxy received it. Cloudflare gives the client's address in CF-Connecting-IP; here a proxy
 * gives it in X-Forwarded-For, where its own entry is the last.
 */
function asSeenByProxy(request) {
  const url = new URL(request.url);
  if (request.headers.get("X-Forwarded-Proto") === "https") url.protocol = "https:";
  const seen = new Request(url, request);
  const address = request.headers.get("X-Forwarded-For")?.split(",").at(-1)?.trim();
  if (address) seen.headers.set("CF-Connecting-IP", address);
  else seen.headers.delete("CF-Connecting-IP");
  return seen;
}
