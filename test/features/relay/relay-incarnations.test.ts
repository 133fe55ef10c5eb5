// A backup is restored of a room on either side of a link: new messages arrive once and in order, though lost ones had their positions.
import { describe, expect, it } from "vitest";

import { linked, say, type RelayWorld, type Way } from "../../host/relay-world.ts";
import { isBeyond, nameOfIncarnation, partsOfName } from "../../../src/features/relay/position.ts";

const INCARNATIONS = ["000000aone", "000000btwo", "000000cnew"] as const;

const contents = (world: RelayWorld, room: string): string[] =>
  world.room(room).log.messages.map(({ content }) => content);

function begin(way: Way, links?: ReadonlyArray<readonly [string, string]>): RelayWorld {
  const world = linked(links, way);
  for (const { log } of world.rooms.values()) log.incarnation = INCARNATIONS[0];
  return world;
}

async function pass(world: RelayWorld): Promise<void> {
  await world.pass(1100);
  await world.settle();
}

describe.each(["direct", "queue"] as const)("RLY-3: a backup of the room that passes on was restored (%s)", (way) => {
  it.each([1, 2, 3, 4, 5])("all messages posted since arrive, %i where 3 were lost", async (count) => {
    const world = begin(way);
    await say(world, "a", "1", "2");
    await pass(world);
    const restore = world.backUp("a");
    world.room("a").log.incarnation = INCARNATIONS[1];
    await say(world, "a", "lost 3", "lost 4", "lost 5");
    await pass(world);
    restore(INCARNATIONS[2]);
    const since = Array.from({ length: count }, (_, i) => `new ${i + 3}`);
    for (const content of since) {
      await say(world, "a", content);
      await pass(world);
    }
    expect(contents(world, "a")).toEqual(["1", "2", ...since]);
    expect(contents(world, "b")).toEqual(["1", "2", "lost 3", "lost 4", "lost 5", ...since]);
  });

  it("all messages posted since arrive, where the backup is of before the first message", async () => {
    const world = begin(way);
    const restore = world.backUp("a");
    await say(world, "a", "lost 1", "lost 2");
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "new 1");
    await pass(world);
    expect(contents(world, "a")).toEqual(["new 1"]);
    expect(contents(world, "b")).toEqual(["lost 1", "lost 2", "new 1"]);
  });

  it("edits and deletions follow the new messages, not those that had their positions", async () => {
    const world = begin(way);
    await say(world, "a", "1");
    await pass(world);
    const restore = world.backUp("a");
    await say(world, "a", "lost 2");
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "new 2");
    await pass(world);
    const { id } = world.room("a").log.messages.at(-1)!;
    expect(world.room("a").call("edit-message", "mo", { id, content: "edited" }).answer).toMatchObject({ ok: true });
    await pass(world);
    expect(contents(world, "b")).toEqual(["1", "lost 2", "edited"]);
  });

  it("a message that comes over two links arrives once", async () => {
    const world = begin(way, [
      ["a", "b"],
      ["a", "c"],
      ["b", "d"],
      ["c", "d"],
    ]);
    await say(world, "a", "1");
    await pass(world);
    const restore = world.backUp("a");
    await say(world, "a", "lost 2", "lost 3");
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "new 2", "new 3", "new 4");
    await pass(world);
    expect(contents(world, "d")).toEqual(["1", "lost 2", "lost 3", "new 2", "new 3", "new 4"]);
  });
});

describe("RLY-4: after a restored backup", () => {
  it("early batches wait, and late ones of lost messages change nothing", async () => {
    const world = begin("queue");
    await say(world, "a", "1");
    await pass(world);
    const restore = world.backUp("a");
    world.room("a").log.incarnation = INCARNATIONS[1];
    await say(world, "a", "lost 2", "lost 3");
    const late = [...world.queue];
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "new 2");
    await say(world, "a", "new 3");
    world.queue.reverse();
    world.consume({ picks: [0] });
    expect(contents(world, "b")).toEqual(["1", "lost 2", "lost 3"]);
    world.queue.push(...late);
    await pass(world);
    world.queue.push(...late);
    await pass(world);
    expect(contents(world, "b")).toEqual(["1", "lost 2", "lost 3", "new 2", "new 3"]);
  });

  it("batches that the queue lost are sent again", async () => {
    const world = begin("queue");
    await say(world, "a", "1");
    await pass(world);
    const restore = world.backUp("a");
    world.room("a").log.incarnation = INCARNATIONS[1];
    await say(world, "a", "lost 2", "lost 3");
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "new 2");
    world.lose();
    await say(world, "a", "new 3");
    await pass(world);
    expect(contents(world, "b")).toEqual(["1", "lost 2", "lost 3", "new 2", "new 3"]);
  });

  it("messages that the receiving room lost are sent again", async () => {
    const world = begin("queue");
    await say(world, "a", "1");
    await pass(world);
    const restore = world.backUp("b");
    await say(world, "a", "2", "3");
    await pass(world);
    restore(INCARNATIONS[2]);
    await say(world, "a", "4");
    await pass(world);
    expect(contents(world, "b")).toEqual(["1", "2", "3", "4"]);
  });
});

describe("a position", () => {
  it("is beyond earlier positions of its incarnation, and beyond all positions of earlier incarnations", () => {
    const ascending = [{ seq: 7 }, { seq: 9 }, { seq: 2, life: "a" }, { seq: 3, life: "a" }, { seq: 1, life: "b" }];
    for (const [i, one] of ascending.entries())
      for (const [j, other] of ascending.entries()) expect(isBeyond(one, other), `${i} ${j}`).toBe(i > j);
    expect(isBeyond({ seq: 1, life: "" }, { seq: 1 })).toBe(false);
  });

  it("names a log and its life in one string", () => {
    for (const [epoch, life] of [
      ["e1", "a"],
      ["e1", ""],
    ] as const)
      expect(partsOfName(nameOfIncarnation(epoch, life))).toEqual({ epoch, life });
  });
});
