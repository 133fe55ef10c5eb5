// The clock of parley-rooms/testing: objects of any application live by it, their clients' pongs included.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it } from "vitest";

import { alarmOf, evict, TestClock } from "../../kit/testing.ts";
import { RawClient } from "../raw-client.ts";
import { serving } from "./worker.ts";

const fetcher = serving(env.SKETCH);
let clock: TestClock;
beforeEach(() => void (clock = new TestClock()));
afterEach(() => clock.stop());

async function enter(room: string, answersPings: boolean): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher, answersPings });
  await client.connect();
  return client;
}

it.each([
  ["in steps", Array.from({ length: 12 }, () => 10_000)],
  ["back and ahead", [-60_000, 180_000]],
])("a client that answers pings stays, another one goes: %s", async (way, steps) => {
  const room = `clock-${way.replaceAll(" ", "-")}`;
  const sketch = env.SKETCH.getByName(room);
  const [ada, silent] = [await enter(room, true), await enter(room, false)];
  for (const ms of steps) await clock.advance(ms, sketch);
  expect(await silent.closes()).toMatchObject({ reason: "ping timeout" });
  expect(ada.closed).toBeUndefined();
  await evict(sketch);
  await clock.advance(150_000, sketch);
  expect(await ada.ask("whoami")).toBeDefined();
  expect(ada.pings).toBeGreaterThan(5);
});

it("an interval runs once in each period, through the sleep of its object", async () => {
  const room = "clock-beats";
  const sketch = env.SKETCH.getByName(room);
  const ada = await enter(room, true);
  await ada.enter("/beats");
  const beats = (): number => ada.frames.filter((frame) => frame === '42/beats,["beat"]').length;
  // Into the middle of a period: where the true time stands in one, and what the test itself takes, moves no beat past its end.
  for (let steps = 0; beats() === 0 && steps < 12; steps++) await clock.advance(5000, sketch);
  await clock.advance(25_000, sketch);
  expect(beats()).toBe(1);
  for (const periods of [1, 2, 3]) {
    await evict(sketch);
    await clock.advance(60_000, sketch);
    await ada.until("a beat", () => beats() > periods || undefined);
    expect(beats()).toBe(periods + 1);
  }
  await evict(sketch);
  await clock.advance(1000, sketch);
  expect(beats()).toBe(4);
});

it("moves by exactly the time given, and leaves alarms for later that are not due", async () => {
  const room = "clock-exact";
  const ada = await enter(room, true);
  const beforeMs = Date.now();
  await clock.advance(5000, env.SKETCH.getByName(room));
  expect(clock.aheadMs).toBe(5000);
  expect(Date.now() - beforeMs).toBeGreaterThanOrEqual(5000);
  expect(await alarmOf(env.SKETCH.getByName(room))).toBeGreaterThan(Date.now());
  expect(ada.pings).toBe(0);
});
