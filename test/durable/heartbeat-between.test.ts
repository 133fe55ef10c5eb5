// Tests of a room between two heartbeats, with an interval that no test outlasts: pongs, and an alarm that rings early.
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { expect, it } from "vitest";

import { freshRoom, isArmed, join, Sleeper, stubOf, useSettings } from "./rooms.ts";

useSettings({ PING_INTERVAL_MS: "240000" });

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
  await isArmed(room);
});
