// Changes of messages in a crowd: reactions gather, edits and deletions take places of the window, and what all hear costs its sender.
import { describe, expect, it } from "vitest";

import { CHANGES_WAITING_MAX, REACTIONS_DELIVERED_MAX } from "../../../src/chat/room/change-delivery.ts";
import { HEARERS_PER_TOKEN } from "../../../src/chat/room/requests.ts";
import { Pins } from "../../../src/features/pins/pins.ts";
import type { Message, MessageDeleted, MessageEdited, Reaction } from "../../../src/protocol/chat-events.ts";
import { BigRoom } from "../../host/big-room.ts";
import { ChatRoom, UNLIMITED, type Person } from "../../host/chat-room.ts";
import type { Client } from "../../host/harness.ts";
import { CustomRoom } from "../../host/custom-room.ts";

const CROWD = { crowdMembers: 5, messageRate: UNLIMITED, flushWindowMs: 0 };
const NAMES = ["ada", "ben", "cyd", "dan", "eve", "fay", "gus", "hal"] as const;

async function crowd(settings: object = {}, ...more: Person[]) {
  const room = new ChatRoom({ ...CROWD, crowdShownRate: 5, ...settings });
  const people: Client[] = [];
  for (const person of [...NAMES, ...more]) people.push(await room.join(person));
  room.quiet();
  return { room, people };
}

async function post(client: Client, ...contents: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const content of contents) ids.push((await client.ask("chat-message", { content })).id);
  return ids;
}

const reactions = (client: Client): Reaction[] => client.received<Reaction>("reaction");

/** What a client knows of each emoji below each message, from events alone. */
function countsOf(client: Client): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { id, emoji, count } of reactions(client)) counts[`${id} ${emoji}`] = count;
  return counts;
}

async function stored(client: Client): Promise<Record<string, number>> {
  const { messages } = await client.ask("history", {});
  const counts: Record<string, number> = {};
  for (const { id, reactions: given = [] } of messages as Message[])
    for (const { emoji, count } of given) counts[`${id} ${emoji}`] = count;
  return counts;
}

/** The seconds in which reactions may still wait. */
const settle = (room: ChatRoom): void => {
  for (let second = 0; second < 120; second++) room.quiet();
};

