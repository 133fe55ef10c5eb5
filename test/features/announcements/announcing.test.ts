// Delivery of announcements, with a queue that repeats and reorders messages and rooms that fail (ANN-4 to ANN-6).
import { describe, expect, it } from "vitest";

import type {
  AnnouncedHere,
  AnnounceItem,
  AnnounceOutcome,
  Announcement,
  AnnounceTotal,
  AnnounceNote,
} from "../../../src/protocol/announcement.ts";
import { ANNOUNCE_VERSION, isReservedEvent } from "../../../src/protocol/announcement.ts";
import { packLooks, packRooms, packUsers } from "../../../src/features/announcements/packing.ts";
import {
  beginRecord,
  progressOf,
  withNote,
  withTotal,
  type AnnounceRecord,
} from "../../../src/features/announcements/progress.ts";
import {
  announceItems,
  ANNOUNCE_CALLS_MAX,
  type AnnouncePorts,
} from "../../../src/features/announcements/announcing.ts";
import { bytesOf, RELAY_BYTES_MAX } from "../../../src/relay/packing.ts";
import { RELAY_TRIES_MAX } from "../../../src/relay/tries.ts";
import { TURN_STEPS_MAX } from "../../../src/relay/taking-turns.ts";
import { fc, runs } from "../../host/properties.ts";

const SAID: Announcement = {
  v: ANNOUNCE_VERSION,
  id: "a1",
  data: { text: "hello" },
  at: 1,
  by: { user: "backend", name: "backend" },
};

type Fate = "good" | "lost-before" | "lost-after";

/** Rooms whose connections remember their announcements, a queue, and the progress. */
class World {
  readonly queue: AnnounceItem[] = [];
  readonly heard: string[] = [];
  readonly people: ReadonlyMap<string, readonly string[]>;
  readonly fates: Fate[];
  /** Rooms that never answer. */
  readonly broken: ReadonlySet<string>;
  dead: string[] = [];
  calls = 0;
  callsOfRun = 0;
  /** Between any two of them, others that share the thread get their turn. */
  readonly callsOfTurns: number[] = [0];
  record: AnnounceRecord;
  readonly #known = new Set<string>();

  constructor(
    people: ReadonlyMap<string, readonly string[]>,
    fates: readonly Fate[] = [],
    broken: readonly string[] = [],
  ) {
    this.people = people;
    this.fates = [...fates];
    this.broken = new Set(broken);
    this.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, 0, null);
  }

  #take(room: string, { id, users }: AnnouncedHere): AnnounceOutcome {
    const here = this.people.get(room) ?? [];
    const meant = users ? users.filter(([, user]) => here.includes(user)) : here.map((user) => [0, user] as const);
    for (const [, user] of meant) {
      const key = `${id} ${room} ${user}`;
      if (!this.#known.has(key)) this.heard.push(`${room} ${user}`);
      this.#known.add(key);
    }
    return { ok: true, reached: users ? meant.map(([number]) => number) : [], isHeard: here.length > 0 };
  }

  readonly ports: AnnouncePorts = {
    giveWay: async () => void this.callsOfTurns.push(0),
    now: () => 0,
    announce: async (room, announcements) => {
      this.calls++;
      this.callsOfRun++;
      this.callsOfTurns[this.callsOfTurns.length - 1]!++;
      if (this.broken.has(room)) throw new Error("broken");
      const fate = this.fates.pop() ?? "good";
      if (fate === "lost-before") throw new Error("out of order");
      const outcomes = announcements.map((announced) => this.#take(room, announced));
      if (fate === "lost-after") throw new Error("the line is dead");
      return outcomes;
    },
    list: async (prefix, { after = "", limit, isOccupied }) => {
      const all = [...this.people].filter(
        ([room, here]) => room.startsWith(prefix) && room > after && (!isOccupied || here.length > 0),
      );
      const names = all.map(([room]) => room).sort();
      return { rooms: names.slice(0, limit), hasMore: names.length > limit };
    },
    find: async (users) => {
      const found = [...this.people].map(
        ([room, here]) => [room, users.flatMap((user, i) => (here.includes(user) ? [i] : []))] as const,
      );
      return { found: found.filter(([, here]) => here.length > 0) };
    },
    send: async (items) => void this.queue.push(...items),
    note: async (notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]) => {
      for (const note of notes) this.record = withNote(this.record, note);
      for (const total of totals) this.record = withTotal(this.record, total);
    },
    report: (error) => {
      throw error;
    },
    storeDeadLetters: async (dead) => void this.dead.push(...dead.map(({ batch }) => batch.to[0]!.room)),
  };

  /** Until the queue is empty. @param disturb picks the next message, and whether it comes again */
  async run(
    disturb: { readonly picks: readonly number[]; readonly crashes: readonly boolean[] } = { picks: [], crashes: [] },
  ): Promise<void> {
    const [picks, crashes] = [[...disturb.picks], [...disturb.crashes]];
    for (let turns = 0; this.queue.length > 0; turns++) {
      if (turns > 10_000) throw new Error("it never ends");
      const at = (picks.pop() ?? 0) % this.queue.length;
      const items = this.queue.splice(at, 1 + ((picks.pop() ?? 0) % 3));
      this.callsOfRun = 0;
      this.callsOfTurns.push(0);
      const isTwice = crashes.pop() === true;
      await announceItems(items, this.ports);
      // The consumer died before it could say so.
      if (isTwice) this.queue.push(...items);
    }
  }
}

