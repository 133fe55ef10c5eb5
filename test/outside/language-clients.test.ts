// Members written in Python, Java and Rust, each with its language's own Socket.IO library (clients/README.md).
// A language that this machine cannot run is reported as skipped, with the reason.
import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { normalContent } from "../../src/protocol/content.ts";
import { LANGUAGE_NAMES, prepare, run, type LanguageName, type Step } from "./clients/programs.ts";
import { RecordingProxy } from "./clients/recording-proxy.ts";
import { startServer, type TestServer } from "./servers.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";

const PING_INTERVAL_MS = 2000;
const PING_TIMEOUT_MS = 5000;
/** Longer than either side waits for a missing ping or pong. A server notices a missing pong only one interval later. */
const STAY_MS = 2 * PING_INTERVAL_MS + PING_TIMEOUT_MS + 1500;
/**
 * How long the server may take to announce that a program left. Most clients say so at once. python-socketio by polling drops its
 * disconnect packet if another of its requests is under way: the server notices that it is gone when a ping stays unanswered.
 */

/** The texts that the programs post. */
const CONTENTS = ["plain", 'Grüße 👋🏽, 日本語,   "quoted" \\ \u2028 \u001E', "still here ⏳"];
/** An event's last argument behind an object: where recovery puts the offset. */
const OFFSET_ARGUMENT = /\},"[^"]*"\]/;

/** `default` polls first, and upgrades. */
const TRANSPORTS = ["default", "polling", "websocket"] as const;
type Transport = (typeof TRANSPORTS)[number];
const PROGRAMS: ReadonlyArray<readonly [library: string, language: LanguageName, ...args: string[]]> = [
  ["python-socketio, async", "python", "async"],
  ["python-socketio, sync", "python", "sync"],
  ["socket.io-client-java", "java"],
  ["rust_socketio", "rust"],
];
const CASES = PROGRAMS.flatMap(([library, ...program]) =>
  TRANSPORTS.map((transport) => [library, transport, ...program] as const),
);

// All at once: a member waits more than it works.
vi.setConfig({ maxConcurrency: CASES.length + 1 });

let server: TestServer;
const obstacles = new Map<LanguageName, string | undefined>();

beforeAll(async () => {
  // Before anything runs: compilers would starve the clients.
  await Promise.all(LANGUAGE_NAMES.map(async (name) => obstacles.set(name, await prepare(name))));
  server = await startServer({
    settings: { PING_INTERVAL_MS: String(PING_INTERVAL_MS), PING_TIMEOUT_MS: String(PING_TIMEOUT_MS) },
  });
});

afterAll(() => server?.stop());

