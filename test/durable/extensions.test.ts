// Clients with extensions against the real object: batches, heartbeats that do not wake the object, the upgrade.
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import { SEPARATOR } from "../wire/wire-client.ts";
import { messagesIn, Poller, say } from "./poller.ts";
import { RawClient } from "./raw-client.ts";
import { alarmOf, freshRoom, join, Sleeper, stubOf, withSettings } from "./rooms.ts";

const EXTENDED = { query: { ext: "1" } };

const MINUTES_MS = 60_000;

describe("EXT-1: a WebSocket that asks for the extensions", () => {
  it("gets the same handshake as stock clients", async () => {
    const [stock, extended] = [await RawClient.open(), await RawClient.open(EXTENDED)];
    const { sid: _, ...handshake } = stock.handshake;
    expect(extended.handshake).toEqual({ ...handshake, sid: expect.any(String) });
  });

  it.each(["0", "true"])("other values mean nothing: %s", async (ext) => {
    const client = await RawClient.open({ room: freshRoom(), query: { ext } });
    client.send("40\x1e40");
    expect(await client.closes()).toMatchObject({ code: 1002 });
  });

  it("keeps them through sleep", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada", EXTENDED);
    await new Sleeper(room).sleep();
    ada.send(`${say("one", 1)}\x1e${say("two", 2)}`);
    await ada.receives("chat-message", 2);
    expect(ada.closed).toBeUndefined();
  });

  it("keeps them when it upgrades from long-polling", async () => {
    const room = freshRoom();
    const poller = await Poller.join(room, "ada");
    const socket = await poller.openWebSocket(EXTENDED.query);
    await socket.probe();
    socket.send("5");
    socket.send(`${say("one", 1)}\x1e${say("two", 2)}`);
    const packets = (): string[] => socket.texts.flatMap((frame) => frame.split(SEPARATOR));
    await vi.waitFor(() => expect(messagesIn(packets())).toMatchObject([{ content: "one" }, { content: "two" }]));
  });
});

describe("EXT-2: a busy room", () => {
  it("sends an extended client the packets of a stock client, in fewer frames", async () => {
    const room = freshRoom();
    const stock = await withSettings({ FLUSH_BURST: "1" }, () => join(room, "ada"));
    const extended = await join(room, "ben", EXTENDED);
    const before = [stock.frames.length, extended.frames.length] as const;
    const count = 8;
    // One frame, so that the room takes all posts before it flushes, however busy the machine is.
    extended.send(Array.from({ length: count }, (_, i) => say(`${i}`)).join(SEPARATOR));
    const seen = await extended.receives("chat-message", count);
    expect(seen).toEqual(await stock.receives("chat-message", count));
    expect(stock.frames.length - before[0]).toBeGreaterThanOrEqual(count);
    expect(extended.frames.length - before[1]).toBeLessThan(count);
  });
});

describe("EXT-3: the heartbeat", () => {
  it("does not wake the object and sets no alarm within ten minutes", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada", EXTENDED);
    // The alarm of the CONNECT's own deadline may still be set; none is set for a client with extensions.
    await vi.waitFor(async () => expect(await alarmOf(room)).toBeGreaterThan(Date.now() + 10 * MINUTES_MS));
    await new Sleeper(room).sleep();
    ada.send("3");
    await ada.until("the noop", () => ada.frames.includes("6") || undefined);
    // Only a running object can be put to sleep.
    await expect(evictDurableObject(stubOf(room))).rejects.toThrow();
    expect(ada.pings).toBe(0);
  });
});
