// `npm run load` as a sceptic meets it: against the real server, and against one that loses, doubles and reorders messages; and the bill that
// `npm run cost` makes of it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";

import type { Reading } from "../../scripts/measure/reading.ts";
import { signToken } from "../../src/settings/tokens/tokens.ts";
import { freePort, HOST, ProcessGroup, TEST_SECRET } from "./servers.ts";
import { startFaultyProxy, type FaultyProxy, type Tamper } from "./faulty-proxy.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "parley-load-test-"));
const started: Array<{ stop(): Promise<void> }> = [];
afterAll(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()));
  rmSync(scratch, { recursive: true, force: true });
});

const url = inject("serverUrl");
let runs = 0;

function load(...args: string[]): ProcessGroup {
  const group = new ProcessGroup({ args: [path.join("scripts", "run.mjs"), "load", ...args] });
  started.push(group);
  return group;
}

const cost = (...args: string[]): ProcessGroup =>
  new ProcessGroup({ args: [path.join("scripts", "run.mjs"), "cost", ...args] });

interface ShortRun {
  readonly group: ProcessGroup;
  /** The prefix of its rooms' names. */
  readonly name: string;
  readonly file: string;
  readonly html: string;
  /** Its report, after the end. */
  readonly report: () => Reading;
}

const readingIn = (file: string): Reading => JSON.parse(readFileSync(file, "utf8")) as Reading;

/** A short run in rooms of its own. */
function shortRun(server: string, ...args: string[]): ShortRun {
  const name = `run-${++runs}`;
  const [file, html] = ["json", "html"].map((kind) => path.join(scratch, `${name}.${kind}`)) as [string, string];
  const usual = ["--url", server, "--token-secret", TEST_SECRET, "--room-prefix", name, "--json", file, "--html", html];
  const group = load(...usual, "--users", "24", "--rooms", "3", "--rate", "1", "--duration", "3", ...args);
  return { group, name, file, html, report: () => readingIn(file) };
}

describe("npm run load", () => {
  it("finds no faults in this server with all kinds of clients, writes its report, and npm run cost a bill of it", async () => {
    const { group, report, file, html } = shortRun(url, "--shim", "0.3", "--polling", "0.1", "--real", "0.3");
    expect(await group.exit(), group.output).toBe(0);
    expect(group.stdout).toMatch(/connections {2}24 of 24 in \(100 %\)/);
    expect(group.stdout).toMatch(/No faults: nothing lost, doubled or out of order\.\n$/);
    const { outcome, faults, messages, connections, latency, history, measured } = report();
    expect(outcome).toBe("clean");
    expect(new Set(Object.values(faults))).toEqual(new Set([0]));
    expect(messages.acks).toBe(messages.posts);
    expect(messages.posts).toBeGreaterThan(20);
    // Eight to a room, and none connected late.
    expect(messages.deliveries).toBe(messages.posts * 8);
    expect(history).toEqual({ rooms: 3, messages: messages.posts });
    expect(connections).toMatchObject({ users: 24, in: 24 });
    expect(measured.deliveries).toBeLessThanOrEqual(messages.deliveries);
    expect(latency.delivery.count).toBeGreaterThan(messages.deliveries / 2);
    expect(latency.delivery.p50Ms).toBeGreaterThan(0);
    expect(readFileSync(html, "utf8")).toContain("No faults: nothing lost, doubled or out of order.");
    expect(JSON.stringify(report())).not.toContain(TEST_SECRET);

    const files = { json: path.join(scratch, "cost.json"), html: path.join(scratch, "cost.html") };
    const bill = cost("--from", file, "--online-hours", "10", "--json", files.json, "--html", files.html);
    expect(await bill.exit(), bill.output).toBe(0);
    expect(bill.stdout).toMatch(/^\$\d+\.\d\d a month\n24 users in 3 rooms, .* 10 h a day\n/);
    const written = JSON.parse(readFileSync(files.json, "utf8")) as { bill: { total: number } };
    expect(written.bill.total).toBeGreaterThanOrEqual(5);
    expect(readFileSync(files.html, "utf8")).toContain("rows written, alarms set");
  });
});