const namesOf = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe("parts", () => {
  it("ANN-5: 4,000 followers over 400 rooms, and over 40, are four messages and one", async () => {
    for (const [roomCount, messages] of [
      [400, 4],
      [40, 1],
    ] as const) {
      const users = namesOf(4000, "follower-");
      const found = new Map(
        namesOf(roomCount, "room-").map((room, r) => [room, users.map((_, i) => i).filter((i) => i % roomCount === r)]),
      );
      const parts = packUsers(SAID, users, { found, unknown: [] });
      expect(parts.length).toBe(messages);
      for (const part of parts) expect(bytesOf(part)).toBeLessThan(128_000);
      const world = new World(new Map([...found].map(([room, numbers]) => [room, numbers.map((i) => users[i]!)])));
      world.queue.push(...parts);
      world.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, users.length, parts.length);
      await world.run({ picks: [3, 0], crashes: [] });
      expect(progressOf(world.record)).toMatchObject({ accepted: 4000, delivered: 4000, done: true });
      expect(world.heard).toHaveLength(4000);
    }
  });

  it("ANN-5: no part is larger than a message of the queue, for any user ids", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 128 }), { minLength: 1, maxLength: 300 }),
        (ids) => {
          const users = [...new Set(ids)];
          const found = new Map([["one", users.map((_, i) => i)]]);
          const data = { text: "x".repeat(32_000) };
          for (const part of packUsers({ ...SAID, data }, users, { found, unknown: ["two", "three"] })) {
            expect(bytesOf(part)).toBeLessThan(RELAY_BYTES_MAX + 28_000);
          }
        },
      ),
    );
  });

  it("ANN-5: one run makes at most ANNOUNCE_CALLS_MAX calls, and the next run makes the rest", async () => {
    const rooms = namesOf(1200, "room-");
    const world = new World(new Map(rooms.map((room) => [room, ["ada"]])));
    await announceItems(packRooms(SAID, rooms), world.ports);
    expect(world.calls).toBeLessThanOrEqual(ANNOUNCE_CALLS_MAX);
    expect(world.queue.length).toBeGreaterThan(0);
    await world.run();
    expect(world.calls).toBe(1200);
    expect(world.heard).toHaveLength(1200);
  });

  it("ANN-5: other work on the thread gets a turn after every few calls", async () => {
    const rooms = namesOf(400, "room-");
    const world = new World(new Map(rooms.map((room) => [room, ["ada"]])));
    world.queue.push(...packRooms(SAID, rooms));
    await world.run();
    expect(world.heard).toHaveLength(400);
    expect(Math.max(...world.callsOfTurns)).toBeLessThanOrEqual(TURN_STEPS_MAX);
  });
});

