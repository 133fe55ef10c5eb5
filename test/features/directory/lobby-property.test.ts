// Random lives of a room and its lobby: after any loss, sleep or failed report, once it is quiet the lobby knows
// how the room is doing. LOB-1 to LOB-4, LOB-7, ANN-7
import { expect, it } from "vitest";

import { ANNOUNCE_VERSION } from "../../../src/protocol/announcement.ts";
import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import type { Client } from "../../host/harness.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";
import { fc, runs } from "../../host/properties.ts";

type Step =
  | { readonly do: "come" | "go"; readonly user: string }
  | { readonly do: "say" | "post" | "knock" | "sleep" | "crash" | "lobby-crash" | "look" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "lobby-away"; readonly isAway: boolean };

const USERS = ["ada", "ben", "cleo", "dana", "eve", "finn"];
const user = fc.constantFrom(...USERS);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("come"), user }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("go"), user }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("say", "post") }) },
  { weight: 3, arbitrary: fc.constant({ do: "knock" as const }) },
  { weight: 4, arbitrary: fc.constant({ do: "sleep" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "look" as const }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(100, 900, 4000, 7000, 50_000, 400_000) }),
  },
);

const troubled: fc.Arbitrary<Step> = fc.oneof(
  { weight: 28, arbitrary: step },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("crash", "lobby-crash") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lobby-away"), isAway: fc.boolean() }) },
);

/** One room, its reports, and the lobby that takes them. */
class RoomAndLobby {
  readonly #reporting = new ReportingRoom();
  readonly #lobby = new MemoryLobby();
  readonly #tabs: Array<{ readonly user: string; readonly client: Client }> = [];
  /** Whether the lobby has lost a report, and heard none since. */
  #hasLost = false;
  /** The alarm of the room when it fell asleep: that is stored. */
  #alarmAtMs = Infinity;

  constructor() {
    this.#reporting.onReport = (report) => {
      this.#hasLost = false;
      this.#lobby.advanceTo(this.#reporting.room.shell.nowMs);
      return this.#lobby.report(report);
    };
  }

  async take(step: Step): Promise<void> {
    const { room } = this.#reporting;
    switch (step.do) {
      case "come":
        this.#tabs.push({ user: step.user, client: await room.join(step.user) });
        break;
      case "go": {
        const index = this.#tabs.findIndex(({ user }) => user === step.user);
        if (index !== -1) this.#tabs.splice(index, 1)[0]!.client.leave();
        break;
      }
      case "say":
        await this.#tabs[0]?.client.ask("chat-message", { content: "hello" });
        break;
      case "post":
        await this.#reporting.post();
        break;
      case "knock": {
        const stranger = await room.joinWithToken("of nobody");
        stranger.leave();
        break;
      }
      case "wait":
        await this.#wait(step.ms);
        break;
      case "sleep":
        await this.#wait(1500);
        if (!room.shell.canSleep) break;
        if (room.shell.quietMs < Infinity) this.#alarmAtMs = room.shell.nowMs + room.shell.quietMs;
        room.shell.evict();
        break;
      case "crash":
        await this.#reporting.settle();
        room.shell.crash();
        this.#tabs.length = 0;
        room.shell.ring();
        break;
      case "lobby-crash":
        await this.#wait(0);
        this.#hasLost ||= !this.#lobby.isSaved;
        this.#lobby.restart();
        break;
      case "look":
        this.#look();
        break;
      case "lobby-away":
        this.#reporting.failure = step.isAway ? new Error("away") : undefined;
    }
    await this.#reporting.settle();
  }

  /** As an announcement to users does: a room whose members are unknown is asked itself. */
  #look(): readonly string[] {
    const { announced } = this.#reporting.room;
    const { found, unknown } = this.#lobby.find(USERS);
    const users = USERS.map((user, number) => [number, user] as const);
    const ask = () =>
      announced.take({
        v: ANNOUNCE_VERSION,
        id: "a",
        data: 1,
        at: 1,
        by: { user: "backend", name: "Backend" },
        users,
        wantsPeople: true,
      });
    const reached = unknown.map(ask).flatMap((outcome) => (outcome.ok ? outcome.reached : []));
    return [...found.flatMap(([, numbers]) => numbers), ...reached].map((number) => USERS[number]!);
  }

  /** Ten seconds after the last of them came. */
  async expectFound(): Promise<void> {
    for (let i = 0; i < 20; i++) await this.#wait(500);
    expect(this.#look()).toEqual(expect.arrayContaining(this.#tabs.map(({ user }) => user)));
  }

  async #wait(ms: number): Promise<void> {
    const { shell } = this.#reporting.room;
    await this.#reporting.advance(ms);
    if (this.#alarmAtMs <= shell.nowMs) {
      this.#alarmAtMs = Infinity;
      shell.ring();
      await this.#reporting.settle();
    }
    this.#lobby.advanceTo(shell.nowMs);
  }

  async expectTruth(): Promise<void> {
    this.#reporting.failure = undefined;
    // The room's next report mends a loss by a crash of the lobby.
    if (this.#hasLost) await this.#reporting.post();
    for (let i = 0; i < 12; i++) await this.#wait(REPORT_AGAIN_MS / 2);
    const { lastSeq, members, ...overview } = this.#reporting.room.chat.calls.overview();
    const isNothing = lastSeq === 0 && members === 0;
    expect(this.#lobby.list()).toEqual(isNothing ? [] : [{ ...overview, lastSeq, members }]);
    expect(this.#lobby.scrape().connections).toBe(this.#reporting.room.chat.sockets.size);
    expect(this.#lobby.isSaved).toBe(true);
    const before = this.#reporting.reports.length;
    for (let i = 0; i < 4; i++) await this.#wait(REPORT_AGAIN_MS);
    // An hour of quiet costs an empty room nothing, and an occupied one a report per half-hour.
    expect(this.#reporting.reports.length - before).toBeLessThanOrEqual(members === 0 ? 0 : 4);
  }
}

it("lists the true state once the rooms are quiet", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(troubled, { maxLength: 50 }), async (steps) => {
      const both = new RoomAndLobby();
      for (const step of steps) await both.take(step);
      await both.expectTruth();
    }),
    runs(500),
  );
});

it("finds users who have been connected for ten seconds, also in a sleeping room: ANN-7", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), user, fc.boolean(), async (steps, last, sleeps) => {
      const both = new RoomAndLobby();
      for (const step of steps) await both.take(step);
      await both.take({ do: "come", user: last });
      if (sleeps) await both.take({ do: "sleep" });
      await both.expectFound();
    }),
    runs(500),
  );
});