describe.concurrent("a member", () => {
  it.for(CASES)("%s, %s: posts, receives its own message, answers pings, leaves", async (program, ctx) => {
    const [library, transport, language, ...args] = program;
    const obstacle = obstacles.get(language);
    ctx.skip(obstacle !== undefined, obstacle);
    const { user, room, watcher, proxy } = await stage(library, transport, ctx);
    const messages = collect<Message>(watcher, "chat-message");
    const changes = collect<PresenceChange>(watcher, "presence");
    const steps = await run(language, [proxy.url, room, await tokenFor(user), transport, String(STAY_MS), ...args]);

    expectSteps(steps, user, room);
    // A member in JavaScript heard the same, and that it left.
    await vi.waitFor(() => expect(messages).toEqual(factsOf(steps, "message", "message")));
    await vi.waitFor(() => expect(changes.flatMap(({ left }) => left)).toEqual([{ user }]));
    expectTransport(proxy, steps, transport);
    // The frames themselves: this client does not support recovery.
    expect(proxy.fromServer).toContain('40{"sid":');
    expect(proxy.fromServer).toContain('42["chat-message",{');
    expect(proxy.fromServer).not.toContain('"pid"');
    expect(proxy.fromServer).not.toMatch(OFFSET_ARGUMENT);
  });

  it("python-socketio by polling receives 40 messages at once, more than it accepts in one poll: EIO-8", async (ctx) => {
    ctx.skip(obstacles.get("python") !== undefined, obstacles.get("python"));
    const { user, room, watcher, proxy } = await stage("python listening", "polling", ctx);
    const changes = collect<PresenceChange>(watcher, "presence");
    const listening = run("python", [proxy.url, room, await tokenFor(user), "polling", "3000", "listen"]);
    await vi.waitFor(
      () => expect(changes.flatMap(({ joined }) => joined).map((one) => one.user)).toContain(user),
      60_000,
    );
    const speakers = await Promise.all(["ben", "cyd", "dan", "eve"].map((name) => join(server.url, room, name)));
    const contents = Array.from({ length: 40 }, (_, at) => `message ${at}`);
    await Promise.all(contents.map((content, at) => ask(speakers[at % 4]!, "chat-message", { content })));
    const heard = (await listening).find(({ step }) => step === "heard");
    expect(heard!["goodbyes"]).toEqual([]);
    expect((heard!["contents"] as string[]).toSorted()).toEqual(contents.toSorted());
  });

  it("the stock JavaScript client by polling, as a control: the proxy sees `pid` and offsets", async (ctx) => {
    const { user, room, proxy } = await stage("javascript", "polling", ctx);
    const socket = await join(proxy.url, room, user, { transports: ["polling"] });
    expect(await ask(socket, "chat-message", { content: "plain" })).toMatchObject({ ok: true });
    await vi.waitFor(() => expect(proxy.fromServer).toMatch(OFFSET_ARGUMENT));
    expect(proxy.fromServer).toContain('"pid"');
  });
});

/** A room of its own, a member that watches it, and a proxy to it; all gone with the test. */
async function stage(library: string, transport: Transport, ctx: TestContext) {
  const user = `${library} ${transport}`.replaceAll(/\W+/g, "-");
  const room = `languages-${user}`;
  const watcher = await join(server.url, room, "watcher");
  const proxy = await RecordingProxy.to(server.port);
  ctx.onTestFinished(() => proxy.close());
  return { user, room, watcher, proxy };
}

function expectSteps(steps: readonly Step[], user: string, room: string): void {
  const post = ["ack", "message"];
  expect(steps.map(({ step }) => step)).toEqual(
    ["connected", "welcome", post, post, "stayed", post, "disconnected"].flat(),
  );
  expect(factsOf(steps, "welcome", "welcome")).toMatchObject([{ user, room, lastSeq: 0 }]);
  expect(factsOf(steps, "ack", "answer")).toMatchObject(
    CONTENTS.map((_, index) => ({ ok: true, id: expect.any(String), seq: index + 1 })),
  );
  expect(factsOf(steps, "message", "message")).toMatchObject(
    CONTENTS.map((content, index) => ({ content: normalContent(content), seq: index + 1, sender: user, room })),
  );
  // Where the library shows them.
  for (const { arguments: given, pings } of steps) {
    if (given !== undefined) expect(given).toBe(1);
    if (pings !== undefined) expect(pings).toBeGreaterThanOrEqual(3);
  }
}

function expectTransport(proxy: RecordingProxy, steps: readonly Step[], transport: Transport): void {
  const requests = proxy.requests.map(({ query }) => [query.get("transport"), query.has("sid")]);
  const upgrade = ["websocket", true];
  expect(requests[0]).toEqual([transport === "websocket" ? "websocket" : "polling", false]);
  if (transport === "default") expect(requests).toContainEqual(upgrade);
  else expect(requests).not.toContainEqual(upgrade);
  const inTheEnd = transport === "polling" ? "polling" : "websocket";
  for (const shown of factsOf(steps, "stayed", "transport")) expect(shown ?? inTheEnd).toBe(inTheEnd);
  if (inTheEnd === "websocket") expect(proxy.pingFrames).toBeGreaterThanOrEqual(3);
}

function factsOf(steps: readonly Step[], step: string, fact: string): unknown[] {
  return steps.filter((each) => each.step === step).map((each) => each[fact]);
}
