// Hostile frames and events, each against a room in memory in which two others go on chatting: EIO-4, EIO-6, SIO-4 to SIO-8, SIO-11,
// LIM-4. test/durable/attacks-frames.test.ts has those that the platform itself could carry wrongly.
import { beforeAll, describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import type { Client } from "../host/harness.ts";
import { CustomRoom } from "../host/custom-room.ts";
import { PacketType } from "../wire/wire-client.ts";
import { attackedFeatures, HOSTILE_EVENTS } from "./events.ts";
import { HOSTILE_FRAMES } from "./frames.ts";

/** What the bystanders may hear: from each other, and when attackers come and go. */
const MAY_BE_HEARD = ["chat-message", "presence"];

class AttackedRoom {
  readonly room = new CustomRoom(attackedFeatures);
  #attackers = 0;
  #said = 0;
  readonly #bystanders: Client[] = [];

  async open(): Promise<void> {
    for (const user of ["ada", "ben"]) this.#bystanders.push(await this.room.join(user));
    this.room.quiet();
    for (const { packets } of this.#bystanders) packets.length = 0;
  }

  async attacker({ isExtended = false } = {}): Promise<Client> {
    const user = `mallory-${++this.#attackers}`;
    const identity = { user, name: user, role: "member" } as const;
    const mallory = await this.room.shell.connect({ identity }, undefined, { isExtended });
    expect(mallory.received("welcome")).toHaveLength(1);
    return mallory;
  }

  /** The two talk on, nothing of the attack reached them, and the operator reads of no problem. */
  async goesOn(): Promise<void> {
    this.room.quiet();
    this.#said++;
    const content = `still here ${this.#said}`;
    const speaker = this.#bystanders[this.#said % 2]!;
    expect(await speaker.ask("chat-message", { content })).toMatchObject({ ok: true, seq: this.#said });
    // Taken before they are examined, so that a wrong one fails the test of its input and no later one.
    const told = this.#bystanders.map(({ packets }) => packets.splice(0));
    for (const [at, bystander] of this.#bystanders.entries()) {
      expect(bystander.closing).toBeUndefined();
      const heard = told[at]!.filter(({ type }) => type === PacketType.EVENT);
      bystander.frames.length = 0;
      const messages: Message[] = [];
      for (const { data } of heard) {
        const [event, payload] = data as [string, Message];
        expect(MAY_BE_HEARD, `the others heard "${event}": if it may, name it here`).toContain(event);
        expect(JSON.stringify(payload)).not.toContain("polluted");
        if (event === "chat-message") messages.push(payload);
      }
      expect(messages).toMatchObject([{ content, seq: this.#said }]);
    }
    expect(this.room.shell.problems).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
}

const attacked = new AttackedRoom();
beforeAll(() => attacked.open());

/** The runtime replaces halves of characters before the room sees them. */
const isAsSent = (frame: string | Uint8Array): boolean => typeof frame !== "string" || frame.isWellFormed();

describe("frames", () => {
  it.each(HOSTILE_FRAMES.filter(({ frames }) => frames.every(isAsSent)))(
    "$name",
    async ({ frames, closes, isExtended }) => {
      const mallory = await attacked.attacker({ isExtended: isExtended === true });
      mallory.send(...frames);
      await attacked.room.shell.settle();
      expect(mallory.closing?.code).toBe(closes);
      if (closes === undefined) {
        expect(await mallory.ask("presence", {})).toMatchObject({ ok: true });
        mallory.leave();
      }
      await attacked.goesOn();
    },
  );
});

describe("events", () => {
  it.each(HOSTILE_EVENTS)("$name", async ({ event, payload, code }) => {
    const mallory = await attacked.attacker();
    mallory.send(`427["${event}",${payload}]`);
    const { data } = await mallory.receivesPacket(PacketType.ACK, 7);
    const [answer] = data as Array<{ error?: { code: string; message: string } }>;
    if (code !== undefined) expect(answer!.error).toMatchObject({ code });
    expect(answer!.error?.message ?? "").not.toMatch(/\bat .+:\d+|\.ts|node_modules/);
    expect(mallory.closing).toBeUndefined();
    mallory.leave();
    await attacked.goesOn();
  });
});
