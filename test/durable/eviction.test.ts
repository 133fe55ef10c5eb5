// A room that sleeps between any two steps, or dies, with real alarms: its members notice no sleep, and come back after a crash.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import type { Message, Welcome } from "../../src/protocol/chat-events.ts";
import { departuresTo, enter } from "./people.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, join, Sleeper, stubOf, tokenFor } from "./rooms.ts";

describe.concurrent("a room that sleeps", () => {
  it("between every step of two members who chat: CHAT-2", async () => {
    const room = freshRoom();
    const [ada, ben] = (await enter(room, "ada", "ben")) as [RawClient, RawClient];
    const sleeper = new Sleeper(room);
    const steps = 6;
    for (let seq = 1; seq <= steps; seq++) {
      await sleeper.sleep();
      const [speaker, listener] = seq % 2 ? [ada, ben] : [ben, ada];
      expect(await speaker.ask("chat-message", { content: `message ${seq}` })).toMatchObject({ ok: true, seq });
      await listener.receives("chat-message", seq);
    }
    for (const client of [ada, ben]) {
      const messages = client.received<Message>("chat-message");
      expect(messages.map(({ seq, sender, content }) => [seq, sender, content])).toEqual(
        Array.from({ length: steps }, (_, i) => [i + 1, i % 2 ? "ben" : "ada", `message ${i + 1}`]),
      );
      expect(new Set(messages.map(({ id }) => id)).size).toBe(steps);
      expect(client.closed).toBeUndefined();
    }
    await sleeper.see();
    expect(sleeper.instances).toBe(steps + 1);
  });

  it("lets a session in that had not sent CONNECT: SIO-1", async () => {
    const room = freshRoom();
    const late = await RawClient.open({ room });
    await new Sleeper(room).sleep();
    await late.connect({ token: await tokenFor("late") });
    expect(await late.receives("welcome")).toHaveLength(1);
  });

  it("sends the leave of a member who left before, by the room's own alarm: PRES-4", async () => {
    const room = freshRoom();
    const [ada, ben] = await enter(room, "ada", "ben");
    ben!.close();
    await vi.waitFor(async () =>
      expect(await ada!.ask("presence", {})).toMatchObject({
        count: 2,
        members: [{}, { user: "ben", connections: 0 }],
      }),
    );
    await new Sleeper(room).sleep();
    await ada!.until("the farewell", () => departuresTo(ada!).includes("ben") || undefined);
    expect(await ada!.ask("presence", {})).toMatchObject({ count: 1 });
  });
});

it("a room that died is empty: PRES-5", async () => {
  const room = freshRoom();
  const [ada, ben] = await enter(room, "ada", "ben");
  const died = runInDurableObject(stubOf(room), (_instance, state) => state.abort("died in a test"));
  await expect(died).rejects.toThrow();
  for (const client of [ada!, ben!]) await client.closes();
  const again = await join(room, "ada");
  expect(again.received<Welcome>("welcome")[0]!.presence.count).toBe(1);
  expect(await again.ask("presence", {})).toMatchObject({ count: 1, members: [{ user: "ada", connections: 1 }] });
});
