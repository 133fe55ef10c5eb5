// Reading: marks that only move forward, the events about them, and the number of unread messages.
import { describe, expect, it } from "vitest";

import {
  READ_MARKS_SHOWN_MAX,
  READ_STORE_GATHER_MS,
  READ_STORE_INTERVAL_MS,
  READ_SEND_WINDOW_MS,
} from "../../../src/chat/people/reading.ts";
import type { ReadingWelcome } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, roomWith, SETTINGS } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";

/** A room with messages in it. */
async function roomToRead(messages: number, ...users: string[]): Promise<{ room: ChatRoom; people: Client[] }> {
  const { room, people } = await roomWith(...users);
  for (let i = 0; i < messages; i++) {
    people[0]!.emit("chat-message", { content: `text ${i}` });
    room.quiet();
  }
  for (const { packets } of people) packets.length = 0;
  return { room, people };
}

const welcomeOf = (client: Client): ReadingWelcome => {
  const [{ readSeq, unread, keptUnread }] = client.received("welcome") as [ReadingWelcome];
  return { readSeq, unread, ...(keptUnread && { keptUnread }) };
};

const marksOf = async (client: Client): Promise<unknown> => (await client.ask("read-marks", {})).marks;

describe("READ-1: a mark", () => {
  it("is sent to everyone, the reader's own connections too", async () => {
    const { people } = await roomToRead(3, "ada", "ben", "ben");
    expect(await people[1]!.ask("read", { seq: 2 })).toEqual({ ok: true });
    for (const person of people) expect(person.received("read")).toEqual([{ user: "ben", seq: 2 }]);
  });

  it("is refused where the room has not come so far", async () => {
    const { people } = await roomToRead(3, "ada", "ben");
    expect(await people[0]!.ask("read", { seq: 4 })).toMatchObject({
      error: { code: "INVALID_PAYLOAD", message: expect.stringMatching(/^seq: /) },
    });
    expect(people[1]!.received("read")).toEqual([]);
  });

  it("may be set by a reader, and is one for all connections of a user", async () => {
    const { room, people } = await roomToRead(3, "ada");
    const [first, second] = [await room.join({ user: "rita", role: "reader" }), await room.join("rita")];
    await first.ask("read", { seq: 3 });
    await second.ask("read", { seq: 1 });
    room.quiet();
    expect(people[0]!.received("read")).toEqual([{ user: "rita", seq: 3 }]);
  });
});

describe("READ-7: a user may go back", () => {
  it("on all of their connections, which alone hear of it, and for those who come later", async () => {
    const { room, people } = await roomToRead(3, "ada", "ben", "ben");
    await people[1]!.ask("read", { seq: 3 });
    room.quiet();
    for (const { packets } of people) packets.length = 0;
    expect(await people[2]!.ask("read", { seq: 1, back: true })).toEqual({ ok: true });
    for (const tab of people.slice(1)) expect(tab.received("read")).toEqual([{ user: "ben", seq: 1, back: true }]);
    expect(people[0]!.received("read")).toEqual([]);
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 1, unread: 2, keptUnread: true });
    room.shell.crash();
    const ben = await room.join("ben");
    expect(welcomeOf(ben)).toEqual({ readSeq: 1, unread: 2, keptUnread: true });
    await ben.ask("read", { seq: 2 });
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 2, unread: 1 });
  });

  it("at once, and on again, in whichever order they do it: their devices end as the mark does", async () => {
    const { room, people } = await roomToRead(4, "ada", "ben", "ben");
    const [ada, phone, laptop] = people as [Client, Client, Client];
    await phone.ask("read", { seq: 2 });
    await phone.ask("read", { seq: 3 });
    await laptop.ask("read", { seq: 1, back: true });
    expect(phone.received("read").at(-1)).toEqual({ user: "ben", seq: 1, back: true });
    room.shell.advance(READ_SEND_WINDOW_MS);
    expect(phone.received("read").at(-1), "of what is undone nobody hears").toMatchObject({ back: true });
    await phone.ask("read", { seq: 3 });
    await laptop.ask("read", { seq: 1, back: true });
    await phone.ask("read", { seq: 4 });
    room.quiet();
    for (const device of [phone, laptop]) expect(device.received("read").at(-1)).toEqual({ user: "ben", seq: 4 });
    for (const mark of ada.received("read")) expect(mark).not.toHaveProperty("back");
  });

  it("and on again, through sleep and a crash", async () => {
    const { room, people } = await roomToRead(4, "ada", "ben", "ben");
    await people[1]!.ask("read", { seq: 4 });
    await people[2]!.ask("read", { seq: 1, back: true });
    room.quiet();
    room.shell.evict();
    expect(await marksOf(people[0]!)).toEqual([{ user: "ben", seq: 1 }]);
    await people[1]!.ask("read", { seq: 2 });
    room.quiet();
    for (const person of people.slice(1)) person.leave();
    room.shell.advance(READ_STORE_GATHER_MS);
    room.shell.crash();
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 2, unread: 2 });
  });

  it("to a mark that is no further back than theirs as always", async () => {
    const { room, people } = await roomToRead(3, "ada", "ben");
    await people[1]!.ask("read", { seq: 1 });
    room.quiet();
    for (const seq of [1, 2]) expect(await people[1]!.ask("read", { seq, back: true })).toEqual({ ok: true });
    room.quiet();
    expect(people[0]!.received("read")).toEqual([1, 2].map((seq) => ({ user: "ben", seq })));
    expect(await people[1]!.ask("read", { seq: 4, back: true })).toMatchObject({ error: { code: "INVALID_PAYLOAD" } });
  });
});

