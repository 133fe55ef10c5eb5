// `npm run serve` for people who host the server on their own machine.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, get, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { constants, deflateRawSync, gunzipSync } from "node:zlib";
import { afterAll, describe, expect, inject, it, vi } from "vitest";

import { startRuntime } from "../../scripts/serve/runtime.ts";
import { PUBLIC_WEB } from "../../scripts/serve/self-hosted.ts";
import type { HistoryAnswer } from "../../src/protocol/chat-events.ts";
import { RawLine } from "./raw-line.ts";
import { freePort, HOST, isListening, ProcessGroup, TEST_SECRET } from "./servers.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

const DEFLATED = "/rooms/deflated/socket.io/?EIO=4&transport=websocket";
const MIB = 1024 * 1024;
const EMPTY_BLOCK_BYTES = 4;
/** Close code 1009 as it stands in a frame. */
const TOO_BIG = String.fromCharCode(1009 >> 8, 1009 & 0xff);

const started: ProcessGroup[] = [];
const stateDirs: string[] = [];

afterAll(async () => {
  await Promise.all(started.splice(0).map((group) => group.stop()));
  for (const dir of stateDirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

function newStateDir(): string {
  const stateDir = mkdtempSync(path.join(tmpdir(), "parley-serve-"));
  stateDirs.push(stateDir);
  return stateDir;
}

/** The program of `npm run serve`. */
function serve(port: number, stateDir: string, env: Record<string, string> = {}): ProcessGroup {
  const group = new ProcessGroup({
    args: [path.join("scripts", "run.mjs"), "serve", "--state", stateDir],
    env: { PORT: String(port), JWT_SECRET: TEST_SECRET, ...env },
  });
  started.push(group);
  return group;
}

/** The processes of a server, by whether they are workerd. */
function processesOf(group: ProcessGroup): { workerd: number[]; node: number[] } {
  const { true: workerd = [], false: node = [] } = Object.groupBy(
    group.members(),
    (pid) => `${readFileSync(`/proc/${pid}/comm`, "utf8") === "workerd\n"}`,
  );
  return { workerd, node };
}

/** Ends the server by a signal to its first process; it writes nothing more. What it has to log before has to be waited for. */
async function endBy(signal: NodeJS.Signals, group: ProcessGroup, port: number): Promise<void> {
  const written = group.stderr;
  group.signal(signal);
  await vi.waitFor(async () => expect(await isListening(port)).toBe(false), { interval: 100 });
  await group.exit();
  expect(group.stderr).toBe(written);
}

/** A client that offers compression, through its handshake. */
const offer = (port: number): Promise<RawLine> =>
  RawLine.openWebSocket(port, DEFLATED, "Sec-WebSocket-Extensions: permessage-deflate\r\n");

/** A compressed text frame, with a mask of zeros. Source: RFC 7692, section 7.2.1. */
function deflatedFrame(text: string): Buffer {
  const deflated = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -EMPTY_BLOCK_BYTES);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(deflated.length));
  return Buffer.concat([Buffer.from([0xc1, 0x80 | 127]), length, Buffer.alloc(4), deflated]);
}

/** For clients that offer it; a client whose frame inflates beyond MAX_PAYLOAD is disconnected, and others are not affected. */
async function compresses(port: number): Promise<void> {
  const ada = await join(`http://${HOST}:${port}`, "deflated", "ada", { reconnection: false });
  const small = await offer(port);
  expect(small.heard).toMatch(/sec-websocket-extensions: permessage-deflate/i);
  small.write(deflatedFrame("40{}"));
  // CONNECT_ERROR in a compressed frame shows that the server read ours.
  expect(await small.until(() => small.heard.length > small.heard.indexOf("\r\n\r\n") + 100)).toBe(true);
  expect(small.isOver).toBe(false);
  for (const bytes of [MIB, 31 * MIB, 40 * MIB]) {
    const bomb = await offer(port);
    bomb.write(deflatedFrame("4".repeat(bytes)));
    expect(await bomb.until(() => bomb.isOver || bomb.heard.includes(TOO_BIG))).toBe(true);
    expect(await ask(ada, "chat-message", { content: `still here after ${bytes}` })).toMatchObject({ ok: true });
  }
  expect(ada.connected).toBe(true);
  ada.disconnect();
}

it("compression is off by default", async () => {
  const line = await offer(Number(new URL(inject("serverUrl")).port));
  expect(line.heard).toMatch(/^HTTP\/1\.1 101/);
  expect(line.heard).not.toMatch(/permessage-deflate/i);
});

// Servers take a while to begin and to end: all at once, and each serves for several questions.
describe.concurrent("npm run serve", () => {
  it("keeps acked messages through kill -9; locks its directory against a second server; warns of a misspelt setting; compresses if asked to", async () => {
    const [port, stateDir] = [await freePort(), newStateDir()];
    const url = `http://${HOST}:${port}`;
    const first = serve(port, stateDir, { MESAGE_RATE: "5" });
    await first.prints(/Ready on.*\n/);
    await first.prints(/settings\.warning.*\n/);
    expect(first.stdout).toBe(`Ready on ${url}\n`);
    const warning = "MESAGE_RATE is no setting. Did you mean MESSAGE_RATE?";
    expect(JSON.parse(first.stderr)).toEqual({ level: "warn", event: "settings.warning", warning });
    const ada = await join(url, "general", "ada", { reconnection: false });
    expect(await ask(ada, "chat-message", { content: "remember me" })).toMatchObject({ ok: true, seq: 1 });

    const refused = serve(await freePort(), stateDir);
    expect(await refused.exit()).toBe(1);
    expect(refused.output).toBe(
      `${stateDir} is in use by another server. Choose another one: npm run serve -- --state DIRECTORY\n`,
    );
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "healthy" });
    first.killAll();
    await first.exit();
    await vi.waitFor(async () => expect(await isListening(port)).toBe(false));

    const cached = path.join(stateDir, "cache", "default");
    mkdirSync(cached, { recursive: true });
    const second = serve(port, stateDir, { COMPRESSION: "on" });
    await second.prints(/Ready on/);
    // CARD-5: nobody would delete what an earlier run cached.
    expect(existsSync(cached)).toBe(false);
    const ben = await join(url, "general", "ben", { reconnection: false });
    expect(await ask<HistoryAnswer>(ben, "history", {})).toMatchObject({
      messages: [{ seq: 1, sender: "ada", content: "remember me" }],
    });
    await compresses(port);
    await endBy("SIGKILL", second, port);
  });

  it("serves the page beside the rooms, by the rules of production, and trusts the proxy's headers; SIGTERM ends it", async () => {
    const port = await freePort();
    const url = `http://${HOST}:${port}`;
    const server = serve(port, newStateDir(), { CONNECT_RATE_PER_IP: "2" });
    await server.prints(/Ready on/);
    const page = await fetch(url);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(page.headers.get("content-security-policy")).toContain("default-src 'self'");
    expect((await fetch(`${url}/client.js`)).headers.get("content-type")).toMatch(/javascript/);
    const hashed = Array.from((await page.text()).matchAll(/"(assets\/[^"]+)"/g), ([, name]) => `/${name}`);
    // As many chunks as the parts that load later share with it.
    expect(new Set(hashed.map((name) => name.replace(/-[A-Z0-9]{8}/, "")))).toEqual(
      new Set(["page.css", "theme.js", "chunk.js", "page.js"].map((name) => `/assets/${name}`)),
    );
    for (const file of ["/", ...hashed, "/client.js", "/embed.js", "/favicon.svg"]) {
      const ask = async (headers: Record<string, string>): Promise<IncomingMessage & { readonly body: Buffer }> =>
        new Promise((resolve, reject) => {
          get(url + file, { headers }, (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => resolve(Object.assign(response, { body: Buffer.concat(chunks) })));
          }).on("error", reject);
        });
      const plain = await ask({});
      expect(plain.headers["content-encoding"]).toBeUndefined();
      for (const encodings of ["identity", "gzip;q=0", "br, gzip; q=0.0"])
        expect((await ask({ "Accept-Encoding": encodings })).headers["content-encoding"]).toBeUndefined();
      const small = await ask({ "Accept-Encoding": "br, gzip, deflate" });
      expect([small.headers["content-encoding"], small.headers["vary"]]).toEqual(["gzip", "Accept-Encoding"]);
      expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
      expect(small.body.length).toBeLessThan(plain.body.length * (plain.body.length > 10_000 ? 0.5 : 1));
      // A browser that has the file asks whether it is still the same.
      const headers = { "Accept-Encoding": "gzip", "If-None-Match": small.headers.etag! };
      expect([(await ask(headers)).statusCode, (await ask(headers)).body.length]).toEqual([304, 0]);
      // Nor does it ask for one whose name has a hash.
      expect(small.headers["cache-control"]).toBe(
        hashed.includes(file) ? "public, max-age=31536000, immutable" : "public, max-age=0, must-revalidate",
      );
    }
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ status: "healthy" });
    expect(await (await fetch(`${url}/nowhere`)).json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect((await fetch(`${url}/api/guest`, { method: "POST" })).status).toBe(403);

    const token = await tokenFor("ada");
    const open = async (headers: Record<string, string>): Promise<number> => {
      const query = `EIO=4&transport=polling&token=${token}`;
      return (await fetch(`${url}/rooms/general/socket.io/?${query}`, { headers })).status;
    };
    const [here, there] = [{ "X-Forwarded-For": "9.9.9.9, 1.1.1.1" }, { "X-Forwarded-For": "1.1.1.1, 2.2.2.2" }];
    expect([await open(here), await open(here), await open(here), await open(there)]).toEqual([200, 200, 429, 200]);
    const ofPage = { Origin: `https://${HOST}:${port}` };
    expect(await open({ ...ofPage, "X-Forwarded-For": "3.3.3.3" })).toBe(403);
    await server.prints(
      /"event":"connection\.refused".*"status":429.*\n.*"event":"connection\.refused".*"status":403.*\n/,
    );
    expect(await open({ ...ofPage, "X-Forwarded-For": "3.3.3.3", "X-Forwarded-Proto": "https" })).toBe(200);
    await endBy("SIGTERM", server, port);
  });

  it("refuses a directory that the workerd of a killed server still uses, and names the process; the log is JSON without addresses of clients", async () => {
    const [port, other, parent] = [await freePort(), await freePort(), newStateDir()];
    const stateDir = path.join(parent, "rooms");
    const first = serve(port, stateDir);
    await first.prints(/Ready on/);
    expect((statSync(stateDir).mode & 0o777).toString(8)).toBe("700");

    for (const target of [`http://${HOST}/rooms/a?token=TOPSECRET`, "rooms/a?token=TOPSECRET"])
      (await RawLine.open(port)).write(`GET ${target} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
    await first.prints(/(invalid URL[^]*){2}/);
    process.kill(processesOf(first).workerd[0]!, "SIGKILL");
    await first.prints(/"event":"runtime\.message".*crashed/);
    await vi.waitFor(async () => expect((await fetch(`http://${HOST}:${port}/health`)).status).toBe(200));
    expect(first.stdout).toBe(`Ready on http://${HOST}:${port}\n`);
    expect(first.stderr).not.toContain("TOPSECRET");
    for (const line of first.stderr.trimEnd().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), event: "runtime.message" });

    const { workerd, node } = processesOf(first);
    // The child first: it would end workerd when its parent is gone.
    for (const pid of node.toReversed()) process.kill(pid, "SIGKILL");
    const refused = serve(other, stateDir);
    expect(await refused.exit()).toBe(1);
    expect(refused.output).toBe(
      `${stateDir} is in use by workerd, process ${workerd.join()}, whose server was killed without it. ` +
        `End it (kill -9 ${workerd.join()}; acked messages are on the disk), and start again.\n`,
    );
    process.kill(workerd[0]!, "SIGKILL");
    await first.exit();
    const last = serve(other, stateDir);
    await last.prints(/Ready on/);
    await endBy("SIGINT", last, other);
  });

  it("names a directory of a read-only file system", async (ctx) => {
    const stateDir = newStateDir();
    writeFileSync(path.join(stateDir, "lock.sqlite"), "");
    const inReadOnly = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"';
    const unshare = ["--map-root-user", "--mount", "sh", "-c", inReadOnly, stateDir];
    ctx.skip(spawnSync("unshare", [...unshare, "true"]).status !== 0, "no private mounts on this machine");
    const group = new ProcessGroup({
      program: "unshare",
      args: [...unshare, process.execPath, path.join("scripts", "run.mjs"), "serve", "--state", stateDir],
      env: { PORT: String(await freePort()), JWT_SECRET: TEST_SECRET },
    });
    started.push(group);
    expect(await group.exit()).toBe(1);
    expect(group.output).toMatch(/^\S+ cannot be used \(.*readonly.*\)\. Choose another one: .*\n$/);
  });

  it("names a directory that it cannot use", async () => {
    const file = path.join(newStateDir(), "a-file");
    writeFileSync(file, "");
    const group = serve(await freePort(), file);
    expect(await group.exit()).toBe(1);
    expect(group.output).toMatch(/^.*a-file cannot be used \(.+\)\. Choose another one: .*\n$/);
  });

  it("names the fault and exits: a port in use, a bad setting, a host, an empty directory", async () => {
    const port = await freePort();
    const squatter = createServer().listen(port, HOST);
    const taken = serve(port, newStateDir());
    expect(await taken.exit()).toBe(1);
    expect(taken.output).toMatch(new RegExp(`^Port ${port} is in use.*PORT=\\d+ npm run serve\\n$`));
    await new Promise((resolve) => squatter.close(resolve));

    const wrong = serve(port, newStateDir(), { FLUSH_WINDOW_MS: "soon" });
    const nowhere = serve(port, newStateDir(), { HOST: "nosuch.invalid" });
    const unset = serve(port, "");
    expect([await wrong.exit(), await nowhere.exit(), await unset.exit()]).toEqual([1, 1, 1]);
    expect(nowhere.output).toMatch(/^HOST=nosuch\.invalid is no address of this machine \([A-Z_]+\)\..*\n$/);
    expect(unset.output).toMatch(/^Option '--state' has an empty value\.\nUsage: npm run serve /);
    expect(wrong.output).toMatch(/FLUSH_WINDOW_MS: must be a whole number/);
    for (const { output } of [taken, wrong, nowhere, unset]) expect(output).not.toMatch(/^ +at /m);
  });
});

