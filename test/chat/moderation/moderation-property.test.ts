// Moderation under random actions, joins, posts, sleeps and crashes: no post of a muted user is stored, a banned user gets nothing,
// and a room that slept has the same bans, mutes, grants and modes.
import { describe, expect, it } from "vitest";

import type { Message } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";
import { SERVICE } from "../../host/moderated-room.ts";
import { fc, runs } from "../../host/properties.ts";

const PARAMETERS = runs(300);

const USERS = ["ada", "ben", "cleo"] as const;
type User = (typeof USERS)[number];

type Step =
  | { readonly do: "join"; readonly user: User; readonly recovering: boolean }
  | { readonly do: "post"; readonly who: number }
  | { readonly do: "leave"; readonly who: number }
  | { readonly do: "moderate"; readonly action: string; readonly user: User; readonly seconds: number }
  | { readonly do: "sleep" | "crash" }
  | { readonly do: "advance"; readonly ms: number };

const user = fc.constantFrom(...USERS);
const who = fc.nat(9);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("join"), user, recovering: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("post"), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave"), who }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("moderate"),
      action: fc.constantFrom("ban", "ban", "unban", "mute", "mute", "unmute", "kick", "slow-mode", "read-only"),
      user,
      seconds: fc.constantFrom(1, 5, 60),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("sleep", "crash") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("advance"), ms: fc.constantFrom(7, 60, 999, 1000, 6000) }) },
);

interface Visitor {
  readonly user: User;
  readonly client: Client;
  hasLeft?: boolean;
  /** Packets that had come when a ban disconnected this connection. */
  heardAtBan?: number;
}

/** A model of the rules, independent of the room's own records. */
class Model {
  readonly bannedUntilMs = new Map<User, number>();
  readonly mutedUntilMs = new Map<User, number>();
  isReadOnly = false;
  slowSeconds = 0;
  readonly lastPostMs = new Map<User, number>();

  maySpeak(user: User, nowMs: number): boolean {
    const until = Math.max(this.bannedUntilMs.get(user) ?? 0, this.mutedUntilMs.get(user) ?? 0);
    const isEarly = nowMs - (this.lastPostMs.get(user) ?? -Infinity) < this.slowSeconds * 1000;
    return nowMs >= until && !this.isReadOnly && !isEarly;
  }

  isBanned(user: User, nowMs: number): boolean {
    return nowMs < (this.bannedUntilMs.get(user) ?? 0);
  }
}

