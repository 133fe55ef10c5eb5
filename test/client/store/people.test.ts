// Tests what a room's store knows of the people in it, and of what they may do.
import { describe, expect, it } from "vitest";

import { abilitiesOf } from "../../../client/store/abilities.ts";
import { Roster } from "../../../client/store/presence.ts";
import { ReadMarks, readersOf } from "../../../client/store/read-marks.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";

const messageOf = (seq: number, sender: string): Message => ({
  id: String(seq),
  seq,
  room: "general",
  sender,
  name: sender,
  content: "x",
  timestamp: 0,
});

describe("read marks", () => {
  it("stand at the last message shown that each has read, never go back, and leave out oneself and its author", () => {
    const marks = new ReadMarks();
    for (const [user, seq] of [
      ["ben", 3],
      ["ben", 2],
      ["cleo", 9],
      ["ada", 3],
      ["dan", 4],
    ] as const)
      marks.set({ user, seq });
    const messages = [messageOf(2, "ada"), messageOf(3, "ada"), messageOf(4, "dan")];
    expect(Array.from(readersOf(marks.state, messages, "ada"))).toEqual([
      [3, ["ben"]],
      [4, ["cleo"]],
    ]);
    expect(readersOf(marks.state, [], "ada").size).toBe(0);
  });
});

describe("the roster", () => {
  it("asks again where a list does not agree with the count", () => {
    const roster = new Roster();
    roster.replace([{ user: "ada", name: "Ada" }], 1);
    expect(roster.change({ count: 2, joined: [{ user: "ben", name: "Ben" }], left: [] })).toBe(true);
    expect(roster.change({ count: 5, joined: [], left: [{ user: "ben" }] })).toBe(false);
  });
});

describe("the actions on a message", () => {
  const me = { user: "ada", isModerator: false, blocked: undefined };
  const WINDOW_MS = 60_000;

  it("one's own, until the time to edit it is over, and another's", () => {
    const own = abilitiesOf(messageOf(1, "ada"), me, WINDOW_MS, 30_000);
    expect(own).toEqual({ reply: true, react: true, edit: true, remove: true, moderate: false });
    expect(abilitiesOf(messageOf(1, "ada"), me, WINDOW_MS, 60_000).edit).toBe(false);
    expect(abilitiesOf(messageOf(1, "ben"), me, WINDOW_MS, 0)).toMatchObject({
      edit: false,
      remove: false,
      react: true,
    });
  });

  it("for a moderator, for a user who may not write, and for a deleted message", () => {
    const moderator = { ...me, isModerator: true };
    expect(abilitiesOf(messageOf(1, "ben"), moderator, WINDOW_MS, 9e9)).toMatchObject({
      edit: true,
      remove: true,
      moderate: true,
    });
    const blocked = abilitiesOf(messageOf(1, "ada"), { ...me, blocked: "ROOM_READ_ONLY" }, WINDOW_MS, 0);
    expect(blocked).toMatchObject({ reply: false, react: false, edit: false, remove: true });
    const gone = abilitiesOf({ ...messageOf(1, "ada"), deleted: true }, me, WINDOW_MS, 0);
    expect(gone).toEqual({ reply: false, react: false, edit: false, remove: false, moderate: false });
  });
});