describe("CROWD-2: reactions in a crowd", () => {
  it.each([
    { crowdShownRate: 5, most: 5, emoji: ["👍"] },
    { crowdShownRate: 3, most: 3, emoji: ["👍", "🎉", "🚀", "👀", "❤️", "🙈"] },
    { crowdShownRate: 0, most: REACTIONS_DELIVERED_MAX, emoji: Array.from("👍🎉🚀👀🙈🍀🌊🌻🐳🦊🐝🍕🎈🏀") },
  ])(
    "of five who toggle become $most events a second at most, and the last state is right",
    async ({ emoji, most, crowdShownRate }) => {
      const { room, people } = await crowd({ crowdShownRate });
      const ids = await post(people[7]!, "one", "two");
      room.quiet();
      const witness = people[6]!;
      for (let second = 0; second < 10; second++) {
        for (let step = 0; step < 10; step++) {
          for (const [at, toggler] of people.slice(0, 5).entries()) {
            const which = second * 7 + step * 3 + at;
            toggler.emit("react", {
              id: ids[which % 2],
              emoji: emoji[which % emoji.length],
              on: (step + at) % 2 === 0,
            });
          }
          room.shell.advance(100);
        }
      }
      // The first one after quiet is sent at once.
      expect(reactions(witness).length).toBeLessThanOrEqual(10 * most + 1);
      expect(reactions(witness).length).toBeGreaterThanOrEqual(10);
      settle(room);
      const now = await stored(witness);
      for (const client of people) {
        const known = countsOf(client);
        for (const [key, count] of Object.entries(known)) expect(now[key] ?? 0, key).toBe(count);
        for (const key of Object.keys(now)) expect(known, key).toHaveProperty([key]);
      }
    },
  );

  it("the user's own connections hear of each of the user's at once, and the newest one last", async () => {
    const { room, people } = await crowd();
    const [ada, ben] = people as [Client, Client];
    const tab = await room.join("ada");
    const [id] = await post(ben, "hi");
    room.quiet();
    for (const on of [true, false, true]) {
      ada.emit("react", { id, emoji: "👍", on });
      ben.emit("react", { id, emoji: "👍", on: !on });
    }
    const own = (client: Client): boolean[] =>
      reactions(client).flatMap(({ user, on }) => (user === "ada" ? [on] : []));
    for (const client of [ada, tab]) expect(own(client)).toEqual([true, false, true]);
    settle(room);
    for (const client of [ada, tab]) expect(own(client).at(-1)).toBe(true);
    for (const client of people) expect(reactions(client).at(-1)).toMatchObject({ count: 1 });
  });

  it("one after quiet is sent at once; those of moderators always are", async () => {
    const { room, people } = await crowd({}, { user: "mo", role: "moderator" });
    const [ada, ben, cyd] = people as [Client, Client, Client];
    const [id] = await post(ada, "hi");
    room.quiet();
    await ben.ask("react", { id, emoji: "👍", on: true });
    expect(reactions(cyd)).toMatchObject([{ user: "ben", count: 1 }]);
    await ada.ask("react", { id, emoji: "👍", on: true });
    await people.at(-1)!.ask("react", { id, emoji: "👍", on: true });
    expect(reactions(cyd)).toMatchObject([{ count: 1 }, { user: "mo", count: 3 }]);
    settle(room);
    expect(reactions(cyd), "the moderator's stands for the one that waited").toHaveLength(2);
  });

  it("one member of whom enough wait is told to wait; others are not, and theirs come next", async () => {
    const { room, people } = await crowd();
    const [ada, ben, cyd] = people as [Client, Client, Client];
    const ids = await post(cyd, ...Array.from({ length: 8 }, (_, at) => `message ${at}`));
    settle(room);
    const answers = [];
    for (let at = 0; at < CHANGES_WAITING_MAX + 3; at++)
      answers.push(await ada.ask("react", { id: ids[at % 8], emoji: ["👍", "🎉", "🚀"][at >> 3], on: true }));
    // The first one has been sent.
    expect(answers.slice(0, CHANGES_WAITING_MAX + 1).every(({ ok }) => ok)).toBe(true);
    for (const { error } of answers.slice(CHANGES_WAITING_MAX + 1))
      expect(error).toMatchObject({ code: "RATE_LIMITED", retryAfterMs: 1000 });
    expect(await ben.ask("react", { id: ids[0], emoji: "🐳", on: true })).toEqual({ ok: true });
    room.quiet();
    expect(reactions(cyd).map(({ user }) => user)).toContain("ben");
  });

  it("of guests of one network are those of one member", async () => {
    const { room, people } = await crowd();
    const guests: Client[] = [];
    for (let at = 0; at < 4; at++)
      guests.push(await room.join({ user: `guest-${at}`, isGuest: true }, { address: "192.0.2.7" }));
    const other = await room.join({ user: "guest-x", isGuest: true }, { address: "192.0.2.8" });
    const ids = await post(people[0]!, ...Array.from({ length: 8 }, (_, at) => `message ${at}`));
    settle(room);
    const answers = [];
    for (let at = 0; at < 24; at++)
      answers.push(
        await guests[at % 4]!.ask("react", { id: ids[at % 8], emoji: ["👍", "🎉", "🚀"][at >> 3], on: true }),
      );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(CHANGES_WAITING_MAX + 1);
    expect(await other.ask("react", { id: ids[0], emoji: "🐳", on: true })).toEqual({ ok: true });
  });

  it("a smaller room hears each one at once", async () => {
    const room = new ChatRoom({ ...CROWD, crowdShownRate: 1 });
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    const [id] = await post(ada, "hi");
    for (let at = 0; at < 10; at++) await ben.ask("react", { id, emoji: "👍", on: at % 2 === 0 });
    expect(reactions(ada)).toHaveLength(10);
  });
});

