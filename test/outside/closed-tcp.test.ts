// LIM-6 on `npm run serve`, which owns its TCP connections: a closed WebSocket leaves none behind.
import { afterAll, beforeAll, expect, it } from "vitest";

import { startServer, type TestServer } from "./servers.ts";
import { RawLine, textFrame } from "./raw-line.ts";
import { tokenFor } from "./stock-clients.ts";

const FRAME_BYTES = 1024 * 1024;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { CONNECT_TIMEOUT_MS: "3000", MAX_CONNECTIONS_PER_IP: "2" } });
});
afterAll(() => server.stop());

const open = (room: string): Promise<RawLine> =>
  RawLine.openWebSocket(server.port, `/rooms/${room}/socket.io/?EIO=4&transport=websocket`);

async function join(room: string): Promise<RawLine> {
  const line = await open(room);
  line.write(textFrame(`40${JSON.stringify({ token: await tokenFor("ada") })}`));
  expect(await line.until(() => line.heard.includes("welcome"))).toBe(true);
  return line;
}

/** All of a frame but its last byte (RFC 6455, section 5.2). */
function unfinished(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x82, 0xff]);
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([head, Buffer.alloc(bytes - 1)]);
}

it("a peer that ignores the close frame loses its connection, also in mid-frame; others keep theirs", async () => {
  const member = await join("kept");
  const [half, silent] = [await open("half"), await open("silent")];
  half.write(unfinished(FRAME_BYTES));
  for (const line of [half, silent]) {
    expect(await line.until(() => line.heard.includes("connect timeout"))).toBe(true);
    expect(await line.until(() => line.isOver)).toBe(true);
  }
  expect(member.isOver).toBe(false);
  member.write(textFrame('420["presence",{}]'));
  expect(await member.until(() => member.heard.includes('"ok":true'))).toBe(true);
  member.close();
});

it("of members, a network has as many connections as MAX_CONNECTIONS_PER_IP that are left to their peers; the next one is cut", async () => {
  const [first, second, next] = [await join("first"), await join("second"), await join("next")];
  for (const line of [first, second, next]) {
    line.write(textFrame("no packet"));
    expect(await line.until(() => line.heard.includes("parse error"))).toBe(true);
  }
  expect(await next.until(() => next.isOver)).toBe(true);
  expect([first.isOver, second.isOver]).toEqual([false, false]);
  first.close();
  const again = await join("again");
  const beyond = await join("beyond");
  for (const line of [again, beyond]) line.write(textFrame("no packet"));
  expect(await beyond.until(() => beyond.isOver)).toBe(true);
  expect(again.isOver).toBe(false);
  for (const line of [second, again]) line.close();
});