class Play {
  readonly room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 });
  readonly model = new Model();
  visitors: Visitor[] = [];
  readonly #recoveryAuths = new Map<User, { readonly pid: string; readonly offset: unknown }>();
  /** Of connections from before a kick or a ban. */
  readonly #deadPids = new Set<string>();
  /** Counts of events, to see that there were enough. */
  static readonly counts = { refusedPosts: 0, stored: 0, recovered: 0, refusedConnects: 0, sleeps: 0 };

  async take(step: Step): Promise<void> {
    const { shell } = this.room;
    switch (step.do) {
      case "join":
        return this.#join(step.user, step.recovering);
      case "post":
        return this.#post(this.#visitor(step.who));
      case "leave":
        return this.#leave(this.#visitor(step.who));
      case "moderate":
        return this.#moderate(step);
      case "sleep":
        return this.#sleep();
      case "crash":
        shell.crash();
        this.visitors = [];
        return;
      case "advance":
        return shell.advance(step.ms);
    }
  }

  #visitor(index: number): Visitor | undefined {
    return this.visitors[index % Math.max(1, this.visitors.length)];
  }

  #leave(visitor: Visitor | undefined): void {
    if (!visitor) return;
    visitor.hasLeft = true;
    visitor.client.leave();
  }

  async #join(user: User, recovering: boolean): Promise<void> {
    const { shell } = this.room;
    const client = await this.room.join(user, RECOVERS, recovering ? this.#recoveryAuths.get(user) : undefined);
    const isBanned = this.model.isBanned(user, shell.nowMs);
    if (isBanned) {
      Play.counts.refusedConnects++;
      expect(client.refusal).toMatchObject({ data: { code: "BANNED" } });
      expect(client.packets).toHaveLength(1);
      return;
    }
    const [welcome] = client.received("welcome");
    const mutedUntil = this.model.mutedUntilMs.get(user) ?? 0;
    expect(welcome.moderation).toEqual({
      slowModeSeconds: this.model.slowSeconds,
      readOnly: this.model.isReadOnly,
      ...(mutedUntil > shell.nowMs && { mutedUntil }),
    });
    const recoveryAuth = recoveryAuthOf(client);
    expect(this.#deadPids).not.toContain(recoveryAuth.pid);
    if (recovering && recoveryAuth.pid === this.#recoveryAuths.get(user)?.pid) Play.counts.recovered++;
    this.#recoveryAuths.set(user, recoveryAuth);
    this.visitors.push({ user, client });
  }

  async #post(visitor: Visitor | undefined): Promise<void> {
    if (!visitor || visitor.client.closing) return;
    const { room, model } = this;
    const { user, client } = visitor;
    const maySpeak = model.maySpeak(user, room.shell.nowMs);
    const stored = room.log.messages.length;
    const call = client.call("chat-message", { content: "x" });
    if (visitor.hasLeft) return;
    expect("ok" in call.answer).toBe(maySpeak);
    expect(room.log.messages).toHaveLength(stored + (maySpeak ? 1 : 0));
    if (maySpeak) model.lastPostMs.set(user, (room.log.messages.at(-1) as Message).timestamp);
    Play.counts[maySpeak ? "stored" : "refusedPosts"]++;
  }

  async #moderate({ action, user, seconds }: Step & { do: "moderate" }): Promise<void> {
    const { room, model } = this;
    const untilMs = room.shell.nowMs + seconds * 1000;
    const payloads: Record<string, object> = {
      "slow-mode": { seconds: seconds % 60 },
      "read-only": { on: seconds === 1 },
    };
    const answer = await room.ask(action, SERVICE, payloads[action] ?? { user, seconds });
    if ("error" in answer) return expect(answer.error.code).toBe("NOT_FOUND");
    if (action === "mute") model.mutedUntilMs.set(user, untilMs);
    if (action === "unmute") model.mutedUntilMs.delete(user);
    if (action === "unban") model.bannedUntilMs.delete(user);
    if (action === "slow-mode") model.slowSeconds = seconds % 60;
    if (action === "read-only") model.isReadOnly = seconds === 1;
    if (action === "ban") model.bannedUntilMs.set(user, untilMs);
    if (action === "ban" || action === "kick") this.#expectOut(user);
  }

  #expectOut(user: User): void {
    const recoveryAuth = this.#recoveryAuths.get(user);
    if (recoveryAuth) this.#deadPids.add(recoveryAuth.pid);
    for (const visitor of this.visitors.filter((one) => one.user === user)) {
      const { client, hasLeft = false } = visitor;
      visitor.heardAtBan ??= client.packets.length;
      expect(hasLeft || client.closing !== undefined).toBe(true);
    }
  }

  async #sleep(): Promise<void> {
    this.room.quiet();
    const before = await this.#state();
    this.room.shell.evict();
    expect(await this.#state()).toEqual(before);
    Play.counts.sleeps++;
  }

  async #state(): Promise<unknown[]> {
    return [
      await this.room.ask("moderation-state", SERVICE, { limit: 200 }),
      await this.room.ask("audit", SERVICE, { limit: 200 }),
    ];
  }

  expectSilence(): void {
    for (const { client, heardAtBan } of this.visitors)
      if (heardAtBan !== undefined) expect(client.packets).toHaveLength(heardAtBan);
  }
}

describe("MOD-3, MOD-6, MOD-7, MOD-8: after any sequence of actions", () => {
  it("stores posts and admits users only where allowed, and sleep changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: "max" }), async (steps) => {
        const play = new Play();
        for (const one of steps) {
          await play.take(one);
          play.expectSilence();
        }
        expect(play.room.shell.problems).toEqual([]);
      }),
      PARAMETERS,
    );
    for (const count of Object.values(Play.counts)) expect(count).toBeGreaterThan(PARAMETERS.numRuns / 2);
  });
});
