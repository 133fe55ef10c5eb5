// Tests the rows of the page's message list, and where they stand.
import { describe, expect, it } from "vitest";

import { RowLayout } from "../../../client/page/state/row-layout.ts";
import { rowsOf } from "../../../client/page/state/rows.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { messageOf as message, NOON } from "../../host/message.ts";

const SELF = "ada";

describe("the rows", () => {
  const shown = (messages: Message[], more: object = {}): string[] =>
    rowsOf({
      messages,
      outgoing: [],
      hasEarlier: true,
      hasLater: false,
      notShown: [],
      self: SELF,
      unreadAfter: undefined,
      ...more,
    }).map((row) => (row.kind === "message" ? `${row.isHead ? "head" : "more"} ${row.message.seq}` : row.kind));

  it("have a day where it is another one than that of the message above the first", () => {
    const above = message(1);
    expect(shown([message(2)], { above })).toEqual(["head 2"]);
    expect(shown([message(2, { timestamp: NOON + 86_400_000 })], { above })).toEqual(["day", "head 2"]);
  });

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

  it("have a place for messages that were not shown, and a new group behind it", () => {
    const left = {
      notShown: [
        { from: 2, to: 4 },
        { from: 7, to: 7 },
      ],
    };
    const rows = ["day", "head 1", "not-shown", "head 5", "more 6", "not-shown"];
    expect(shown([message(1), message(5), message(6)], left)).toEqual(rows);
  });

  it("show the beginning of the room, and outgoing messages only at its end", () => {
    const outgoing = [{ clientMsgId: "c", content: "x", state: "queued", timestamp: NOON }];
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
