// Mirroring one room in another: what crosses, what it looks like there, and what does not.
import { describe, expect, it } from "vitest";

import { LINKS_MAX, RELAY_SEND_MS_MAX } from "../../src/chat/links.ts";
import { RELAY_RETRY_MS_MAX, SEEN_AGAIN_MAX } from "../../src/chat/link.ts";
import { exportPiece } from "../../src/chat/export.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { RelayBatch } from "../../src/protocol/relay-batch.ts";
import { RELAY_HOPS_MAX, ROOTS_KEPT_MAX } from "../../src/relay/intake.ts";
import { isTooLargeForQueue, RELAY_BYTES_MAX, RELAY_ITEMS_MAX } from "../../src/relay/packing.ts";
import { RelayWorld, type Way } from "./relay-world.ts";

function linked(links: ReadonlyArray<readonly [string, string]> = [["a", "b"]], way: Way = "direct"): RelayWorld {
  const world = new RelayWorld([...new Set(links.flat())], way);
  for (const [from, to] of links) world.link(from, to);
  return world;
}

async function say(world: RelayWorld, room: string, ...contents: string[]): Promise<void> {
  for (const content of contents) world.say(room, content);
  await world.pass(1100);
}

/** Does something to the newest message of a room, as the backend. */
async function change(world: RelayWorld, room: string, event: string, more: object = {}, user = "mo"): Promise<void> {
  const { id } = world.room(room).log.messages.at(-1)!;
  expect(world.room(room).ask(user, event, { id, ...more }).answer).toMatchObject({ ok: true });
  await world.pass(1100);
}

describe("a mirrored message", () => {
  it("RLY-1: keeps its sender and says where it began; it has a place, an id and a time of its own", async () => {
    const world = linked();
    world.say("b", "here already");
    world.room("a").ask("ada", "chat-message", { content: "hello @ben", clientMsgId: "c1" });
    await world.pass(1100);
    const [, copy] = world.room("b").log.messages;
    const { log, shell } = world.room("b");
    expect(copy).toEqual({
      ...{ id: `${log.epoch}-2`, seq: 2, room: "b", sender: "ada", name: "ada", content: "hello @ben" },
      ...{ timestamp: shell.nowMs - 1100, mentions: ["ben"], origin: { room: "a", seq: 1 } },
    });
  });

  it("RLY-1: is one everywhere: as an event, in history, search and export, after sleep, edited and deleted", async () => {
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
      expect(await world.room("b").call(event, "ben", given)).toMatchObject({ messages: [{ origin }] });
    expect(JSON.parse(exportPiece(log)!.lines)).toMatchObject({ origin });
    await change(world, "a", "edit-message", { content: "better" });
    expect(await world.room("b").call("history", "ben", {})).toMatchObject({
      messages: [{ content: "better", origin }],
    });
    await change(world, "a", "delete-message");
    expect(await world.room("b").call("history", "ben", {})).toMatchObject({ messages: [{ deleted: true, origin }] });
    expect(Object.keys(log.messages[0]!.origin!)).toEqual(["room", "seq"]);
  });

  it("RLY-1: begins with what is posted after the link; an answer, reactions and files stay behind", async () => {
    const world = new RelayWorld(["a", "b"], "direct");
    await say(world, "a", "before");
    world.link("a", "b");
    const { id } = world.room("a").log.messages[0]!;
    world.room("a").ask("ada", "chat-message", { content: "after", replyTo: id });
    world.room("a").ask("ada", "react", { id, emoji: "👍", on: true });
    await world.pass(1100);
    const [copy, ...more] = world.room("b").log.messages;
    expect(more).toEqual([]);
    expect(copy).toMatchObject({ content: "after" });
    expect(copy).not.toHaveProperty("replyTo");
  });
});

