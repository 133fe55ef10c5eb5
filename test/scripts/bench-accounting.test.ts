// Tests the bench's arithmetic.

import { describe, expect, it } from "vitest";

import { account, codeOf, NO_FAULTS, Sequence } from "../../scripts/bench/accounting.ts";
import { eachMark, markedText } from "../../scripts/bench/load/mark.ts";
import { Histogram, median, spreadOf } from "../../scripts/measuring/statistics.ts";
import { fc } from "../host/properties.ts";

const codes = (...list: number[]): Uint32Array => Uint32Array.from(list);
const [a1, a2, a3, b1, b2] = [codeOf(1, 1), codeOf(1, 2), codeOf(1, 3), codeOf(2, 1), codeOf(2, 2)];
const sent = new Set([a1, a2, a3, b1, b2]);
const right = codes(a1, b1, a2, b2, a3);

describe("accounting", () => {
  it("finds nothing where everybody got the same", () => {
    expect(account(sent, [right, right.slice(), right.slice()])).toEqual(NO_FAULTS);
    expect(account(new Set(), [])).toEqual(NO_FAULTS);
  });

  it.each([
    ["lost", codes(a1, b1, a2, b2), { lost: 1 }],
    ["all lost", codes(), { lost: 5 }],
    ["doubled", codes(a1, b1, b1, a2, b2, a3, a3), { doubled: 2 }],
    [
      "out of a sender's order, which is another order too",
      codes(a2, b1, a1, b2, a3),
      { outOfOrder: 1, disagreeing: 2 },
    ],
    ["another order, though every sender's is kept", codes(b1, a1, a2, b2, a3), { disagreeing: 1 }],
    ["strayed in from another room", codes(a1, b1, a2, b2, a3, codeOf(7, 0)), { strayed: 1 }],
    ["one lost and one doubled are not even", codes(a1, b1, a2, b2, b2), { lost: 1, doubled: 1 }],
  ])("%s", (_what, member, faults) => {
    expect(account(sent, [right, member])).toEqual({ ...NO_FAULTS, ...faults });
    // In any order: the reference is a member that got as many as were sent.
    expect(account(sent, [member, right])).toEqual({ ...NO_FAULTS, ...faults });
  });

  it("counts for each member the losses of all of them", () => {
    expect(account(sent, [codes(a1, b1), codes(a1, b1)])).toEqual({ ...NO_FAULTS, lost: 6 });
  });

  it("property: one message taken out, put in again, or moved is one fault of its kind", () => {
    const arrange = fc
      .integer({ min: 2, max: 60 })
      .chain((length) => fc.tuple(fc.constant(length), fc.nat(length - 1), fc.nat(length - 1)));
    fc.assert(
      fc.property(arrange, ([length, from, to]) => {
        // Every message of another sender, so that no sender's order is concerned.
        const all = Array.from({ length }, (_, sender) => codeOf(sender, 0));
        const without = all.toSpliced(from, 1);
        const check = (member: number[]) => account(new Set(all), [codes(...all), codes(...member)]);
        expect(check(without)).toEqual({ ...NO_FAULTS, lost: 1 });
        expect(check(all.toSpliced(Math.max(from, to) + 1, 0, all[from]!))).toEqual({ ...NO_FAULTS, doubled: 1 });
        const moved = without.toSpliced(to, 0, all[from]!);
        expect(check(moved)).toEqual({ ...NO_FAULTS, disagreeing: from === to ? 0 : 1 });
      }),
    );
  });

  it("keeps a sequence however long it gets", () => {
    const sequence = new Sequence();
    for (let i = 0; i < 1000; i++) sequence.push(i);
    expect([...sequence.codes]).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });
});

describe("marks", () => {
  it("are read back from frames that carry any number of messages", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(16_383), fc.nat(262_143), fc.nat(9_999_999_999)), { maxLength: 5 }),
        fc.stringMatching(/^[ -}]{0,30}$/),
        (posts, around) => {
          const texts = posts.map(
            ([sender, counter, atUs]) => `42["chat-message",{"content":"${markedText(sender, counter, atUs)}"}]`,
          );
          const frame = new TextEncoder().encode(`${around}${texts.join("\x1e")}${around}`);
          const found: number[][] = [];
          expect(eachMark(frame, 0, frame.length, (code, atUs) => found.push([code, atUs]))).toBe(posts.length);
          expect(found).toEqual(posts.map(([sender, counter, atUs]) => [codeOf(sender, counter), atUs]));
        },
      ),
    );
  });

  it("beyond the end of a frame count for the next one", () => {
    const bytes = new TextEncoder().encode(markedText(1, 2, 3));
    expect(eachMark(bytes, 0, bytes.length - 1, () => undefined)).toBe(0);
  });
});

describe("statistics", () => {
  it("medians and spreads", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeNaN();
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 });
  });

  it("a histogram's percentiles are within 2 % of the sorted truth", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(2 ** 31 - 1), { minLength: 1, maxLength: 200 }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (values, share) => {
          const histogram = new Histogram();
          for (const value of values) histogram.add(value);
          const truth = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;
          expect(Math.abs(histogram.percentile(share) - truth)).toBeLessThanOrEqual(truth * 0.02);
        },
      ),
    );
    expect(new Histogram().percentile(0.5)).toBeNaN();
  });
});
