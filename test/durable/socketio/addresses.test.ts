// The addresses of the Worker of an application of one's own, and those that belong to the chat and are not there.
import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";

const ask = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(`http://parley.test${path}`, init));

const CHAT_ONLY: ReadonlyArray<[method: string, path: string]> = [
  ["GET", "/api/rooms"],
  ["GET", "/api/rooms/general"],
  ["GET", "/api/rooms/general/messages"],
  ["POST", "/api/rooms/general/messages"],
  ["DELETE", "/api/rooms/general"],
  ["POST", "/api/announce"],
  ["GET", "/api/dms"],
  ["GET", "/api/relay/dead"],
  ["POST", "/api/guest"],
  ["OPTIONS", "/api/guest"],
  ["GET", "/files/general/e1/f1"],
  ["GET", "/openapi.json"],
  ["GET", "/"],
];

it.each(CHAT_ONLY)("%s %s is the chat's, and 404 here, whoever asks", async (method, path) => {
  for (const headers of [{}, { Authorization: "Bearer nothing", Origin: "https://elsewhere.test" }]) {
    const response = await ask(path, { method, headers });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: { code: "NOT_FOUND", message: "No such address" } });
  }
});

it("health is there, and metrics say what they lack", async () => {
  expect(await (await ask("/health")).json()).toMatchObject({ status: "healthy" });
  const metrics = await ask("/metrics");
  expect(metrics.status).toBe(503);
  expect(await metrics.json()).toMatchObject({ error: { message: expect.stringContaining("LOBBY") } });
  expect((await ask("/metrics", { method: "POST" })).status).toBe(405);
});
