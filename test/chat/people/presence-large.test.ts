// Presence in rooms of many members: events are gathered, and report only their number.
import { describe, expect, it } from "vitest";

import { MEMBERS_LISTED_MAX } from "../../../src/chat/room/members.ts";
import { presenceWindowMs } from "../../../src/chat/people/presence.ts";
import { ChatRoom } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";

describe("PRES-1: a room that fills", () => {
  it("gathers longer the more connections there are: a room that fills costs each member a few events", async () => {
    const room = new ChatRoom();
    const people: Client[] = [];
    for (let i = 0; i < 100; i++) {
      people.push(await room.join(`user-${i}`));
      room.shell.advance(200);
    }
    const events = people.reduce((sum, person) => sum + person.received("presence").length, 0);
    // One event for each join would be 4,950 in all.
    expect(events).toBeLessThan(500);
    room.shell.advance(presenceWindowMs(100));
    expect(people[0]!.received("presence").at(-1)).toMatchObject({ count: 100 });
  });
});

describe("PRES-3: a large room", () => {
  async function largeRoom(): Promise<{ room: ChatRoom; people: Client[] }> {
    const room = new ChatRoom();
    const people: Client[] = [];
    for (let i = 0; i <= MEMBERS_LISTED_MAX; i++) {
      people.push(await room.join(`user-${i}`));
      room.shell.advance(1);
    }
    room.afterGrace();
    for (const { packets } of people) packets.length = 0;
    return { room, people };
  }

  it("sends the count and no names; with one member fewer, names", async () => {
    const { room, people } = await largeRoom();
    const [ada] = people as [Client];
    const last = await room.join("last");
    expect(ada.received("presence")).toEqual([{ count: MEMBERS_LISTED_MAX + 2, joined: [], left: [] }]);
    last.leave();
    room.afterGrace();
    expect(ada.received("presence")[1]).toEqual({ count: MEMBERS_LISTED_MAX + 1, joined: [], left: [] });
    people.at(-1)!.leave();
    room.afterGrace();
    const left = [{ user: `user-${MEMBERS_LISTED_MAX}` }];
    expect(ada.received("presence")[2]).toEqual({ count: MEMBERS_LISTED_MAX, joined: [], left });
  });

  it("sends it at most once in five seconds", async () => {
    const { room, people } = await largeRoom();
    await room.join("one");
    await room.join("two");
    room.shell.advance(presenceWindowMs(MEMBERS_LISTED_MAX) - 1);
    expect(people[0]!.received("presence")).toHaveLength(1);
    room.shell.advance(1);
    expect(people[0]!.received("presence")[1]).toMatchObject({ count: MEMBERS_LISTED_MAX + 3 });
  });

  it("lists the members of the longest stay, before and after sleep", async () => {
    const { room, people } = await largeRoom();
    const first = await people.at(-1)!.ask("presence", {});
    expect(first.count).toBe(MEMBERS_LISTED_MAX + 1);
    expect(first.members.map(({ user }: { user: string }) => user)).toEqual(
      Array.from({ length: MEMBERS_LISTED_MAX }, (_, i) => `user-${i}`),
    );
    // A member who reloads has the newest connection, and keeps the place in the list.
    people[0]!.leave();
    await room.join("user-0");
    room.shell.evict();
    const second = await people.at(-1)!.ask("presence", {});
    expect(second).toEqual(first);
  });
});

describe("CROWD_MEMBERS", () => {
  it("says from how many members on a room tells only how many there are", async () => {
    const room = new ChatRoom({ crowdMembers: 2 });
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    room.quiet();
    const cyd = await room.join("cyd");
    room.quiet();
    expect(ada.received("presence").at(-1)).toEqual({ count: 3, joined: [], left: [] });
    cyd.emit("typing", { on: true });
    ben.emit("read", { seq: 0 });
    room.quiet();
    expect(ada.received("typing")).toEqual([]);
    expect((await ada.ask("presence", {})).members).toHaveLength(3);
  });
});
