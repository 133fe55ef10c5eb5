// Requests that are aborted, at a real server: it frees their places.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { KEY_FETCH_MS_MAX } from "../../src/settings/tokens/key-set.ts";
import { API_BODIES_MAX, UPLOADS_MAX } from "../../src/worker/deployment.ts";
import { HOST, startServer, type TestServer } from "./servers.ts";
import { RawLine } from "./raw-line.ts";
import { tokenFor } from "./stock-clients.ts";

const WAIT = { interval: 50 };
const keys = await generateKeyPair("RS256", { extractable: true });

let provider: Server;
let server: TestServer;
/** Called when the key server was asked. */
let asked = (): unknown => undefined;
/** Waited for before it answers. */
let answering = Promise.resolve();

beforeAll(async () => {
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "RS256" };
  provider = createServer((_request, response) => {
    asked();
    void answering.then(() => response.end(JSON.stringify({ keys: [jwk] })));
  });
  await new Promise<void>((resolve) => provider.listen(0, HOST, resolve));
  const { port } = provider.address() as AddressInfo;
  server = await startServer({ settings: { JWT_JWKS_URL: `http://${HOST}:${port}/`, API_BURST: "1000" } });
});
afterAll(async () => {
  await server.stop();
  provider.close();
});

const signed = (kid: string): Promise<string> =>
  new SignJWT({ sub: "ada" }).setProtectedHeader({ alg: "RS256", kid }).setExpirationTime("5m").sign(keys.privateKey);

/** A request as it is, for its client to break off. */
async function begin(head: string, token: string, body = ""): Promise<RawLine> {
  const line = await RawLine.open(server.port);
  line.write(`${head} HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: Bearer ${token}\r\n${body}`);
  return line;
}

it("an anonymous request that is aborted while keys are fetched does not stop the fetch for others: TOK-5", async () => {
  const Authorization = `Bearer ${await signed("k1")}`;
  await vi.waitFor(async () => {
    let isAsked = false;
    asked = () => (isAsked = true);
    const { promise, resolve } = Promise.withResolvers<void>();
    answering = promise;
    const stranger = await begin("GET /api/rooms", await signed("made-up"), "\r\n");
    // A server that has just given up waiting for keys answers at once, and does not ask for them.
    await stranger.until(() => isAsked || stranger.isOver || stranger.heard !== "");
    expect(isAsked).toBe(true);
    const answer = fetch(`${server.url}/api/rooms/general/members`, { headers: { Authorization } });
    stranger.reset();
    // The server hears of it before the keys come, and, on most machines, long before it gives up waiting for them.
    setTimeout(resolve, KEY_FETCH_MS_MAX / 10);
    expect((await answer).status).not.toBe(503);
  });
});

it.each([
  ["uploads", UPLOADS_MAX, "POST /api/rooms/general/files?name=a.txt", "text/plain", "hello", 201],
  ["bodies of JSON", API_BODIES_MAX, "POST /api/rooms/general/messages", "application/json", '{"content":"x"}', 201],
])(
  "%s that break off make place for others of their user: FILE-7, API-11",
  async (_what, max, head, type, body, good) => {
    const token = await tokenFor("sam", { role: "service" });
    const path = head.slice("POST ".length);
    const post = async (): Promise<number> => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": type };
      return (await fetch(`${server.url}${path}`, { method: "POST", headers, body })).status;
    };
    const lines = await Promise.all(
      Array.from({ length: max }, () => begin(head, token, `Content-Type: ${type}\r\nContent-Length: 1000\r\n\r\n{`)),
    );
    await expect.poll(post, WAIT).toBe(429);
    for (const line of lines) line.reset();
    await expect.poll(post, WAIT).toBe(good);
  },
);

it("a body that its client wrote wrong is no fault of the server's", async () => {
  const type = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const line = await begin(
    "POST /api/rooms/general/messages",
    await tokenFor("sam", { role: "service" }),
    `${type}ZZ\r\n`,
  );
  await line.until(() => line.heard.includes("broke off") || line.isOver);
  expect(line.heard).toMatch(/^HTTP\/1\.1 400 [^]*"message":"the body broke off"/);
  line.close();
  expect(server.output).not.toContain("request.failed");
});
