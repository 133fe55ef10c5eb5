// The Worker's side of webhooks: POSTs, and the effects of the receiver's answers.
import { createExecutionContext, createMessageBatch, getQueueResult } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import worker from "../../src/index.ts";
import type { WebhookBatch, WebhookDelivery, WebhookEvent } from "../../src/protocol/webhook-events.ts";
import { VERSION } from "../../src/worker/version.ts";
import { TRIES_MAX } from "../../src/features/webhooks/consumer.ts";

const URL_WITH_KEYS = "https://robot:s3cr%C3%A9t@hooks.example.com/parley?key=k3y";
const SECRET = "only-we-two-know";

interface Posted {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Record<string, string> };
  readonly delivery: WebhookDelivery;
}

const posts: Posted[] = [];
const logged: string[] = [];
const queued = { webhooks: [] as unknown[], dead: [] as unknown[] };
/** The answers of the receiver, one after the other; then 200. */
const answers: Array<Response | Error> = [];

beforeEach(() => {
  for (const list of [posts, logged, answers, queued.webhooks, queued.dead]) list.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (url, init) => {
    const delivery = JSON.parse(init!.body as string) as WebhookDelivery;
    posts.push({ url: (url as URL).href, init: init as Posted["init"], delivery });
    const answer = answers.shift() ?? new Response("thanks");
    if (answer instanceof Error) throw answer;
    return answer;
  });
  for (const method of ["log", "warn", "error"] as const)
    vi.spyOn(console, method).mockImplementation((...line: unknown[]) => void logged.push(line.join(" ")));
});
afterEach(() => vi.restoreAllMocks());

function event(room: string, at: number): WebhookEvent {
  const message = { id: `${room}-${at}`, seq: at, room, sender: "ada", name: "Ada", content: "psst", timestamp: at };
  return { id: `${room}-${at}.posted`, type: "message.posted", room, at, order: at * 4, data: { message } };
}

const bodyOf = (room: string, ...at: number[]): WebhookBatch => ({ room, events: at.map((ms) => event(room, ms)) });

function circular(): object {
  const data: { self?: object } = {};
  data.self = data;
  return data;
}

interface Circumstances {
  readonly attempts?: number;
  readonly queue?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
}

async function consume(
  bodies: readonly unknown[],
  { attempts = 1, queue = "parley-webhooks", settings = {} }: Circumstances = {},
) {
  const messages = bodies.map((body, i) => ({ id: `m${i}`, timestamp: new Date(), attempts, body }));
  const batch = createMessageBatch(queue, messages);
  const variables = {
    ...env,
    WEBHOOK_URL: URL_WITH_KEYS,
    WEBHOOK_SECRET: SECRET,
    WEBHOOKS: { send: async (...sent: unknown[]) => void queued.webhooks.push(sent) },
    WEBHOOKS_DEAD: { send: async (...sent: unknown[]) => void queued.dead.push(sent) },
    ...settings,
  } as unknown as typeof env;
  const delays: Array<number | undefined> = [];
  for (const each of [batch, ...batch.messages]) noteDelays(each, delays);
  await worker.queue(batch, variables);
  return { ...(await getQueueResult(batch, createExecutionContext())), delays };
}

/** Notes the delays of retries, which the platform's result does not contain. */
function noteDelays(target: object, delays: Array<number | undefined>): void {
  const method = "retry" in target ? "retry" : "retryAll";
  const retrier = target as Record<string, (options?: QueueRetryOptions) => void>;
  const original = retrier[method]!.bind(target);
  const noted = (options?: QueueRetryOptions): void => {
    delays.push(options?.delaySeconds);
    original(options);
  };
  Object.defineProperty(target, method, { value: noted });
}

const answer = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });

/** As a receiver would compute it: docs/webhooks.md. */
async function signatureOf(timestamp: string, body: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(SECRET), algorithm, false, ["sign"]);
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(`${timestamp}.${body}`)));
  return `v1=${[...signed].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

describe("a delivery", () => {
  it("HOOK-7: is one signed POST for the batch, with our user agent", async () => {
    const result = await consume([bodyOf("a", 1, 2), bodyOf("b", 1)]);
    expect(result.explicitAcks).toEqual(["m0", "m1"]);
    expect(posts).toHaveLength(1);
    const { url, init } = posts[0]!;
    expect(url).toBe("https://hooks.example.com/parley?key=k3y");
    expect(init).toMatchObject({ method: "POST", redirect: "manual" });
    const { headers } = init;
    expect(headers).toMatchObject({
      "Content-Type": "application/json",
      "User-Agent": `Parley/${VERSION}`,
      "Parley-Delivery": expect.stringMatching(/^[0-9a-f-]{36}$/),
      Authorization: `Basic ${btoa(unescape(encodeURIComponent("robot:s3crét")))}`,
    });
    const timestamp = headers["Parley-Timestamp"]!;
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(60);
    expect(headers["Parley-Signature"]).toBe(await signatureOf(timestamp, init.body as string));
  });

  it("HOOK-8: has the events of a room in order, though the queue reordered them", async () => {
    await consume([bodyOf("a", 5, 6), bodyOf("b", 2), bodyOf("a", 3, 4), bodyOf("a", 1)]);
    const { events } = posts[0]!.delivery;
    expect(events.filter(({ room }) => room === "a").map(({ at }) => at)).toEqual([1, 3, 4, 5, 6]);
    expect(events).toHaveLength(6);
  });
});

describe("a failing receiver", () => {
  it.each([301, 404, 408, 429, 500])("HOOK-9: that answers %i is retried", async (status) => {
    answers.push(answer(status, { Location: "http://169.254.169.254/" }));
    const result = await consume([bodyOf("a", 1), bodyOf("b", 1)]);
    expect(result.explicitAcks).toEqual([]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(["m0", "m1"]);
    for (const delay of result.delays) expect(delay).toBeOneOf([3, 4, 5]);
    expect(posts).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toEqual({
      level: "warn",
      event: "webhook.retry",
      reason: `answered ${status}`,
      messages: 2,
      events: 2,
      rooms: ["a", "b"],
      attempts: 1,
    });
  });

  it.each([
    ["warn", ["webhook.retry"]],
    ["error", []],
  ])("is logged where LOG_LEVEL is %s: %j", async (LOG_LEVEL, events) => {
    answers.push(answer(500));
    await consume([bodyOf("a", 1)], { settings: { LOG_LEVEL } });
    expect(logged.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(events);
  });

  it("HOOK-9: is retried with doubled waits and jitter, at least once an hour", async () => {
    for (const [attempts, secondsMax] of [
      [1, 5],
      [2, 10],
      [5, 80],
      [10, 2560],
      [12, 3600],
    ] as const) {
      answers.push(answer(500));
      const [delay] = (await consume([bodyOf("a", 1)], { attempts })).delays;
      expect(delay).toBeLessThanOrEqual(secondsMax);
      expect(delay).toBeGreaterThanOrEqual(secondsMax / 2);
    }
  });

  it("HOOK-9: is retried after its own Retry-After", async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    answers.push(answer(429, { "Retry-After": "77" }), answer(503, { "Retry-After": inAMinute }));
    answers.push(answer(503, { "Retry-After": "9999999" }), answer(503, { "Retry-After": "soon" }));
    const delays: Array<number | undefined> = [];
    for (let i = 0; i < 4; i++) delays.push(...(await consume([bodyOf("a", 1)])).delays);
    const [seconds, date, tooLong, nonsense] = delays;
    expect(seconds).toBe(77);
    expect(Math.abs(date! - 60)).toBeLessThanOrEqual(10);
    expect(tooLong).toBe(43_200);
    expect(nonsense).toBeLessThanOrEqual(5);
  });

  it("HOOK-9: is retried where it is unreachable or too slow", async () => {
    answers.push(new TypeError(`connect ${URL_WITH_KEYS} refused`), new DOMException("too long", "TimeoutError"));
    const results = [await consume([bodyOf("a", 1)]), await consume([bodyOf("a", 1)])];
    expect(results.map(({ retryMessages }) => retryMessages.length)).toEqual([1, 1]);
    const reasons = logged.map((line) => (JSON.parse(line) as { reason: string }).reason);
    expect(reasons).toEqual(["not reachable", "no answer within 10000 ms"]);
  });
});

describe("a dead letter", () => {
  it.each([400, 410, 413, 415, 422])("HOOK-10: after %i is the one message that causes it, at once", async (status) => {
    answers.push(answer(status), answer(200), answer(status), answer(500));
    const bodies = [bodyOf("good", 1), bodyOf("bad", 1), bodyOf("later", 1)];
    const result = await consume(bodies);
    expect(posts.map(({ delivery }) => delivery.events.length)).toEqual([3, 1, 1, 1]);
    expect(result.explicitAcks).toEqual(["m0", "m1"]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(["m2"]);
    expect(queued.dead).toEqual([[bodies[1]]]);
    expect(JSON.parse(logged[0]!)).toMatchObject({
      event: "webhook.dead",
      reason: `answered ${status}`,
      rooms: ["bad"],
    });
  });

  /** Put there by hand: no room sends these. */
  const STRANGE: ReadonlyArray<readonly [string, unknown]> = [
    ["nothing", null],
    ["a text", "hello"],
    ["no events", { room: "a" }],
    ["none in its list", { room: "a", events: [] }],
    ["an event that is none", { room: "a", events: [null] }],
    ["an event without an order", { room: "a", events: [{ ...event("a", 1), order: undefined }] }],
    ["no room", { events: [event("a", 1)] }],
    ["an odd length", { room: { length: { toString: 1 } }, events: [] }],
    ["what JSON cannot say", { room: "a", events: [{ ...event("a", 1), data: { count: 1n } }] }],
    ["what refers to itself", { room: "a", events: [{ ...event("a", 1), data: circular() }] }],
  ];
  it.each(STRANGE)("HOOK-10: is %s after the last try; the rest of the batch is delivered", async (_what, strange) => {
    const result = await consume([bodyOf("a", 1), strange, bodyOf("a", 2)]);
    expect(posts.map(({ delivery }) => delivery.events.map(({ at }) => at))).toEqual([[1, 2]]);
    expect(result.explicitAcks).toEqual(["m0", "m2"]);
    expect(result.retryMessages.map(({ msgId }) => msgId)).toEqual(["m1"]);
    const facts = { reason: "it is not shaped like what rooms send", messages: 1, events: 0, rooms: [] };
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      { level: "warn", event: "webhook.retry", ...facts, attempts: 1 },
    ]);
    await consume([strange], { attempts: TRIES_MAX });
    expect(JSON.parse(logged.at(-1)!)).toEqual({ level: "warn", event: "webhook.dead", ...facts, attempts: TRIES_MAX });
    expect([posts.length, queued.dead]).toEqual([1, []]);
  });

  it("HOOK-10: is logged after the last try, and moved by the platform", async () => {
    answers.push(answer(500));
    const result = await consume([bodyOf("a", 1, 2)], { attempts: TRIES_MAX });
    expect(result.retryMessages).toHaveLength(1);
    expect(JSON.parse(logged[0]!)).toMatchObject({ event: "webhook.dead", events: 2, attempts: TRIES_MAX });
  });

  it("HOOK-10: is queued again where this Worker consumes the dead letters", async () => {
    const bodies = [bodyOf("a", 1), bodyOf("b", 1)];
    const result = await consume(bodies, { queue: "parley-webhooks-dead" });
    expect(queued.webhooks).toEqual(bodies.map((body) => [body, { delaySeconds: 30 }]));
    expect(result.explicitAcks).toEqual(["m0", "m1"]);
    expect(posts).toEqual([]);
  });

  it("HOOK-10: is dropped where it is not shaped like events", async () => {
    const result = await consume([{ n: 1n }, bodyOf("a", 1), "hello"], { queue: "parley-webhooks-dead" });
    expect(queued.webhooks).toEqual([[bodyOf("a", 1), { delaySeconds: 30 }]]);
    expect(result.explicitAcks.toSorted()).toEqual(["m0", "m1", "m2"]);
    expect(JSON.parse(logged[0]!)).toMatchObject({ event: "webhook.dropped", messages: 2 });
  });
});

describe("a set-up", () => {
  it("HOOK-6: without WEBHOOK_URL drops the rest of the queue, and logs that", async () => {
    const settings = { WEBHOOK_URL: undefined, WEBHOOKS_DEAD: undefined };
    const result = await consume([bodyOf("a", 1), "strange"], { settings });
    expect([result.ackAll, posts.length]).toEqual([true, 0]);
    expect(JSON.parse(logged[0]!)).toMatchObject({ event: "webhook.dropped", messages: 2, events: 1 });
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ["an address that is none", { WEBHOOK_URL: "ftp://example.com" }, /WEBHOOK_URL: must be an http or https URL/],
    ["no secret", { WEBHOOK_SECRET: undefined }, /WEBHOOK_SECRET: is missing/],
    ["no queue", { WEBHOOKS: undefined }, /WEBHOOK_URL: needs the queue binding WEBHOOKS,/],
    ["no queue for dead letters", { WEBHOOKS_DEAD: undefined }, /needs the queue binding WEBHOOKS_DEAD/],
  ])("HOOK-6: with %s refuses to work, and everything waits", async (_what, settings, problem) => {
    const result = await consume([bodyOf("a", 1)], { settings });
    expect(result).toMatchObject({ retryBatch: { retry: true }, delays: [60] });
    expect(posts).toEqual([]);
    expect(logged.join("\n")).toMatch(problem);
  });

  it("refuses an unknown queue", async () => {
    await expect(consume([1], { queue: "parley-unheard-of" })).rejects.toThrow(
      "no consumer for the queue parley-unheard-of",
    );
  });
});

it("HOOK-7: no log line contains the secret, keys of the address or contents", async () => {
  answers.push(answer(500), answer(410), new Error(URL_WITH_KEYS));
  for (let i = 0; i < 3; i++) await consume([bodyOf("a", 1)]);
  await consume([bodyOf("a", 1)], { settings: { WEBHOOKS: undefined } });
  expect(logged.length).toBeGreaterThanOrEqual(4);
  expect(logged.join("\n")).not.toMatch(/only-we-two-know|s3cr|k3y|robot|psst/);
});