describe("READ-2: marks are sent in bursts", () => {
  it("the newest of each user, at once in a quiet room and then once a second", async () => {
    const { room, people } = await roomToRead(5, "ada", "ben", "cleo");
    for (const seq of [1, 2, 3]) {
      people[1]!.emit("read", { seq });
      people[2]!.emit("read", { seq: seq + 1 });
    }
    expect(people[0]!.received("read")).toEqual([{ user: "ben", seq: 1 }]);
    room.shell.advance(READ_SEND_WINDOW_MS - 1);
    expect(people[0]!.received("read")).toHaveLength(1);
    room.shell.advance(1);
    expect(people[0]!.received("read").slice(1)).toEqual([
      { user: "cleo", seq: 4 },
      { user: "ben", seq: 3 },
    ]);
  });

  it("in a large room to the user's own connections only", async () => {
    const users = Array.from({ length: SETTINGS.crowdMembers / 2 + 1 }, (_, i) => `user-${i}`);
    const { room, people } = await roomToRead(2, ...users, "user-1");
    const [other, first, second] = [people[0]!, people[1]!, people.at(-1)!];
    first.emit("read", { seq: 1 });
    for (const tab of [first, second]) expect(tab.received("read")).toEqual([{ user: "user-1", seq: 1 }]);
    expect(other.received("read")).toEqual([]);
    people[2]!.leave();
    room.afterGrace();
    first.emit("read", { seq: 2 });
    expect(other.received("read"), "one member fewer").toEqual([{ user: "user-1", seq: 2 }]);
  });
});

describe("READ-3: the number of unread messages", () => {
  it("counts messages after the mark, the user's own too", async () => {
    const { room, people } = await roomToRead(3, "ada");
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 0, unread: 3 });
    people[0]!.emit("read", { seq: 2 });
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 2, unread: 1 });
    people[0]!.emit("read", { seq: 3 });
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 3, unread: 0 });
  });

  it("does not count messages that the room no longer keeps", async () => {
    const { room, people } = await roomToRead(5, "ada");
    people[0]!.emit("read", { seq: 1 });
    room.log.batches.splice(0, 3);
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 0, unread: 2 });
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 1, unread: 2 });
  });

  it("is 0 in a new room", async () => {
    const room = new ChatRoom();
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 0, unread: 0 });
  });
});

