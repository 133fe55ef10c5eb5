// Attacks that only a raw connection can make, against a real server: bytes that are nothing, requests that never end, and
// readers that stop reading (EIO-10).
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { HOSTILE_BYTES, UNANSWERED } from "../attacks/wire.ts";
import { startServer, TEST_SECRET, type TestServer } from "./servers.ts";
import { RawLine, textFrame } from "./raw-line.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    settings: {
      MAX_CONNECTIONS_PER_IP: "0",
      CONNECT_RATE_PER_IP: "0",
      MESSAGE_RATE: "1000",
      MESSAGE_BURST: "1000",
      MAX_CONTENT_LENGTH: "50000",
      MAX_PAYLOAD: "1000000",
    },
  });
});
afterAll(() => server?.stop());

describe.concurrent("bytes that are not HTTP", () => {
  it.each(HOSTILE_BYTES)("$name", async ({ name, bytes, isOverWebSocket }) => {
    const ada = await join(server.url, "wire", "ada", { transports: ["websocket"] });
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
    ada.disconnect();
  });
});

it("the log contains none of these inputs, and no token", () => {
  expect(server.output).not.toContain("SECRET-IN-A-QUERY");
  expect(server.output).not.toContain(TEST_SECRET);
  expect(server.output).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
});

describe("EIO-10: readers that stop reading", () => {
  const STUCK = 8;
  const CHUNK = 40_000;
  /** More than the machine's own buffers keep for a connection. */
  const ROUNDS = 300;

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
    await expect.poll(() => heard).toBe(ROUNDS);
    // Ada and Ben are left: a disconnected user is no member any more, even if its socket has not noticed.
    await expect.poll(async () => (await ask<{ count: number }>(ben, "presence", {})).count).toBe(2);
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

it("each page of history takes tokens from the bucket, also when one frame asks for many", async () => {
  const strict = await startServer({ settings: { MESSAGE_RATE: "1", MESSAGE_BURST: "1000" } });
  onTestFinished(() => strict.stop());
  const ada = await join(strict.url, "asked", "ada", { transports: ["websocket"] });
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => ask<{ error?: { code: string } }>(ada, "history", { limit: 100 })),
  );
  expect(answers.filter(({ error }) => error?.code === "RATE_LIMITED").length).toBeGreaterThan(200);
  ada.disconnect();
});
