// Heartbeats across sleep, with real alarms: the server pings, the runtime hears the pongs.
import { runDurableObjectAlarm } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { callApi } from "./api-caller.ts";
import type { RawClient } from "./raw-client.ts";
import { alarmOf, freshRoom, isArmed, join, Sleeper, stubOf, useSettings } from "./rooms.ts";

/** Long enough for the room to leave the waiting to its alarm. */
const PING_INTERVAL_MS = 2500;
const PING_TIMEOUT_MS = 60_000;
const INTERVALS = 2;
useSettings({ PING_INTERVAL_MS: String(PING_INTERVAL_MS), PING_TIMEOUT_MS: String(PING_TIMEOUT_MS) });

const pings = (client: RawClient, count: number): Promise<true> =>
  client.until(`${count} pings`, () => client.pings >= count || undefined);

it.concurrent("stock clients stay connected through some intervals with a sleep in each: EIO-7", async () => {
  const room = freshRoom();
  const sleeper = new Sleeper(room);
  const startMs = Date.now();
  const members = [await join(room, "ada"), await join(room, "ben")];
  let beats = 0;
  while (beats < INTERVALS) {
    const seen = Math.max(...members.map((member) => member.pings));
    // Asleep with an alarm, which wakes it.
    await isArmed(room);
    await sleeper.sleep();
    for (const member of members) await pings(member, seen + 1);
    const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
    // On a slow machine the ping may have come before the sleep: then the next one has to wake the room.
    if (body.awake?.cause === "call") continue;
    // Neither the report nor nothing, though it came a moment before the heartbeat was due.
    expect(body.awake).toMatchObject({ cause: "alarm", detail: "ping" });
    beats++;
  }
  const [ada, ben] = members as [RawClient, RawClient];
  expect(await ada.ask("chat-message", { content: "still here" })).toMatchObject({ ok: true, seq: 1 });
  await ben.receives("chat-message");
  expect([ada.closed, ben.closed]).toEqual([undefined, undefined]);
  // Regular, and not a storm: an interval, a ping.
  expect(ada.pings).toBeLessThanOrEqual((Date.now() - startMs) / PING_INTERVAL_MS + 2);
});

it.concurrent("there is one alarm per interval, regardless of the traffic", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isArmed(room);
  const armed = await alarmOf(room);
  expect(armed! - Date.now()).toBeLessThanOrEqual(PING_INTERVAL_MS);
  const posts = Array.from({ length: 5 }, (_, i) => ada.ask("chat-message", { content: `${i}` }));
  await Promise.all(posts);
  const now = await alarmOf(room);
  // Unless all of this took longer than the interval: then the alarm has gone off.
  if (now !== armed) expect(Date.now()).toBeGreaterThanOrEqual(armed!);
});

it.concurrent("an empty room sets no further alarm after its last one", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isArmed(room);
  ada.close();
  await vi.waitFor(async () => expect(await alarmOf(room)).toBeNull());
  expect(await runDurableObjectAlarm(stubOf(room))).toBe(false);
});