describe("CROWD-2: edits and deletions in a crowd", () => {
  const edits = (client: Client): MessageEdited[] => client.received<MessageEdited>("message-edited");
  const deletions = (client: Client): MessageDeleted[] => client.received<MessageDeleted>("message-deleted");

  it("take places of the window, of which messages keep half; the last text of each comes to all", async () => {
    const { room, people } = await crowd({ crowdShownRate: 4 });
    const writers = people.slice(0, 4);
    const ids: string[] = [];
    for (const writer of writers) ids.push(...(await post(writer, "first", "second")));
    settle(room);
    const [witness, speaker] = [people[6]!, people[7]!];
    const before = witness.packets.length;
    for (let second = 0; second < 12; second++) {
      for (const [at, writer] of writers.entries())
        for (const own of [0, 1])
          await writer.ask("edit-message", { id: ids[2 * at + own], content: `text ${second}` });
      speaker.emit("chat-message", { content: `news ${second}` });
      room.shell.advance(1000);
    }
    const names = witness.packets.slice(before).map(({ data }) => data?.[0] as string);
    expect(names.filter((name) => name !== "not-shown").length).toBeLessThanOrEqual(13 * 4);
    settle(room);
    const { messages } = await witness.ask("history", { limit: 8 + 12 });
    for (const { id, content } of messages.slice(0, 8) as Message[])
      expect(edits(witness).findLast((edit) => edit.id === id)?.content).toBe(content);
    expect(witness.received<Message>("chat-message").filter(({ sender }) => sender === "hal").length).toBeGreaterThan(
      5,
    );
  });

  it("a deletion takes the place of the edit that waits, of which nobody hears any more", async () => {
    const { room, people } = await crowd({ crowdShownRate: 2 });
    const [ada, ben, cyd] = people as [Client, Client, Client];
    const [first, second] = await post(ada, "1", "2");
    room.quiet();
    await post(ben, "takes", "the places");
    await post(cyd, "both");
    await ada.ask("edit-message", { id: second, content: "secret" });
    await ada.ask("react", { id: second, emoji: "🚀", on: true });
    await ben.ask("react", { id: second, emoji: "👍", on: true });
    await ada.ask("delete-message", { id: second });
    expect(deletions(cyd)).toEqual([]);
    expect(deletions(ada), "her own connections know").toHaveLength(1);
    settle(room);
    expect(edits(cyd)).toEqual([]);
    expect(deletions(cyd)).toMatchObject([{ id: second, by: "ada" }]);
    expect(
      reactions(cyd).map(({ user }) => user),
      "the first one was sent at once",
    ).toEqual(["ada"]);
    expect(first).toBeDefined();
  });

  it("those of moderators come at once, in place of a member's that waits", async () => {
    const { room, people } = await crowd({ crowdShownRate: 1 }, { user: "mo", role: "moderator" });
    const [ada, ben] = people as [Client, Client];
    const [id] = await post(ada, "1");
    room.quiet();
    await post(ben, "takes the place");
    await ada.ask("edit-message", { id, content: "worse" });
    await people.at(-1)!.ask("delete-message", { id });
    expect(deletions(ben)).toMatchObject([{ id, by: "mo" }]);
    settle(room);
    expect(edits(ben)).toEqual([]);
  });

  it("come to all when the room is no crowd any more", async () => {
    const { room, people } = await crowd({ crowdShownRate: 1 }, { user: "mo", role: "moderator" });
    const [ada, ben] = people as [Client, Client];
    const [one, two] = await post(ada, "1", "2");
    settle(room);
    await post(ben, "takes the place");
    await ada.ask("edit-message", { id: one, content: "one" });
    await ada.ask("edit-message", { id: two, content: "two" });
    for (const user of NAMES.slice(2)) await people.at(-1)!.ask("kick", { user });
    await ada.ask("edit-message", { id: two, content: "two again" });
    expect(edits(ben).map(({ content }) => content)).toEqual(["one", "two", "two again"]);
  });

  it("a client that was away asks with the `rev` of any event, and gets all that waited, however long", async () => {
    const { room, people } = await crowd({ crowdShownRate: 1 });
    const writers = people.slice(0, 6);
    const ids: string[][] = [];
    for (const writer of writers) ids.push(await post(writer, ...Array.from({ length: 16 }, (_, at) => `mine ${at}`)));
    settle(room);
    const witness = people[7]!;
    for (let at = 0; at < 16; at++) {
      for (const [who, writer] of writers.entries())
        expect(await writer.ask("edit-message", { id: ids[who]![at], content: "new" })).toMatchObject({ ok: true });
      // The bucket of requests.
      room.shell.advance(400);
    }
    // Longer than the slack of `rev`.
    for (let second = 0; second < 62; second++) room.quiet();
    await people[6]!.ask("react", { id: ids[0]![0], emoji: "👍", on: true });
    const { rev } = reactions(witness).at(-1)!;
    const missed = ids.flat().filter((id) => !edits(witness).some((edit) => edit.id === id));
    expect(missed.length).toBeGreaterThan(10);
    const { messages } = await witness.ask("changes", { after: rev, limit: 100 });
    const known = (messages as Message[]).map(({ id }) => id);
    for (const id of missed) expect(known).toContain(id);
  });

  it("SHD-4: shards close their connections if the room dies while changes wait", async () => {
    const settings = { messageRate: UNLIMITED, maxMembers: 1, crowdMembers: 2, crowdShownRate: 1, flushWindowMs: 0 };
    const big = new BigRoom(settings);
    const ada = await big.room.join("ada");
    const [ben, cyd] = [await big.join("ben", 0), await big.join("cyd", 1)];
    await big.pass(3000);
    const [id] = await post(ada, "1");
    await big.pass(3000);
    await post(ada, "takes the place");
    expect(await ada.ask("edit-message", { id, content: "new" })).toMatchObject({ ok: true });
    await big.pass(0);
    expect(ben.received("message-edited")).toEqual([]);
    big.crash();
    await big.room.join("ada");
    await big.pass(10_000);
    for (const client of [ben, cyd]) expect(client.closing).toMatchObject({ code: 1012 });
  });
});

