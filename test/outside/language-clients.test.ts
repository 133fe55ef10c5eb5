// Members written in Python, Java and Rust, each with its language's own Socket.IO library (clients/README.md): of the chat, and of a server of
// the package socket.io in an object.
// A language that this machine cannot run is reported as skipped, with the reason.
import { readFileSync } from "node:fs";
import path from "node:path";
import { runInNewContext } from "node:vm";

import { afterAll, beforeAll, describe, expect, it, vi, type TestContext } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { normalContent } from "../../src/protocol/message.ts";
import { LANGUAGE_NAMES, prepare, run, type LanguageName, type Place, type Step } from "./clients/programs.ts";
import { RecordingProxy } from "./clients/recording-proxy.ts";
import { bundleEngineWorker } from "./engine-worker.ts";
import { startServer, type TestServer } from "./servers.ts";
import { ask, collect, join, next, open, tokenFor } from "./stock-clients.ts";
import { unpackingIn } from "../wire/unpacked.ts";

/** Those of the stock server are the same (engine/worker.ts). */
const PING_INTERVAL_MS = 2000;
const PING_TIMEOUT_MS = 5000;
/** Longer than either side waits for a missing ping or pong. A server notices a missing pong only one interval later. */
const STAY_MS = 2 * PING_INTERVAL_MS + PING_TIMEOUT_MS + 1500;
/** What is said in a busy room: all at once, and then a word after which a program that listens waits for no more. */
const AT_ONCE = Array.from({ length: 40 }, (_, at) => `message ${String(at).padStart(2, "0")}`);
const LAST_WORD = "enough";
/** So long it must be quiet after that: nothing comes twice. */
const QUIET_MS = 2000;
const SORTED = [LAST_WORD, ...AT_ONCE];
const SEVERAL_IN_A_BUNDLE = /42\["bundle",\[.*\["chat-message",\{.*\],\["chat-message",\{/;
/** The texts that the programs post. */
const CONTENTS = ["plain", 'Grüße 👋🏽, 日本語,   "quoted" \\ \u2028 \u001E', "still here ⏳"];
/** An event's last argument behind an object: where recovery puts the offset. */
const OFFSET_ARGUMENT = /\},"[^"]*"\]/;

/** `default` polls first, and upgrades. */
const TRANSPORTS = ["default", "polling", "websocket"] as const;
type Transport = (typeof TRANSPORTS)[number];
type Program = readonly [library: string, language: LanguageName, ...args: string[]];
const PROGRAMS: readonly Program[] = [
  ["python-socketio, async", "python", "async"],
  ["python-socketio, sync", "python", "sync"],
  ["socket.io-client-java", "java", "post"],
  ["rust_socketio", "rust"],
];
const CASES = PROGRAMS.flatMap((program) => TRANSPORTS.map((transport) => [program[0], transport, program] as const));

// All at once: a member waits more than it works.
vi.setConfig({ maxConcurrency: CASES.length + PROGRAMS.length + 1 });

let server: TestServer;
let stockServer: TestServer;
const proxies: RecordingProxy[] = [];
const obstacles = new Map<LanguageName, string | undefined>();
/** The members of each library. */
const playing = new Map<string, Promise<Member[]>>();

beforeAll(async () => {
  // Before anything runs: compilers would starve the clients.
  await Promise.all(LANGUAGE_NAMES.map(async (name) => obstacles.set(name, await prepare(name))));
  const settings = {
    PING_INTERVAL_MS: String(PING_INTERVAL_MS),
    PING_TIMEOUT_MS: String(PING_TIMEOUT_MS),
    // On a slow machine, too, several posts of a busy room share a window, and so a bundle.
    FLUSH_WINDOW_MS: "300",
    FLUSH_BURST: "1",
  };
  [server, stockServer] = await Promise.all([
    startServer({ settings }),
    bundleEngineWorker({ isSmall: true }).then((deploymentFile) => startServer({ deploymentFile })),
  ]);
});

afterAll(async () => {
  for (const proxy of proxies) proxy.close();
  await Promise.all([server?.stop(), stockServer?.stop()]);
});

describe.concurrent("a member", () => {
  it.for(CASES)(
    "%s, %s: posts, receives its own message, answers pings, leaves",
    async ([, transport, program], ctx) => {
      const members = await membersOf(program, ctx);
      const { user, room, proxy, steps, messages, changes } = members[TRANSPORTS.indexOf(transport)]!;
      expectSteps(steps, { user, room, contents: CONTENTS.map(normalContent) });
      // A member in JavaScript heard the same, and that it left.
      await vi.waitFor(() => expect(messages).toEqual(factsOf(steps, "message", "message")));
      await vi.waitFor(() => expect(changes.flatMap(({ left }) => left)).toEqual([{ user }]));
      expectTransport(proxy, steps, transport);
      // The frames themselves: this client does not support recovery.
      expect(proxy.fromServer).toContain('40{"sid":');
      expect(proxy.fromServer).toContain('42["chat-message",{');
      expect(proxy.fromServer).not.toContain('"pid"');
      expect(proxy.fromServer).not.toMatch(OFFSET_ARGUMENT);
    },
  );

  it("python-socketio by polling receives 40 messages at once, more than it accepts in one poll: EIO-8", async (ctx) => {
    const { heard } = await listenInBusyRoom("python-socketio", "polling", ["python", "listen"], ctx);
    expect(heard.toSorted()).toEqual(SORTED);
  });

  it.for([
    ["python-socketio", "polling", "python"],
    ["socket.io-client-java", "websocket", "java"],
  ] as const)("%s, %s, takes bundles in a busy room, and gets every message once: BUN-1", async (listener, ctx) => {
    const [library, transport, language] = listener;
    const { heard, proxy, steps } = await listenInBusyRoom(library, transport, [language, "bundle"], ctx);
    expect(heard.toSorted()).toEqual(SORTED);
    expect(proxy.fromServer).toMatch(SEVERAL_IN_A_BUNDLE);
    // In Java, handlers get `null` for `null`, from a bundle as from an event by itself.
    expect(factsOf(steps, "unpacked", "nulls")).toEqual(language === "java" ? [[true, false, false]] : []);
  });

  it("so does the stock JavaScript client, in order, and each message with its offset: BUN-1, BUN-3", async () => {
    const { user, room, proxy } = await stage("javascript bundling", "websocket");
    const auth = { token: await tokenFor(user), bundle: true };
    const socket = open(proxy.url, { path: `/rooms/${room}/socket.io`, auth });
    // As an application has it in its code.
    runInNewContext(unpackingIn("js"), { socket });
    const messages: Array<readonly [Message, string]> = [];
    socket.on("chat-message", (message: Message, offset: string) => messages.push([message, offset]));
    await next(socket, "welcome");
    await talk(room);
    await vi.waitFor(() => expect(messages).toHaveLength(SORTED.length));
    expect(messages.map(([{ seq }]) => seq)).toEqual(SORTED.map((_, at) => at + 1));
    expect(messages.map(([, offset]) => parseInt(offset.split(".")[1]!, 36))).toEqual(messages.map(([{ seq }]) => seq));
    expect(proxy.fromServer).toMatch(SEVERAL_IN_A_BUNDLE);
  });

  it.each([
    ["python", "client.py"],
    ["java", "Client.java"],
  ] as const)("the lines that unpack bundles in %s are those of docs/events.md", (language, file) => {
    const program = readFileSync(path.join(import.meta.dirname, "clients", language, file), "utf8");
    expect(withoutIndent(program)).toContain(withoutIndent(unpackingIn(language)));
  });

  it("the stock JavaScript client by polling, as a control: the proxy sees `pid` and offsets", async () => {
    const { user, room, proxy } = await stage("javascript", "polling");
    const socket = await join(proxy.url, room, user, { transports: ["polling"] });
    expect(await ask(socket, "chat-message", { content: "plain" })).toMatchObject({ ok: true });
    await vi.waitFor(() => expect(proxy.fromServer).toMatch(OFFSET_ARGUMENT));
    expect(proxy.fromServer).toContain('"pid"');
  });
});

describe.concurrent("a member of a stock server", () => {
  it.for(PROGRAMS)("%s: posts, receives its own message, answers pings, leaves", async (program, ctx) => {
    const { user, room, proxy, steps } = (await membersOf(program, ctx)).at(-1)!;
    expectSteps(steps, { user, room, contents: CONTENTS });
    expectTransport(proxy, steps, "default");
  });
});

/** One that a program played. */
interface Member {
  readonly user: string;
  readonly room: string;
  readonly proxy: RecordingProxy;
  readonly steps: readonly Step[];
  /** As a member in JavaScript heard them in the chat. */
  readonly messages: readonly Message[];
  readonly changes: readonly PresenceChange[];
}

/** Those of a library: in the chat in the order of `TRANSPORTS`, and then that of a stock server. All play at once. */
function membersOf(program: Program, ctx: TestContext): Promise<Member[]> {
  const [library, language] = program;
  ctx.skip(obstacles.get(language) !== undefined, obstacles.get(language));
  if (!playing.has(library)) playing.set(library, play(program));
  return playing.get(library)!;
}

async function play([library, language, ...args]: Program): Promise<Member[]> {
  const ofChat = TRANSPORTS.map(async (transport) => {
    const { user, room, watcher, proxy } = await stage(library, transport);
    const messages = collect<Message>(watcher, "chat-message");
    const changes = collect<PresenceChange>(watcher, "presence");
    const place: Place = [proxy.url, room, await tokenFor(user), transport];
    return { user, room, proxy, messages, changes, place };
  });
  const ofStockServer = async () => {
    const [user, room] = ["ada", `members-${library.replaceAll(/\W+/g, "-")}`];
    const proxy = await proxyTo(stockServer);
    const place: Place = [proxy.url, room, user, "default"];
    return { user, room, proxy, messages: [], changes: [], place };
  };
  const members = await Promise.all([...ofChat, ofStockServer()]);
  const places = members.map(({ place }) => place);
  const stepsOf = await run(language, places, STAY_MS, ...args);
  return members.map((member, at) => ({ ...member, steps: stepsOf[at]! }));
}

/** Four members speak at once. */
async function talk(room: string): Promise<void> {
  const speakers = await Promise.all(["ben", "cyd", "dan", "eve"].map((name) => join(server.url, room, name)));
  await Promise.all(AT_ONCE.map((content, at) => ask(speakers[at % 4]!, "chat-message", { content })));
  await ask(speakers[0]!, "chat-message", { content: LAST_WORD });
}

/** @returns what a program heard that only listens */
async function listenInBusyRoom(
  library: string,
  transport: Transport,
  [language, kind]: readonly [LanguageName, "listen" | "bundle"],
  ctx: TestContext,
) {
  ctx.skip(obstacles.get(language) !== undefined, obstacles.get(language));
  const { user, room, watcher, proxy } = await stage(`${library} ${kind}`, transport);
  const changes = collect<PresenceChange>(watcher, "presence");
  const listening = run(language, [[proxy.url, room, await tokenFor(user), transport]], QUIET_MS, kind);
  await vi.waitFor(() => expect(changes.flatMap(({ joined }) => joined).map((one) => one.user)).toContain(user));
  await talk(room);
  const steps = (await listening).flat();
  const heard = steps.find(({ step }) => step === "heard")!;
  expect(heard["goodbyes"]).toEqual([]);
  return { heard: heard["contents"] as string[], proxy, steps };
}

const withoutIndent = (text: string): string => text.replaceAll(/^ +/gm, "");

/** A room of its own, a member that watches it, and a proxy to it. */
async function stage(library: string, transport: Transport) {
  const user = `${library} ${transport}`.replaceAll(/\W+/g, "-");
  const room = `languages-${user}`;
  const watcher = await join(server.url, room, "watcher");
  return { user, room, watcher, proxy: await proxyTo(server) };
}

/** It is there until the last test has ended. */
async function proxyTo({ port }: TestServer): Promise<RecordingProxy> {
  const proxy = await RecordingProxy.to(port);
  proxies.push(proxy);
  return proxy;
}

function expectSteps(
  steps: readonly Step[],
  { user, room, contents }: { user: string; room: string; contents: readonly string[] },
): void {
  const post = ["ack", "message"];
  expect(steps.map(({ step }) => step)).toEqual(
    ["connected", "welcome", post, post, "stayed", post, "disconnected"].flat(),
  );
  expect(factsOf(steps, "welcome", "welcome")).toMatchObject([{ user, room, lastSeq: 0 }]);
  expect(factsOf(steps, "ack", "answer")).toMatchObject(
    CONTENTS.map((_, index) => ({ ok: true, id: expect.any(String), seq: index + 1 })),
  );
  expect(factsOf(steps, "message", "message")).toMatchObject(
    contents.map((content, index) => ({ content, seq: index + 1, sender: user, room })),
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
