// The people of a room's store, and their rights.
import { describe, expect, it } from "vitest";

import { abilitiesOf, mayModerate } from "../../../client/store/abilities.ts";
import { Roster } from "../../../client/store/presence.ts";
import { ReadMarks, readersOf } from "../../../client/store/read-marks.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { messageOf } from "../../host/message.ts";

const sentBy = (sender: string, seq = 1): Message => messageOf(seq, { sender, timestamp: 0 });

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
    const messages = [sentBy("ada", 2), sentBy("ada", 3), sentBy("dan", 4)];
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
  const me = { user: "ada", role: "member", blocked: undefined } as const;
  const at = (nowMs: number, outranks = false) => ({ outranks, editWindowMs: 60_000, nowMs });

  it("one's own, until the time to edit it is over, and another's", () => {
    const own = abilitiesOf(sentBy("ada"), me, at(30_000));
    expect(own).toEqual({ reply: true, react: true, edit: true, remove: true, moderate: false });
    expect(abilitiesOf(sentBy("ada"), me, at(60_000)).edit).toBe(false);
    expect(abilitiesOf(sentBy("ben"), me, at(0))).toMatchObject({ edit: false, remove: false, react: true });
  });

  it("for a moderator: on people of a lower rank, and on one's own at any time", () => {
    const moderator = { ...me, role: "moderator" } as const;
    const lower = abilitiesOf(sentBy("ben"), moderator, at(9e9, true));
    expect(lower).toMatchObject({ edit: true, remove: true, moderate: true });
    const equal = abilitiesOf(sentBy("mo"), moderator, at(9e9));
    expect(equal).toMatchObject({ reply: true, edit: false, remove: false, moderate: false });
    expect(abilitiesOf(sentBy("ada"), moderator, at(9e9)).edit).toBe(true);
  });

  it("for a service: any message may be changed, and people of a lower rank moderated", () => {
    const service = { ...me, role: "service" } as const;
    const equal = abilitiesOf(sentBy("backend"), service, at(9e9));
    expect(equal).toMatchObject({ edit: true, remove: true, moderate: false });
  });

  it.each([
    ["ROOM_READ_ONLY", "member", true],
    ["READER", "reader", false],
    ["KICKED", "member", false],
    ["BANNED", "moderator", false],
  ] as const)("where nothing can be written because of %s", (blocked, role, remove) => {
    const able = abilitiesOf(sentBy("ada"), { ...me, role, blocked }, at(0));
    expect(able).toEqual({ reply: false, react: false, edit: false, remove, moderate: false });
  });

  it("on a deleted message: none", () => {
    const gone = abilitiesOf({ ...sentBy("ada"), deleted: true }, me, at(0));
    expect(gone).toEqual({ reply: false, react: false, edit: false, remove: false, moderate: false });
  });
});

describe("ranks for moderation: MOD-2", () => {
  const people = [
    { user: "ada", name: "Ada" },
    { user: "grace", name: "Grace", role: "moderator", granted: true },
    { user: "mo", name: "Mo", role: "moderator" },
    { user: "mia", name: "Mia", role: "moderator" },
    { user: "backend", name: "Backend", role: "service" },
  ] as const;
  it.each([
    ["ada", "member", []],
    ["grace", "moderator", ["ada"]],
    ["mo", "moderator", ["ada", "grace"]],
    ["backend", "service", ["ada", "grace", "mo", "mia"]],
  ] as const)("%s, a %s", (user, role, below) => {
    const others = people.map((person) => person.user);
    expect(others.filter((other) => mayModerate({ user, role }, other, people))).toEqual(below);
    // Only the room knows the rank of absent users.
    expect(mayModerate({ user, role }, "away", people)).toBe(role !== "member");
  });
});