// Each run waits more than it works.
describe.concurrent("npm run load", () => {
  it("takes guests; prints and writes the results so far when it is interrupted", async () => {
    const [file, html] = ["json", "html"].map((kind) => path.join(scratch, `guests.${kind}`)) as [string, string];
    const few = ["--users", "6", "--rooms", "2", "--rate", "1", "--duration", "600"];
    const group = load("--url", url, "--guest", ...few, "--json", file, "--html", html);
    await group.prints(/posting: [2-9]/);
    group.signal("SIGINT");
    expect(await group.exit(), group.output).toBe(130);
    expect(group.stdout).toMatch(/Interrupted: no faults up to then\.\n$/);
    const report = readingIn(file);
    expect(report).toMatchObject({ outcome: "interrupted", connections: { in: 6 } });
    expect(report.messages.posts).toBeGreaterThan(0);
    expect(readFileSync(html, "utf8")).toContain("<svg");
  });

  it("an interruption before the first user connects is no failure", async () => {
    const group = load("--url", url, "--users", "50", "--connect-rate", "1", "--token-secret", "x".repeat(32));
    await group.prints(/connecting: /);
    group.signal("SIGINT");
    expect(await group.exit(), group.output).toBe(130);
    expect(group.stdout).toMatch(/Interrupted: no faults up to then\.\n$/);
  });

  it("names a bad option and shows its usage", async () => {
    const port = await freePort();
    const [nobody, misspelt] = [load("--url", `http://${HOST}:${port}`), load("--users", "lots")];
    expect([await nobody.exit(), await misspelt.exit()]).toEqual([1, 1]);
    expect(nobody.output).toMatch(new RegExp(`^No server answers at http://${HOST}:${port}\\. Is it running`));
    expect(misspelt.output).toMatch(/^--users must be a number from 1 to 1000000, not "lots"\.\nUsage: npm run load/);
    const unwritable = load(
      "--url",
      url,
      "--users",
      "2",
      "--duration",
      "1",
      "--html",
      path.join(scratch, "no", "x.html"),
    );
    expect(await unwritable.exit()).toBe(1);
    expect(unwritable.output).toMatch(/^--html .*x\.html cannot be written: ENOENT/);
  });

  it("a run in which half of the users could not connect is not clean", async () => {
    const tokens = path.join(scratch, "tokens.txt");
    // The server admits none of the former half, so they cannot read the messages of the latter.
    const secrets = ["a-wrong-secret-of-enough-characters", TEST_SECRET].flatMap((secret) =>
      Array<string>(6).fill(secret),
    );
    const signed = secrets.map((secret, number) => signToken(secret, { user: `half-${number}` }, 3600));
    writeFileSync(tokens, (await Promise.all(signed)).join("\n"));
    const files = { json: path.join(scratch, "half.json"), html: path.join(scratch, "half.html") };
    const names = ["--tokens", tokens, "--json", files.json, "--html", files.html, "--room-prefix", "half"];
    const half = load("--url", url, ...names, "--users", "12", "--rooms", "3", "--rate", "1", "--duration", "3");
    expect(await half.exit(), half.output).toBe(1);
    expect(half.stdout).toMatch(
      /INCOMPLETE: 6 of 12 users did not get in; .* No posted message was lost, doubled or out of order\.\n$/,
    );
    expect(half.stdout).toMatch(/\d+ × connect: UNAUTHORIZED/);
    expect(readingIn(files.json)).toMatchObject({
      outcome: "incomplete",
      connections: { users: 12, in: 6, away: 0 },
    });
    expect(readFileSync(files.html, "utf8")).toContain("INCOMPLETE: 6 of 12 users did not get in");
  });

  it("its light users prove to the server that they read, as the client does; it deletes its rooms on request", async () => {
    const tamperer = (): Tamper => {
      let isAsked = false;
      return (text) => {
        if (isAsked || !text.includes('["welcome"')) return [text];
        isAsked = true;
        return [text, "2whether-you-read"];
      };
    };
    let heard = "";
    const proxy = await startFaultyProxy(url, tamperer, (bytes) => (heard += bytes));
    started.push(proxy);
    const { group, name } = shortRun(proxy.url, "--shim", "1", "--clean");
    expect(await group.exit(), group.output).toBe(0);
    // All 24 users, and the reader of the histories at the end.
    expect(heard.split("3whether-you-read").length - 1).toBeGreaterThanOrEqual(24);
    expect((await fetch(`${url}/api/rooms/${name}-0/messages`)).status).not.toBe(200);
  });
});

