// Typing notices: sent once, ended in time, and never sent to their own user.
import { describe, expect, it } from "vitest";

import { MEMBERS_LISTED_MAX } from "../../../src/chat/room/members.ts";
import { TYPING_MS } from "../../../src/crowd/crowd.ts";
import { TYPISTS_SHOWN_MAX } from "../../../src/chat/people/typing.ts";
import { roomWith } from "../../host/chat-room.ts";

const adaTypes = (on: boolean): object => ({ user: "ada", name: "Ada", on });

const trio = () => roomWith({ user: "ada", name: "Ada" }, "ben", { user: "ada", name: "Ada on her phone" });

describe("TYP-1: a typing notice", () => {
  it("is sent to the others, and to no connection of its user", async () => {
    const { people } = await trio();
    expect(await people[0]!.ask("typing", { on: true })).toEqual({ ok: true });
    expect(people.map((person) => person.received("typing"))).toEqual([[], [adaTypes(true)], []]);
    expect(await people[0]!.ask("typing", { on: false })).toEqual({ ok: true });
    expect(people.map((person) => person.received("typing"))).toEqual([[], [adaTypes(true), adaTypes(false)], []]);
  });

  it("is sent once, however often the client repeats it", async () => {
    const { people } = await trio();
    for (const on of [false, true, true, true, false, false]) people[0]!.emit("typing", { on });
    expect(people[1]!.received("typing")).toEqual([adaTypes(true), adaTypes(false)]);
    expect(people[0]!.received("error")).toEqual([]);
  });

  it("is in the welcome of each new connection", async () => {
    const { room, people } = await trio();
    people[0]!.emit("typing", { on: true });
    const cleo = await room.join("cleo");
    expect(cleo.received("welcome")).toMatchObject([{ typing: [{ user: "ada", name: "Ada" }] }]);
    const tab = await room.join("ada");
    expect(tab.received("welcome"), "but not of themselves").toMatchObject([{ typing: [] }]);
  });

  it("is in the welcome for a bounded number of users", async () => {
    const users = Array.from({ length: TYPISTS_SHOWN_MAX + 1 }, (_, i) => `user-${i}`);
    const { room, people } = await roomWith(...users);
    for (const person of people) person.emit("typing", { on: true });
    const [welcome] = (await room.join("late")).received("welcome");
    expect(welcome.typing).toHaveLength(TYPISTS_SHOWN_MAX);
  });

  it("names nobody in a large room", async () => {
    const users = Array.from({ length: MEMBERS_LISTED_MAX + 1 }, (_, i) => `user-${i}`);
    const { room, people } = await roomWith(...users);
    expect(await people[0]!.ask("typing", { on: true })).toEqual({ ok: true });
    expect((await room.join("late")).received("welcome")).toMatchObject([{ typing: [] }]);
    room.shell.advance(TYPING_MS);
    expect(people.flatMap((person) => person.received("typing"))).toEqual([]);
  });
});

describe("TYP-2: typing ends", () => {
  it("when the client does not repeat it", async () => {
    const { room, people } = await trio();
    people[0]!.emit("typing", { on: true });
    room.shell.advance(TYPING_MS - 1);
    people[0]!.emit("typing", { on: true });
    room.shell.advance(TYPING_MS - 1);
    expect(people[1]!.received("typing")).toEqual([adaTypes(true)]);
    room.shell.advance(1);
    expect(people[1]!.received("typing")).toEqual([adaTypes(true), adaTypes(false)]);
  });

  it("with a post", async () => {
    const { people } = await trio();
    people[0]!.emit("typing", { on: true });
    people[0]!.emit("chat-message", { content: "there" });
    expect(people[1]!.received("typing")).toEqual([adaTypes(true), adaTypes(false)]);
  });

  it("after 5 s, and not before, when the post could not be stored", async () => {
    const { room, people } = await trio();
    people[0]!.emit("typing", { on: true });
    room.log.failure = new Error("disk full");
    people[0]!.emit("chat-message", { content: "there" });
    expect(people[1]!.received("typing")).toEqual([adaTypes(true)]);
  });

  it("with the connection that sent it, and not with another", async () => {
    const { people } = await trio();
    people[0]!.emit("typing", { on: true });
    people[2]!.emit("typing", { on: false });
    people[2]!.leave();
    expect(people[1]!.received("typing")).toEqual([adaTypes(true)]);
    people[0]!.leave();
    expect(people[1]!.received("typing")).toEqual([adaTypes(true), adaTypes(false)]);
  });

  it("for each user 5 s after their own last notice", async () => {
    const { room, people } = await roomWith("ada", "ben", "cleo");
    people[0]!.emit("typing", { on: true });
    room.shell.advance(1000);
    people[1]!.emit("typing", { on: true });
    room.shell.advance(TYPING_MS - 1000);
    expect(people[2]!.received("typing").slice(2)).toMatchObject([{ user: "ada", on: false }]);
    room.shell.advance(1000);
    expect(people[2]!.received("typing").slice(3)).toMatchObject([{ user: "ben", on: false }]);
  });

  it("TYP-3: and the room may sleep when no user types", async () => {
    const { room, people } = await trio();
    room.shell.advance(2000);
    expect(room.shell.canSleep).toBe(true);
    people[0]!.emit("typing", { on: true });
    room.shell.advance(2000);
    expect(room.shell.canSleep, "what is in memory only keeps it awake").toBe(false);
    people[0]!.emit("typing", { on: false });
    room.shell.advance(2000);
    expect(room.shell.canSleep).toBe(true);
    room.shell.evict();
    people[0]!.emit("typing", { on: true });
    expect(people[1]!.received("typing")).toEqual([adaTypes(true), adaTypes(false), adaTypes(true)]);
  });
});
