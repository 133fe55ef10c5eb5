// Tests how a room takes batches: overlapping ones, hostile ones, those of earlier links, late changes.
import { describe, expect, it } from "vitest";

import { COPIES_LOOKED_AT_MAX } from "../../../src/features/relay/copies.ts";
import { RELAY_VERSION, type RelayBatch, type RelayedChange } from "../../../src/protocol/relay-batch.ts";
import { RELAY_HOPS_MAX, ROOTS_KEPT_MAX } from "../../../src/features/relay/receiver.ts";
import { isTooLargeForQueue, RELAY_BYTES_MAX } from "../../../src/relay/packing.ts";
import { UNREADABLE } from "../../../src/relay/readable-batch.ts";
import { RelayWorld } from "../../host/relay-world.ts";

interface Given extends Partial<RelayBatch> {
  readonly after?: number;
  readonly upTo?: number;
  readonly sender?: string;
  /** Where each began, and over how many links it came. */
  readonly began?: { readonly room: string; readonly seq?: number; readonly hops?: number };
  readonly edits?: ReadonlyArray<Partial<RelayedChange>>;
  readonly revs?: readonly [after: number, upTo: number];
}

const LINKED_AT_MS = 1000;

function batchOf({ after = 0, upTo = after, sender = "ada", began, edits = [], revs, ...more }: Given): RelayBatch {
  const items = Array.from({ length: upTo - after }, (_, i) => {
    const seq = after + i + 1;
    const root = { room: began?.room ?? "a", epoch: "e1", seq: began?.seq ?? seq };
    return { seq, sender, name: "Ada", content: `${seq}`, root, hops: began?.hops ?? 1 };
  });
  const [afterRev, upToRev] = revs ?? [LINKED_AT_MS, LINKED_AT_MS];
  const changes = edits.map((edit) => ({
    seq: 1,
    timestamp: 0,
    rev: upToRev,
    rootRev: upToRev,
    by: "ada",
    root: { room: "a", epoch: "e1", seq: 1 },
    ...edit,
  }));
  const spans = { posts: { after, upTo, items }, changes: { after: afterRev, upTo: upToRev, items: changes } };
  return {
    v: RELAY_VERSION,
    from: "a",
    to: "b",
    epoch: "e1",
    sinceSeq: 0,
    linkedAtMs: LINKED_AT_MS,
    ...spans,
    ...more,
  };
}

class Taker extends RelayWorld {
  constructor() {
    super(["b"], "direct");
  }

  take(...given: Given[]): string[] {
    return this.deliver("b", given.map(batchOf)).map((outcome) => (outcome.ok ? "ok" : outcome.reason));
  }

  get contents(): string[] {
    return this.room("b").log.messages.map(({ content }) => content);
  }
}

const EARLY = "earlier messages are missing";

