// Retention by whole segments: keeps at least the setting, and about a tenth more at most.
import { describe, expect, it } from "vitest";

import {
  agedAtMs,
  beginSegment,
  countExpired,
  isFull,
  type Retention,
  type Segment,
} from "../../../src/chat/log/segments.ts";
import { fc, runs } from "../../host/properties.ts";

interface Kept {
  readonly atMs: number;
  readonly count: number;
}

/** A log that stores only how many messages came when. */
class Tally {
  readonly retention: Retention;
  segments: Segment[] = [];
  held: Kept[][] = [];
  stored = 0;

  constructor(retention: Retention) {
    this.retention = retention;
  }

  append(count: number, atMs: number): void {
    const current = this.segments.at(-1);
    if (!current || isFull(this.retention, current, this.stored, atMs)) {
      this.segments.push(beginSegment(this.retention, this.stored + 1, this.stored, atMs));
      this.held.push([]);
    }
    this.held.at(-1)!.push({ atMs, count });
    this.stored += count;
  }

  trim(nowMs: number): void {
    const count = countExpired(this.retention, this.segments, this.stored, nowMs);
    this.segments = this.segments.slice(count);
    this.held = this.held.slice(count);
  }

  get kept(): Kept[] {
    return this.held.flat();
  }
}

const BATCH_MAX = 64;
const retention = fc.record({
  messages: fc.integer({ min: 10, max: 2000 }),
  ageMs: fc.integer({ min: 1000, max: 1e6 }),
});
const appends = fc.array(
  fc.record({
    count: fc.integer({ min: 1, max: BATCH_MAX }),
    afterMs: fc.constantFrom(0, 10, 1000, 50_000, 2_000_000),
  }),
  { maxLength: 200, size: "max" },
);

const sum = (kept: readonly Kept[]): number => kept.reduce((all, { count }) => all + count, 0);

describe("CHAT-8: segments", () => {
  it("keep the retention, and at most a tenth and a batch more", () => {
    fc.assert(
      fc.property(retention, appends, (limits, program) => {
        const tally = new Tally(limits);
        const all: Kept[] = [];
        let nowMs = 0;
        for (const { count, afterMs } of program) {
          nowMs += afterMs;
          tally.append(count, nowMs);
          all.push({ atMs: nowMs, count });
          tally.trim(nowMs);
          const { kept } = tally;
          const forgotten = all[all.length - kept.length - 1];
          const isTooOld = forgotten && nowMs - forgotten.atMs >= limits.ageMs;
          if (forgotten && !isTooOld) expect(sum(kept)).toBeGreaterThanOrEqual(limits.messages);
          expect(sum(kept)).toBeLessThanOrEqual(limits.messages * 1.1 + BATCH_MAX + 1);
          expect(nowMs - kept[0]!.atMs).toBeLessThanOrEqual(limits.ageMs * 1.1 + 1);
        }
        // The newest ones, without a hole.
        expect(tally.kept).toEqual(all.slice(all.length - tally.kept.length));
      }),
      runs(100),
    );
  });

  it("are all dropped when the last of them is due, and not before", () => {
    fc.assert(
      fc.property(retention, appends, (limits, program) => {
        const tally = new Tally(limits);
        let nowMs = 0;
        for (const { count, afterMs } of program) tally.append(count, (nowMs += afterMs));
        while (tally.segments.length > 0) {
          const { length } = tally.segments;
          const dueMs = agedAtMs(limits, tally.segments[0]!);
          nowMs = Math.max(nowMs, dueMs - 1);
          tally.trim(nowMs);
          if (nowMs < dueMs) expect(tally.segments.length === length || sum(tally.kept) >= limits.messages).toBe(true);
          tally.trim((nowMs = Math.max(nowMs, dueMs)));
          expect(tally.segments.length).toBeLessThan(length);
        }
      }),
    );
  });
});
