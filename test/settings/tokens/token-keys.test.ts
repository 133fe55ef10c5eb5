// A key server (JWT_JWKS_URL) that misbehaves: no token passes, and no other server is asked in its place.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import { readSettings } from "../../../src/settings/settings.ts";
import { KEY_FETCH_MS_MAX } from "../../../src/settings/tokens/key-set.ts";
import { TokenVerifier } from "../../../src/settings/tokens/tokens.ts";

const servers: Server[] = [];
let token: string;
let keySet: string;

beforeAll(async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  keySet = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] });
  token = await new SignJWT({ sub: "mallory" })
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setExpirationTime("1h")
    .sign(privateKey);
});
beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(() => {
  vi.restoreAllMocks();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys.json`;
}

function verify(url: string): ReturnType<TokenVerifier["verify"]> {
  const result = readSettings({ JWT_JWKS_URL: url });
  if (!result.ok) throw new Error(result.problems.join());
  return new TokenVerifier(result.settings).verify(token);
}

const REFUSED = { ok: false, code: "UNAVAILABLE", message: expect.any(String), retryAfterMs: expect.any(Number) };

describe("a server of keys", () => {
  it("that answers well verifies a token", async () => {
    expect(await verify(await serve((_request, response) => response.end(keySet)))).toMatchObject({ ok: true });
  });

  it.each([301, 302, 307, 308])("that redirects (%i) is not followed", async (status) => {
    let asked = 0;
    const elsewhere = await serve((_request, response) => {
      asked++;
      response.end(keySet);
    });
    const url = await serve((_request, response) => response.writeHead(status, { Location: elsewhere }).end());
    expect(await verify(url)).toEqual(REFUSED);
    expect(asked).toBe(0);
  });

  it("that is silent is given up, and no token passes", async () => {
    const url = await serve(() => {});
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const verified = verify(url);
    await vi.advanceTimersByTimeAsync(KEY_FETCH_MS_MAX);
    expect(await verified).toEqual(REFUSED);
  });
});
