// Attacks that only a raw connection can make, against a real server: bytes that are nothing, requests that never end or break off, and
// readers that stop reading (EIO-10).
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { API_BODIES_MAX, UPLOADS_MAX } from "../../src/worker/deployment.ts";
import { HOSTILE_BYTES, UNANSWERED } from "../attacks/wire.ts";
import { HOST, startServer, TEST_SECRET, type TestServer } from "./servers.ts";
import { RawLine, textFrame } from "./raw-line.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    settings: {
      MAX_CONNECTIONS_PER_IP: "0",
      CONNECT_RATE_PER_IP: "0",
      API_BURST: "1000",
      MESSAGE_RATE: "1000",
      MESSAGE_BURST: "1000",
      MAX_CONTENT_LENGTH: "50000",
      MAX_PAYLOAD: "1000000",
    },
  });
});
afterAll(() => server?.stop());

describe.concurrent("bytes that are not HTTP", () => {
  /** A member whom they do not concern. */
  let ada: Socket;
  beforeAll(async () => {
    ada = await join(server.url, "wire", "ada", { reconnection: false });
  });
  afterAll(() => void ada.disconnect());

  it.each(HOSTILE_BYTES)("$name", async ({ name, bytes, isOverWebSocket }) => {
    const line = isOverWebSocket
      ? await RawLine.openWebSocket(server.port, "/rooms/wire/socket.io/?EIO=4&transport=websocket")
      : await RawLine.open(server.port);
    const greeted = line.heard.length;
    line.write(bytes);
    if (UNANSWERED.has(name)) {
      // It may wait as long as it likes: that is a connection, and nothing else.
      await line.until(() => line.isOver, 200);
    } else if (isOverWebSocket) {
      expect(await line.until(() => line.isOver || line.heard.slice(greeted).includes("\x88")), line.heard).toBe(true);
    } else {
      expect(await line.until(() => line.isOver || / [45]\d\d /.test(line.heard)), line.heard.slice(0, 200)).toBe(true);
      expect(line.heard).not.toMatch(/^HTTP\/1.1 (101|200)/);
      expect(line.heard).not.toMatch(/^X-Injected/im);
    }
    line.close();
    expect(await ask(ada, "chat-message", { content: name })).toMatchObject({ ok: true });
  });
});

describe.concurrent("EIO-10: readers that stop reading", () => {
  const STUCK = 3;
  const CHUNK = 40_000;
  /** By far more bytes than the 4 MiB that a session may leave unproven. */
  const ROUNDS = 150;

  it("are disconnected, and the other members receive every message", async () => {
    const stuck = await Promise.all(
      Array.from({ length: STUCK }, async (_, i) => {
        const line = await RawLine.openWebSocket(server.port, "/rooms/busy/socket.io/?EIO=4&transport=websocket");
        line.write(textFrame(`40${JSON.stringify({ token: await tokenFor(`stuck-${i}`) })}`));
        await line.until(() => line.heard.includes("welcome"));
        line.stopReading();
        return line;
      }),
    );
    const ben = await join(server.url, "busy", "ben", { transports: ["websocket"] });
    let heard = 0;
    ben.on("chat-message", () => heard++);
    const ada = await join(server.url, "busy", "ada", { transports: ["websocket"] });
    for (let i = 0; i < ROUNDS; i++) await ask(ada, "chat-message", { content: "x".repeat(CHUNK) });
    await vi.waitFor(() => expect(heard).toBe(ROUNDS));
    // Ada and Ben are left: a disconnected user is no member any more, even if its socket has not noticed.
    await vi.waitFor(async () => expect((await ask<{ count: number }>(ben, "presence", {})).count).toBe(2));
    for (const line of stuck) {
      line.readOn();
      expect(await line.until(() => line.isOver || line.heard.includes("too far behind"))).toBe(true);
      line.close();
    }
    for (const socket of [ada, ben]) socket.disconnect();
  });

  it("a slow reader stays connected", async () => {
    const late = await RawLine.openWebSocket(server.port, "/rooms/calm/socket.io/?EIO=4&transport=websocket");
    late.write(textFrame(`40${JSON.stringify({ token: await tokenFor("late") })}`));
    await late.until(() => late.heard.includes("welcome"));
    const ada = await join(server.url, "calm", "ada", { transports: ["websocket"] });
    let answered = 0;
    for (let i = 0; i < 60; i++) {
      late.stopReading();
      await ask(ada, "chat-message", { content: `${i} ${"x".repeat(20_000)}` });
      if (i % 5 !== 4) continue;
      late.readOn();
      await late.until(() => late.heard.includes(`"content":"${i} `));
      const pings = late.heard.split("\x81\x012").length - 1;
      for (; answered < pings; answered++) late.write(textFrame("3"));
    }
    expect(late.isOver).toBe(false);
    expect(late.heard).not.toContain("too far behind");
    expect(late.heard).toContain('"content":"59 ');
    late.close();
    ada.disconnect();
  });
});

it("the log contains none of these inputs, and no token", () => {
  expect(server.output).not.toContain("SECRET-IN-A-QUERY");
  expect(server.output).not.toContain(TEST_SECRET);
  expect(server.output).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
});

/** A request as it is, for its client to break off. */
async function begin(head: string, token: string, body = ""): Promise<RawLine> {
  const line = await RawLine.open(server.port);
  line.write(`${head} HTTP/1.1\r\nHost: ${HOST}\r\nAuthorization: Bearer ${token}\r\n${body}`);
  return line;
}

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
    await vi.waitFor(async () => expect(await post()).toBe(429));
    for (const line of lines) line.reset();
    await vi.waitFor(async () => expect(await post()).toBe(good));
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
