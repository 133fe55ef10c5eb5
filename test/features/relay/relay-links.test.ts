// Links: access, limits, the marks that outlive a room, and bans and mutes of the other room.
import { describe, expect, it } from "vitest";

import { LINKS_MAX } from "../../../src/features/relay/links.ts";
import { change, linked, RelayWorld, say } from "../../host/relay-world.ts";

describe("bans and mutes of the other room", () => {
  const moderate = (world: RelayWorld, room: string, event: string, given: object): void =>
    expect(world.room(room).call(event, "backend", given).answer).toMatchObject({ ok: true });

  it("RLY-7: leave out messages of banned and muted senders while they last, and no others", async () => {
    const world = linked();
    moderate(world, "b", "ban", { user: "eve" });
    moderate(world, "b", "mute", { user: "mel", seconds: 60 });
    for (const user of ["eve", "mel", "ada"]) world.say("a", `by ${user}`, user);
    await world.pass(1100);
    expect(world.story("b")).toEqual(["ada: by ada (a 3)"]);
    await world.pass(61_000);
    moderate(world, "b", "unban", { user: "eve" });
    for (const user of ["eve", "mel"]) world.say("a", `by ${user}`, user);
    await world.pass(1100);
    expect(world.story("b").slice(1)).toEqual(["eve: by eve (a 4)", "mel: by mel (a 5)"]);
  });

  it("RLY-7: stop edits of banned senders, but not their deletions", async () => {
    const world = linked();
    world.say("a", "kind", "eve");
    await world.pass(1100);
    moderate(world, "b", "ban", { user: "eve" });
    await change(world, "a", "edit-message", { content: "unkind" }, "eve");
    expect(world.story("b")).toEqual(["eve: kind (a 1)"]);
    await change(world, "a", "delete-message", {}, "eve");
    expect(world.story("b")).toEqual(["deleted (a 1)"]);
  });

  it("RLY-7: a read-only or slow room takes messages of its links", async () => {
    const world = linked();
    moderate(world, "b", "read-only", { on: true });
    moderate(world, "b", "slow-mode", { seconds: 600 });
    await say(world, "a", "1", "2", "3");
    expect(world.story("b")).toHaveLength(3);
    moderate(world, "b", "read-only", { on: false });
    expect(await world.room("b").ask("chat-message", "ada", { content: "first of mine here" })).toMatchObject({
      ok: true,
    });
  });
});

describe("links", () => {
  it("RLY-8: outlive sleep and crashes; setting one again changes nothing; after removal nothing crosses", async () => {
    const world = linked();
    const { shell } = world.room("a");
    for (const end of [() => shell.evict(), () => shell.crash()]) {
      end();
      expect(world.room("a").relay.links.add("b")).toEqual({ ok: true });
      await say(world, "a", "again");
    }
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    expect(world.room("a").relay.links.all).toMatchObject([{ to: "b", seq: 2, failures: 0 }]);
    expect(world.room("b").relay.relayed.all).toEqual([{ from: "a", seq: 2 }]);
    expect(world.room("a").relay.links.remove("b")).toEqual({ ok: true });
    expect(world.room("a").relay.links.remove("b")).toMatchObject({ error: { code: "NOT_FOUND" } });
    await say(world, "a", "alone");
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    world.link("a", "b");
    await say(world, "a", "together");
    expect(world.arrived("b", "a")).toEqual([1, 2, 4]);
  });

  it("RLY-8: a room has at most LINKS_MAX, none to itself, and none that could not be stored", async () => {
    const world = new RelayWorld(["a"], "queue");
    const { relay, state } = world.room("a");
    expect(relay.links.add("a")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(relay.links.add("b")).toMatchObject({ error: { code: "INTERNAL" } });
    state.failure = undefined;
    expect(relay.links.all).toEqual([]);
    for (let i = 0; i < LINKS_MAX; i++) expect(relay.links.add(`r${i}`)).toEqual({ ok: true });
    expect(relay.links.add("one-more")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(relay.links.remove("r0")).toMatchObject({ error: { code: "INTERNAL" } });
    expect(relay.links.all).toHaveLength(LINKS_MAX);
  });

  it("RLY-8: a batch of an earlier link is not taken any more", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.room("a").relay.links.remove("b");
    world.link("a", "b");
    await say(world, "a", "2");
    world.consume({ picks: [1] });
    world.consume({ picks: [0] });
    expect(world.story("b")).toEqual(["ada: 2 (a 2)"]);
    expect(world.dead.map(({ posts }) => posts.items.map(({ content }) => content))).toEqual([["1"]]);
  });

  it("RLY-8: a link set again is another link, also where the clock was set back since", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.consume({ picks: [0] });
    world.room("a").relay.links.remove("b");
    const { shell } = world.room("a");
    shell.crash();
    shell.nowMs -= 3_600_000;
    world.link("a", "b");
    world.say("a", "2");
    shell.advance(1100);
    await new Promise((resolve) => setImmediate(resolve));
    world.consume({ picks: [0] });
    expect(world.story("b")).toEqual(["ada: 1 (a 1)", "ada: 2 (a 2)"]);
    expect(world.dead).toEqual([]);
  });

  it("RLY-8: a link set after the room was erased is later than one before, also where the clock was set back since", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.consume({ picks: [0] });
    world.delete("a");
    const { shell } = world.room("a");
    shell.nowMs -= 3_600_000;
    world.link("a", "b");
    world.say("a", "2");
    shell.advance(1100);
    await new Promise((resolve) => setImmediate(resolve));
    world.consume({ picks: [0] });
    expect(world.story("b")).toEqual(["ada: 1 (a 1)", "ada: 2 (a 1)"]);
    expect(world.dead).toEqual([]);
  });

  it("RLY-8: the links of a deleted room end, those that lead to it stay", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "a"],
    ]);
    await say(world, "a", "1");
    world.delete("b");
    await say(world, "a", "2");
    await say(world, "b", "3");
    expect(world.story("b")).toEqual(["ada: 2 (a 2)", "ada: 3"]);
    expect(world.story("a")).toEqual(["ada: 1", "ada: 2"]);
    world.delete("a");
    world.link("a", "b");
    await say(world, "a", "anew");
    expect(world.story("b").at(-1)).toBe("ada: anew (a 1)");
  });

  it("RLY-10: nothing crosses while RELAY is off", async () => {
    const world = new RelayWorld(["a", "b"], "off");
    world.link("a", "b");
    await say(world, "a", "1");
    expect(world.sent).toEqual([]);
    expect(world.room("a").relay.links.all).toMatchObject([{ seq: 0 }]);
  });
});
