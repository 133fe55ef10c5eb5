// Presence and reading in real objects, through sleep and crashes.
import { runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import type { Welcome } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { departuresTo, enter } from "./people.ts";
import { freshRoom, join, Sleeper, stubOf } from "./rooms.ts";

const welcomeOf = (client: RawClient): Welcome => client.received<Welcome>("welcome")[0]!;

describe.concurrent("presence", () => {
  it("sends the leave of a member who left before a sleep, by the room's own alarm: PRES-4", async () => {
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

  it("is empty after a crash: PRES-5", async () => {
    const room = freshRoom();
    const [ada, ben] = await enter(room, "ada", "ben");
    const died = runInDurableObject(stubOf(room), (_instance, state) => state.abort("died in a test"));
    await expect(died).rejects.toThrow();
    for (const client of [ada!, ben!]) await client.closes();
    const again = await join(room, "ada");
    expect(welcomeOf(again).presence.count).toBe(1);
    expect(await again.ask("presence", {})).toMatchObject({ count: 1, members: [{ user: "ada", connections: 1 }] });
  });
});

describe.concurrent("reading", () => {
  it("survives sleep, and the reader's leave: READ-4", async () => {
    const room = freshRoom();
    const [ada, ben] = await enter(room, "ada", "ben");
    for (let i = 0; i < 4; i++) await ada!.ask("chat-message", { content: `${i}` });
    for (const seq of [1, 2, 3]) expect(await ben!.ask("read", { seq })).toEqual({ ok: true });
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    expect(await ada!.ask("read-marks", {})).toEqual({ ok: true, marks: [{ user: "ben", seq: 3 }] });
    ben!.close();
    await sleeper.sleep();
    expect(welcomeOf(await join(room, "ben"))).toMatchObject({ readSeq: 3, unread: 1 });
    expect(ada!.received("read").at(-1)).toEqual({ user: "ben", seq: 3 });
  });
});
