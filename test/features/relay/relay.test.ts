// Mirroring one room in another: the messages that cross, their form there, and those that do not.
import { describe, expect, it } from "vitest";

import { exportChunk } from "../../../src/chat/log/export.ts";
import { RELAY_RETRY_MS } from "../../../src/features/relay/links.ts";
import { RELAY_HOPS_MAX } from "../../../src/features/relay/receiver.ts";
import { change, linked, RelayWorld, say } from "../../host/relay-world.ts";

describe("a mirrored message", () => {
  it("RLY-1: keeps its sender and its origin, and has a place, an id and a time of its own", async () => {
    const world = linked();
    world.say("b", "here already");
    world.room("a").call("chat-message", "ada", { content: "hello @ben", clientMsgId: "c1" });
    await world.pass(1100);
    const [, copy] = world.room("b").log.messages;
    const { log, shell } = world.room("b");
    expect(copy).toEqual({
      id: `${log.epoch}-2`,
      seq: 2,
      room: "b",
      sender: "ada",
      name: "ada",
      content: "hello @ben",
      timestamp: shell.nowMs - 1100,
      mentions: ["ben"],
      origin: {
        room: "a",
        seq: 1,
      },
    });
  });

  it("RLY-1: is the same everywhere: as an event, in history, search and export, after sleep, edited and deleted", async () => {
    const world = linked();
    const { log, shell } = world.room("b");
    const ben = await world.room("b").join("ben");
    await say(world, "a", "hello world");
    const origin = { room: "a", seq: 1 };
    expect(ben.heard("chat-message")).toMatchObject([[{ content: "hello world", origin }]]);
    shell.evict();
    for (const [event, given] of [
      ["history", {}],
      ["search", { query: "hello" }],
    ] as const)
      expect(await world.room("b").ask(event, "ben", given)).toMatchObject({ messages: [{ origin }] });
    expect(JSON.parse(exportChunk(log)!.lines)).toMatchObject({ origin });
    await change(world, "a", "edit-message", { content: "better" });
    expect(await world.room("b").ask("history", "ben", {})).toMatchObject({
      messages: [{ content: "better", origin }],
    });
    await change(world, "a", "delete-message");
    expect(await world.room("b").ask("history", "ben", {})).toMatchObject({ messages: [{ deleted: true, origin }] });
    expect(Object.keys(log.messages[0]!.origin!)).toEqual(["room", "seq"]);
  });

  it("RLY-1: starts after the link was set; a reply, reactions and files stay behind", async () => {
    const world = new RelayWorld(["a", "b"], "direct");
    await say(world, "a", "before");
    world.link("a", "b");
    const { id } = world.room("a").log.messages[0]!;
    world.room("a").call("chat-message", "ada", { content: "after", replyTo: id });
    world.room("a").call("react", "ada", { id, emoji: "👍", on: true });
    await world.pass(1100);
    const [copy, ...more] = world.room("b").log.messages;
    expect(more).toEqual([]);
    expect(copy).toMatchObject({ content: "after" });
    expect(copy).not.toHaveProperty("replyTo");
  });
});

