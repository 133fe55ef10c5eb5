// Presence: the events that members get of each other, and when.
import { describe, expect, it } from "vitest";

import { MEMBERS_LISTED_MAX } from "../../../src/chat/room/members.ts";
import type { Member, PresenceChange } from "../../../src/protocol/chat-events.ts";
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS, presenceWindowMs } from "../../../src/chat/people/presence.ts";
import { ChatRoom, roomWith } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";

const LEFT_MS = LEAVE_GRACE_MS + LEAVE_GATHER_MS;
const benLeft = { count: 1, joined: [], left: [{ user: "ben" }] };

describe("PRES-1, CHAT-5: members are people", () => {
  it("sends everyone the name of a new member", async () => {
    const { room, people } = await roomWith("ada");
    const ben = await room.join({ user: "ben", name: "Ben" });
    const change = { count: 2, joined: [{ user: "ben", name: "Ben" }], left: [] };
    expect(people[0]!.received("presence")).toEqual([change]);
    expect(ben.received("presence")).toEqual([change]);
  });

  it("sends nothing for a second connection of a member, or for one that closes while another stays", async () => {
    const { room, people } = await roomWith("ada", "ben");
    const tab = await room.join("ben");
    room.quiet();
    tab.leave();
    room.afterGrace();
    expect(people[0]!.received("presence")).toEqual([]);
    people[1]!.leave();
    room.afterGrace();
    expect(people[0]!.received("presence")).toEqual([benLeft]);
  });

  it("lists members with their connections and `since`", async () => {
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
    expect((await ada.ask("presence", {})).members[1]).toMatchObject({
      user: "ben",
      connections: 1,
      since: START_MS + 1000,
    });
  });

  it.each(["__proto__", "constructor"])("lists a member called %s", async (user) => {
    const { room, people } = await roomWith("ada");
    (await room.join({ user, name: "P" })).leave();
    room.afterGrace();
    const odd = await room.join({ user, name: "P" });
    room.quiet();
    expect(people[0]!.received("presence").at(-1)).toMatchObject({ count: 2, joined: [{ user, name: "P" }] });
    expect(await odd.ask("presence", {})).toMatchObject({ count: 2 });
  });

  it("removes a user whose connection breaks while a new token is verified", async () => {
    const { room, people } = await roomWith("ada", "ben");
    const verifying = Promise.withResolvers<void>();
    room.authenticating = verifying.promise;
    people[1]!.call("refresh-token", { token: room.token("ben") });
    people[1]!.leave();
    room.afterGrace();
    verifying.resolve();
    await room.shell.settle();
    expect(await people[0]!.ask("presence", {})).toMatchObject({ count: 1, members: [{ user: "ada" }] });
  });
});

describe("PRES-6, PRES-7: finding members, and their roles", () => {
  it("finds members by a part of name or id, in any case, also beyond those who are listed", async () => {
    const room = new ChatRoom();
    const ada = await room.join({ user: "ada", name: "Ada" });
    for (let at = 0; at < MEMBERS_LISTED_MAX; at++) await room.join(`crowd-${at}`);
    await room.join({ user: "u-77", name: "Zoë Late" });
    const { members } = await ada.ask("presence", {});
    expect(members).toHaveLength(MEMBERS_LISTED_MAX);
    for (const find of ["late", "ZOË", "u-77", " zoë l ", "zoe\u0308", "ｌａｔｅ"])
      expect(await ada.ask("presence", { find })).toMatchObject({ count: 202, members: [{ user: "u-77" }] });
    expect(await ada.ask("presence", { find: "nobody" })).toEqual({ ok: true, count: 202, members: [] });
    expect((await ada.ask("presence", { find: "crowd" })).members).toHaveLength(MEMBERS_LISTED_MAX);
  });

  it("shows roles: of the token, granted by the room, and the highest of several connections", async () => {
    const { room, people } = await roomWith("ada", "ben");
    const rolesOf = async (): Promise<unknown> =>
      (await people[0]!.ask("presence", {})).members.map((one: Member) => [
        one.user,
        ...(one.role ? [one.role] : []),
        ...(one.granted ? [true] : []),
      ]);
    const mia = await room.join({ user: "mia", role: "moderator" });
    await room.join({ user: "rita", role: "reader" });
    await room.join({ user: "mia" });
    room.quiet();
    const joined = people[0]!.received("presence").flatMap((change) => (change as PresenceChange).joined);
    expect(joined).toEqual([
      { user: "mia", name: "mia", role: "moderator" },
      { user: "rita", name: "rita", role: "reader" },
    ]);
    await mia.ask("grant", { user: "ben", role: "moderator" });
    await mia.ask("grant", { user: "rita", role: "member" });
    expect(await rolesOf()).toEqual([["ada"], ["ben", "moderator", true], ["mia", "moderator"], ["rita"]]);
    await mia.ask("revoke", { user: "ben" });
    mia.leave();
    expect(await rolesOf()).toEqual([["ada"], ["ben"], ["mia"], ["rita"]]);
  });
});

