// What presence, typing and reading cost in rows: values that are stored, and alarms that are set.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { departuresTo, enter } from "./people.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, stubOf } from "./rooms.ts";

const entered: RawClient[] = [];
const writes = { values: 0, alarms: 0 };

/** Counts what the objects of this file write from now on. */
beforeEach(async () => {
  await runInDurableObject(stubOf(freshRoom()), (_instance, { storage }) => {
    const count = (kind: keyof typeof writes, owner: object, ...methods: string[]): void => {
      for (const method of methods) {
        const calls = owner as Record<string, (...args: unknown[]) => unknown>;
        const original = calls[method]!;
        vi.spyOn(calls, method).mockImplementation(function (this: unknown, ...args) {
          writes[kind]++;
          return original.apply(this, args);
        });
      }
    };
    count("values", Object.getPrototypeOf(storage.kv) as object, "put", "delete");
    count("alarms", Object.getPrototypeOf(storage) as object, "setAlarm");
  });
  Object.assign(writes, { values: 0, alarms: 0 });
});
afterEach(() => {
  // Rooms of one test must not go on beating in the next.
  for (const client of entered.splice(0)) client.close();
  vi.restoreAllMocks();
});

async function enterFor(room: string, ...users: string[]): Promise<RawClient[]> {
  const clients = await enter(room, ...users);
  entered.push(...clients);
  return clients;
}

/** Waits until nothing is due before the next heartbeat, and its alarm is set. */
async function calm(room: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const alarmAtMs = await runInDurableObject(stubOf(room), (_instance, { storage }) => storage.getAlarm());
      expect(alarmAtMs).toBeGreaterThan(Date.now() + 20_000);
    },
    { timeout: 5000 },
  );
}

/** What `life` writes, until the room is calm again. */
async function cost(room: string, life: () => Promise<unknown>): Promise<typeof writes> {
  await calm(room);
  Object.assign(writes, { values: 0, alarms: 0 });
  await life();
  await calm(room);
  return { ...writes };
}

it("typing writes nothing", async () => {
  const room = freshRoom();
  const [ada, ben] = await enterFor(room, "ada", "ben");
  const rows = await cost(room, async () => {
    for (const on of [true, true, false, true]) await ada!.ask("typing", { on });
    await ben!.receives("typing", 4);
  });
  expect(rows).toEqual({ values: 0, alarms: 0 });
});

it("reading writes one row for all who read within five seconds", async () => {
  const room = freshRoom();
  const readers = await enterFor(room, "ada", "ben", "cleo");
  for (let i = 0; i < 4; i++) await readers[0]!.ask("chat-message", { content: `${i}` });
  const rows = await cost(room, async () => {
    for (const seq of [1, 2, 3, 4]) for (const reader of readers) await reader.ask("read", { seq });
  });
  expect(rows).toEqual({ values: 1, alarms: 0 });
});

it("those who leave at once cost an alarm, the heartbeat's that it puts off, and a row for what they read", async () => {
  const room = freshRoom();
  const [ada, ben, cleo] = await enterFor(room, "ada", "ben", "cleo");
  for (let i = 0; i < 2; i++) await ada!.ask("chat-message", { content: `${i}` });
  for (const reader of [ada!, ben!, cleo!]) await reader.ask("read", { seq: 2 });
  const rows = await cost(room, async () => {
    ben!.close();
    cleo!.close();
    await ada!.until("the farewells", () => departuresTo(ada!).length === 2 || undefined);
  });
  expect(rows).toEqual({ values: 1, alarms: 2 });
});

it("a reload costs the same two alarms", async () => {
  const room = freshRoom();
  const [, ben] = await enterFor(room, "ada", "ben");
  const reload = await cost(room, async () => {
    ben!.close();
    // Long enough for the alarm of the grace to be set.
    await vi.waitFor(async () => expect(writes.alarms).toBe(1), { timeout: 5000 });
    entered.push(await join(room, "ben"));
  });
  expect(reload).toEqual({ values: 0, alarms: 2 });
});
