// Tests the window over a room's history, with the outgoing messages.
import { describe, expect, it } from "vitest";

import type { Outgoing } from "../../../client/store/state.ts";
import { Timeline } from "../../../client/store/timeline.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { messageOf as message, NOON } from "../../host/message.ts";

const SELF = "ada";
const range = (from: number, to: number): Message[] =>
  Array.from({ length: to - from + 1 }, (_, at) => message(from + at));
const seqs = (timeline: Timeline): number[] => timeline.messages.map(({ seq }) => seq);

const waiting = (clientMsgId: string, content: string): Outgoing => ({
  clientMsgId,
  content,
  state: "queued",
  timestamp: NOON,
});
const pending = (timeline: Timeline): string[] => timeline.outgoing.map(({ clientMsgId }) => clientMsgId);

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
    timeline.setOutgoing(waiting("c1", "m5"));
    timeline.confirm(own(5), SELF);
    expect([seqs(timeline), pending(timeline)]).toEqual([[100, 101, 102], []]);
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
    timeline.react({ id: "id2", emoji: "👍", user: "ben", on: true, count: 1 }, SELF);
    timeline.react({ id: "id2", emoji: "👍", user: SELF, on: true, count: 2 }, SELF);
    timeline.react({ id: "id2", emoji: "👍", user: "ben", on: false, count: 1 }, SELF);
    expect(timeline.find("id2")?.reactions).toEqual([{ emoji: "👍", count: 1, users: [SELF] }]);
    timeline.react({ id: "id2", emoji: "👍", user: SELF, on: false, count: 0 }, SELF);
    expect(timeline.find("id2")).toEqual(message(2));
    timeline.remove({ id: "id1", by: "ada" });
    expect(timeline.find("id1")).toMatchObject({ content: "", deleted: true, deletedBy: "ada" });
    expect(timeline.find("id1")).not.toHaveProperty("replyTo");
    timeline.remove({ id: "unknown", by: "ada" });
    expect(seqs(timeline)).toEqual([1, 2]);
  });

  it("an own message takes the place of the one that was on its way, whichever the client hears of first", () => {
    const timeline = new Timeline();
    timeline.setOutgoing(waiting("c1", "m1"));
    timeline.setOutgoing(waiting("c2", "m2"));
    timeline.add(message(1, { sender: SELF, clientMsgId: "c1" }), SELF);
    timeline.confirm(message(2, { sender: SELF, clientMsgId: "c2" }), SELF);
    timeline.add(message(2, { sender: SELF, clientMsgId: "c2" }), SELF);
    expect([seqs(timeline), pending(timeline)]).toEqual([[1, 2], []]);
  });

  it("another user's message with the same clientMsgId confirms none", () => {
    const timeline = new Timeline();
    timeline.setOutgoing(waiting("c1", "m1"));
    timeline.add(message(1, { clientMsgId: "c1" }), SELF);
    expect(pending(timeline)).toEqual(["c1"]);
  });
});

it("takes a reaction that stands for several: the count is right, the user's own is known, and no more users than reactions are named", () => {
  const timeline = timelineWith(message(1));
  const react = (user: string, on: boolean, count: number) =>
    timeline.react({ id: "id1", emoji: "🎉", user, on, count }, SELF);
  const now = () => timeline.find("id1")?.reactions;
  react("ben", false, 2);
  expect(now()).toEqual([{ emoji: "🎉", count: 2, users: [] }]);
  react(SELF, true, 3);
  for (const user of ["cyd", "dan"]) react(user, true, 3);
  expect(now()).toEqual([{ emoji: "🎉", count: 3, users: [SELF, "cyd", "dan"] }]);
  react("eve", true, 2);
  expect(now()).toEqual([{ emoji: "🎉", count: 2, users: [SELF, "eve"] }]);
  react(SELF, false, 1);
  expect(now()).toEqual([{ emoji: "🎉", count: 1, users: ["eve"] }]);
  react("fay", true, 0);
  expect(timeline.find("id1")).toEqual(message(1));
});
