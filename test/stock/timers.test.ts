// Tests of the timers of an application: the log names the first interval that outlives the last client, with its place, and what a timer throws.
import { promisify } from "node:util";

import { afterEach, beforeEach, expect, it } from "vitest";

import { QUIET_MS, Timers } from "../../src/stock/timers.ts";

let reports: Array<{ problem: string; place: Error }>;
let nowMs: number;
let failures: unknown[];
let application: Timers;
let timers: Array<ReturnType<typeof setInterval>>;

beforeEach(() => {
  [reports, failures, nowMs, timers] = [[], [], 1_000_000, []];
  application = new Timers({
    now: () => nowMs,
    report: (problem, place) => void reports.push({ problem, place }),
    failed: (error) => void failures.push(error),
  });
});
afterEach(() => timers.forEach((timer) => clearInterval(timer)));

/** Lets each interval of a millisecond run some times. */
async function pass(): Promise<void> {
  let runs = 0;
  const timer = setInterval(() => runs++, 1);
  await expect.poll(() => runs).toBeGreaterThan(5);
  clearInterval(timer);
}

function set(callback: () => void = () => {}): void {
  timers.push(setInterval(callback, 1));
}

async function leaveBehind(): Promise<void> {
  application.onPresence(true);
  application.onPresence(false);
  nowMs += QUIET_MS;
  await pass();
}

it.each([
  ["at once", () => set()],
  ["after a while", () => void Promise.resolve().then(() => set())],
  ["when a packet is handled, a tick later", () => process.nextTick(set)],
  ["by another timer", () => void setTimeout(set, 0)],
])("one that was set %s is named once, with its place", async (_when, code) => {
  application.run(code);
  await pass();
  await leaveBehind();
  expect(reports.map(({ problem }) => problem)).toEqual([
    "an interval of 1 ms runs on without clients: the object never sleeps, and is billed",
  ]);
  expect(reports[0]!.place.stack).toContain("timers.test.ts");
});

it("in an object that sleeps, one is named that runs on while nothing happens, also with clients", async () => {
  const ports = { now: () => nowMs, failed: () => {}, sleeps: true };
  application = new Timers({ ...ports, report: (problem, place) => void reports.push({ problem, place }) });
  application.run(set);
  application.onPresence(true);
  application.onInput();
  nowMs += QUIET_MS - 1;
  await pass();
  expect(reports).toEqual([]);
  nowMs += 1;
  await pass();
  expect(reports.map(({ problem }) => problem)).toEqual([
    "an interval of 1 ms runs on while nothing happens: the object never sleeps, and is billed",
  ]);
});

it("one is not named before there was a client, while there are some, and soon after the last one", async () => {
  application.run(set);
  nowMs += 10 * QUIET_MS;
  await pass();
  application.onPresence(true);
  nowMs += 10 * QUIET_MS;
  await pass();
  application.onPresence(false);
  nowMs += QUIET_MS - 1;
  await pass();
  application.onPresence(true);
  nowMs += QUIET_MS;
  await pass();
  expect(reports).toEqual([]);
});

it("one that ends with the last client is not named, nor one of other code", async () => {
  application.run(() => clearInterval(setInterval(() => {}, 1)));
  set();
  await leaveBehind();
  expect(reports).toEqual([]);
});

it("one runs as without a watch: with its arguments, until it is cleared", async () => {
  const came: unknown[] = [];
  const timer = application.run(() => setInterval((...args: unknown[]) => void came.push(args), 1, "one", 2));
  await expect.poll(() => came.length).toBeGreaterThan(2);
  clearInterval(timer);
  const count = came.length;
  await pass();
  expect([came[0], came.length]).toEqual([["one", 2], count]);
});

const error = new Error("broken");
const fail = (): never => {
  throw error;
};

it.each([
  ["a timeout", () => void setTimeout(fail, 0)],
  ["an interval", set.bind(undefined, fail)],
  ["an immediate", () => void setImmediate(fail)],
])("what %s throws is reported, and ends nothing", async (_what, code) => {
  application.run(code);
  await expect.poll(() => failures).toContain(error);
});

it("timers are as Node has them: with their arguments, `this`, and a form for `util.promisify`", async () => {
  const timer = await new Promise((resolve) =>
    application.run(() => {
      const own: unknown = setTimeout(
        function (this: unknown, ...args: unknown[]) {
          resolve([this === own, ...args]);
        },
        0,
        "one",
        2,
      );
    }),
  );
  expect(timer).toEqual([true, "one", 2]);
  expect(await application.run(() => promisify(setTimeout)(0, "value"))).toBe("value");
});
