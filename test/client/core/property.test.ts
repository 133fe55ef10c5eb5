// Property test of the client over connections that break at random: the room stores each message once and in the order of
// writing, and each page shows every message once and in the room's order.
import { describe, expect, it } from "vitest";

import type { MessageState } from "../../../client/core/api.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";
import { ModelRoom, Page } from "../../host/client-world.ts";
import { fc, runs } from "../../host/properties.ts";
import { VirtualClock } from "../../host/virtual-clock.ts";

type Step =
  | {
      readonly do: "say" | "toRoom" | "toPage" | "cut" | "connect" | "reload";
      readonly tab: number;
      readonly flag: boolean;
    }
  | { readonly do: "refuse"; readonly code: "RATE_LIMITED" | "INTERNAL" }
  | { readonly do: "ben says" | "late" | "lose an answer" | "eleven minutes" }
  | { readonly do: "wait"; readonly ms: number };

const TABS = 2;
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        do: fc.constantFrom("say", "toRoom", "toRoom", "toPage", "toPage", "toPage", "cut", "connect", "reload"),
        tab: fc.nat(TABS - 1),
        flag: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("refuse"), code: fc.constantFrom("RATE_LIMITED", "INTERNAL") }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constantFrom("ben says", "late", "lose an answer", "eleven minutes") }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("wait"), ms: fc.nat(15_000) }) },
  ),
  { maxLength: 150, size: "max" },
);

/** A browser with two tabs in one room, and everything that happens to it. */
class Story {
  readonly clock = new VirtualClock();
  readonly room = new ModelRoom(this.clock);
  readonly storage = new FakeLocalStorage();
  readonly pages: Page[] = [];
  readonly #tabs: Page[];
  /** The messages written in each tab, in order. */
  readonly written: string[][] = [[], []];
  #late: Array<() => void> = [];
  #said = 0;

  constructor() {
    this.#tabs = Array.from({ length: TABS }, () => this.#load());
  }

  run(step: Step): void {
    switch (step.do) {
      case "say":
        return this.#say(step.tab);
      case "toRoom":
      case "toPage":
        return this.#tabs[step.tab]!.deliver(step.do);
      case "cut":
        return this.#cut(step.tab, step.flag);
      case "connect":
        return this.#tabs[step.tab]!.connect({ recovers: step.flag });
      case "reload":
        this.#cut(step.tab, step.flag);
        this.#tabs[step.tab] = this.#load();
        return;
      case "refuse":
        return void this.room.refusals.push({ code: step.code, message: "", ...RETRY[step.code] });
      case "ben says":
        return void this.room.say("ben", `ben ${++this.#said}`);
      case "late":
        return this.#late.shift()?.();
      case "lose an answer":
        return this.#tabs.forEach((page) => void (page.answersToLose = 1));
      case "eleven minutes":
        return this.#waitLong();
      case "wait":
        return this.clock.advance(step.ms);
    }
  }

  /** From now on nothing fails any more, until nothing is left to do. */
  heal(): void {
    this.room.refusals.length = 0;
    for (const late of this.#late) late();
    for (const page of this.#tabs) page.answersToLose = 0;
    for (let round = 0; round < 200; round++) {
      for (const page of this.#tabs) {
        page.connect();
        page.settle();
      }
      this.clock.advance(Math.min(this.clock.quietMs, 60_000));
    }
  }

  #load(): Page {
    const { room, clock, storage } = this;
    const page = new Page({ room, clock, storage, queueLimit: 1000 });
    this.pages.push(page);
    page.connect();
    return page;
  }

  #say(tab: number): void {
    const content = `ada ${++this.#said}`;
    this.written[tab]!.push(content);
    this.#tabs[tab]!.say(content);
  }

  #cut(tab: number, arrivesLate: boolean): void {
    const late = this.#tabs[tab]!.cut();
    if (arrivesLate) this.#late.push(...late);
  }

  /** No packet travels that long: all packets under way arrive first. */
  #waitLong(): void {
    for (const late of this.#late) late();
    this.#late = [];
    for (const page of this.#tabs) if (page.isConnected) page.settle();
    for (let minutes = 0; minutes < 11; minutes++) {
      this.clock.advance(60_000);
      for (const page of this.#tabs) if (page.isConnected) page.settle();
    }
  }
}

const RETRY = { RATE_LIMITED: { retryAfterMs: 300 }, INTERNAL: {} };

const seqs = (messages: readonly Message[]): number[] => messages.map(({ seq }) => seq);

describe("however lines break, answers are lost and pages reload (property)", () => {
  it("each message is stored once, in order, and shown once, in order", () => {
    fc.assert(
      fc.property(steps, (steps) => {
        const story = new Story();
        for (const step of steps) story.run(step);
        story.heal();
        const { room, pages, written } = story;
        const stored = room.log.filter(({ sender }) => sender === "ada").map(({ content }) => content);
        const idsOf = (state: MessageState["state"]): string[] =>
          pages.flatMap(({ states }) =>
            states.filter((is) => is.state === state).map(({ clientMsgId }) => clientMsgId),
          );
        const failed = new Set(idsOf("failed"));
        expect(idsOf("sent").filter((id) => !stored.includes(id))).toEqual([]);
        expect(stored).toEqual([...new Set(stored)]);
        for (const said of written) {
          // A message that was given up may have arrived, and late; all others arrived in order.
          const due = said.filter((content) => !failed.has(content));
          expect(stored.filter((content) => due.includes(content))).toEqual(due);
        }
        // Only messages that were given up are still stored, and the next page has them.
        const left = new Page({ room, clock: story.clock, storage: story.storage }).outbox.unsent;
        expect(left.filter(({ clientMsgId, state }) => state !== "failed" || !failed.has(clientMsgId))).toEqual([]);
        expect(story.storage.length).toBe(left.length);
        for (const page of pages) {
          const shown = seqs(page.delivered);
          // Each gap was reported: a connected room gave no answer for it, three times.
          expect(page.gaps.filter(({ reason }) => reason !== "unavailable")).toEqual([]);
          const left = page.gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, n) => from + n));
          const covered = [...shown, ...left].sort((a, b) => a - b);
          expect(covered).toEqual(covered.map((_, index) => covered[0]! + index));
          expect(shown).toEqual(shown.toSorted((a, b) => a - b));
          if (page.isConnected && shown.length > 0) expect(shown.at(-1)).toBe(room.lastSeq);
        }
      }),
      runs(600),
    );
  });
});
