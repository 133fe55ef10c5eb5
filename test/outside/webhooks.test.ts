// Webhooks end to end: the receiver of docs/webhooks.md behind a proxy that fails on command, and a server in front of both.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import { freePort, HOST, PROJECT_ROOT, startServer, type TestServer } from "./servers.ts";
import { ask, join } from "./stock-clients.ts";

const SECRET = "only-we-two-know";
const SLOW = { interval: 200 };

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

const scratch = mkdtempSync(path.join(tmpdir(), "parley-hooks-"));
/** Answers of the proxy in front of the receiver, in order, in place of the receiver's. */
const failures: Answer[] = [];
const bodies: string[] = [];
let [printed, receiverUrl] = ["", ""];
let url: string;
let server: TestServer;
let receiver: ChildProcess;
let line: Server;

beforeAll(async () => {
  const [example] = /```js\n(.*?)```/s
    .exec(readFileSync(path.join(PROJECT_ROOT, "docs", "webhooks.md"), "utf8"))!
    .slice(1);
  const file = path.join(scratch, "receiver.mjs");
  writeFileSync(file, example!);
  const [port, linePort] = [await freePort(), await freePort()];
  receiverUrl = `http://${HOST}:${port}`;
  receiver = spawn(process.execPath, [file], { env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: String(port) } });
  for (const output of [receiver.stdout!, receiver.stderr!])
    output.on("data", (chunk: Buffer) => (printed += String(chunk)));
  line = createServer((request, response) => {
    void pass(request).then(({ status, headers = {} }) => response.writeHead(status, headers).end());
  }).listen(linePort, HOST);
  server = await startServer({ settings: { WEBHOOK_URL: `http://${HOST}:${linePort}/`, WEBHOOK_SECRET: SECRET } });
  ({ url } = server);
});

afterAll(async () => {
  await server.stop();
  receiver.kill();
  line.close();
  rmSync(scratch, { recursive: true, force: true });
});

async function pass(request: IncomingMessage): Promise<Answer> {
  const body = await textOf(request);
  bodies.push(body);
  return failures.shift() ?? forward(request.headers as Record<string, string>, body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** To the receiver, as it came. */
async function forward(headers: Record<string, string>, body: string): Promise<Answer> {
  const passed = Object.entries(headers).filter(([name]) => name.startsWith("parley-"));
  const { status } = await fetch(receiverUrl, { method: "POST", body, headers: Object.fromEntries(passed) });
  return { status };
}

const hears = (pattern: RegExp): Promise<void> => vi.waitFor(() => expect(printed).toMatch(pattern), SLOW);

it("HOOK-1, HOOK-7, HOOK-9: the receiver of the docs accepts our signed deliveries, also after two answers of 500", async () => {
  const ada = await join(url, "general", "ada");
  await hears(/^member\.joined general \{"user":"ada"/m);
  failures.push({ status: 500 }, { status: 500, headers: { "Retry-After": "1" } });
  await ask(ada, "chat-message", { content: "hello" });
  await hears(/^message\.posted general .*"content":"hello"/m);
  await server.prints(/"event":"webhook\.retry","reason":"answered 500"/);
  expect(bodies.filter((body) => body.includes('"hello"'))).toHaveLength(3);
  expect(new Set(bodies.filter((body) => body.includes('"hello"'))).size).toBe(1);
  expect(failures).toEqual([]);
});

it("HOOK-7: the receiver of the docs refuses other senders", async () => {
  const body = '{"events":[{"id":"x","type":"forged","room":"general","data":{}}]}';
  const now = String(Math.floor(Date.now() / 1000));
  for (const headers of [{}, { "Parley-Timestamp": now, "Parley-Signature": `v1=${"0".repeat(64)}` }]) {
    expect((await fetch(receiverUrl, { method: "POST", body, headers })).status).toBe(401);
  }
  expect(printed).not.toContain("forged");
});

it("HOOK-10: a delivery that fails for good becomes a dead letter and a log line, and later ones go through", async () => {
  const ada = await join(url, "doomed", "ada");
  await hears(/^member\.joined doomed/m);
  failures.push({ status: 410 });
  await ask(ada, "chat-message", { content: "never to be read" });
  await server.prints(/"event":"webhook\.dead","reason":"answered 410","messages":1,"events":1,"rooms":\["doomed"\]/);
  await ask(ada, "chat-message", { content: "after it" });
  await hears(/^message\.posted doomed .*"after it"/m);
  expect(printed).not.toContain("never to be read");
});

it("HOOK-10: a delivery that was tried too often becomes a dead letter", async () => {
  const ada = await join(url, "stubborn", "ada");
  await hears(/^member\.joined stubborn/m);
  failures.push(...Array.from({ length: 21 }, () => ({ status: 503, headers: { "Retry-After": "0" } })));
  await ask(ada, "chat-message", { content: "tried and tried" });
  await server.prints(/"event":"webhook\.dead","reason":"answered 503".*"attempts":21/);
  expect(bodies.filter((body) => body.includes("tried and tried"))).toHaveLength(21);
  expect(failures).toEqual([]);
  expect(server.output).not.toMatch(/only-we-two-know|tried and tried/);
});
