// Tests counters that the lobby has not received yet, through sleep and lost reports. MET-2
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { Counters, KEPT_PER_SECOND, KEPT_SERIES_MAX, SENT_MAX } from "../../../src/chat/listing/counters.ts";
import type { Client } from "../../../src/chat/room/room.ts";
import { SeenDeltas } from "../../../src/lobby/seen-deltas.ts";
import { Meter, type Counts } from "../../../src/metrics/meter.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import { RECORD_BYTES_MAX } from "../../host/harness.ts";

interface Fresh {
  readonly meter: Meter;
  readonly counters: Counters;
  /** The connection that carries them. */
  readonly client: Client;
}

/** @param data of a connection that was there before a sleep */
function fresh(data: object = {}): Fresh {
  const meter = new Meter();
  const client = { id: "a", data, peek: () => client.data } as unknown as Client;
  const counters = new Counters({ meter, clients: new Map([["a", client]]) });
  counters.onRestore(client);
  return { meter, counters, client };
}

describe("what is told", () => {
  it("is told once, and under the same number until it has arrived", () => {
    const { meter, counters } = fresh();
    expect(counters.take(1000)).toEqual([]);
    meter.count("posted", 2);
    expect(counters.take(1000)).toEqual([{ id: 1000, counts: { posted: 2 } }]);
    meter.count("posted");
    expect(counters.unreported).toEqual({ sent: [{ id: 1000, counts: { posted: 2 } }], counts: { posted: 1 } });
    const both = [
      { id: 1000, counts: { posted: 2 } },
      { id: 1001, counts: { posted: 1 } },
    ];
    expect(counters.take(900)).toEqual(both);
    counters.arrived();
    expect(counters.take(3000)).toEqual([]);
  });

  it("is no longer a list than that while the lobby is away", () => {
    const { meter, counters } = fresh();
    for (let i = 0; i < 20; i++) {
      meter.count("posted");
      expect(counters.take(i).length).toBeLessThanOrEqual(SENT_MAX);
    }
    expect(counters.unreported.counts).toEqual({ posted: 20 - SENT_MAX });
  });

  it("goes along with reports, and with nothing else: a room that counts has nothing more to say", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.settle();
    await reporting.post();
    await reporting.advance(60_000);
    const told = reporting.reports.flatMap(({ deltas = [] }) => deltas);
    expect(told.reduce((sum, { counts }) => sum + (counts["posted"] ?? 0), 0)).toBe(1);
    expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
    const count = reporting.reports.length;
    const ada = await reporting.room.join("ada");
    await ada.ask("history", {});
    await reporting.advance(5000);
    expect(reporting.reports.length).toBe(count);
  });

  it("has a message and its storing in one", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    reporting.reports.length = 0;
    await reporting.post();
    const counts = { posted: 1, "batch:0": 1, "batch:sum": 1, "commit:0": 1 };
    expect(reporting.reports).toMatchObject([{ lastSeq: 1, deltas: [{ counts }] }]);
  });

  it("is told for its own sake where it is a refusal or a failure, also after a sleep, and wakes nobody", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    const refuse = async (content: unknown): Promise<void> => {
      await ada.ask("chat-message", { content });
      await reporting.settle();
    };
    const told = (): number[] =>
      reporting.reports.splice(0).map(({ deltas = [] }) => deltas.at(-1)?.counts["rejects:INVALID_PAYLOAD"] ?? 0);
    await reporting.advance(60_000);
    told();
    const { shell } = reporting.room;
    const { quietMs } = shell;
    await refuse("");
    expect(told()).toEqual([1]);
    for (let i = 0; i < 5; i++) await refuse(i);
    expect([told(), shell.quietMs]).toEqual([[], quietMs]);
    shell.evict();
    await reporting.advance(60_000);
    expect(told()).toEqual([5]);
    await reporting.live(600_000, 30_000);
    expect(told()).toEqual([]);
  });

  it("a token that is refused where nobody is: at once, ever more seldom, and the room may sleep meanwhile", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    const told = (): number =>
      reporting.reports
        .splice(0)
        .flatMap(({ deltas = [] }) => deltas)
        .reduce((sum, { counts }) => sum + (counts["connects:UNAUTHORIZED"] ?? 0), 0);
    const knock = async (): Promise<void> => {
      const stranger = room.shell.open();
      await stranger.connect({ token: "of another key" });
      stranger.leave();
      await reporting.settle();
    };
    await knock();
    expect(told()).toBe(1);
    let reports = 0;
    for (let i = 0; i < 600; i++) {
      await knock();
      reports += reporting.reports.length;
      told();
      await reporting.advance(1000);
      expect(room.shell.canSleep).toBe(true);
    }
    expect(reports).toBeLessThanOrEqual(10 + 4);
    expect(room.state.writes).toBe(0);
  });

  it("a failure is told as it happens, and what fails after an await outlives a sleep", async () => {
    let isBroken = true;
    const reporting = new ReportingRoom({
      windowMs: 0,
      sendBatch: async () => {
        if (isBroken) throw new Error("the other room is away");
        return { ok: true, isThere: true };
      },
    });
    const { room } = reporting;
    const counted = (series: string): number =>
      reporting.reports
        .flatMap(({ deltas = [] }) => deltas)
        .filter(({ id }, at, all) => all.findIndex((other) => other.id === id) === at)
        .reduce((sum, { counts }) => sum + (counts[series] ?? 0), 0);
    const ada = await room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    room.log.unreadable = new Error("a damaged page");
    await ada.ask("history", {});
    await reporting.settle();
    room.log.unreadable = undefined;
    expect(counted("problems:room")).toBe(1);
    await reporting.advance(60_000);
    room.chat.features.links.add("elsewhere");
    await reporting.post();
    isBroken = false;
    await reporting.advance(2000);
    room.shell.evict();
    await reporting.live(REPORT_AGAIN_MS + 60_000, 30_000);
    expect(counted("problems:room")).toBeGreaterThan(1);
    expect([3, 4, 5, 6].reduce((sum, at) => sum + counted(`relay_lag:${at}`), 0)).toBe(1);
  });

  it("holds up nothing that is said", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    for (let i = 0; i < 120; i++) {
      await reporting.room.joinWithToken("of nobody");
      await reporting.advance(500);
    }
    reporting.reports.length = 0;
    await reporting.post();
    expect(reporting.reports).toMatchObject([{ lastSeq: 1 }]);
  });

  it("is told where the clock was set back, too", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.room.joinWithToken("of nobody");
    await reporting.advance(60_000);
    reporting.room.shell.nowMs -= 24 * 3_600_000;
    reporting.reports.length = 0;
    await reporting.room.joinWithToken("of nobody");
    await reporting.settle();
    const told = reporting.reports.map(({ deltas = [] }) => deltas.at(-1)?.counts);
    expect(told).toMatchObject([{ "connects:UNAUTHORIZED": expect.any(Number) }]);
  });

  it("while the lobby is away it is not tried at each refusal, and a stranger makes no room wake for it", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    const knock = async (): Promise<void> => {
      const stranger = await room.joinWithToken("of nobody");
      stranger.leave();
      await reporting.settle();
    };
    reporting.failure = new Error("away");
    for (let life = 0; life < 3; life++) {
      await knock();
      expect(room.shell.quietMs).toBe(Infinity);
      room.shell.evict();
    }
    expect(reporting.reports.length).toBeLessThanOrEqual(3);
    reporting.failure = undefined;
    const ada = await room.join("ada");
    await reporting.advance(60_000);
    reporting.failure = new Error("away");
    reporting.reports.length = 0;
    const { quietMs } = room.shell;
    for (let i = 0; i < 100; i++) {
      await ada.ask("chat-message", { content: i });
      await reporting.settle();
      if (i === 0) expect(room.shell.quietMs, "nobody is woken for it").toBe(quietMs);
      await reporting.advance(1000);
    }
    expect(reporting.reports.length).toBeLessThanOrEqual(3);
    reporting.failure = undefined;
    await reporting.live(300_000, 30_000);
    const told = new Map(reporting.reports.at(-1)!.deltas!.map(({ id, counts }) => [id, counts]));
    expect([...told.values()].reduce((sum, counts) => sum + (counts["rejects:INVALID_PAYLOAD"] ?? 0), 0)).toBe(100);
  });

  it.each(["failed", "was cut off by a sleep"])("is told again with the next wake where the report %s", async (how) => {
    const reporting = new ReportingRoom();
    const { room, reports } = reporting;
    const ada = await room.join("ada");
    await reporting.advance(60_000);
    reports.length = 0;
    const { quietMs } = room.shell;
    reporting.failure = new Error("away");
    await ada.ask("chat-message", { content: "" });
    if (how !== "failed") room.shell.evict();
    await reporting.settle();
    expect(reports).toHaveLength(1);
    expect(room.shell.quietMs).toBe(quietMs);
    reporting.failure = undefined;
    await reporting.live(150_000, 30_000);
    expect(reports).toHaveLength(2);
    expect(reports[1]!.deltas![0]).toEqual(reports[0]!.deltas![0]);
  });

  it("where the log cannot be read, it is not tried again for each refusal", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    reporting.room.shell.evict();
    reporting.room.log.unreadable = new Error("a damaged page");
    reporting.room.shell.reports.length = 0;
    for (let i = 0; i < 100; i++) {
      await ada.ask("chat-message", { content: i });
      await reporting.settle();
    }
    expect(reporting.room.shell.reports.length).toBeLessThanOrEqual(2);
    reporting.room.log.unreadable = undefined;
    reporting.reports.length = 0;
    await reporting.advance(60_000);
    expect(reporting.reports.at(-1)?.deltas?.at(-1)?.counts["rejects:INVALID_PAYLOAD"]).toBe(100);
  });
});

