// Tests the account of deliveries of load tests, crashes and the bench: the messages due to each member, and the message at each place of a room.
import { assert, integer, property, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";

import { CODE_OF_OTHERS, Deliveries, Places } from "../../scripts/measure/ledger.ts";
import { codeOf, findMark, markedText, PAYLOAD_BYTES_MIN } from "../../scripts/measure/mark.ts";
import type { Member } from "../../scripts/measure/member.ts";
import { Tally } from "../../scripts/measure/tally.ts";

const NONE = { lost: 0, doubled: 0, outOfOrder: 0, missedAway: 0 };

function deliveriesOf(lastSeq: number | undefined, ...seqs: readonly number[]): Deliveries {
  const deliveries = new Deliveries();
  if (lastSeq !== undefined) deliveries.enter(lastSeq);
  for (const seq of seqs) deliveries.see(seq);
  return deliveries;
}

describe("the account of a member", () => {
  const faults = (of: Deliveries, lastSeq: number, isIn = true) => of.faults({ baseSeq: 10, lastSeq }, isIn);

  it("finds nothing if everything came once and in order, wherever the member came in", () => {
    expect(faults(deliveriesOf(10, 11, 12, 13), 13)).toEqual(NONE);
    expect(faults(deliveriesOf(12, 13), 13)).toEqual(NONE);
    expect(faults(deliveriesOf(13), 13)).toEqual(NONE);
    expect(deliveriesOf(10, 11, 12).isCompleteTo(12)).toBe(true);
  });

  it("finds lost messages: in the middle, at the end, and all of them", () => {
    expect(faults(deliveriesOf(10, 11, 13), 13)).toEqual({ ...NONE, lost: 1 });
    expect(faults(deliveriesOf(10, 11), 14)).toEqual({ ...NONE, lost: 3 });
    expect(faults(deliveriesOf(10), 14)).toEqual({ ...NONE, lost: 4 });
    expect(deliveriesOf(10, 11, 13).isCompleteTo(13)).toBe(false);
  });

  it("finds doubled messages, and those that come after a later one", () => {
    expect(faults(deliveriesOf(10, 11, 11, 12), 12)).toEqual({ ...NONE, doubled: 1 });
    expect(faults(deliveriesOf(10, 12, 11, 13), 13)).toEqual({ ...NONE, outOfOrder: 1 });
    expect(faults(deliveriesOf(10, 12, 11, 11), 12)).toEqual({ ...NONE, outOfOrder: 1, doubled: 1 });
    expect(faults(deliveriesOf(10, 10), 10)).toEqual({ ...NONE, doubled: 1 });
  });

  it("begins at the room's first message of the run if the member's first place is unknown", () => {
    expect(faults(deliveriesOf(undefined, 11, 12), 12)).toEqual(NONE);
    expect(faults(deliveriesOf(undefined, 13, 14), 14)).toEqual({ ...NONE, lost: 2 });
    expect(faults(deliveriesOf(undefined), 12)).toEqual({ ...NONE, lost: 2 });
  });

  it("distinguishes messages missed while away from lost ones", () => {
    const back = deliveriesOf(10, 11);
    back.enter(14);
    back.see(15);
    expect(faults(back, 15)).toEqual({ ...NONE, missedAway: 3 });
    expect(faults(deliveriesOf(10, 11), 15, false)).toEqual({ ...NONE, missedAway: 4 });
  });

  it("counts dropped and doubled messages exactly", () => {
    const places = uniqueArray(integer({ min: 1, max: 40 }), { selector: (seq) => seq });
    assert(
      property(places, places, (dropped, doubled) => {
        const arriving = Array.from({ length: 40 }, (_, index) => index + 1).filter((seq) => !dropped.includes(seq));
        const twice = arriving.filter((seq) => doubled.includes(seq));
        const all = deliveriesOf(0, ...arriving.flatMap((seq) => (twice.includes(seq) ? [seq, seq] : [seq])));
        expect(all.faults({ baseSeq: 0, lastSeq: 40 }, true)).toEqual({
          ...NONE,
          lost: dropped.length,
          doubled: twice.length,
        });
      }),
    );
  });
});

describe("the account of a room", () => {
  function placesOf({ acked = [], shown = [] }: Record<string, ReadonlyArray<readonly [number, number]>>): Places {
    const places = new Places();
    for (const [seq, code] of acked) places.ack(seq, code);
    for (const [seq, code] of shown) places.show(seq, code);
    return places;
  }

  it("knows the run's first and last place, from acks and from shown messages", () => {
    expect(placesOf({}).span).toEqual({ baseSeq: 0, lastSeq: 0 });
    const places = placesOf({
      shown: [[8, 1]],
      acked: [
        [7, 2],
        [9, 3],
      ],
    });
    expect(places.span).toEqual({ baseSeq: 6, lastSeq: 9 });
  });

  it.each([
    [
      "two members are shown different messages at one place",
      {
        shown: [
          [1, 100],
          [1, 101],
        ],
      },
    ],
    [
      "two posts are acked at one place",
      {
        acked: [
          [1, 100],
          [1, 101],
        ],
      },
    ],
    ["an ack and a shown message disagree", { acked: [[3, 104]], shown: [[3, 105]] }],
    ["an acked message arrives altered beyond recognition", { acked: [[3, 104]], shown: [[3, CODE_OF_OTHERS]] }],
  ] as const)("finds that %s", (_what, named) => {
    expect(placesOf(named)).toMatchObject({ disagreeing: 1, repeated: 0 });
  });

  it("finds a message that was stored again, and takes those of others for different ones", () => {
    const acked = [[1, 100]] as const;
    const again = [
      [1, 100],
      [2, 100],
    ] as const;
    expect(placesOf({ acked, shown: again })).toMatchObject({ repeated: 1, disagreeing: 0 });
    const others = [
      [1, CODE_OF_OTHERS],
      [2, CODE_OF_OTHERS],
    ] as const;
    expect(placesOf({ shown: others }).repeated).toBe(0);
  });

  it("finds acked and shown messages that the history has not, or has elsewhere", () => {
    const places = placesOf({
      acked: [
        [1, 100],
        [2, 101],
      ],
      shown: [
        [2, 101],
        [3, 102],
      ],
    });
    const stored = (...codes: number[]) => new Map(codes.map((code, index) => [index + 1, code]));
    expect(places.absentIn(stored(100, 101, 102, 103))).toBe(0);
    expect(places.absentIn(stored(100, 101))).toBe(1);
    expect(places.absentIn(stored(101, 100, 102))).toBe(2);
  });
});

describe("the tally of a run", () => {
  const member = { seat: { number: 0, room: "r", roomNumber: 0 }, isIn: true, unanswered: 0, ignored: 0 } as Member;
  const mark = { room: 0, code: 7, dueUs: 0 };
  const post = { code: 7, content: "", dueUs: 0 };

  /** Of a room with one member, who was there from its beginning. */
  function factsOf(tell: (tally: Tally) => void) {
    const tally = new Tally();
    tally.entered(member, 0);
    tell(tally);
    return { ...tally.faults([member], tally.spans), errors: tally.errors };
  }

  it("counts a message without a place as lost for its receivers, which hides no other", () => {
    const facts = factsOf((tally) => {
      tally.acked(member, 1, post);
      tally.delivered(member, NaN, mark);
      tally.acked(member, 3, { ...post, code: 8 });
      tally.delivered(member, 3, { ...mark, code: 8 });
    });
    expect(facts).toMatchObject({ lost: 2, errors: { "a message without a place": 1 } });
  });

  it("counts an ack without a place, which hides nothing of the others", () => {
    const facts = factsOf((tally) => {
      tally.acked(member, undefined as unknown as number, post);
      tally.acked(member, 2, { ...post, code: 8 });
    });
    expect(facts).toMatchObject({ lost: 1, errors: { "an ack without a place": 1 } });
  });

  it("counts a message of another room as strayed", () => {
    expect(factsOf((tally) => tally.delivered(member, 1, { ...mark, room: 1 })).strayed).toBe(1);
  });

  it("measures latencies of posts that were due in the interval, and rows of all", () => {
    const tally = new Tally();
    tally.measure(1000, 2000);
    for (const dueUs of [999, 1000, 1999, 2000]) tally.delivered(member, dueUs, { ...mark, code: dueUs, dueUs });
    tally.endSecond({ second: 1, connected: 1, stolenCores: 0 });
    tally.endSecond({ second: 2, connected: 1, stolenCores: 0 });
    expect(tally.delivery.percentiles.count).toBe(2);
    expect(tally.rows).toMatchObject([
      { second: 1, deliveries: 4 },
      { second: 2, deliveries: 0, p99Ms: 0 },
    ]);
  });
});

describe("marks", () => {
  it("bring sender, counter, room and moment through a message's text", () => {
    const text = markedText("abcd", 100, { room: 42, code: codeOf(9999, 77), dueUs: 123_456_789.7 });
    expect(text).toHaveLength(100);
    const bytes = Buffer.from(`42["chat-message",{"seq":1,"content":"${text}"}]`);
    expect(findMark("abcd", bytes, 0, bytes.length)).toEqual({ room: 42, code: codeOf(9999, 77), dueUs: 123_456_789 });
  });

  it("of another run, or cut off, are none", () => {
    const bytes = Buffer.from(markedText("abcd", PAYLOAD_BYTES_MIN, { room: 0, code: 1, dueUs: 2 }));
    expect(findMark("abcd", bytes, 0, bytes.length)).toBeDefined();
    expect(findMark("wxyz", bytes, 0, bytes.length)).toBeUndefined();
    expect(findMark("abcd", bytes, 0, bytes.length - 1)).toBeUndefined();
  });
});