describe("READ-4: a mark is kept", () => {
  it("through sleep, whichever connection set it", async () => {
    const { room, people } = await roomToRead(4, "ada", "ben", "ben");
    for (const seq of [1, 2]) people[1]!.emit("read", { seq });
    people[2]!.emit("read", { seq: 3 });
    room.quiet();
    room.shell.evict();
    expect(await marksOf(people[0]!)).toEqual([{ user: "ben", seq: 3 }]);
    people[2]!.leave();
    room.quiet();
    room.shell.evict();
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 3, unread: 1 });
  });

  it("after its user went, and the room slept empty", async () => {
    const { room, people } = await roomToRead(4, "ada", "ben");
    for (const seq of [1, 2, 3]) people[1]!.emit("read", { seq });
    for (const person of people) person.leave();
    room.shell.advance(READ_STORE_GATHER_MS);
    expect(room.shell.quietMs).toBe(Infinity);
    room.shell.evict();
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 3, unread: 1 });
  });

  it("through a crash, except for the last seconds", async () => {
    const { room, people } = await roomToRead(4, "ada");
    people[0]!.emit("read", { seq: 1 });
    people[0]!.emit("read", { seq: 2 });
    room.shell.crash();
    const ada = await room.join("ada");
    expect(welcomeOf(ada)).toEqual({ readSeq: 1, unread: 3 });
    ada.emit("read", { seq: 2 });
    room.shell.advance(READ_STORE_INTERVAL_MS);
    ada.emit("read", { seq: 3 });
    room.shell.crash();
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 3, unread: 1 });
  });

  it("also when it could not be stored at first: that is logged, and the reader gets no error", async () => {
    const { room, people } = await roomToRead(4, "ada");
    room.state.failure = new Error("disk full");
    expect(await people[0]!.ask("read", { seq: 2 })).toEqual({ ok: true });
    expect(room.shell.problems).toMatchObject([{ problem: "read marks could not be stored" }]);
    room.state.failure = undefined;
    people[0]!.leave();
    room.quiet();
    room.shell.crash();
    expect(welcomeOf(await room.join("ada"))).toEqual({ readSeq: 2, unread: 2 });
  });
});

describe("READ-4: a mark that could not be stored when its user went", () => {
  it("is stored by a later try, and the room stays awake until then", async () => {
    const { room, people } = await roomToRead(4, "ada", "ben");
    for (const seq of [1, 2, 3]) people[1]!.emit("read", { seq });
    people[1]!.leave();
    room.state.failure = new Error("disk full");
    room.shell.advance(READ_STORE_GATHER_MS + READ_STORE_INTERVAL_MS);
    expect(room.shell.problems.length).toBeGreaterThan(0);
    room.state.failure = undefined;
    room.shell.advance(READ_STORE_INTERVAL_MS);
    room.shell.crash();
    expect(welcomeOf(await room.join("ben"))).toEqual({ readSeq: 3, unread: 1 });
  });

  it("is dropped after a minute: a room whose storage is broken may sleep", async () => {
    const { room, people } = await roomToRead(4, "ada");
    for (const seq of [1, 2]) people[0]!.emit("read", { seq });
    room.state.failure = new Error("disk full");
    people[0]!.leave();
    room.shell.advance(10 * 60_000);
    const problems = room.shell.problems.length;
    expect(problems).toBeLessThan(30);
    room.shell.advance(60 * 60_000);
    expect(room.shell.problems.length).toBe(problems);
  });
});

describe("READ-5: read-marks", () => {
  it("lists the furthest first, for any caller", async () => {
    const { room, people } = await roomToRead(3, "ada", "ben", "cleo");
    expect(await marksOf(people[0]!)).toEqual([]);
    for (const [i, person] of people.entries()) person.emit("read", { seq: [1, 3, 3][i]! });
    const marks = [
      { user: "ben", seq: 3 },
      { user: "cleo", seq: 3 },
      { user: "ada", seq: 1 },
    ];
    expect(await marksOf(await room.join({ user: "rita", role: "reader" }))).toEqual(marks);
    expect(await room.ask("read-marks", "backend", {})).toEqual({ ok: true, marks });
  });

  it("lists 100 marks at most", async () => {
    const users = Array.from({ length: READ_MARKS_SHOWN_MAX + 1 }, (_, i) => `user-${i}`);
    const { people } = await roomToRead(1, ...users);
    for (const person of people) person.emit("read", { seq: 1 });
    expect(await marksOf(people[0]!)).toHaveLength(READ_MARKS_SHOWN_MAX);
  });
});
