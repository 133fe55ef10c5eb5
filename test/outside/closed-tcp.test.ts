// LIM-6 on `npm run serve`, which owns its TCP connections: a closed WebSocket leaves none behind.
import { afterAll, beforeAll, expect, it } from "vitest";

import { startServer, type TestServer } from "./servers.ts";
import { RawLine, textFrame } from "./raw-line.ts";
import { tokenFor } from "./stock-clients.ts";

const FRAME_BYTES = 1024 * 1024;
const MORE_THAN_A_WHILE_MS = 60_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ settings: { CONNECT_TIMEOUT_MS: "300" } });
});
afterAll(() => server.stop());

const open = (room: string): Promise<RawLine> =>
  RawLine.openWebSocket(server.port, `/rooms/${room}/socket.io/?EIO=4&transport=websocket`);

/** All of a frame but its last byte (RFC 6455, section 5.2). */
function unfinished(bytes: number): Buffer {
  const head = Buffer.alloc(14);
  head.set([0x82, 0xff]);
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([head, Buffer.alloc(bytes - 1)]);
}

it("a peer that ignores the close frame loses its connection, also in mid-frame; others keep theirs", async () => {
  const member = await open("kept");
  member.write(textFrame(`40${JSON.stringify({ token: await tokenFor("ada") })}`));
  expect(await member.until(() => member.heard.includes("welcome"))).toBe(true);
  const [half, silent] = [await open("half"), await open("silent")];
  half.write(unfinished(FRAME_BYTES));
  for (const line of [half, silent]) {
    expect(await line.until(() => line.heard.includes("connect timeout"))).toBe(true);
    expect(await line.until(() => line.isOver, MORE_THAN_A_WHILE_MS)).toBe(true);
  }
  expect(member.isOver).toBe(false);
  member.write(textFrame('420["presence",{}]'));
  expect(await member.until(() => member.heard.includes('"ok":true'))).toBe(true);
  member.close();
});