describe("edits and deletions", () => {
  it("RLY-6: cross, by any author, and members there are notified", async () => {
    const world = linked();
    await say(world, "a", "helo");
    const ben = await world.room("b").join("ben");
    await change(world, "a", "edit-message", { content: "hello" }, "mo");
    expect(ben.heard("message-edited")).toMatchObject([[{ seq: 1, content: "hello" }]]);
    expect(
      await world
        .room("b")
        .ask("versions", { user: "mo", role: "moderator" }, { id: world.room("b").log.messages[0]!.id }),
    ).toMatchObject({
      versions: [{ by: "ada" }, { content: "hello", by: "mo" }],
    });
    await change(world, "a", "delete-message", {}, "mo");
    expect(ben.heard("message-deleted")).toMatchObject([[{ seq: 1, by: "mo" }]]);
    expect(world.story("b")).toEqual(["deleted (a 1)"]);
  });

  it("RLY-6: go as far as the message went, and not back", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "a"],
      ["b", "c"],
      ["c", "b"],
    ]);
    await say(world, "a", "helo");
    await change(world, "a", "edit-message", { content: "hello" });
    for (const room of ["b", "c"]) expect(world.story(room)).toEqual(["ada: hello (a 1)"]);
    expect(world.story("a")).toEqual(["ada: hello"]);
    const { length } = world.sent;
    await world.pass(60_000);
    expect(world.sent).toHaveLength(length);
  });

  it("RLY-6: of a copy cross no link", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "a"],
      ["b", "c"],
    ]);
    await say(world, "a", "hello");
    await change(world, "b", "edit-message", { content: "not here" });
    expect([world.story("a"), world.story("c")]).toEqual([["ada: hello"], ["ada: hello (a 1)"]]);
    await change(world, "a", "edit-message", { content: "hello again" });
    for (const room of ["b", "c"]) expect(world.story(room)).toEqual(["ada: hello again (a 1)"]);
    await change(world, "b", "delete-message");
    await change(world, "a", "edit-message", { content: "once more" });
    expect([world.story("b"), world.story("c")]).toEqual([["deleted (a 1)"], ["ada: hello again (a 1)"]]);
  });

  it("RLY-6: of a copy stay in that room, also before the copy is passed on", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "c"],
    ]);
    await world.pass(1100);
    world.say("b", "busy");
    await world.pass(100);
    world.say("a", "hello");
    await world.pass(200);
    const { id } = world.room("b").log.messages.at(-1)!;
    world.room("b").call("edit-message", "mo", { id, content: "not there" });
    await world.pass(2000);
    expect(world.story("b").at(-1)).toBe("ada: not there (a 1)");
    expect(world.story("c").at(-1)).toBe("ada: hello (a 1)");
  });

  it("RLY-6: of a copy stay in that room, also behind an edit of the original", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "c"],
    ]);
    await say(world, "a", "helo");
    const [root, copy] = ["a", "b"].map((name) => world.room(name).log.messages[0]!.id);
    world.say("b", "busy");
    await world.pass(100);
    world.room("a").call("edit-message", "mo", { id: root, content: "hello" });
    await world.pass(200);
    world.room("b").call("edit-message", "mo", { id: copy, content: "not there" });
    await world.pass(2000);
    expect(world.story("b")[0]).toBe("ada: not there (a 1)");
    expect(world.story("c")[0]).toBe("ada: hello (a 1)");
  });

  it("RLY-6: never apply to messages of a room that was deleted, once it is begun anew", async () => {
    const world = linked();
    await say(world, "a", "of the first life");
    expect(world.room("b").call("mute", "backend", { user: "eve", seconds: 600 }).answer).toMatchObject({ ok: true });
    world.delete("a");
    world.link("a", "b");
    world.say("a", "of the second life", "eve");
    await world.pass(1100);
    await change(world, "a", "delete-message");
    expect(world.story("b")).toEqual(["ada: of the first life (a 1)"]);
  });

  it("RLY-6: that come late over another link undo nothing", async () => {
    const world = linked(
      [
        ["a", "b"],
        ["a", "c"],
        ["b", "d"],
        ["c", "d"],
      ],
      "queue",
    );
    const bring = async (to: string, from?: string): Promise<void> => {
      const picks = world.queue.flatMap(({ batch }, i) =>
        batch.to === to && (!from || batch.from === from) ? [i] : [],
      );
      if (picks.length > 0) world.consume({ picks });
      await world.pass(1100);
    };
    await say(world, "a", "one");
    for (const to of ["b", "c", "d"]) await bring(to);
    await change(world, "a", "edit-message", { content: "two" });
    for (const to of ["b", "c"]) await bring(to);
    await bring("d", "b");
    await change(world, "a", "edit-message", { content: "three" });
    await bring("b");
    await bring("d", "b");
    expect(world.story("d")).toEqual(["ada: three (a 1)"]);
    await bring("d", "c");
    expect(world.story("d")).toEqual(["ada: three (a 1)"]);
  });

  it("RLY-6: a message that is deleted before it is passed on never crosses", async () => {
    const world = linked();
    world.mood = "refuses";
    await say(world, "a", "oops");
    await change(world, "a", "delete-message");
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS.max);
    expect(world.story("b")).toEqual([]);
  });

  it("RLY-6: a copy is found again after sleep, and among many others", async () => {
    const world = linked();
    await say(world, "a", "helo");
    const { id } = world.room("a").log.messages[0]!;
    for (let i = 0; i < 1500; i++) world.say("b", "noise", `user-${i % 40}`);
    await world.pass(1100);
    world.room("b").shell.evict();
    world.room("a").call("edit-message", "ada", { id, content: "hello" });
    await world.pass(1100);
    expect(world.story("b")[0]).toBe("ada: hello (a 1)");
  });
});

describe("paths", () => {
  it("RLY-5: a message passes RELAY_HOPS_MAX links at most", async () => {
    const names = Array.from({ length: RELAY_HOPS_MAX + 3 }, (_, i) => `r${i}`);
    const world = linked(names.slice(1).map((to, i) => [names[i]!, to] as const));
    await say(world, "r0", "far");
    await world.pass(20_000);
    const heardIn = names.filter((name) => world.story(name).length > 0);
    expect(heardIn).toEqual(names.slice(0, RELAY_HOPS_MAX + 1));
  });

  it("RLY-4: an early batch is not taken, and comes again", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    await say(world, "a", "2");
    world.consume({ picks: [1] });
    expect(world.takes.at(-1)!.outcomes).toMatchObject([{ ok: false, isFinal: false }]);
    expect(world.story("b")).toEqual([]);
    world.consume({ picks: [1, 0] });
    expect(world.story("b")).toEqual(["ada: 1 (a 1)", "ada: 2 (a 2)"]);
    expect(world.queue).toEqual([]);
  });
});
