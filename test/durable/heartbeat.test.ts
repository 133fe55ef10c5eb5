// Heartbeats across sleep, with real alarms: the server pings, the runtime hears the pongs.
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { expect, it, vi } from "vitest";

import { callApi } from "./api-caller.ts";
import type { RawClient } from "./raw-client.ts";
import { alarmOf, freshRoom, isArmed, join, Sleeper, stubOf, useSettings } from "./rooms.ts";

/** Long enough for the room to leave the waiting to its alarm. */
const PING_INTERVAL_MS = 2500;
const PING_TIMEOUT_MS = 8000;
useSettings({ PING_INTERVAL_MS: String(PING_INTERVAL_MS), PING_TIMEOUT_MS: String(PING_TIMEOUT_MS) });

const pings = (client: RawClient, count: number): Promise<true> =>
  client.until(`${count} pings`, () => client.pings >= count || undefined);

it.concurrent("stock clients stay connected through five intervals with a sleep in each: EIO-7", async () => {
  const room = freshRoom();
  const sleeper = new Sleeper(room);
  const startMs = Date.now();
  const members = [await join(room, "ada"), await join(room, "ben")];
  for (let beat = 1; beat <= 5; beat++) {
    // Asleep with an alarm, which wakes it.
    await isArmed(room);
    await sleeper.sleep();
    for (const member of members) await pings(member, beat);
    // Neither the report nor nothing, though it came a moment before the heartbeat was due.
    const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
    expect(body.awake).toMatchObject({ cause: "alarm", detail: "ping" });
  }
  const [ada, ben] = members as [RawClient, RawClient];
  expect(await ada.ask("chat-message", { content: "still here" })).toMatchObject({ ok: true, seq: 1 });
  await ben.receives("chat-message");
  expect([ada.closed, ben.closed]).toEqual([undefined, undefined]);
  expect(sleeper.instances).toBe(5);
  // Regular, and not a storm: an interval, a ping.
  expect(ada.pings).toBeLessThanOrEqual((Date.now() - startMs) / PING_INTERVAL_MS + 2);
});

it.concurrent("a client that answers no ping is disconnected, before and after a sleep, and the others receive its leave", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  const ghost = await join(room, "ghost", { answersPings: false });
  await isArmed(room);
  await new Sleeper(room).sleep();
  expect(await ghost.closes()).toEqual({ code: 4002, reason: "ping timeout" });
  const changes = await ada.until("the ghost's leaving", () => {
    const left = ada.received<{ left: Array<{ user: string }> }>("presence").flatMap((change) => change.left);
    return left.length > 0 ? left : undefined;
  });
  expect(changes).toEqual([{ user: "ghost" }]);
  expect(ada.closed).toBeUndefined();
});

it.concurrent("the runtime answers a pong with a noop, and the room sleeps on: EIO-7", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await new Sleeper(room).sleep();
  ada.send("3");
  await ada.until("the noop", () => ada.frames.includes("6") || undefined);
  // Only a running object can be put to sleep.
  await expect(evictDurableObject(stubOf(room))).rejects.toThrow();
});

it.concurrent("an alarm that is run by hand pings only the sessions that are due", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isArmed(room);
  expect(await runDurableObjectAlarm(stubOf(room))).toBe(true);
  expect(await ada.ask("presence", {})).toMatchObject({ count: 1 });
  expect(ada.pings).toBe(0);
  await pings(ada, 1);
});

it.concurrent("there is one alarm per interval, regardless of the traffic", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isArmed(room);
  const armed = await alarmOf(room);
  expect(armed! - Date.now()).toBeLessThanOrEqual(PING_INTERVAL_MS);
  const posts = Array.from({ length: 5 }, (_, i) => ada.ask("chat-message", { content: `${i}` }));
  await Promise.all(posts);
  expect(await alarmOf(room)).toBe(armed);
});

it.concurrent("an empty room sets no further alarm after its last one", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await isArmed(room);
  ada.close();
  await vi.waitFor(async () => expect(await alarmOf(room)).toBeNull());
  expect(await runDurableObjectAlarm(stubOf(room))).toBe(false);
});