describe("what is remembered", () => {
  it("with each input of a room that is not very busy, and then ten times a second", () => {
    const { meter, counters } = fresh();
    const dueOf = (inputs: number, everyMs: number, fromMs: number): number => {
      let due = 0;
      for (let i = 0; i < inputs; i++) {
        meter.count("posted");
        if (counters.keepSometimes(fromMs + i * everyMs)) due++;
      }
      return due;
    };
    expect(counters.keepSometimes(0)).toBe(false);
    expect(dueOf(100, 1000 / KEPT_PER_SECOND, 0)).toBe(100);
    expect(dueOf(2000, 1, 20_000)).toBeLessThanOrEqual(3 * KEPT_PER_SECOND);
    // The clock was set back: nobody waits until it is as late again.
    expect(dueOf(10, 100, 1000)).toBe(10);
  });

  it("fits the connection that carries it, however much was counted", () => {
    const { meter, counters, client } = fresh();
    for (let sent = 0; sent < SENT_MAX; sent++) {
      for (let i = 0; i < 500; i++) meter.count(`events:something-with-a-long-name-${sent}-${i}`, 1e6);
      counters.take(sent);
    }
    expect(JSON.stringify(client.data).length).toBeLessThan(RECORD_BYTES_MAX / 3);
    const { sent } = fresh(structuredClone(client.data)).counters.unreported;
    expect(sent).toHaveLength(SENT_MAX);
    expect(sent.reduce((sum, { counts }) => sum + Object.keys(counts).length, 0)).toBe(KEPT_SERIES_MAX);
  });

  it("with lost reports, lost answers and sleeps, the lobby counts all of it once", () => {
    const step = fc.constantFrom("count", "tell", "lose report", "lose answer", "sleep");
    // Reports that failed are made again after a minute, then two, and so on up to an hour.
    const pauseMs = fc.constantFrom(101, 60_001, 3_600_000);
    fc.assert(
      fc.property(fc.array(fc.tuple(step, pauseMs), { maxLength: 60 }), (steps) => {
        let { meter, counters, client } = fresh();
        const seen = new SeenDeltas();
        let [counted, arrived, nowMs] = [0, 0, 0];
        const tell = ({ isHeard, isAnswered }: { isHeard: boolean; isAnswered: boolean }): void => {
          const deltas = counters.take(nowMs);
          if (!isHeard) return;
          const add = (counts: Counts): void => void (arrived += counts["posted"] ?? 0);
          for (const { counts } of seen.accept("room", deltas)) add(counts);
          if (isAnswered) counters.arrived();
        };
        for (const [each, afterMs] of [...steps, ["tell", 7], ["tell", 7]] as const) {
          nowMs += afterMs;
          if (each === "count") {
            meter.count("posted");
            counters.keepSometimes(nowMs);
            counted++;
          } else if (each === "sleep") {
            ({ meter, counters, client } = fresh(structuredClone(client.data)));
          } else tell({ isHeard: each !== "lose report", isAnswered: each === "tell" });
        }
        expect(arrived).toBe(counted);
      }),
    );
  });
});