describe("PRES-2: a reload is no leave", () => {
  it("sends a leave once the grace period is over", async () => {
    const { room, people } = await roomWith("ada", "ben");
    people[1]!.leave();
    room.shell.advance(LEAVE_GRACE_MS);
    expect(people[0]!.received("presence")).toEqual([]);
    room.shell.advance(LEAVE_GATHER_MS);
    expect(people[0]!.received("presence")).toEqual([benLeft]);
  });

  it("counts and lists members in their grace period, with no connection", async () => {
    const { room, people } = await roomWith("ada", "ben");
    people[1]!.leave();
    const { count, members } = await people[0]!.ask("presence", {});
    expect(count).toBe(2);
    expect(members[1]).toEqual({ user: "ben", name: "ben", connections: 0, since: START_MS });
    const cleo = await room.join("cleo");
    expect(cleo.received("welcome")).toMatchObject([{ presence: { count: 3 } }]);
  });

  it("sends nothing for a member who comes back in time, and keeps their `since`", async () => {
    const { room, people } = await roomWith("ada", "ben");
    for (let reloads = 0; reloads < 3; reloads++) {
      people[1]!.leave();
      room.shell.advance(LEAVE_GRACE_MS - 1);
      people[1] = await room.join("ben");
    }
    room.afterGrace();
    expect(people[0]!.received("presence")).toEqual([]);
    const { members } = await people[0]!.ask("presence", {});
    expect(members[1]).toEqual({ user: "ben", name: "ben", connections: 1, since: START_MS });
  });

  it("sends leaves of about the same time in one event", async () => {
    const { room, people } = await roomWith("ada", "ben", "cleo", "dan");
    people[1]!.leave();
    room.shell.advance(LEAVE_GATHER_MS);
    people[2]!.leave();
    room.shell.advance(1);
    people[3]!.leave();
    room.shell.advance(LEAVE_GRACE_MS - 1);
    expect(people[0]!.received("presence")).toEqual([
      { count: 2, joined: [], left: [{ user: "ben" }, { user: "cleo" }] },
    ]);
    room.afterGrace();
    expect(people[0]!.received("presence")[1]).toEqual({ count: 1, joined: [], left: [{ user: "dan" }] });
  });

  it("gathers joins within a window into one event", async () => {
    const { room, people } = await roomWith("ada");
    await room.join("ben");
    await room.join("cleo");
    await room.join("dan");
    room.shell.advance(presenceWindowMs(4) - 1);
    expect(people[0]!.received("presence")).toHaveLength(1);
    room.shell.advance(1);
    expect(people[0]!.received("presence")).toMatchObject([
      { count: 2, joined: [{ user: "ben" }] },
      { count: 4, joined: [{ user: "cleo" }, { user: "dan" }], left: [] },
    ]);
  });

  it("forgets the members of an empty room at once, and leaves no deadline", async () => {
    const { room, people } = await roomWith("ada", "ben");
    for (const person of people) person.leave();
    expect(room.shell.quietMs).toBe(Infinity);
    const cleo = await room.join("cleo");
    expect(cleo.received("welcome")).toMatchObject([{ presence: { count: 1 } }]);
    expect(await cleo.ask("presence", {})).toMatchObject({ members: [{ user: "cleo" }] });
  });

  it("has no deadline when all leaves were sent, or their users are back", async () => {
    const { room, people } = await roomWith("ada", "ben");
    const quietMs = (): number => room.shell.quietMs;
    const before = quietMs();
    people[1]!.leave();
    expect(quietMs()).toBe(LEFT_MS);
    await room.join("ben");
    expect(quietMs()).toBe(before);
  });

  it("gives no grace period where more users go than the remaining connections can hold: 8 each", async () => {
    const users = Array.from({ length: 10 }, (_, i) => `u${i}`);
    const { room, people } = await roomWith("ada", ...users);
    for (const person of people.slice(1)) person.leave();
    room.shell.advance(presenceWindowMs(1));
    expect(people[0]!.received("presence")).toEqual([{ count: 9, joined: [], left: [{ user: "u8" }, { user: "u9" }] }]);
    room.afterGrace();
    expect(people[0]!.received("presence")[1]).toMatchObject({
      count: 1,
      left: users.slice(0, 8).map((user) => ({ user })),
    });
  });
});

describe("PRES-4: presence after sleep", () => {
  it("a member who went before the sleep and is back in time never left", async () => {
    const { room, people } = await roomWith("ada", "ben");
    people[1]!.leave();
    room.shell.advance(2000);
    room.shell.evict();
    const ben = await room.join("ben");
    room.shell.evict();
    room.afterGrace();
    expect(people[0]!.received("presence")).toEqual([]);
    expect(await ben.ask("presence", {})).toMatchObject({ members: [{}, { connections: 1, since: START_MS }] });
  });

  it("shows a member whose tabs have different names under the same name as before", async () => {
    const { room, people } = await roomWith("ada");
    const first = await room.join({ user: "ben", name: "Ben" });
    await room.join({ user: "ben", name: "Benjamin" });
    first.leave();
    room.quiet();
    const before = await people[0]!.ask("presence", {});
    room.shell.evict();
    expect(await people[0]!.ask("presence", {})).toEqual(before);
  });

  it("shows a member whose new token has another name under the same name as before", async () => {
    const { room, people } = await roomWith("ada");
    await people[0]!.ask("refresh-token", { token: room.token({ user: "ada", name: "Countess" }) });
    const before = await people[0]!.ask("presence", {});
    room.shell.evict();
    expect(await people[0]!.ask("presence", {})).toEqual(before);
  });
});

it("PRES-5: after a crash the room is empty until its members come back, and counts them right", async () => {
  const { room, people } = await roomWith("ada", "ben", "cleo");
  people[2]!.leave();
  room.shell.crash();
  room.afterGrace();
  const ada = await room.join("ada");
  expect(ada.received("welcome")).toMatchObject([{ presence: { count: 1 } }]);
  const ben = await room.join("ben");
  expect(ben.received("welcome")).toMatchObject([{ presence: { count: 2 } }]);
  room.afterGrace();
  expect(ada.received("presence").flatMap(({ left }) => left)).toEqual([]);
  expect(await ada.ask("presence", {})).toMatchObject({ count: 2, members: [{ user: "ada" }, { user: "ben" }] });
});