describe("batches", () => {
  it("RLY-3: that overlap bring each message once, and never move the mark back", () => {
    const world = new Taker();
    expect(world.take({ upTo: 3 }, { after: 1, upTo: 4 }, { after: 0, upTo: 2, revs: [1000, 1500] })).toEqual(
      Array.from({ length: 3 }, () => "ok"),
    );
    expect(world.take({ after: 4, upTo: 5, revs: [1500, 1500] })).toEqual(["ok"]);
    expect(world.contents).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("RLY-9: that nest too deep are unreadable, and hold up no other", () => {
    const world = new Taker();
    const deep = { upTo: 1, extra: JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown };
    expect(world.take(deep, { upTo: 2 })).toEqual([UNREADABLE, "ok"]);
    expect(world.contents).toEqual(["1", "2"]);
  });

  it("RLY-3: whose senders cannot be looked up are retried, and arrive", () => {
    const world = new Taker();
    expect(world.take({ upTo: 1 })).toEqual(["ok"]);
    const { state } = world.room("b");
    state.damage = new Error("a damaged row");
    expect(world.take({ after: 1, upTo: 3, sender: "ben" })).toEqual(["the messages could not be stored"]);
    state.damage = undefined;
    expect(world.take({ after: 1, upTo: 3, sender: "ben" })).toEqual(["ok"]);
    expect(world.contents).toEqual(["1", "2", "3"]);
  });

  it("RLY-4: are early where changes are missing, too", () => {
    const world = new Taker();
    expect(world.take({ upTo: 1, revs: [1001, 1002] })).toEqual([EARLY]);
    expect(world.take({ upTo: 1 }, { after: 1, upTo: 2, revs: [1000, 1001] })).toEqual(["ok", "ok"]);
  });

  it("RLY-8: of a link and of an earlier one are taken in their order", () => {
    const world = new Taker();
    const anew = { after: 1, upTo: 2, sinceSeq: 1, linkedAtMs: 2000, revs: [2000, 2000] as const };
    expect(world.take(anew, { upTo: 1 })).toEqual(["ok", "ok"]);
    expect(world.contents).toEqual(["1", "2"]);
    expect(world.take({ after: 1, upTo: 2 })).toEqual(["the link was removed or set again"]);
  });

  it("RLY-3: of a link set again bring nothing that the earlier link brought from other rooms", () => {
    const world = new Taker();
    world.take({ upTo: 1, began: { room: "far", seq: 7 } });
    world.take({
      after: 1,
      upTo: 2,
      sinceSeq: 1,
      linkedAtMs: 2000,
      revs: [2000, 2000],
      began: { room: "far", seq: 7 },
    });
    expect(world.contents).toEqual(["1"]);
  });

  it("RLY-5: bring no message or change of the room itself, and none over too many links", async () => {
    const world = new Taker();
    world.say("b", "mine");
    await world.pass(100);
    const { epoch } = world.room("b").log;
    world.take({ upTo: 1, began: { room: "b" } });
    world.take({ after: 1, upTo: 2, began: { room: "far", hops: RELAY_HOPS_MAX + 1 } });
    const root = { room: "b", epoch, seq: 1 };
    expect(world.take({ after: 2, revs: [1000, 1001], edits: [{ root, content: "yours" }] })).toEqual(["ok"]);
    expect(world.contents).toEqual(["mine"]);
    world.take({ after: 2, upTo: 3, revs: [1001, 1001], began: { room: "far", hops: RELAY_HOPS_MAX } });
    expect(world.contents).toEqual(["mine", "3"]);
  });

  it("RLY-3: a room with recent messages is not forgotten", () => {
    const world = new Taker();
    const from = (room: string, after: number, seq: number): string[] =>
      world.take({ after, upTo: after + 1, began: { room, seq } });
    from("far", 0, 1);
    for (let i = 1; i < ROOTS_KEPT_MAX; i++) from(`r${i}`, i, 1);
    from("far", ROOTS_KEPT_MAX, 2);
    from("new", ROOTS_KEPT_MAX + 1, 1);
    from("far", ROOTS_KEPT_MAX + 2, 2);
    expect(world.contents).toHaveLength(ROOTS_KEPT_MAX + 2);
  });
});

describe("where storing fails", () => {
  it("RLY-3: no missing message counts as taken, and the next try brings all", () => {
    const world = new Taker();
    const { log } = world.room("b");
    expect(world.take({ upTo: 1 })).toEqual(["ok"]);
    log.failure = new Error("disk full");
    expect(world.take({ after: 1, upTo: 2 })).toEqual(["the messages could not be stored"]);
    world.room("b").shell.crash();
    log.failure = undefined;
    expect(world.take({ after: 1, upTo: 2 })).toEqual(["ok"]);
    log.failure = new Error("disk full");
    const edit = { after: 2, revs: [1000, 1001] as const, edits: [{ content: "one" }] };
    expect(world.take(edit)).toEqual(["a change could not be stored"]);
    log.failure = undefined;
    expect(world.take(edit)).toEqual(["ok"]);
    expect(world.contents).toEqual(["one", "2"]);
  });

  it("RLY-6: a change that came with messages is applied before its mark is stored", () => {
    const world = new Taker();
    const { log } = world.room("b");
    world.take({ upTo: 1 });
    const keep = log.keep.bind(log);
    log.keep = () => {
      throw new Error("disk full");
    };
    const both = { after: 1, upTo: 2, revs: [1000, 1001] as const, edits: [{ content: "one" }] };
    expect(world.take(both)).toEqual(["a change could not be stored"]);
    world.room("b").shell.crash();
    log.keep = keep;
    expect(world.take(both)).toEqual(["ok"]);
    expect(world.contents).toEqual(["one", "2"]);
  });
});

describe("copies", () => {
  it("RLY-6: are found where the clocks of two rooms differ by minutes", () => {
    const world = new Taker();
    world.take({ upTo: 1 });
    const { log, shell } = world.room("b");
    shell.evict();
    const timestamp = log.messages[0]!.timestamp + 300_000;
    world.take({ after: 1, revs: [1000, 1001], edits: [{ timestamp, content: "one" }] });
    expect(world.contents).toEqual(["one"]);
  });

  it("RLY-6: are searched among COPIES_LOOKED_AT_MAX messages only", () => {
    const world = new Taker();
    world.take({ upTo: 1 });
    const { log, shell } = world.room("b");
    for (let after = 1; after <= COPIES_LOOKED_AT_MAX; after += 1000) world.take({ after, upTo: after + 1000 });
    shell.evict();
    const edits = [{ content: "one" }];
    expect(world.take({ after: log.lastSeq, revs: [1000, 1001], edits })).toEqual(["ok"]);
    expect(world.contents[0]).toBe("1");
  });
});

it("RLY-2: a change that is too large for the queue goes by a call, too", () => {
  const of = (length: number): RelayBatch => batchOf({ revs: [1000, 1001], edits: [{ content: "x".repeat(length) }] });
  expect([of(RELAY_BYTES_MAX / 2), of(RELAY_BYTES_MAX)].map(isTooLargeForQueue)).toEqual([false, true]);
});