describe("CROWD-3: what all in a crowd hear costs its sender", () => {
  const members = NAMES.length;

  async function pinRoom(crowdMembers: number) {
    const room = new CustomRoom((handle) => [new Pins(handle, { by: "speakers" })], { ...CROWD, crowdMembers });
    const people: Client[] = [];
    for (const person of NAMES) people.push(await room.join(person));
    room.quiet();
    const [id] = await post(people[0]!, "hi");
    return { room, people, id };
  }

  /** Requests of one kind at one moment until the first is refused. */
  async function untilRefused(ask: (at: number) => Promise<{ ok?: true; error?: object }>): Promise<number> {
    for (let at = 0; ; at++) if (!(await ask(at)).ok) return at;
  }

  it("an event of a feature, pins among them, more with each so many members", async () => {
    expect(Math.ceil(members / HEARERS_PER_TOKEN)).toBe(1);
    const toggle = async (crowdMembers: number): Promise<number> => {
      const { people, id } = await pinRoom(crowdMembers);
      return untilRefused((at) => people[1]!.ask(at % 2 ? "unpin" : "pin", { id }));
    };
    // 200 tokens; a pin takes 5, and 1 more in a crowd.
    expect(await toggle(100)).toBe(40);
    expect(await toggle(5)).toBe(33);
  });

  it("an edit in a crowd that is shown everything", async () => {
    const edit = async (crowdMembers: number): Promise<number> => {
      const { room, people } = await crowd({ crowdMembers, crowdShownRate: 0 });
      const [id] = await post(people[0]!, "hi");
      const before = people[1]!.received("message-edited").length;
      const done = await untilRefused((at) => people[0]!.ask("edit-message", { id, content: `edit ${at}` }));
      expect(people[1]!.received("message-edited").length - before, "at once").toBe(done);
      room.quiet();
      return done;
    };
    expect(await edit(100)).toBe(10);
    expect(await edit(5)).toBe(9);
  });
});