describe.concurrent("a server that breaks its promises", () => {
  async function through(
    tamperer: () => Tamper,
    ...args: string[]
  ): Promise<{ code: unknown; report: Reading; output: string }> {
    const proxy: FaultyProxy = await startFaultyProxy(url, tamperer);
    started.push(proxy);
    const { group, report } = shortRun(proxy.url, ...args);
    const code = await group.exit();
    expect(group.stdout).toMatch(/FAULTS: \d+\. The server did not do what it promised\.\n$/);
    return { code, report: report(), output: group.stdout };
  }

  it("is caught leaving posts of light users and of socket.io-client unanswered", async () => {
    const isAck = (packet: string): boolean => /^43\d+\[\{"ok":true,.*"seq":/.test(packet);
    const isPost = (packet: string): boolean => isAck(packet) && !packet.includes('"messages":');
    let dropped = 0;
    // The first ack of each user.
    const tamperer = (): Tamper => {
      let acks = 0;
      return (text) => {
        const kept = text.split("\x1e").filter((packet) => !isPost(packet) || acks++ !== 0);
        if (kept.length < text.split("\x1e").length) dropped++;
        return kept.length === 0 ? [] : [kept.join("\x1e")];
      };
    };
    const { code, report, output } = await through(tamperer, "--real", "0.5");
    expect([code, report.outcome]).toEqual([1, "faults"]);
    expect(report.faults).toMatchObject({ lost: 0, doubled: 0, absent: 0, unanswered: dropped });
    // Half of the users are of one kind.
    expect(dropped).toBeGreaterThan(12);
    expect(output).toMatch(new RegExp(`\\| unanswered, although the connection held +\\| ${dropped} `));
  });

  /** What each of these does to the third message and the one after it, as one member gets them. */
  const SABOTAGES = {
    lose: (third, message) => (message === third ? [] : [message]),
    double: (third, message) => (message === third ? [message, message] : [message]),
    swap: (third, message) => (message === third ? [] : [message, third]),
    // Another message in its place.
    replace: (third, message) => [message === third ? third.replace(/(~p~.{4}\d{5}\d{6})\d{7}/, "$10999999") : message],
  } satisfies Record<string, (third: string, message: string) => string[]>;

  /** The first room's history lacks its first message, that of the second room is refused. */
  function forgetful(text: string): string {
    const [, head, json] = /^(43\d+)(\[.*"messages":.*\])$/s.exec(text) ?? [];
    if (head === undefined) return text;
    const [answer] = JSON.parse(json!) as [{ messages: Array<{ room: string }> }];
    const room = answer.messages[0]?.room.at(-1);
    if (room === "0") return `${head}${JSON.stringify([{ ...answer, messages: answer.messages.slice(1) }])}`;
    if (room !== "1") return text;
    return `${head}[{"error":{"code":"INTERNAL","message":"Something went wrong"}}]`;
  }

  it("is caught losing, doubling, swapping and replacing a message, acking one that a history lacks, and is not trusted where the history cannot be read", async () => {
    // In the second room two members see different messages in one place; which of them is right its history does not say.
    const waiting = { elsewhere: [SABOTAGES.lose, SABOTAGES.double, SABOTAGES.swap], inSecond: [SABOTAGES.replace] };
    const tamperer = (): Tamper => {
      const messages: string[] = [];
      let sabotage: ((third: string, message: string) => string[]) | undefined;
      return (text) => {
        if (!text.startsWith('42["chat-message"')) return [forgetful(text)];
        messages.push(text);
        if (messages.length === 1)
          sabotage = waiting[/"room":"run-\d+-1"/.test(text) ? "inSecond" : "elsewhere"].shift();
        return sabotage && [3, 4].includes(messages.length) ? sabotage(messages[2]!, text) : [text];
      };
    };
    const { code, report, output } = await through(tamperer);
    expect([code, report.outcome]).toEqual([1, "faults"]);
    expect(report.faults).toMatchObject({ lost: 1, doubled: 1, outOfOrder: 1, absent: 1, unread: 1, unanswered: 0 });
    expect(report.faults.disagreeing).toBeGreaterThan(0);
    expect(output).toMatch(/NOT of 1 room, so acked messages there may not be stored \(.*refused: INTERNAL\)/);
  });
});

it("npm run cost names a bad option", async () => {
  const [missing, shares] = [cost("--from", "none.json"), cost("--shim", "0.7", "--polling", "0.7")];
  expect([await missing.exit(), await shares.exit()]).toEqual([1, 1]);
  expect(missing.output).toMatch(/^none\.json cannot be read: ENOENT\n$/);
  expect(shares.output).toMatch(
    /^--shim and --polling must not exceed 1 together: they are 0\.7 and 0\.7\.\nUsage: npm run cost/,
  );
});
