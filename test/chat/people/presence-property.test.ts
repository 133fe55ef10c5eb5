// Presence over random lives of a room: users join over several connections, leave and come back, while the room sleeps and
// crashes. Each client keeps a list: the answer to `presence`, and the events after it.
import { expect, it } from "vitest";

import type { Member, PresenceChange, Welcome } from "../../../src/protocol/chat-events.ts";
import { ChatRoom } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";
import { fc, runs } from "../../host/properties.ts";

type Step =
  | { readonly do: "come" | "go"; readonly user: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "sleep" | "crash" };

const user = fc.constantFrom("ada", "ben", "cleo", "dan");

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("come"), user }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("go"), user }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(0, 100, 1500, 4900, 6100, 20_000) }),
  },
  { weight: 4, arbitrary: fc.constant({ do: "sleep" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "crash" as const }) },
);

/** A tab with its list of members. */
interface Tab {
  readonly user: string;
  readonly client: Client;
  readonly listed: Set<string>;
}

class Life {
  readonly #room = new ChatRoom();
  #tabs: Tab[] = [];

  get #present(): Set<string> {
    return new Set(this.#tabs.map(({ user }) => user));
  }

  async take(step: Step): Promise<void> {
    const { shell } = this.#room;
    switch (step.do) {
      case "come":
        await this.#come(step.user);
        break;
      case "go":
        this.#go(step.user);
        break;
      case "wait":
        shell.advance(step.ms);
        break;
      case "sleep":
        shell.advance(1500);
        if (shell.canSleep) shell.evict();
        break;
      case "crash":
        shell.crash();
        this.#tabs = [];
    }
    this.#listen();
  }

  async #come(user: string): Promise<void> {
    const client = await this.#room.join(user);
    const { count, members } = await client.ask<{ count: number; members: Member[] }>("presence", {});
    const [welcome] = client.received<Welcome>("welcome");
    expect(welcome!.presence.count, "welcome and answer agree").toBe(count);
    expect(members).toHaveLength(count);
    client.packets.length = 0;
    this.#tabs.push({ user, client, listed: new Set(members.map((member) => member.user)) });
  }

  #go(user: string): void {
    const index = this.#tabs.findIndex((tab) => tab.user === user);
    if (index === -1) return;
    const [tab] = this.#tabs.splice(index, 1);
    tab!.client.leave();
  }

  /** Each client applies the events that came since. */
  #listen(): void {
    for (const { client, listed } of this.#tabs) {
      for (const { count, joined, left } of client.received<PresenceChange>("presence")) {
        for (const { user } of left) {
          expect(listed.delete(user), `${user} left, and had been there`).toBe(true);
          expect(this.#present, `${user} left for good`).not.toContain(user);
        }
        for (const { user } of joined) listed.add(user);
        expect(listed.size, "the list agrees with the count").toBe(count);
      }
      client.packets.length = 0;
    }
  }

  /** Once every grace period is over. */
  async expectTruth(): Promise<void> {
    this.#room.afterGrace();
    this.#listen();
    const present = [...this.#present].sort();
    for (const { client, listed } of this.#tabs) {
      expect([...listed].sort()).toEqual(present);
      const { members } = await client.ask<{ members: Member[] }>("presence", {});
      expect(members.map(({ user }) => user).sort()).toEqual(present);
      client.packets.length = 0;
    }
  }
}

it("PRES-1 to PRES-5: a client that applies all events knows the members", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const life = new Life();
      for (const step of steps) await life.take(step);
      await life.expectTruth();
    }),
    runs(1000),
  );
});
