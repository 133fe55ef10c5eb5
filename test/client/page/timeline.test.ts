// Tests the page's window over a room's history.
import { describe, expect, it } from "vitest";

import { RowLayout } from "../../../client/page/state/row-layout.ts";
import { rowsOf } from "../../../client/page/state/rows.ts";
import { Timeline } from "../../../client/page/state/timeline.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";

const NOON = new Date(2026, 10, 21, 12).getTime();
const SELF = "ada";

function message(seq: number, more: Partial<Message> = {}): Message {
  return {
    id: `id${seq}`,
    seq,
    room: "general",
    sender: "ben",
    name: "Ben",
    content: `m${seq}`,
    timestamp: NOON,
    ...more,
  };
}
const range = (from: number, to: number): Message[] =>
  Array.from({ length: to - from + 1 }, (_, at) => message(from + at));
const seqs = (timeline: Timeline): number[] => timeline.messages.map(({ seq }) => seq);

function timelineWith(...messages: Message[]): Timeline {
  const timeline = new Timeline();
  timeline.merge(messages, SELF);
  return timeline;
}

describe("the timeline", () => {
  it("puts pages and single messages in the order of seq, each once, the later copy winning", () => {
    const timeline = timelineWith(...range(5, 7));
    timeline.merge(range(2, 5), SELF);
    timeline.add(message(9), SELF);
    timeline.add(message(8), SELF);
    timeline.merge([message(6, { content: "edited" })], SELF);
    expect(seqs(timeline)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(timeline.find("id6")?.content).toBe("edited");
  });

  it("shows an older part without new messages, and reaches the newest again without a gap", () => {
    const timeline = timelineWith(...range(100, 150));
    timeline.replace(range(10, 20), { earlier: true, later: true }, SELF);
    timeline.add(message(151), SELF);
    expect(seqs(timeline)).toEqual(range(10, 20).map(({ seq }) => seq));
    timeline.mergeLater(range(21, 99), true, SELF);
    expect(timeline.hasLater).toBe(true);
    timeline.mergeLater(range(100, 151), false, SELF);
    timeline.add(message(152), SELF);
    expect(timeline.hasLater).toBe(false);
    expect(seqs(timeline)).toEqual(range(10, 152).map(({ seq }) => seq));
  });

  it("keeps messages that came while the last page was loading", () => {
    const timeline = timelineWith(...range(100, 150));
    timeline.replace(range(90, 95), { earlier: true, later: true }, SELF);
    timeline.add(message(151), SELF);
    timeline.mergeLater(range(96, 150), false, SELF);
    expect(timeline.messages.at(-1)?.seq).toBe(151);
  });

  it("keeps messages that came while the newest page was loading", () => {
    const timeline = timelineWith(...range(100, 150));
    timeline.replace(range(10, 20), { earlier: true, later: true }, SELF);
    timeline.add(message(151), SELF);
    timeline.add(message(152), SELF);
    timeline.replace(range(102, 151), { earlier: true, later: false }, SELF);
    expect(seqs(timeline)).toEqual(range(102, 152).map(({ seq }) => seq));
  });

  it("a message that was stored long ago and is confirmed now is not added at the end", () => {
    const own = (seq: number): Message => message(seq, { sender: SELF, clientMsgId: "c1" });
    const timeline = timelineWith(...range(100, 102));
    timeline.hasEarlier = true;
    timeline.setOutgoing({ clientMsgId: "c1", content: "m5", failure: null });
    timeline.confirm(own(5), SELF);
    expect([seqs(timeline), timeline.pending]).toEqual([[100, 101, 102], 0]);
    timeline.replace(range(50, 60), { earlier: true, later: true }, SELF);
    timeline.add(message(103), SELF);
    timeline.confirm(own(5), SELF);
    timeline.mergeLater(range(61, 103), false, SELF);
    expect(seqs(timeline)).toEqual(range(50, 103).map(({ seq }) => seq));
  });

  it("after a gap that is too long, a reader at the end sees the newest and another keeps the place", () => {
    const gap = { from: 8, to: 5000, reason: "too many" } as const;
    const following = timelineWith(...range(1, 7));
    following.leaveOut(gap, true);
    following.add(message(5001), SELF);
    expect([seqs(following), following.hasEarlier]).toEqual([[5001], true]);
    const reading = timelineWith(...range(1, 7));
    reading.leaveOut(gap, false);
    reading.add(message(5001), SELF);
    expect([seqs(reading), reading.hasLater]).toEqual([[1, 2, 3, 4, 5, 6, 7], true]);
  });

  it("edits, deletes and reactions change shown messages only", () => {
    const timeline = timelineWith(message(1, { mentions: ["cleo"], replyTo: "id0" }), message(2));
    timeline.edit({ id: "id1", seq: 1, rev: 1, content: "new", editedAt: 5, by: "ada" });
    expect(timeline.find("id1")).toEqual({
      ...message(1),
      content: "new",
      editedAt: 5,
      editedBy: "ada",
      replyTo: "id0",
    });
    timeline.edit({ id: "id1", seq: 1, rev: 2, content: "newer", editedAt: 6, by: "ben" });
    expect(timeline.find("id1")).toEqual({ ...message(1), content: "newer", editedAt: 6, replyTo: "id0" });
    timeline.react({ id: "id2", emoji: "👍", user: "ben", on: true, count: 1 });
    timeline.react({ id: "id2", emoji: "👍", user: SELF, on: true, count: 2 });
    timeline.react({ id: "id2", emoji: "👍", user: "ben", on: false, count: 1 });
    expect(timeline.find("id2")?.reactions).toEqual([{ emoji: "👍", count: 1, users: [SELF] }]);
    timeline.react({ id: "id2", emoji: "👍", user: SELF, on: false, count: 0 });
    expect(timeline.find("id2")).toEqual(message(2));
    timeline.remove({ id: "id1", by: "ada" });
    expect(timeline.find("id1")).toMatchObject({ content: "", deleted: true, deletedBy: "ada" });
    expect(timeline.find("id1")).not.toHaveProperty("replyTo");
    timeline.remove({ id: "unknown", by: "ada" });
    expect(seqs(timeline)).toEqual([1, 2]);
  });

  it("an own message takes the place of the one that was on its way, whichever word comes first", () => {
    const timeline = new Timeline();
    timeline.setOutgoing({ clientMsgId: "c1", content: "m1", failure: null });
    timeline.setOutgoing({ clientMsgId: "c2", content: "m2", failure: null });
    timeline.add(message(1, { sender: SELF, clientMsgId: "c1" }), SELF);
    timeline.confirm(message(2, { sender: SELF, clientMsgId: "c2" }), SELF);
    timeline.add(message(2, { sender: SELF, clientMsgId: "c2" }), SELF);
    expect([seqs(timeline), timeline.pending]).toEqual([[1, 2], 0]);
  });

  it("another user's message with the same clientMsgId confirms none", () => {
    const timeline = new Timeline();
    timeline.setOutgoing({ clientMsgId: "c1", content: "m1", failure: null });
    timeline.add(message(1, { clientMsgId: "c1" }), SELF);
    expect(timeline.pending).toBe(1);
  });
});

describe("the rows", () => {
  const shown = (messages: Message[], more: object = {}): string[] =>
    rowsOf({
      messages,
      outgoing: [],
      hasEarlier: true,
      hasLater: false,
      self: SELF,
      unreadAfter: undefined,
      ...more,
    }).map((row) => (row.kind === "message" ? `${row.isHead ? "head" : "more"} ${row.message.seq}` : row.kind));

  it("group the messages that one person posts within a short time", () => {
    const cleo = { sender: "cleo", name: "Cleo" };
    const messages = [
      message(1),
      message(2, { timestamp: NOON + 60_000 }),
      message(3, { ...cleo, timestamp: NOON + 61_000 }),
      message(4, { ...cleo, timestamp: NOON + 3_600_000 }),
      message(5, { ...cleo, timestamp: NOON + 3_600_001, replyTo: "id1" }),
    ];
    expect(shown(messages)).toEqual(["day", "head 1", "more 2", "head 3", "head 4", "head 5"]);
  });

  it("start a new group each day, also on days of 23 and 25 hours", () => {
    const day = (month: number, date: number, hour: number): number => new Date(2026, month, date, hour).getTime();
    const days = [day(2, 28, 23), day(2, 29, 0), day(2, 29, 23), day(2, 30, 0), day(9, 25, 23), day(9, 26, 0)];
    const rows = shown(days.map((timestamp, at) => message(at + 1, { timestamp })));
    expect(rows.filter((row) => row === "day")).toHaveLength(5);
  });

  it("mark the first new message of others, once", () => {
    const own = { sender: SELF, name: "Ada" };
    expect(shown([message(1), message(2, own), message(3), message(4)], { unreadAfter: 1 })).toEqual([
      "day",
      "head 1",
      "head 2",
      "unread",
      "head 3",
      "more 4",
    ]);
    expect(shown([message(3), message(4)], { unreadAfter: 1 })).not.toContain("unread");
  });

  it("show the beginning of the room, and outgoing messages only at its end", () => {
    const outgoing = [{ clientMsgId: "c", content: "x", failure: null }];
    expect(shown([], { hasEarlier: false, outgoing })).toEqual(["beginning", "outgoing"]);
    expect(shown([message(1)], { hasLater: true, outgoing })).toEqual(["day", "head 1"]);
  });
});

describe("the layout of rows", () => {
  const layout = new RowLayout(4, (at) => [10, 20, 30, 40][at]!);

  it("knows which rows touch a stretch", () => {
    expect(layout.height).toBe(100);
    expect(layout.between(0, 5)).toEqual({ from: 0, to: 1 });
    expect(layout.between(10, 29)).toEqual({ from: 1, to: 2 });
    expect(layout.between(29, 61)).toEqual({ from: 1, to: 4 });
    expect(layout.between(-500, 9000)).toEqual({ from: 0, to: 4 });
  });

  it("is empty without rows", () => {
    expect(new RowLayout(0, () => 1).between(0, 100)).toEqual({ from: 0, to: 0 });
  });
});
