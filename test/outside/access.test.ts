// Tests access on servers with settings of their own: limits per address, keys from a JWKS.
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";

import { HOST, startServer, type TestServer } from "./servers.ts";
import { next, open, tokenFor } from "./stock-clients.ts";

interface Refusal {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: unknown;
}

/** An upgrade by hand: stock clients do not show the status of a refusal. */
function upgradeByHand(url: string, headers: Record<string, string> = {}): Promise<Refusal | "upgraded"> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/socket.io/?EIO=4&transport=websocket`, {
      headers: {
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    outgoing.once("error", reject);
    outgoing.once("upgrade", (_response, socket) => {
      socket.destroy();
      resolve("upgraded");
    });
    outgoing.once("response", (response) => void readRefusal(response).then(resolve, reject));
    outgoing.end();
  });
}

async function readRefusal(response: IncomingMessage): Promise<Refusal> {
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, retryAfter: response.headers["retry-after"], body: JSON.parse(text) };
}

describe("a server with a JWKS and two connections per address", () => {
  let server: TestServer;
  let jwksServer: Server;
  let keys: Awaited<ReturnType<typeof generateKeyPair>>;

  beforeAll(async () => {
    keys = await generateKeyPair("RS256", { extractable: true });
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: "key-1", alg: "RS256", use: "sig" };
    jwksServer = createServer((_request, response) => {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ keys: [jwk] }));
    });
    await new Promise<void>((resolve) => jwksServer.listen(0, HOST, resolve));
    const { port } = jwksServer.address() as AddressInfo;
    server = await startServer({
      settings: {
        JWT_JWKS_URL: `http://${HOST}:${port}/jwks.json`,
        JWT_ISSUER: "https://issuer.example",
        MAX_CONNECTIONS_PER_IP: "2",
      },
    });
  });
  afterAll(async () => {
    await server?.stop();
    jwksServer?.close();
  });

  interface TokenOptions {
    readonly kid?: string;
    readonly issuer?: string;
    readonly key?: CryptoKey;
  }

  const sign = ({ kid = "key-1", issuer = "https://issuer.example", key = keys.privateKey }: TokenOptions = {}) =>
    new SignJWT({ sub: "ada", name: "Ada" })
      .setProtectedHeader({ alg: "RS256", kid })
      .setIssuer(issuer)
      .setExpirationTime("5m")
      .sign(key);

  it("accepts an RS256 token in CONNECT and at the upgrade", async () => {
    const room = { path: "/rooms/jwks/socket.io" };
    const inConnect = open(server.url, { ...room, auth: { token: await sign() } });
    expect(await next(inConnect, "welcome")).toMatchObject({ user: "ada", name: "Ada" });
    const atUpgrade = open(server.url, { ...room, query: { token: await sign() } });
    expect(await next(atUpgrade, "welcome")).toMatchObject({ user: "ada" });
    for (const socket of [inConnect, atUpgrade]) socket.disconnect();
  });

  it("refuses tokens of another issuer, of another key, and with an unknown key id", async () => {
    const { privateKey } = await generateKeyPair("RS256");
    for (const options of [{ issuer: "https://other.example" }, { key: privateKey }, { kid: "key-2" }]) {
      const refused = await upgradeByHand(server.url, { Authorization: `Bearer ${await sign(options)}` });
      expect(refused).toMatchObject({ status: 401, body: { error: { code: "UNAUTHORIZED" } } });
    }
  });

  it("refuses a third connection of one address with 429 and Retry-After, and accepts it once another has closed", async () => {
    const connect = async () => {
      const socket = open(server.url, { path: "/socket.io", auth: { token: await sign() } });
      await next(socket, "welcome");
      return socket;
    };
    const sockets = [await connect(), await connect()];
    const refused = (await upgradeByHand(server.url)) as Refusal;
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "TOO_MANY_CONNECTIONS" } } });
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    sockets[0]!.disconnect();
    await vi.waitFor(async () => expect(await upgradeByHand(server.url)).toBe("upgraded"));
    sockets[1]!.disconnect();
  });
});

it("a browser's WebSocket may send its token as a subprotocol, and the server selects `bearer`", async () => {
  const address = `${inject("serverUrl").replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`;
  const socket = new WebSocket(address, ["bearer", await tokenFor("ada")]);
  const frames: string[] = [];
  socket.addEventListener("message", ({ data }) => frames.push(String(data)));
  socket.addEventListener("open", () => socket.send("40"));
  await vi.waitFor(() => expect(frames.join("\n")).toContain('"user":"ada"'));
  expect(socket.protocol).toBe("bearer");
  socket.close();
});
