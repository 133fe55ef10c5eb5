// Addresses of the chat, which connect does not answer.
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
  ["GET", "/health"],
  ["GET", "/metrics"],
  ["GET", "/"],
];

it.each(CHAT_ONLY)("%s %s is the chat's, and 404 here, whoever asks", async (method, path) => {
  for (const headers of [{}, { Authorization: "Bearer nothing", Origin: "https://elsewhere.test" }]) {
    const response = await ask(path, { method, headers });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: { code: "NOT_FOUND", message: "No such address" } });
  }
});