describe("edits and deletions", () => {
  it("RLY-6: cross, whoever makes them, and everyone there is told", async () => {
    const world = linked();
    await say(world, "a", "helo");
    const ben = await world.room("b").join("ben");
    await change(world, "a", "edit-message", { content: "hello" }, "mo");
    expect(ben.heard("message-edited")).toMatchObject([[{ seq: 1, content: "hello" }]]);
    expect(
      await world
        .room("b")
        .call("versions", { user: "mo", role: "moderator" }, { id: world.room("b").log.messages[0]!.id }),
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

  it("RLY-6: of a copy are that room's own affair", async () => {
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

  it("RLY-6: that come late by another way undo nothing", async () => {
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
    await world.pass(RELAY_RETRY_MS_MAX);
    expect(world.story("b")).toEqual([]);
  });

  it("RLY-6: a copy is found again after sleep, and among many others", async () => {
    const world = linked();
    await say(world, "a", "helo");
    const { id } = world.room("a").log.messages[0]!;
    for (let i = 0; i < 1500; i++) world.say("b", "noise", `user-${i % 40}`);
    await world.pass(1100);
    world.room("b").shell.evict();
    world.room("a").ask("ada", "edit-message", { id, content: "hello" });
    await world.pass(1100);
    expect(world.story("b")[0]).toBe("ada: hello (a 1)");
  });
});

describe("ways", () => {
  it("RLY-5: a message never comes back to where it began, in a ring or both ways", async () => {
    const rings = [
      [
        ["a", "b"],
        ["b", "a"],
      ],
      [
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
      ],
      [
        ["a", "b"],
        ["b", "c"],
        ["c", "a"],
        ["b", "a"],
        ["c", "b"],
        ["a", "c"],
      ],
    ] as const;
    for (const ring of rings) {
      const world = linked(ring);
      await say(world, "a", "1", "2");
      await say(world, "b", "3");
      await world.pass(10_000);
      expect(world.story("a")).toEqual(["ada: 1", "ada: 2", "ada: 3 (b 3)"]);
      expect(world.story("b")).toEqual(["ada: 1 (a 1)", "ada: 2 (a 2)", "ada: 3"]);
      const { length } = world.sent;
      await world.pass(60_000);
      expect(world.sent).toHaveLength(length);
    }
  });

  it("RLY-5: passes so many links and no more", async () => {
    const names = Array.from({ length: RELAY_HOPS_MAX + 3 }, (_, i) => `r${i}`);
    const world = linked(names.slice(1).map((to, i) => [names[i]!, to] as const));
    await say(world, "r0", "far");
    await world.pass(20_000);
    const heardIn = names.filter((name) => world.story(name).length > 0);
    expect(heardIn).toEqual(names.slice(0, RELAY_HOPS_MAX + 1));
  });

  it("RLY-3: that lead to one room bring a message once", async () => {
    const world = linked([
      ["a", "b"],
      ["a", "c"],
      ["b", "d"],
      ["c", "d"],
    ]);
    await say(world, "a", "1", "2");
    await world.pass(5000);
    expect(world.story("d")).toEqual(["ada: 1 (a 1)", "ada: 2 (a 2)"]);
  });

  it("RLY-4: what comes too early is not taken, and comes again", async () => {
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

describe("how it is passed on", () => {
  it("RLY-2: a quiet room passes on at once, a busy one gathers", async () => {
    const world = linked();
    world.say("a", "1");
    await world.pass(1);
    expect(world.story("b")).toHaveLength(1);
    for (const content of ["2", "3", "4"]) {
      world.say("a", content);
      await world.pass(200);
    }
    expect(world.story("b")).toHaveLength(1);
    await world.pass(500);
    expect(world.sent.map(({ posts }) => posts.items.length)).toEqual([1, 3]);
  });

  it("RLY-2: in batches that fit into the queue, one after the other", async () => {
    const world = linked([["a", "b"]], "queue");
    for (let i = 0; i < 250; i++) world.say("a", "ä".repeat(i % 2 === 0 ? 900 : 1), `user-${i % 30}`);
    await world.pass(1100);
    for (const batch of world.sent) {
      expect(batch.posts.items.length).toBeLessThanOrEqual(RELAY_ITEMS_MAX);
      expect(Buffer.byteLength(JSON.stringify(batch.posts.items))).toBeLessThanOrEqual(RELAY_BYTES_MAX + 2);
      expect(isTooLargeForQueue(batch)).toBe(false);
    }
    expect(world.sent.flatMap(({ posts }) => posts.items)).toHaveLength(250);
  });

  it("RLY-2: one message may be larger than that, alone", async () => {
    const world = new RelayWorld(["a", "b"], "direct", { maxContentLength: 100_000 });
    world.link("a", "b");
    await say(world, "a", "1", "語".repeat(90_000), "3");
    expect(world.sent.map(isTooLargeForQueue)).toEqual([false, true, false]);
    expect(world.room("b").log.messages.map(({ content }) => content.length)).toEqual([1, 90_000, 1]);
  });

  it("RLY-2: who does not take it is asked less and less often, through sleep too, and wakes nobody else", async () => {
    const world = linked([
      ["a", "b"],
      ["a", "c"],
    ]);
    world.mood = "refuses";
    await say(world, "a", "1");
    await world.pass(15_000);
    const { shell } = world.room("a");
    expect(shell.reports.filter(({ problem }) => problem.includes("passed on to b"))).toHaveLength(5);
    expect(shell.canSleep).toBe(true);
    shell.evict();
    await world.pass(10_000);
    expect(shell.reports).toHaveLength(10);
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS_MAX);
    expect([world.story("b"), world.story("c")]).toEqual([["ada: 1 (a 1)"], ["ada: 1 (a 1)"]]);
  });

  it("RLY-2: who does not answer has failed, and what it says later changes nothing", async () => {
    const world = linked();
    world.mood = "is silent";
    await say(world, "a", "1");
    expect(world.room("a").shell.canSleep).toBe(false);
    await world.pass(RELAY_SEND_MS_MAX - 1000);
    world.mood = "takes";
    await world.pass(3000);
    expect(world.story("b")).toEqual(["ada: 1 (a 1)"]);
  });

  it("RLY-2: no post waits for it", async () => {
    const world = linked();
    world.mood = "is silent";
    world.say("a", "1");
    world.say("a", "2");
    await world.pass(100);
    expect(world.story("a")).toEqual(["ada: 1", "ada: 2"]);
  });

  it("RLY-3: where either side cannot store how far it is, nothing is lost or doubled", async () => {
    const world = linked();
    for (const name of ["a", "b"]) {
      world.room(name).state.failure = new Error("disk full");
      await say(world, "a", `while ${name} fails`);
      world.room(name).shell.crash();
      world.room(name).state.failure = undefined;
      await world.pass(RELAY_RETRY_MS_MAX);
    }
    expect(world.arrived("b", "a")).toEqual([1, 2]);
  });

  it("RLY-2: messages that cannot be read are passed over, and reported", async () => {
    const world = linked();
    world.mood = "refuses";
    await say(world, "a", "1");
    world.room("a").log.unreadable = new Error("disk on fire");
    world.mood = "takes";
    await world.pass(5000);
    expect(world.story("b")).toEqual([]);
    world.room("a").log.unreadable = undefined;
    await world.pass(60_000);
    expect(world.story("b")).toEqual(["ada: 1 (a 1)"]);
  });
});

describe("what it costs", () => {
  it("RLY-10: a row per flush on this side, for all links, and one per batch on the other", async () => {
    const world = linked([
      ["a", "b"],
      ["a", "c"],
    ]);
    await say(world, "a", "first");
    const before = ["a", "b", "c"].map((name) => world.room(name).state.writes);
    await say(world, "a", ...Array.from({ length: 50 }, (_, i) => `${i}`));
    const after = ["a", "b", "c"].map((name, i) => world.room(name).state.writes - before[i]!);
    expect(after[0]).toBeLessThanOrEqual(2);
    expect(after[1]).toBeLessThanOrEqual(2);
    expect(world.story("c")).toHaveLength(51);
  });

  it("RLY-10: nothing without links: no row, no deadline", async () => {
    const world = new RelayWorld(["a", "b"], "queue");
    await say(world, "a", "1", "2");
    await change(world, "a", "edit-message", { content: "3" });
    expect(world.room("a").state.writes).toBe(0);
    expect(world.sent).toEqual([]);
  });

  it("RLY-10: nothing for what comes back to where it began, but a row for very much of it", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "a"],
    ]);
    await say(world, "a", "1");
    const { writes } = world.room("b").state;
    for (let i = 0; i < 20; i++) await say(world, "a", `${i}`);
    expect(world.room("b").state.writes - writes).toBe(20);
    for (let i = 0; i < SEEN_AGAIN_MAX; i++) world.say("a", `${i}`, `user-${i % 50}`);
    await world.pass(5000);
    const batches = world.sent.filter(({ from }) => from === "a").length - 21;
    expect(world.room("b").state.writes - writes - 20 - batches).toBe(1);
    expect(world.sent.filter(({ from }) => from === "b")).toEqual([]);
  });
});

describe("who may speak there", () => {
  const moderate = (world: RelayWorld, room: string, event: string, given: object): void =>
    expect(world.room(room).ask("backend", event, given).answer).toMatchObject({ ok: true }) as void;

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
      expect(world.room("a").chat.links.add("b")).toEqual({ ok: true });
      await say(world, "a", "again");
    }
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    expect(world.room("a").chat.links.all).toMatchObject([{ to: "b", seq: 2, failures: 0 }]);
    expect(world.room("b").chat.relayed.all).toEqual([{ from: "a", seq: 2 }]);
    expect(world.room("a").chat.links.remove("b")).toEqual({ ok: true });
    expect(world.room("a").chat.links.remove("b")).toMatchObject({ error: { code: "NOT_FOUND" } });
    await say(world, "a", "alone");
    expect(world.arrived("b", "a")).toEqual([1, 2]);
    world.link("a", "b");
    await say(world, "a", "together");
    expect(world.arrived("b", "a")).toEqual([1, 2, 4]);
  });

  it("RLY-8: there are so many, none to the room itself, and none that cannot be stored", async () => {
    const world = new RelayWorld(["a"], "queue");
    const { chat, state } = world.room("a");
    expect(chat.links.add("a")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(chat.links.add("b")).toMatchObject({ error: { code: "INTERNAL" } });
    state.failure = undefined;
    expect(chat.links.all).toEqual([]);
    for (let i = 0; i < LINKS_MAX; i++) expect(chat.links.add(`r${i}`)).toEqual({ ok: true });
    expect(chat.links.add("one-more")).toMatchObject({ error: { code: "FORBIDDEN" } });
    state.failure = new Error("disk full");
    expect(chat.links.remove("r0")).toMatchObject({ error: { code: "INTERNAL" } });
    expect(chat.links.all).toHaveLength(LINKS_MAX);
  });

  it("RLY-8: what is under way when a link is set anew is not taken any more", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    world.room("a").chat.links.remove("b");
    world.link("a", "b");
    await say(world, "a", "2");
    world.consume({ picks: [1] });
    world.consume({ picks: [0] });
    expect(world.story("b")).toEqual(["ada: 2 (a 2)"]);
    expect(world.dead.map(({ posts }) => posts.items.map(({ content }) => content))).toEqual([["1"]]);
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
    expect(world.room("a").chat.links.all).toMatchObject([{ seq: 0 }]);
  });
});

it("RLY-3: a room remembers of so many rooms, by way of one link, what it has of them", () => {
  const world = new RelayWorld(["hub"], "direct");
  const batchOf = (count: number, after: number): RelayBatch => ({
    ...{ from: "a", to: "hub", epoch: "e", since: 0, linkedAtMs: 1 },
    posts: {
      after,
      upTo: after + count,
      items: Array.from({ length: count }, (_, i) => ({
        ...{ seq: after + i + 1, sender: "s", name: "s", content: "c", hops: 2 },
        root: { room: `r${after + i}`, epoch: "e", seq: 1 },
      })),
    },
    changes: { after: 1, upTo: 1, items: [] },
  });
  world.deliver("hub", [batchOf(ROOTS_KEPT_MAX + 10, 0)]);
  const [[, mark]] = world.room("hub").chat.relayed.marks as unknown as [[string, { roots: unknown[] }]];
  expect(mark.roots).toHaveLength(ROOTS_KEPT_MAX);
  expect(world.room("hub").log.messages.map(({ origin }: Message) => origin?.room)).toContain("r0");
});
