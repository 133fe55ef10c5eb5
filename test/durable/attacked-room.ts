// A room under attack: after each input its two bystanders post, and receive nothing but each other's posts.
import { runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";

import type { ChatRoom } from "../../durable/chat-room.ts";
import type { PinsSent } from "../../src/features/pins/pin-events.ts";
import type { ReportsSent } from "../../src/features/reports/report-events.ts";
import type { Message, ServerToClientEvents } from "../../src/protocol/chat-events.ts";
import { ROOM } from "../attacks/requests.ts";
import type { RawClient } from "./raw-client.ts";
import { join, stubOf } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

/**
 * Whether the two may hear it meanwhile: from each other, when attackers come and go, or because a payload of unknown fields is a good
 * one of an event (attacks/events.ts sends one of each). The compiler asks for a line for each new event.
 */
const MAY_BE_HEARD: Readonly<Record<keyof (ServerToClientEvents & PinsSent & ReportsSent), boolean>> = {
  "chat-message": true,
  presence: true,
  welcome: true,
  "message-edited": false,
  "message-deleted": false,
  reaction: false,
  read: false,
  typing: false,
  "typing-count": false,
  "not-shown": false,
  counts: false,
  moderation: false,
  notice: false,
  error: false,
  announcement: false,
  pinned: false,
  unpinned: false,
  "message-reported": false,
  "report-resolved": false,
};

export class AttackedRoom {
  readonly room = ROOM;
  #ada!: RawClient;
  #ben!: RawClient;
  #instance: ChatRoom | undefined;
  #said = 0;

  async open(): Promise<void> {
    this.#ada = await join(this.room, "ada");
    this.#ben = await join(this.room, "ben");
    this.#instance = await this.#look();
  }

  close(): void {
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
    expect(MAY_BE_HEARD, event).toHaveProperty([event], true);
    if (event === "chat-message") expect(["ada", "ben"]).toContain(payload.sender);
    else expect(JSON.stringify(payload)).not.toContain("polluted");
  }
}
