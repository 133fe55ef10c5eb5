// Tests that every counted event reaches the lobby exactly once, through sleeps, lost reports and lost answers (MET-2).
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { Counters, KEPT_PER_SECOND, KEPT_SERIES_MAX } from "../../../src/chat/room/counters.ts";
import { REPORT_WINDOW_MS_MAX, REPORT_WINDOW_MS_MIN } from "../../../src/features/directory/pace.ts";
import type { Client } from "../../../src/chat/room/room.ts";
import { NewestNumbers } from "../../../src/features/directory/newest-numbers.ts";
import { Meter } from "../../../src/metrics/meter.ts";
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

describe("reporting counters", () => {
  it("repeats a batch under the same id until it has arrived; later counts wait", () => {
    const { meter, counters } = fresh();
    expect(counters.take(1000)).toBeUndefined();
    meter.count("posted", 2);
    const first = { id: 1000, counts: { posted: 2 } };
    expect(counters.take(1000)).toEqual(first);
    for (let i = 0; i < 20; i++) meter.count("posted");
    expect(counters.unreported(1500)).toEqual({ sent: first, counts: { posted: 20 }, lastId: 1499 });
    expect(counters.take(2000)).toEqual(first);
    counters.arrived();
    expect(counters.take(900)).toEqual({ id: 1001, counts: { posted: 20 } });
    counters.arrived();
    expect(counters.take(3000)).toBeUndefined();
  });

  it("sends counts with reports only: counting alone causes no report", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.settle();
    await reporting.post();
    await reporting.advance(60_000);
    expect(reporting.counted("posted")).toBe(1);
    const ids = reporting.reports.flatMap(({ delta }) => (delta ? [delta.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    const count = reporting.reports.length;
    const ada = await reporting.room.join("ada");
    await ada.ask("history", {});
    await reporting.advance(5000);
    expect(reporting.reports.length).toBe(count);
  });

  it("counts a message and its row in the same report", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    reporting.reports.length = 0;
    await reporting.post();
    const counts = { posted: 1, "batch:0": 1, "batch:sum": 1, "commit:0": 1 };
    expect(reporting.reports).toMatchObject([{ lastSeq: 1, delta: { counts } }]);
  });

  it("reports refusals, also after a sleep, without an alarm", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    const refuse = async (content: unknown): Promise<void> => {
      await ada.ask("chat-message", { content });
      await reporting.settle();
    };
    const takeRejects = (): number[] =>
      reporting.reports.splice(0).map(({ delta }) => delta?.counts["rejects:INVALID_PAYLOAD"] ?? 0);
    await reporting.advance(60_000);
    takeRejects();
    const { shell } = reporting.room;
    const { quietMs } = shell;
    await refuse("");
    expect(takeRejects()).toEqual([1]);
    for (let i = 0; i < 5; i++) await refuse(i);
    expect([takeRejects(), shell.quietMs]).toEqual([[], quietMs]);
    shell.evict();
    await reporting.advance(60_000);
    expect(takeRejects()).toEqual([5]);
    await reporting.live(600_000, 30_000);
    expect(takeRejects()).toEqual([]);
  });

  it("reports refused tokens of an empty room at once, then with growing windows, and lets the room sleep", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    const knock = async (): Promise<void> => {
      const stranger = room.shell.open();
      await stranger.connect({ token: "of another key" });
      stranger.leave();
      await reporting.settle();
    };
    await knock();
    expect(reporting.counted("connects:UNAUTHORIZED")).toBe(1);
    reporting.reports.length = 0;
    for (let i = 0; i < 600; i++) {
      await knock();
      await reporting.advance(1000);
      expect(room.shell.canSleep).toBe(true);
    }
    // One a minute in the end, and some more while the windows are shorter.
    expect(reporting.reports.length).toBeLessThanOrEqual(10 + 4);
    expect(room.state.writes).toBe(0);
  });

  it("reports a failure at once; counts made after an await outlive a sleep", async () => {
    let isBroken = true;
    const reporting = new ReportingRoom({
      windowMs: 0,
      sendBatch: async () => {
        if (isBroken) throw new Error("the other room is away");
        return { ok: true, isThere: true };
      },
    });
    const { room } = reporting;
    const ada = await room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    room.log.unreadable = new Error("a damaged page");
    await ada.ask("history", {});
    await reporting.settle();
    room.log.unreadable = undefined;
    expect(reporting.counted("problems:room")).toBe(1);
    await reporting.advance(60_000);
    room.relay.links.add("elsewhere");
    await reporting.post();
    isBroken = false;
    await reporting.advance(2000);
    room.shell.evict();
    await reporting.live(REPORT_AGAIN_MS + 60_000, 30_000);
    expect(reporting.counted("problems:room")).toBeGreaterThan(1);
    // The bucket of the histogram depends on the windows.
    expect([3, 4, 5, 6].reduce((sum, at) => sum + reporting.counted(`relay_lag:${at}`), 0)).toBe(1);
  });

  it("delays a change of the list by a minute at most after refusals", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    // A minute of refusals, two a second.
    for (let i = 0; i < 120; i++) {
      await reporting.room.joinWithToken("of nobody");
      await reporting.advance(500);
    }
    reporting.reports.length = 0;
    await reporting.post();
    await reporting.live(REPORT_WINDOW_MS_MAX, 5000);
    expect(reporting.reports).toMatchObject([{ lastSeq: 1 }]);
  });

  it("reports refusals after the clock was set back", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.room.joinWithToken("of nobody");
    await reporting.advance(60_000);
    reporting.room.shell.nowMs -= 24 * 3_600_000;
    reporting.reports.length = 0;
    await reporting.room.joinWithToken("of nobody");
    await reporting.advance(REPORT_WINDOW_MS_MIN);
    await reporting.room.joinWithToken("of nobody");
    await reporting.settle();
    expect(reporting.counted("connects:UNAUTHORIZED")).toBeGreaterThan(0);
  });

  it("does not retry at each refusal while the lobby is away, and sets no alarm for an unjoined session", async () => {
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
    expect(reporting.counted("rejects:INVALID_PAYLOAD")).toBe(100);
  });

  it.each(["failed", "was cut off by a sleep"])("repeats a report with the next wake after it %s", async (how) => {
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
    // The heartbeat wakes the room within this.
    await reporting.live(150_000, 30_000);
    // Counts of the meantime follow in a report of their own.
    expect(reports.slice(2).map(({ delta }) => Object.keys(delta!.counts))).toEqual(
      how === "failed" ? [expect.arrayContaining(["problems:room"])] : [],
    );
    expect(reports[1]!.delta).toEqual(reports[0]!.delta);
  });

  it("does not retry at each refusal while the log cannot be read", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    reporting.room.shell.evict();
    reporting.room.log.unreadable = new Error("a damaged page");
    reporting.room.shell.problems.length = 0;
    for (let i = 0; i < 100; i++) {
      await ada.ask("chat-message", { content: i });
      await reporting.settle();
    }
    expect(reporting.room.shell.problems.length).toBeLessThanOrEqual(2);
    reporting.room.log.unreadable = undefined;
    reporting.reports.length = 0;
    await reporting.advance(120_000);
    expect(reporting.reports.at(-1)?.delta?.counts["rejects:INVALID_PAYLOAD"]).toBe(100);
  });
});

