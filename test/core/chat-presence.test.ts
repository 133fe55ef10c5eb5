// CHAT-5: presence is about people. Who hears what of whom, and when.
import { describe, expect, it } from "vitest";

import { PRESENCE_WINDOW_MS } from "../../src/chat/presence.ts";
import { ChatRoom } from "./chat-room.ts";
import { START_MS } from "./harness.ts";

/** A room in which everyone was announced and nothing is pending. */
async function roomWith(...users: string[]) {
  const room = new ChatRoom();
  const people = [];
  for (const user of users) people.push(await room.join(user));
  room.quiet();
  for (const { packets } of people) packets.length = 0;
  return { room, people };
}

describe("CHAT-5: presence", () => {
  it("tells everyone of a newcomer, by name", async () => {
    const { room, people } = await roomWith("ada");
    const ben = await room.join({ user: "ben", name: "Ben" });
    const change = { count: 2, joined: [{ user: "ben", name: "Ben" }], left: [] };
    expect(people[0]!.received("presence")).toEqual([change]);
    expect(ben.received("presence")).toEqual([change]);
  });

  it("tells the others who left, after a window in which they might have come back", async () => {
    const { room, people } = await roomWith("ada", "ben");
    people[1]!.leave();
    room.shell.advance(PRESENCE_WINDOW_MS - 1);
    expect(people[0]!.received("presence")).toEqual([]);
    room.shell.advance(1);
    expect(people[0]!.received("presence")).toEqual([{ count: 1, joined: [], left: [{ user: "ben" }] }]);
  });

  it("says nothing of a member's second tab, or of a tab that goes while another stays", async () => {
    const { room, people } = await roomWith("ada", "ben");
    const tab = await room.join("ben");
    room.quiet();
    tab.leave();
    room.quiet();
    expect(people[0]!.received("presence")).toEqual([]);
    people[1]!.leave();
    room.quiet();
    expect(people[0]!.received("presence")).toEqual([{ count: 1, joined: [], left: [{ user: "ben" }] }]);
  });

  it("gathers what happens within a window into one event", async () => {
    const { room, people } = await roomWith("ada", "ben");
    await room.join("cleo");
    await room.join("dan");
    await room.join("eve");
    people[1]!.leave();
    room.shell.advance(PRESENCE_WINDOW_MS - 1);
    expect(people[0]!.received("presence")).toHaveLength(1);
    room.shell.advance(1);
    expect(people[0]!.received("presence")).toMatchObject([
      { count: 3, joined: [{ user: "cleo" }] },
      { count: 4, joined: [{ user: "dan" }, { user: "eve" }], left: [{ user: "ben" }] },
    ]);
  });

  it("says nothing of somebody who came and went, or went and came, within one window", async () => {
    const { room, people } = await roomWith("ada", "ben");
    await room.join("cleo");
    (await room.join("dan")).leave();
    people[1]!.leave();
    await room.join("ben");
    room.quiet();
    expect(people[0]!.received("presence")).toMatchObject([{ count: 3, joined: [{ user: "cleo" }], left: [] }]);
  });

  it("leaves nothing due when everyone was told", async () => {
    const { room } = await roomWith("ada", "ben");
    expect(room.shell.quietMs).toBeGreaterThan(1000);
  });

  it("lists members, their connections, and since when the oldest is there", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", name: "Ada" });
    room.shell.advance(1000);
    const ben = await room.join("ben");
    room.shell.advance(1000);
    await room.join("ben");
    expect(await ada.ask("presence", {})).toEqual({
      ok: true,
      count: 2,
      members: [
        { user: "ada", name: "Ada", connections: 1, since: START_MS },
        { user: "ben", name: "ben", connections: 2, since: START_MS + 1000 },
      ],
    });
    ben.leave();
    const { members } = await ada.ask("presence", {});
    expect(members[1]).toMatchObject({ user: "ben", connections: 1, since: START_MS + 2000 });
  });

  it.each(["__proto__", "constructor"])("knows a member called %s", async (user) => {
    const { room, people } = await roomWith("ada");
    (await room.join({ user, name: "P" })).leave();
    room.quiet();
    const odd = await room.join({ user, name: "P" });
    room.quiet();
    expect(people[0]!.received("presence").at(-1)).toMatchObject({ count: 2, joined: [{ user, name: "P" }] });
    expect(await odd.ask("presence", {})).toMatchObject({ count: 2 });
  });
});

describe("CHAT-5: presence after sleep", () => {
  it("announces nobody a second time", async () => {
    const { room, people } = await roomWith("ada", "ben");
    for (let i = 0; i < 3; i++) {
      room.shell.evict();
      room.quiet();
    }
    for (const person of people) expect(person.received("presence")).toEqual([]);
  });

  it("counts and lists the same people", async () => {
    const { room, people } = await roomWith("ada", "ben", "ben");
    const before = await people[0]!.ask("presence", {});
    room.shell.evict();
    expect(await people[0]!.ask("presence", {})).toEqual(before);
    expect(before).toMatchObject({ count: 2 });
  });

  it("tells who leaves, once their last tab is gone", async () => {
    const { room, people } = await roomWith("ada", "ben", "ben");
    room.shell.evict();
    people[1]!.leave();
    room.quiet();
    expect(people[0]!.received("presence")).toEqual([]);
    room.shell.evict();
    people[2]!.leave();
    room.quiet();
    expect(people[0]!.received("presence")).toEqual([{ count: 1, joined: [], left: [{ user: "ben" }] }]);
  });

  it("shows a member whose tabs bear different names under the same name as before", async () => {
    const { room, people } = await roomWith("ada");
    const first = await room.join({ user: "ben", name: "Ben" });
    await room.join({ user: "ben", name: "Benjamin" });
    first.leave();
    room.quiet();
    const before = await people[0]!.ask("presence", {});
    room.shell.evict();
    expect(await people[0]!.ask("presence", {})).toEqual(before);
  });

  it("shows a member whose new token bears another name under the same name as before", async () => {
    const { room, people } = await roomWith("ada");
    await people[0]!.ask("refresh-token", { token: room.token({ user: "ada", name: "Countess" }) });
    const before = await people[0]!.ask("presence", {});
    room.shell.evict();
    expect(await people[0]!.ask("presence", {})).toEqual(before);
  });
});
