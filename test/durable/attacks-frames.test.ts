// Hostile frames and bodies of long-polling that the platform carries in a way of its own, each against a real room in which two others go
// on chatting: EIO-6, EIO-8. test/attacks/room.test.ts and bodies.test.ts have all of them, against a room and a server in memory.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { HOSTILE_BODIES } from "../attacks/bodies.ts";
import { HOSTILE_FRAMES } from "../attacks/frames.ts";
import { AttackedRoom } from "./attacked-room.ts";
import { Poller, textOf } from "./poller.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, useSettings } from "./rooms.ts";
import { SEPARATOR } from "../wire/wire-client.ts";

// The bystanders speak once per input.
useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

const attacked = new AttackedRoom(freshRoom());
beforeAll(() => attacked.open());
afterAll(() => attacked.close());

let attackers = 0;
const attacker = (query?: Record<string, string>): Promise<RawClient> =>
  join(attacked.room, `mallory-${++attackers}`, query && { query });

/** Bytes, a long text, or text that is not well-formed: the runtime passes short ASCII on as it is. */
const isCarriedSpecially = (frame: string | Uint8Array): boolean =>
  typeof frame !== "string" ||
  frame === "" ||
  frame.length > 10_000 ||
  /[^\x20-\x7e]/.test(frame.replaceAll(SEPARATOR, ""));

/** Frames and bodies that are carried as one of those that are sent. */
const TWINS = new Set([
  "an HTTP request",
  "JSON with a raw line feed",
  "a multipart body",
  "base64 with a line feed",
  "an event in a namespace of 60,000 characters",
  "bytes in a namespace not joined",
  "a placeholder out of range",
  "a placeholder below zero",
  "a placeholder that is text",
  "a placeholder named __proto__",
  "a binary ack without an id",
  "a megabyte of brackets",
  "10,000 acks that nobody asked for",
  "2,000 CONNECTs",
  "2,000 CONNECTs to namespaces that do not exist",
  "a close, then 1,000 events",
]);

describe("frames", () => {
  const carried = HOSTILE_FRAMES.filter(({ name, frames }) => !TWINS.has(name) && frames.some(isCarriedSpecially));

  it.each(carried)("$name", async ({ frames, closes, isExtended }) => {
    const mallory = await attacker(isExtended && { ext: "1" });
    mallory.send(...frames.map((frame) => (typeof frame === "string" ? frame : frame.slice().buffer)));
    if (closes === undefined) {
      expect(await mallory.ask("presence", {})).toMatchObject({ ok: true });
      mallory.close();
    } else expect((await mallory.closes()).code).toBe(closes);
    await attacked.goesOn();
  });
});

describe("long-polling bodies: EIO-8", () => {
  const carried = HOSTILE_BODIES.filter(
    ({ name, body, status }) => status === 413 || (!TWINS.has(name) && isCarriedSpecially(body)),
  );

  it.each([...carried, HOSTILE_BODIES.find(({ name }) => name === "a letter")!])("$name", async ({ body, status }) => {
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