it("CARD-2: the network for link cards refuses inner addresses, which the server itself reaches", async () => {
  const inner = createHttpServer((_request, response) => response.end("inner"));
  await new Promise<void>((resolve) => void inner.listen(0, HOST, resolve));
  const { port: innerPort } = inner.address() as AddressInfo;
  const script = `export const direct = { async fetch(request, env) {
    const { searchParams } = new URL(request.url);
    const network = searchParams.get("network") === "public" ? env.PUBLIC_WEB : globalThis;
    // An address that is not blocked has no answer here either, with another error.
    const refused = ({ message }) => new Response(message.startsWith("internal error") ? "refused" : message);
    return network.fetch(searchParams.get("of")).catch(refused);
  } }; export default direct;`;
  const port = await freePort();
  const runtime = await startRuntime(
    { name: "asking", modules: true, script, compatibilityDate: "2026-08-01", serviceBindings: { PUBLIC_WEB } },
    { address: { host: HOST, port }, entrypoint: "direct", stateDir: newStateDir(), write: () => {} },
  );
  const from = async (network: string, host: string): Promise<string> => {
    const of = encodeURIComponent(`http://${host}:${innerPort}/`);
    return (await fetch(`http://${HOST}:${port}/?network=${network}&of=${of}`)).text();
  };
  for (const host of ["127.0.0.1", "0.0.0.0", "localhost", "2130706433", "[::ffff:127.0.0.1]"]) {
    expect(await from("all", host)).toBe("inner");
    expect(await from("public", host)).toBe("refused");
  }
  for (const host of [
    "10.0.0.1",
    "192.168.0.1",
    "172.16.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "[fd00::1]",
    "[fe80::1]",
    "0.0.0.1",
    "198.18.0.1",
    "[::]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[fec0::1]",
  ])
    expect([host, await from("public", host)]).toEqual([host, "refused"]);
  await runtime.stop();
  inner.close();
});
