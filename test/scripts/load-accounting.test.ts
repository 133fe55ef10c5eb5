// Tests the load test's accounting: the messages due to each member, and the message at each place of a room.
import { assert, integer, property, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";

import { nowUs } from "../../scripts/load/clock.ts";
import { codeOf, findMark, markedText, PAYLOAD_BYTES_MIN, senderOf } from "../../scripts/load/mark.ts";
import { RoomIndex } from "../../scripts/load/room-index.ts";
import type { Member } from "../../scripts/load/client-slot.ts";
import { DeliveryCheck } from "../../scripts/load/delivery-check.ts";
import { Tally } from "../../scripts/load/tally.ts";

const NONE = { lost: 0, doubled: 0, outOfOrder: 0, missedAway: 0 };

function ledgerOf(lastSeq: number | undefined, ...seqs: readonly number[]): DeliveryCheck {
  const check = new DeliveryCheck();
  if (lastSeq !== undefined) check.enter(lastSeq);
  for (const seq of seqs) check.see(seq);
  return check;
}

describe("a member's check", () => {
  const faults = (check: DeliveryCheck, lastSeq: number, isIn = true) => check.faults({ baseSeq: 10, lastSeq }, isIn);

  it("finds nothing where everything came once and in order, from wherever the member came in", () => {
    expect(faults(ledgerOf(10, 11, 12, 13), 13)).toEqual(NONE);
    expect(faults(ledgerOf(12, 13), 13)).toEqual(NONE);
    expect(faults(ledgerOf(13), 13)).toEqual(NONE);
    expect(ledgerOf(10, 11, 12).isCompleteTo(12)).toBe(true);
  });

  it("finds lost messages: in the middle, at the end, and all of them", () => {
    expect(faults(ledgerOf(10, 11, 13), 13)).toEqual({ ...NONE, lost: 1 });
    expect(faults(ledgerOf(10, 11), 14)).toEqual({ ...NONE, lost: 3 });
    expect(faults(ledgerOf(10), 14)).toEqual({ ...NONE, lost: 4 });
    expect(ledgerOf(10, 11, 13).isCompleteTo(13)).toBe(false);
  });

  it("finds doubled messages, and those that come after a later one", () => {
    expect(faults(ledgerOf(10, 11, 11, 12), 12)).toEqual({ ...NONE, doubled: 1 });
    expect(faults(ledgerOf(10, 12, 11, 13), 13)).toEqual({ ...NONE, outOfOrder: 1 });
    expect(faults(ledgerOf(10, 12, 11, 11), 12)).toEqual({ ...NONE, outOfOrder: 1, doubled: 1 });
    expect(faults(ledgerOf(10, 10), 10)).toEqual({ ...NONE, doubled: 1 });
  });

  it("begins at the room's first message of the run where its earlier place is unknown", () => {
    expect(faults(ledgerOf(undefined, 11, 12), 12)).toEqual(NONE);
    expect(faults(ledgerOf(undefined, 13, 14), 14)).toEqual({ ...NONE, lost: 2 });
    expect(faults(ledgerOf(undefined), 12)).toEqual({ ...NONE, lost: 2 });
  });

  it("distinguishes messages missed while away from lost ones", () => {
    const back = ledgerOf(10, 11);
    back.enter(14);
    back.see(15);
    expect(faults(back, 15)).toEqual({ ...NONE, missedAway: 3 });
    expect(faults(ledgerOf(10, 11), 15, false)).toEqual({ ...NONE, missedAway: 4 });
  });

  it("counts dropped, doubled and swapped messages exactly", () => {
    const places = uniqueArray(integer({ min: 1, max: 40 }), { selector: (seq) => seq });
    assert(
      property(places, places, (dropped, doubled) => {
        const arriving = Array.from({ length: 40 }, (_, index) => index + 1).filter((seq) => !dropped.includes(seq));
        const twice = arriving.filter((seq) => doubled.includes(seq));
        const check = ledgerOf(0, ...arriving.flatMap((seq) => (twice.includes(seq) ? [seq, seq] : [seq])));
        expect(check.faults({ baseSeq: 0, lastSeq: 40 }, true)).toEqual({
          ...NONE,
          lost: dropped.length,
          doubled: twice.length,
        });
      }),
    );
  });
});

describe("a room's index", () => {
  it("knows the run's first and last place, from acks and from the messages that members saw", () => {
    const index = new RoomIndex();
    expect([index.baseSeq, index.lastSeq]).toEqual([0, 0]);
    index.see(8, 1);
    index.ack(7, 2);
    index.ack(9, 3);
    expect([index.baseSeq, index.lastSeq]).toEqual([6, 9]);
  });

  it("finds two different messages at one place: between members, between processes, and against the ack", () => {
    const [one, other] = [new RoomIndex(), new RoomIndex()];
    one.see(1, 100);
    one.see(1, 101);
    one.see(2, 102);
    other.see(2, 103);
    one.ack(3, 104);
    other.see(3, 105);
    const all = new RoomIndex();
    for (const index of [one, other]) all.merge(index.page);
    expect([one.disagreeing, other.disagreeing, all.disagreeing]).toEqual([1, 0, 3]);
  });
});

describe("two posts that were acked at one place", () => {
  it("are found, in one process and in two: one of them is nowhere", () => {
    const [one, other, all] = [new RoomIndex(), new RoomIndex(), new RoomIndex()];
    one.ack(1, 100);
    one.ack(1, 100);
    one.ack(1, 101);
    one.ack(2, 102);
    other.ack(2, 103);
    for (const index of [one, other]) all.merge(index.page);
    expect([one.disagreeing, other.disagreeing, all.disagreeing]).toEqual([1, 0, 2]);
  });
});

describe("the sums of a process", () => {
  const member = { slot: { room: "r", roomNumber: 0 }, isIn: true, unanswered: 0, ignored: 0 } as Member;
  const mark = { room: 0, code: 7, dueUs: nowUs() };
  const post = { code: 7, content: "", dueUs: nowUs() };

  /** Of a room with one member, who was there from its beginning. */
  function factsOf(tell: (tally: Tally) => void) {
    const tally = new Tally(nowUs());
    tally.entered(member, 0);
    tell(tally);
    const [baseSeq, lastSeq] = [tally.baseSeqs()["r"] ?? 0, tally.lastSeqs()["r"] ?? 0];
    const { faults, indexes, errors } = tally.report([member], { r: { baseSeq, lastSeq } });
    const room = new RoomIndex();
    room.merge(indexes["r"]!);
    return { faults, errors, disagreeing: room.disagreeing };
  }

  it("counts a joined member who is gone at the end as away, and one who never joined as not", () => {
    const tally = new Tally(nowUs());
    for (let joined = 0; joined < 2; joined++) tally.joined(nowUs());
    const gone = { ...member, isIn: false };
    expect(tally.report([member, gone, gone], {}).counts.away).toBe(1);
  });

  it("a message without a place counts as lost for its receivers, and hides no other", () => {
    const { faults, errors } = factsOf((tally) => {
      tally.acked(member, 1, post);
      tally.delivered(member, NaN, mark);
      tally.acked(member, 3, { ...post, code: 8 });
      tally.delivered(member, 3, { ...mark, code: 8 });
    });
    expect(faults).toEqual({ ...NONE, lost: 2 });
    expect(errors).toEqual({ "a message without a place": 1 });
  });

  it("an ack without a place hides nothing of the others", () => {
    const { faults, errors } = factsOf((tally) => {
      tally.acked(member, undefined as unknown as number, post);
      tally.acked(member, 2, { ...post, code: 8 });
    });
    expect(faults).toEqual({ ...NONE, lost: 1 });
    expect(errors).toEqual({ "an ack without a place": 1 });
  });

  it("a message that arrives altered beyond recognition is not the one that was acked at its place", () => {
    const tell = (code: number | undefined) => (tally: Tally) => {
      tally.acked(member, 1, post);
      tally.delivered(member, 1, code === undefined ? undefined : { ...mark, code });
    };
    expect([factsOf(tell(7)).disagreeing, factsOf(tell(undefined)).disagreeing]).toEqual([0, 1]);
  });
});

describe("marks", () => {
  it("bring sender, counter, room and moment through a message's text", () => {
    const text = markedText({ run: "abcd", payloadBytes: 100 }, 42, codeOf(9999, 77), 123_456_789.7);
    expect(text).toHaveLength(100);
    const bytes = Buffer.from(`42["chat-message",{"seq":1,"content":"${text}"}]`);
    expect(findMark("abcd", bytes, 0, bytes.length)).toEqual({ room: 42, code: codeOf(9999, 77), dueUs: 123_456_789 });
    expect(senderOf(codeOf(9999, 77))).toBe(9999);
  });

  it("of another run, or cut off, are none", () => {
    const bytes = Buffer.from(markedText({ run: "abcd", payloadBytes: PAYLOAD_BYTES_MIN }, 0, 1, 2));
    expect(findMark("abcd", bytes, 0, bytes.length)).toBeDefined();
    expect(findMark("wxyz", bytes, 0, bytes.length)).toBeUndefined();
    expect(findMark("abcd", bytes, 0, bytes.length - 1)).toBeUndefined();
  });
});
