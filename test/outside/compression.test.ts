// COMPRESSION=on: the server compresses for clients that offer it, and limits the inflated size of their frames.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { constants, deflateRawSync } from "node:zlib";
import { expect, inject, it, type TestContext } from "vitest";

import { freePort, HOST, ProcessGroup, TEST_SECRET } from "./servers.ts";
import { RawLine } from "./raw-line.ts";
import { ask, join } from "./stock-clients.ts";

const PATH = "/rooms/deflated/socket.io/?EIO=4&transport=websocket";
const MIB = 1024 * 1024;
const EMPTY_BLOCK_BYTES = 4;
/** Close code 1009 as it stands in a frame. */
const TOO_BIG = String.fromCharCode(1009 >> 8, 1009 & 0xff);

async function serve(ctx: TestContext, env: Record<string, string>): Promise<number> {
  const [port, stateDir] = [await freePort(), mkdtempSync(path.join(tmpdir(), "parley-compression-"))];
  const server = new ProcessGroup({
    args: [path.join("scripts", "run.mjs"), "serve", "--state", stateDir],
    env: { PORT: String(port), JWT_SECRET: TEST_SECRET, ...env },
  });
  ctx.onTestFinished(async () => {
    await server.stop();
    rmSync(stateDir, { recursive: true, force: true });
  });
  await server.prints(/Ready on/);
  return port;
}

async function open(port: number): Promise<RawLine> {
  const line = await RawLine.open(port);
  const headers = [
    `GET ${PATH} HTTP/1.1`,
    `Host: ${HOST}:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Extensions: permessage-deflate",
  ];
  line.write(`${headers.join("\r\n")}\r\n\r\n`);
  await line.until(() => line.heard.includes("\r\n\r\n"));
  return line;
}

/** A compressed text frame, with a mask of zeros. Source: RFC 7692, section 7.2.1. */
function deflatedFrame(text: string): Buffer {
  const deflated = deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -EMPTY_BLOCK_BYTES);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(deflated.length));
  return Buffer.concat([Buffer.from([0xc1, 0x80 | 127]), length, Buffer.alloc(4), deflated]);
}

it("is off by default", async () => {
  const line = await open(Number(new URL(inject("serverUrl")).port));
  expect(line.heard).toMatch(/^HTTP\/1\.1 101/);
  expect(line.heard).not.toMatch(/permessage-deflate/i);
});

it("compresses, and disconnects a client whose frame inflates beyond MAX_PAYLOAD; others are not affected", async (ctx) => {
  const port = await serve(ctx, { COMPRESSION: "on" });
  const ada = await join(`http://${HOST}:${port}`, "deflated", "ada");
  const small = await open(port);
  expect(small.heard).toMatch(/sec-websocket-extensions: permessage-deflate/i);
  small.write(deflatedFrame("40{}"));
  // CONNECT_ERROR in a compressed frame shows that the server read ours.
  expect(await small.until(() => small.heard.length > small.heard.indexOf("\r\n\r\n") + 100)).toBe(true);
  expect(small.isOver).toBe(false);
  for (const bytes of [MIB, 31 * MIB, 40 * MIB]) {
    const bomb = await open(port);
    bomb.write(deflatedFrame("4".repeat(bytes)));
    expect(await bomb.until(() => bomb.isOver || bomb.heard.includes(TOO_BIG))).toBe(true);
    expect(await ask(ada, "chat-message", { content: `still here after ${bytes}` })).toMatchObject({ ok: true });
  }
  expect(ada.connected).toBe(true);
});
