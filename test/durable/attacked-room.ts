// A room under attack: after each input its two bystanders post, and receive nothing but each other's posts.
import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";

import type { ChatRoom } from "../../durable/chat-room.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { RawClient } from "./raw-client.ts";
import { HANG_MS } from "../host/patience.ts";
import { join, stubOf } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

/** What the two may hear meanwhile: from each other, and when attackers come and go. */
const MAY_BE_HEARD = ["chat-message", "presence", "welcome"];

export class AttackedRoom {
  readonly room: string;
  #ada!: RawClient;
  #ben!: RawClient;
  #instance: ChatRoom | undefined;
  #said = 0;
  /** A timer of the room: on a slow machine it would fall asleep between two inputs, and be another instance after that. */
  #awake: number | null = null;

  constructor(room: string) {
    this.room = room;
  }

  async open(): Promise<void> {
    this.#ada = await join(this.room, "ada");
    this.#ben = await join(this.room, "ben");
    this.#instance = await runInDurableObject(stubOf(this.room), (instance: ChatRoom) => {
      this.#awake = setInterval(() => {}, HANG_MS);
      return instance;
    });
  }

  async close(): Promise<void> {
    await runInDurableObject(stubOf(this.room), () => clearInterval(this.#awake));
    for (const member of [this.#ada, this.#ben]) member.close();
  }

  #look(): Promise<ChatRoom> {
    return runInDurableObject(stubOf(this.room), (instance: ChatRoom) => instance);
  }

  /** The others chat on, the room was not reset, and nothing of the attack reached another member. */
  async goesOn(): Promise<void> {
    this.#said++;
    const content = `still here ${this.#said}`;
    const speaker = this.#said % 2 ? this.#ada : this.#ben;
    expect(await speaker.ask("chat-message", { content })).toMatchObject({ ok: true, seq: this.#said });
    for (const member of [this.#ada, this.#ben]) {
      const heard = await member.until("the message", () =>
        member.received<Message>("chat-message").find(({ seq }) => seq === this.#said),
      );
      expect(heard.content).toBe(content);
      expect(member.closed).toBeUndefined();
    }
    // Taken before they are examined, so that a wrong one fails the test of its input and no later one.
    const packets = [this.#ada, this.#ben].flatMap((member) => {
      member.frames.length = 0;
      return member.packets.splice(0);
    });
    expectNothingElse(packets);
    expect(await this.#look()).toBe(this.#instance);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  }
}

function expectNothingElse(packets: RawClient["packets"]): void {
  for (const { type, data } of packets) {
    if (type !== PacketType.EVENT) continue;
    const [event, payload] = data as [string, Message];
    expect(MAY_BE_HEARD).toContain(event);
    if (event === "chat-message") expect(["ada", "ben"]).toContain(payload.sender);
    else expect(JSON.stringify(payload)).not.toContain("polluted");
  }
}
