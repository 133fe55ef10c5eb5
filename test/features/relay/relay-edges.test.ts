// Edge cases of links: a clock that was set back, a link removed while a batch is under way, many changes, and messages that do not cross.
import { describe, expect, it } from "vitest";

import { RELAY_RETRY_MS } from "../../../src/features/relay/links.ts";
import type { RelayBatch } from "../../../src/protocol/relay-batch.ts";
import { change, linked, RelayWorld, say } from "../../host/relay-world.ts";

const HOUR_MS = 3_600_000;

function setBack(world: RelayWorld, ms: number): void {
  for (const { shell } of world.rooms.values()) {
    shell.nowMs -= ms;
    shell.activeAtMs = shell.nowMs;
  }
}

const itemsIn = (batches: readonly RelayBatch[]): number =>
  batches.reduce((sum, { posts, changes }) => sum + posts.items.length + changes.items.length, 0);

describe("a clock that was set back", () => {
  it("RLY-2: during a sleep delays no retry by more than the longest wait", async () => {
    const world = linked();
    world.mood = "refuses";
    await say(world, "a", "1");
    world.room("a").shell.crash();
    setBack(world, HOUR_MS);
    world.room("a").shell.crash();
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS.max + 1000);
    expect(world.story("b")).toEqual(["ada: 1 (a 1)"]);
  });

  it("RLY-2: while the room is awake delays nothing", async () => {
    const world = linked();
    await say(world, "a", "1");
    setBack(world, HOUR_MS);
    await say(world, "a", "2");
    expect(world.story("b")).toHaveLength(2);
  });

  it("RLY-6: gives two changes the same moment, and the link goes on", async () => {
    const world = linked();
    await say(world, "a", "1");
    await say(world, "a", "2");
    world.mood = "refuses";
    const { shell, log } = world.room("a");
    const [{ id } = { id: "" }] = log.messages;
    const atMs = shell.nowMs;
    await change(world, "a", "edit-message", { id, content: "one" });
    shell.crash();
    setBack(world, shell.nowMs - atMs);
    shell.crash();
    await change(world, "a", "edit-message", { content: "two" });
    const revs = log.changedAfter(0, 10).map(({ rev }) => rev);
    expect(revs).toEqual([revs[0], revs[0]]);
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS.max + 1000);
    expect(world.story("b")).toEqual(["ada: one (a 1)", "ada: two (a 2)"]);
  });

  it("RLY-6: hides no edit made after it", async () => {
    const world = linked();
    await say(world, "a", "1");
    await change(world, "a", "edit-message", { content: "one" });
    world.room("a").shell.crash();
    setBack(world, HOUR_MS);
    world.room("a").shell.crash();
    await change(world, "a", "edit-message", { content: "uno" });
    expect(world.story("b")).toEqual(["ada: uno (a 1)"]);
  });
});

describe("a link", () => {
  it("RLY-1: begins behind earlier messages, also those that are not stored yet", async () => {
    const world = new RelayWorld(["a", "b"], "direct");
    await say(world, "a", "1");
    world.say("a", "2");
    world.say("a", "3", "ben");
    world.link("a", "b");
    await say(world, "a", "4");
    expect(world.story("b").map((line) => line.slice(5))).toEqual(["4 (a 4)"]);
  });

  it("RLY-8: removed while a batch is under way ignores the answer to it", async () => {
    const world = linked();
    world.say("a", "1");
    const { relay, shell } = world.room("a");
    world.mood = "takes and says it did not";
    shell.advance(1);
    relay.links.remove("b");
    await world.pass(60_000);
    expect(shell.problems).toEqual([]);
    expect(relay.links.all).toEqual([]);
  });

  it("RLY-4: ignores rewinds that belong to an earlier link", async () => {
    const world = linked([["a", "b"]], "queue");
    await say(world, "a", "1");
    const [former] = world.sent;
    const { links } = world.room("a").relay;
    links.remove("b");
    links.add("b");
    await say(world, "a", "2", "3");
    const { length } = world.sent;
    links.rewind("b", former!, { seq: 0, rev: 0 });
    await world.pass(2000);
    expect(world.sent).toHaveLength(length);
  });

  it("RLY-6: passes on many changes and large ones in consecutive batches", async () => {
    const world = linked();
    await say(world, "a", ...Array.from({ length: 250 }, (_, i) => `${i}`));
    world.mood = "refuses";
    await say(world, "a", "held up");
    const { messages } = world.room("a").log;
    for (const { id, seq } of messages.slice(0, 250))
      world
        .room("a")
        .call("edit-message", `mo-${seq % 50}`, { id, content: `${"語".repeat(seq > 150 ? 900 : 1)} ${seq}` });
    world.mood = "takes";
    await world.pass(RELAY_RETRY_MS.max);
    const copies = world.room("b").log.messages.slice(0, 250);
    expect(copies.filter(({ content, seq }) => content.endsWith(`語 ${seq}`))).toHaveLength(250);
  });
});

describe("messages that do not cross", () => {
  it("RLY-5: a message that came over a link does not go back over it", async () => {
    const world = linked([
      ["a", "b"],
      ["b", "c"],
      ["c", "b"],
    ]);
    await say(world, "a", "1");
    await world.pass(5000);
    expect(itemsIn(world.sent.filter(({ from }) => from === "c"))).toBe(0);
  });

  it("RLY-6: changes of messages older than the link do not cross, and no change crosses twice", async () => {
    const world = new RelayWorld(["a", "b"], "direct");
    await say(world, "a", "before");
    const { id } = world.room("a").log.messages[0]!;
    world.link("a", "b");
    await say(world, "a", "1");
    await change(world, "a", "edit-message", { content: "one" });
    world.sent.length = 0;
    world.room("a").call("edit-message", "mo", { id, content: "changed" });
    await change(world, "a", "react", { emoji: "👍", on: true });
    await world.pass(5000);
    expect(itemsIn(world.sent)).toBe(0);
  });
});
