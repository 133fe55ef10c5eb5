// Hostile frames and events, each against a room in which two others go on chatting: EIO-4, EIO-6, SIO-4 to SIO-8, SIO-11,
// LIM-4.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { HOSTILE_BODIES } from "../attacks/bodies.ts";
import { HOSTILE_EVENTS } from "../attacks/events.ts";
import { HOSTILE_FRAMES } from "../attacks/frames.ts";
import { AttackedRoom } from "./attacked-room.ts";
import { Poller, textOf } from "./poller.ts";
import type { RawClient } from "./raw-client.ts";
import { join, useSettings } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

// The bystanders speak once per input.
useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

const attacked = new AttackedRoom();
beforeAll(() => attacked.open());
afterAll(() => attacked.close());

let attackers = 0;
const attacker = (query?: Record<string, string>): Promise<RawClient> =>
  join(attacked.room, `mallory-${++attackers}`, query && { query });

describe("frames", () => {
  it.each(HOSTILE_FRAMES)("$name", async ({ frames, closes, isExtended }) => {
    const mallory = await attacker(isExtended && { ext: "1" });
    mallory.send(...frames.map((frame) => (typeof frame === "string" ? frame : frame.slice().buffer)));
    if (closes === undefined) {
      expect(await mallory.ask("presence", {})).toMatchObject({ ok: true });
      mallory.close();
    } else expect((await mallory.closes()).code).toBe(closes);
    await attacked.goesOn();
  });
});

describe("events", () => {
  /** Asks cost tokens, and a new user has new ones. */
  const PER_USER = 8;
  let mallory: RawClient | undefined;
  let asked = 0;
  afterAll(() => mallory?.close());

  it.each(HOSTILE_EVENTS)("$name", async ({ event, payload, code }) => {
    if (asked++ % PER_USER === 0) {
      mallory?.close();
      mallory = await attacker();
    }
    const id = asked;
    mallory!.send(`42${id}["${event}",${payload}]`);
    const { data } = await mallory!.until("the answer", () =>
      mallory!.packets.find((packet) => packet.type === PacketType.ACK && packet.id === id),
    );
    const [answer] = data as Array<{ error?: { code: string; message: string } }>;
    if (code !== undefined) expect(answer!.error).toMatchObject({ code });
    expect(answer!.error?.message ?? "").not.toMatch(/\bat .+:\d+|\.ts|node_modules/);
    expect(mallory!.closed).toBeUndefined();
    await attacked.goesOn();
  });
});

describe("long-polling bodies: EIO-8", () => {
  it.each(HOSTILE_BODIES)("$name", async ({ body, status }) => {
    const mallory = await Poller.join(attacked.room, `mallory-${++attackers}`);
    const response = await mallory.post(body);
    expect(response.status).toBe(status);
    await attacked.goesOn();
    // Polls return the rest of its frames, 16 packets at a time, and the end; then the session is unknown.
    let heard = await textOf(mallory.poll());
    for (let polls = 1; heard.status === 200 && polls < 10; polls++) heard = await textOf(mallory.poll());
    expect(heard.status).toBe(400);
    await mallory.isGone();
  });
});