describe("keeping counters through a sleep", () => {
  it("keeps them with each input, ten times a second at most", () => {
    const { meter, counters } = fresh();
    const dueOf = (inputs: number, everyMs: number, fromMs: number): number => {
      let due = 0;
      for (let i = 0; i < inputs; i++) {
        meter.count("posted");
        if (counters.keepThrottled(fromMs + i * everyMs)) due++;
      }
      return due;
    };
    expect(counters.keepThrottled(0)).toBe(false);
    expect(dueOf(100, 1000 / KEPT_PER_SECOND, 0)).toBe(100);
    expect(dueOf(2000, 1, 20_000)).toBeLessThanOrEqual(3 * KEPT_PER_SECOND);
    // The clock was set back: counters are kept again at once.
    expect(dueOf(10, 100, 1000)).toBe(10);
  });

  it("keeps a limited number of series on the connection", () => {
    const { meter, counters, client } = fresh();
    const count = (name: string): void => {
      for (let i = 0; i < KEPT_SERIES_MAX / 2; i++) meter.count(`events:${name}-with-a-long-name-${i}`, 1e6);
    };
    count("sent");
    counters.take(1);
    for (const name of ["waiting", "more", "most"]) count(name);
    counters.keepThrottled(1);
    expect(JSON.stringify(client.data).length).toBeLessThan(RECORD_BYTES_MAX / 3);
    const { sent, counts } = fresh(structuredClone(client.data)).counters.unreported(0);
    const kept = [sent!.counts, counts].map((series) => Object.keys(series).length);
    expect(kept).toEqual([KEPT_SERIES_MAX / 2, KEPT_SERIES_MAX / 2]);
  });

  it("counts everything once through lost reports, lost answers and sleeps", () => {
    const step = fc.constantFrom("count", "tell", "lose report", "lose answer", "sleep");
    // Reports that failed are made again after a minute, then two, and so on up to an hour.
    const pauseMs = fc.constantFrom(101, 60_001, 3_600_000);
    fc.assert(
      fc.property(fc.array(fc.tuple(step, pauseMs), { maxLength: 60 }), (steps) => {
        let { meter, counters, client } = fresh();
        const seen = new NewestNumbers({ takesEqual: false });
        let [counted, arrived, nowMs] = [0, 0, 0];
        const tell = ({ isHeard, isAnswered }: { isHeard: boolean; isAnswered: boolean }): void => {
          const delta = counters.take(nowMs);
          if (!isHeard) return;
          if (delta && seen.take("room", delta.id)) arrived += delta.counts["posted"] ?? 0;
          if (isAnswered) counters.arrived();
        };
        for (const [each, afterMs] of [...steps, ["tell", 7], ["tell", 7]] as const) {
          nowMs += afterMs;
          if (each === "count") {
            meter.count("posted");
            counters.keepThrottled(nowMs);
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
