// Random lives of a room and its lobby: whatever was lost, forgotten or could not be told, once it is quiet the lobby knows
// how the room is doing. LOB-1 to LOB-4, LOB-7
import { expect, it } from "vitest";

import { REPORT_AGAIN_MS } from "../../src/chat/lobby-report.ts";
import { ReportingRoom } from "./lobby-room.ts";
import type { Client } from "./harness.ts";
import { MemoryLobby } from "./memory-lobby.ts";
import { PATIENT, fc, runs } from "./properties.ts";

type Step =
  | { readonly do: "come" | "go"; readonly user: string }
  | { readonly do: "say" | "post" | "sleep" | "crash" | "lobby-crash" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "lobby-away"; readonly isAway: boolean };

const user = fc.constantFrom("ada", "ben", "cleo");

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("come"), user }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("go"), user }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom("say", "post") }) },
  { weight: 4, arbitrary: fc.constant({ do: "sleep" as const }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("crash", "lobby-crash") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lobby-away"), isAway: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.constantFrom(100, 900, 4000, 7000, 50_000, 400_000) }),
  },
);

class Life {
  readonly #reporting = new ReportingRoom();
  readonly #lobby = new MemoryLobby();
  readonly #tabs: Array<{ readonly user: string; readonly client: Client }> = [];
  /** Whether the lobby has lost a report, and heard none since. */
  #hasLost = false;
  /** What the room's clock was set to when it fell asleep: that is stored. */
  #alarmAtMs = Infinity;

  constructor() {
    this.#reporting.onReport = (report) => {
      this.#hasLost = false;
      this.#lobby.advanceTo(this.#reporting.room.shell.nowMs);
      this.#lobby.report(report);
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
      case "lobby-away":
        this.#reporting.failure = step.isAway ? new Error("away") : undefined;
    }
    await this.#reporting.settle();
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
    // What a crash of the lobby took, the room's next word mends.
    if (this.#hasLost) await this.#reporting.post();
    for (let i = 0; i < 12; i++) await this.#wait(REPORT_AGAIN_MS / 2);
    const { lastSeq, members, ...overview } = this.#reporting.room.chat.overview();
    const isNothing = lastSeq === 0 && members === 0;
    expect(this.#lobby.list()).toEqual(isNothing ? [] : [{ ...overview, lastSeq, members }]);
    expect(this.#lobby.isSaved).toBe(true);
    const before = this.#reporting.reports.length;
    for (let i = 0; i < 4; i++) await this.#wait(REPORT_AGAIN_MS);
    // An hour of quiet costs an empty room nothing, and an occupied one a report per half-hour.
    expect(this.#reporting.reports.length - before).toBeLessThanOrEqual(members === 0 ? 0 : 4);
  }
}

it("once it is quiet, the lobby knows the truth", PATIENT, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const life = new Life();
      for (const step of steps) await life.take(step);
      await life.expectTruth();
    }),
    runs(500),
  );
});
