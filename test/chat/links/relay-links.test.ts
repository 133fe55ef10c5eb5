// Links: who sets them, how long they last, and that they are no way around a room's own rules.
import { describe, expect, it } from "vitest";

import { LINKS_MAX } from "../../../src/chat/links/links.ts";
import { change, linked, RelayWorld, say } from "../../host/relay-world.ts";

describe("who may speak there", () => {
  const moderate = (world: RelayWorld, room: string, event: string, given: object): void =>
    expect(world.room(room).ask("backend", event, given).answer).toMatchObject({ ok: true });

  it("RLY-7: not who is banned or muted there, until that is over; nobody else misses anything", async () => {
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

  it("RLY-7: an edit by who is banned there does not cross, a deletion does", async () => {
    const world = linked();
    world.say("a", "kind", "eve");
    await world.pass(1100);
    moderate(world, "b", "ban", { user: "eve" });
    await change(world, "a", "edit-message", { content: "unkind" }, "eve");
    expect(world.story("b")).toEqual(["eve: kind (a 1)"]);
    await change(world, "a", "delete-message", {}, "eve");
    expect(world.story("b")).toEqual(["deleted (a 1)"]);
  });

  it("RLY-7: a read-only or slow room takes it: the link is its own act", async () => {
    const world = linked();
    moderate(world, "b", "read-only", { on: true });
    moderate(world, "b", "slow-mode", { seconds: 600 });
    await say(world, "a", "1", "2", "3");
    expect(world.story("b")).toHaveLength(3);
    moderate(world, "b", "read-only", { on: false });
    expect(await world.room("b").call("chat-message", "ada", { content: "first of mine here" })).toMatchObject({
      ok: true,
    });
  });
});

describe("links", () => {
  it("RLY-8: outlive sleep and crashes; set again they change nothing; taken back nothing crosses", async () => {
    const world = linked();
    const { shell } = world.room("a");
    for (const end of [() => shell.evict(), () => shell.crash()]) {
      end();
      expect(world.room("a").chat.features.links.add("b")).toEqual({ ok: true });
      await say(world, "a", "again");
    }
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    expect(world.room("a").chat.features.links.all).toMatchObject([{ to: "b", seq: 2, failures: 0 }]);
    expect(world.room("b").chat.features.relayed.all).toEqual([{ from: "a", seq: 2 }]);
    expect(world.room("a").chat.features.links.remove("b")).toEqual({ ok: true });
    expect(world.room("a").chat.features.links.remove("b")).toMatchObject({ error: { code: "NOT_FOUND" } });
    await say(world, "a", "alone");
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    world.link("a", "b");
    await say(world, "a", "together");
    expect(world.arrived("b", "a")).toEqual([1, 2, 4]);
  });

  it("RLY-8: there are so many, none to the room itself, and none that cannot be stored", async () => {
    const world = new RelayWorld(["a"], "queue");
    const { chat, state } = world.room("a");
    expect(chat.features.links.add("a")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(chat.features.links.add("b")).toMatchObject({ error: { code: "INTERNAL" } });
    state.failure = undefined;
    expect(chat.features.links.all).toEqual([]);
    for (let i = 0; i < LINKS_MAX; i++) expect(chat.features.links.add(`r${i}`)).toEqual({ ok: true });
    expect(chat.features.links.add("one-more")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(chat.features.links.remove("r0")).toMatchObject({ error: { code: "INTERNAL" } });
    expect(chat.features.links.all).toHaveLength(LINKS_MAX);
  });

  it("RLY-8: what is under way when a link is set anew is not taken any more", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.room("a").chat.features.links.remove("b");
    world.link("a", "b");
    await say(world, "a", "2");
    world.consume({ picks: [1] });
    world.consume({ picks: [0] });
    expect(world.story("b")).toEqual(["ada: 2 (a 2)"]);
    expect(world.dead.map(({ posts }) => posts.items.map(({ content }) => content))).toEqual([["1"]]);
  });

  it("RLY-8: a link that is set anew is another one, also where the clock was set back since", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.consume({ picks: [0] });
    world.room("a").chat.features.links.remove("b");
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

  it("RLY-8: a link of a room's next life is a later one, too, also where the clock was set back since", async () => {
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

  it("RLY-8: with a deleted room go its links, and not those that lead to it", async () => {
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

  it("RLY-10: while RELAY is off nothing crosses", async () => {
    const world = new RelayWorld(["a", "b"], "off");
    world.link("a", "b");
    await say(world, "a", "1");
    expect(world.sent).toEqual([]);
    expect(world.room("a").chat.features.links.all).toMatchObject([{ seq: 0 }]);
  });
});