describe("with lost calls, repeated and reordered messages", () => {
  const disturbed = fc.record({
    roomCount: fc.integer({ min: 1, max: 250 }),
    fates: fc.array(fc.constantFrom<Fate>("good", "good", "lost-before", "lost-after"), { maxLength: 60 }),
    picks: fc.array(fc.nat(20), { maxLength: 60 }),
    crashes: fc.array(fc.boolean(), { maxLength: 20 }),
  });

  it("ANN-4, ANN-6: each room hears it once, and is counted once", async () => {
    await fc.assert(
      fc.asyncProperty(disturbed, async ({ roomCount, fates, picks, crashes }) => {
        const rooms = namesOf(roomCount, "room-");
        const world = new World(new Map(rooms.map((room, i) => [room, i % 5 === 4 ? [] : ["ada", "ben"]])), fates);
        const parts = packRooms(SAID, rooms);
        world.queue.push(...parts);
        world.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, roomCount, parts.length);
        await world.run({ picks, crashes });
        const absent = Math.floor(roomCount / 5);
        expect(progressOf(world.record)).toMatchObject({
          delivered: roomCount - absent,
          absent,
          failed: 0,
          done: true,
        });
        expect(world.heard).toHaveLength(2 * (roomCount - absent));
        expect(new Set(world.heard).size).toBe(world.heard.length);
      }),
      runs(1000),
    );
  });

  it("ANN-6: a walk over a list counts each room once, also where a step comes twice", async () => {
    await fc.assert(
      fc.asyncProperty(disturbed, async ({ roomCount, fates, picks, crashes }) => {
        const world = new World(new Map(namesOf(roomCount * 5, "team-").map((room) => [room, ["ada"]])), fates);
        world.queue.push({ announce: SAID, walk: { prefix: "team-", rooms: 0, parts: 0 } });
        await world.run({ picks, crashes });
        expect(progressOf(world.record)).toMatchObject({
          accepted: roomCount * 5,
          delivered: roomCount * 5,
          done: true,
        });
        expect(new Set(world.heard).size).toBe(world.heard.length);
      }),
      runs(200),
    );
  });

  it("ANN-6, ANN-7: each user is counted once, in any number of rooms, or is a dead letter", async () => {
    await fc.assert(
      fc.asyncProperty(disturbed, fc.nat(3), async ({ roomCount, fates, picks, crashes }, brokenCount) => {
        const users = namesOf(30, "user-");
        const rooms = namesOf(Math.min(roomCount, 40), "room-");
        const people = new Map(rooms.map((room, r) => [room, users.filter((_, i) => i % 7 === r % 7 && i < 25)]));
        const broken = rooms.slice(0, brokenCount);
        const world = new World(people, fates, broken);
        const known = rooms.filter((_, r) => r % 2 === 0);
        const found = new Map(known.map((room) => [room, people.get(room)!.map((user) => users.indexOf(user))]));
        const parts = packUsers(SAID, users, { found, unknown: rooms.filter((_, r) => r % 2 === 1) });
        world.queue.push(...parts);
        world.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, users.length, parts.length);
        await world.run({ picks, crashes });
        const progress = progressOf(world.record);
        const there = new Set(rooms.filter((room) => !broken.includes(room)).flatMap((room) => people.get(room)!));
        expect(progress).toMatchObject({ delivered: there.size, done: true });
        expect(progress.delivered + progress.absent + progress.failed).toBe(users.length);
        expect(new Set(world.heard).size).toBe(world.heard.length);
        for (const room of broken) expect(world.dead.includes(room) || world.dead.length === 0).toBe(true);
      }),
      runs(1000),
    );
  });

  it(`ANN-6: a room that never answers is a dead letter after ${RELAY_TRIES_MAX} tries, and no other room waits for it`, async () => {
    const world = new World(
      new Map([
        ["a", ["ada"]],
        ["b", ["ben"]],
      ]),
      [],
      ["b"],
    );
    const parts = packRooms(SAID, ["a", "b"]);
    world.queue.push(...parts);
    world.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, 2, parts.length);
    await world.run();
    expect(world.calls).toBe(1 + RELAY_TRIES_MAX);
    expect(world.dead).toEqual(["b"]);
    expect(progressOf(world.record)).toMatchObject({ delivered: 1, failed: 1, absent: 0, done: true });
  });
});

it("ANN-7: a user who was nowhere is looked for once more, and counts as absent then", async () => {
  const users = ["ada", "late", "nobody"];
  const world = new World(
    new Map([
      ["a", ["ada"]],
      ["b", ["late"]],
      ["c", ["late"]],
    ]),
  );
  const parts = packUsers(SAID, users, { found: new Map([["a", [0]]]), unknown: [] });
  const looks = packLooks(
    SAID,
    [
      [1, "late"],
      [2, "nobody"],
    ],
    parts.length,
  );
  world.record = beginRecord({ id: SAID.id, by: "backend", at: 0 }, users.length, parts.length + looks.length);
  world.queue.push(...parts);
  await world.run();
  expect(progressOf(world.record)).toMatchObject({ delivered: 1, done: false });
  world.queue.push(...looks);
  await world.run();
  expect(progressOf(world.record)).toMatchObject({ delivered: 2, absent: 1, done: true });
  expect(world.heard).toEqual(["a ada", "b late", "c late"]);
});

it("ANN-3: names of object properties are not reserved events", () => {
  for (const event of ["constructor", "toString", "__proto__", "news"]) expect(isReservedEvent(event)).toBe(false);
  for (const event of ["welcome", "connect", "typing", "message-state"]) expect(isReservedEvent(event)).toBe(true);
});
