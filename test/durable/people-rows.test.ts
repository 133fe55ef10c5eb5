// The rows that presence and reading write: stored values, and alarms.
import { expect, it, vi } from "vitest";

import { departuresTo, enter } from "./people.ts";
import { alarmOf, freshRoom, isAtRest, join, useSettings } from "./rooms.ts";
import { rowsWritten } from "./rows-written.ts";

// No heartbeat becomes due while rows are counted, however slow the machine is.
useSettings({ PING_INTERVAL_MS: "600000" });

/** An alarm later than this is the heartbeat's: an undecided CONNECT, the report to the lobby and a grace period end sooner. */
const REST_MS_MIN = 150_000;

/** Waits until nothing else is due soon, with the alarm set. */
async function calm(room: string): Promise<void> {
  await vi.waitFor(async () => expect(await alarmOf(room)).toBeGreaterThan(Date.now() + REST_MS_MIN));
}

/** The rows that a room writes during `life`, until it is at rest again. */
async function cost(room: string, life: () => Promise<unknown>) {
  await isAtRest(room, REST_MS_MIN);
  let tookMs = 0;
  const { rows, alarms } = await rowsWritten(room, async () => {
    const startMs = performance.now();
    await life();
    await calm(room);
    tookMs = performance.now() - startMs;
  });
  return { values: rows - alarms, alarms, tookMs };
}

/** What happens at once costs less, and a minute later the room reports it to the lobby: on a slow machine, tries again in another room. */
async function costWithin(maxMs: number, life: (room: string) => Promise<Awaited<ReturnType<typeof cost>>>) {
  for (;;) {
    const { tookMs, ...counted } = await life(freshRoom());
    if (tookMs < maxMs) return counted;
  }
}

it.concurrent("reading writes one row for all users who read within five seconds", async () => {
  const rows = await costWithin(1000, async (room) => {
    const readers = await enter(room, "ada", "ben", "cleo");
    for (let i = 0; i < 4; i++) await readers[0]!.ask("chat-message", { content: `${i}` });
    return cost(room, async () => {
      // At once: a slow machine would make pauses of them, and after a second of quiet a room sets an alarm.
      await Promise.all([1, 2, 3, 4].flatMap((seq) => readers.map((reader) => reader.ask("read", { seq }))));
    });
  });
  expect(rows).toEqual({ values: 1, alarms: 0 });
});

it.concurrent("users who leave together cost an alarm, the heartbeat's that it puts off, and a row for their read marks", async () => {
  // The grace period is five seconds.
  const rows = await costWithin(8000, async (room) => {
    const [ada, ben, cleo] = await enter(room, "ada", "ben", "cleo");
    for (let i = 0; i < 2; i++) await ada!.ask("chat-message", { content: `${i}` });
    for (const reader of [ada!, ben!, cleo!]) await reader.ask("read", { seq: 2 });
    return cost(room, async () => {
      ben!.close();
      cleo!.close();
      await ada!.until("the farewells", () => departuresTo(ada!).length === 2 || undefined);
    });
  });
  expect(rows).toEqual({ values: 1, alarms: 2 });
});

it.concurrent("a reload costs the same two alarms", async () => {
  const reload = await costWithin(2000, async (room) => {
    const [, ben] = await enter(room, "ada", "ben");
    return cost(room, async () => {
      ben!.close();
      // Long enough for the alarm of the grace period to be set.
      await vi.waitFor(async () => expect(await alarmOf(room)).toBeLessThan(Date.now() + REST_MS_MIN));
      await join(room, "ben");
    });
  });
  expect(reload).toEqual({ values: 0, alarms: 2 });
});
