// Hostile frames, bodies and events of test/attacks against a server of the package socket.io, in which two others go on chatting.
import type { Server } from "socket.io";
import { beforeAll, describe, expect, it } from "vitest";

import { HOSTILE_BODIES } from "../attacks/bodies.ts";
import { HOSTILE_EVENTS } from "../attacks/events.ts";
import { HOSTILE_FRAMES } from "../attacks/frames.ts";
import { settle, StockObject, type StockClient } from "./host/stock-object.ts";

function register(io: Server): void {
  io.on("connection", (socket) => {
    socket.on("say", (text: string) => void io.emit("said", text));
    socket.on("alive", (answer: () => void) => answer());
  });
  io.of(/^\/\d+$/);
}

class AttackedObject {
  readonly object = new StockObject(register);
  #bystanders: StockClient[] = [];
  #said = 0;

  async open(): Promise<void> {
    this.#bystanders = [await this.object.join(), await this.object.join()];
  }

  /** The two talk on, nothing of the attack reached them, and the operator reads of no problem. */
  async goesOn(): Promise<void> {
    // Each input comes in a time of its own.
    this.object.nowMs += 10_000;
    for (const { frames } of this.#bystanders) frames.length = 0;
    this.#bystanders[++this.#said % 2]!.send(`42["say","still here ${this.#said}"]`);
    await settle();
    for (const { events, closing } of this.#bystanders)
      expect([events, closing]).toEqual([[["said", `still here ${this.#said}`]], undefined]);
    expect(this.object.problems).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
}

const attacked = new AttackedObject();
beforeAll(() => attacked.open());

/** Whether the server still answers it, or has closed it. */
async function isAnsweredOrClosed(mallory: StockClient, name: string): Promise<void> {
  if (mallory.closing) return;
  mallory.send('4299["alive"]');
  await settle();
  expect(mallory.closing ?? mallory.frames.at(-1), name).toEqual(mallory.closing ?? "4399[]");
  mallory.leave();
}

describe("frames", () => {
  it.each(HOSTILE_FRAMES)("$name", async ({ name, frames }) => {
    const mallory = await attacked.object.join();
    mallory.send(...frames);
    await settle();
    await isAnsweredOrClosed(mallory, name);
    await attacked.goesOn();
  });
});

it("events of a chat, which nobody here handles, each over a connection of its own", async () => {
  const sent = await Promise.all(
    HOSTILE_EVENTS.map(async (hostile) => ({ ...hostile, mallory: await attacked.object.join() })),
  );
  for (const { event, payload, mallory } of sent) mallory.send(`427["${event}",${payload}]`);
  await settle();
  await Promise.all(sent.map(({ name, mallory }) => isAnsweredOrClosed(mallory, name)));
  await attacked.goesOn();
});

describe("bodies of long-polling", () => {
  // Too long ones do not reach the server of sessions.
  it.each(HOSTILE_BODIES.filter(({ status }) => status !== 413))("$name", async ({ body }) => {
    const mallory = attacked.object.open({ transport: "polling" });
    await mallory.post("40");
    const isTaken = await mallory.post(body);
    await attacked.goesOn();
    if (isTaken && !mallory.session.closed) {
      await mallory.post('4299["alive"]');
      expect(mallory.frames).toContain("4399[]");
      await mallory.post("1");
    }
    expect(mallory.session.closed).toBe(true);
  });
});

it("who reads nothing is closed, and the others miss nothing", async () => {
  const mallory = await attacked.object.join();
  const text = "x".repeat(100_000);
  const [ada, ben] = [await attacked.object.join(), await attacked.object.join()];
  for (let at = 0; at < 60; at++) {
    ada.send(`42["say","${text}"]`);
    await settle();
    // They read, and answer the pings that measure it.
    for (const reader of [ada, ben])
      for (const frame of reader.frames.splice(0))
        if (typeof frame === "string" && frame.startsWith("2")) reader.send(`3${frame.slice(1)}`);
  }
  expect([mallory, ada, ben].map(({ closing }) => closing?.code)).toEqual([1013, undefined, undefined]);
});
