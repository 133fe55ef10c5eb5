// Refusals of each event besides its payload: callers without the right, too many requests, an unreadable log, muted users and read-only rooms.
import { describe, expect, it } from "vitest";

import { CHAT_EVENTS, type Role } from "../../src/protocol/chat-events.ts";
import { REQUEST_LIMIT } from "../../src/protocol/limits.ts";
import { EPOCH } from "../host/memory-log.ts";
import { textOf } from "../host/repository.ts";
import { cast, OK, post, refusalOf, type Cast } from "../host/moderated-room.ts";

const ID = `${EPOCH}-1`;

/** An example of a payload, about that message where it names one. */
const onMessage = (example: object): object => ("id" in example ? { ...example, id: ID } : example);

/** A room with a message, by ada. */
async function talk(): Promise<Cast> {
  const given = await cast();
  expect(await post(given.ada)).toMatchObject(OK);
  given.room.quiet();
  return given;
}

describe("FORBIDDEN: by socket and from outside", () => {
  /** Those who may not send an event, by its declaration. */
  const REFUSED: Readonly<Record<string, readonly Role[]>> = {
    everyone: [],
    members: ["reader"],
    speakers: ["reader"],
    moderators: ["reader", "member"],
  };

  it("MOD-1, MSG-2: these are for moderators; all others but delete-message, and those that MOD-6 names, for everyone", () => {
    const eventsBy = (who: string) => CHAT_EVENTS.flatMap(({ name, by }) => (by === who ? [name] : [])).toSorted();
    expect(eventsBy("members")).toEqual(["delete-message"]);
    expect(eventsBy("moderators").join(" ")).toBe(
      "audit ban grant kick moderation-state mute read-only revoke slow-mode unban unmute versions",
    );
  });

  // The room of these tests opens no other one.
  const EVENTS = CHAT_EVENTS.filter(({ name }) => name !== "open-dm");

  it.each(EVENTS)("MOD-1: $name, which is for $by", async ({ name, by, examples: [example] }) => {
    const { room, mia, ada } = await talk();
    const payload = onMessage(example!);
    for (const role of ["reader", "member"] as const) {
      const client = await room.join({ user: `a ${role}`, role });
      room.quiet();
      const [heard, stored] = [ada.packets.length, room.log.rowsWritten + room.state.writes];
      if (!REFUSED[by]!.includes(role)) {
        if (role === "reader") expect(await client.ask(name, payload)).not.toEqual(refusalOf("FORBIDDEN"));
        continue;
      }
      client.emit(name, payload);
      expect(client.received("error")).toMatchObject([{ code: "FORBIDDEN" }]);
      for (const answer of [client.ask(name, payload), room.ask(name, { user: client.name, role }, payload)])
        expect(await answer).toEqual(refusalOf("FORBIDDEN"));
      room.quiet();
      expect([ada.packets.length, room.log.rowsWritten + room.state.writes]).toEqual([heard, stored]);
    }
    if (by === "moderators") expect(await mia.ask(name, payload)).not.toEqual(refusalOf("FORBIDDEN"));
  });

  it.each(["typing", "read", "attend", "refresh-token"] as const)("%s without a connection", async (event) => {
    const { room } = await talk();
    const [example] = CHAT_EVENTS.find(({ name }) => name === event)!.examples;
    expect(await room.ask(event, "ada", example)).toEqual(refusalOf("FORBIDDEN"));
  });
});

describe("RATE_LIMITED: asked too often, CHAT-6", () => {
  /** The tokens that a payload costs, of events whose cost depends on it. */
  const PAGES: Readonly<Record<string, ReadonlyArray<readonly [payload: object, tokens: number]>>> = {
    history: [
      [{ limit: 41 }, 3],
      [{ limit: 20, afterTime: 0 }, 6],
      [{ limit: 20, beforeTime: 1 }, 6],
    ],
    changes: [[{ after: 0, limit: 50 }, 20]],
    presence: [
      [{}, 1],
      [{ find: "ada" }, 5],
    ],
    read: [
      [{ seq: 1 }, 1],
      [{ seq: 0, back: true }, 5],
    ],
    audit: [[{ limit: 21 }, 2]],
    "moderation-state": [[{ limit: 20 }, 1]],
    threads: [[{ limit: 5 }, 7]],
    thread: [[{ id: ID, limit: 6 }, 7]],
  };
  const COSTS = CHAT_EVENTS.filter(({ cost }) => cost !== 0).flatMap(({ name, cost = 1, examples: [example] }) => {
    const pages = typeof cost === "number" ? [[onMessage(example!), cost] as const] : PAGES[name]!;
    return pages.map(([payload, tokens]): [string, object, number] => [name, payload, tokens]);
  });

  it.each(COSTS)("%s %j costs %i", async (event, payload, tokens) => {
    const { room, mia } = await talk();
    const ask = (): Promise<unknown> => mia.ask(event, payload);
    for (let left = REQUEST_LIMIT.burst; left >= tokens; left -= tokens)
      expect(await ask()).not.toEqual(refusalOf("RATE_LIMITED"));
    expect(await ask()).toEqual(refusalOf("RATE_LIMITED"));
    room.shell.advance((tokens * 1000) / REQUEST_LIMIT.perSecond);
    expect(await ask()).not.toEqual(refusalOf("RATE_LIMITED"));
  });
});

describe("INTERNAL: the storage could not be read", () => {
  it.each<[event: string, payload: object]>([
    ["get-message", { id: ID }],
    ["history", {}],
    ["changes", { after: 0 }],
    ["edit-message", { id: ID, content: "x" }],
    ["delete-message", { id: ID }],
    ["versions", { id: ID }],
    ["react", { id: ID, emoji: "👍", on: true }],
    ["reactions", { id: ID }],
    ["search", { query: "post" }],
    ["audit", {}],
    ["moderation-state", {}],
    ["read-marks", {}],
  ])("%s, and asked again it is answered", async (event, payload) => {
    const { room, mia } = await talk();
    await mia.ask("ban", { user: "nobody" });
    room.shell.evict();
    room.log.unreadable = room.state.unreadable = new Error("damaged");
    expect(await mia.ask(event, payload)).toEqual(refusalOf("INTERNAL"));
    expect(room.shell.problems).toMatchObject([{ problem: "stored messages could not be read" }]);
    room.log.unreadable = room.state.unreadable = undefined;
    expect(await mia.ask(event, payload)).toMatchObject(OK);
  });
});

it("MSG-10: get-message is for readers too", async () => {
  const { room } = await talk();
  const rita = await room.join({ user: "rita", role: "reader" });
  expect(await rita.ask("get-message", { id: ID })).toMatchObject({ ok: true, message: { id: ID, sender: "ada" } });
});

it.each(CHAT_EVENTS)("SIO-4: to a stranger, whose session it ends: $name", async ({ name, examples: [example] }) => {
  const { room, ben } = await talk();
  const stateOf = async (): Promise<object[]> => [
    await ben.ask("history", {}),
    await ben.ask("presence", {}),
    await ben.ask("read-marks", {}),
  ];
  const before = await stateOf();
  const stranger = await room.join({ user: "sam", role: "moderator", rooms: ["elsewhere"] });
  stranger.emit(name, onMessage(example!));
  expect(stranger.refusal.data).toEqual({ code: "FORBIDDEN_ROOM" });
  expect(stranger.closing).toMatchObject({ code: 1002 });
  expect(await stateOf()).toEqual(before);
  expect(ben.received("typing")).toEqual([]);
});

describe("muted users and read-only rooms: MOD-6, MOD-7", () => {
  it("MOD-6 names the events whose declarations say by: speakers", () => {
    const rule = /\*\*MOD-6\*\* (.*?) are refused/s.exec(textOf("src/chat/SPEC.md"))![1]!;
    const speakers = CHAT_EVENTS.filter(({ by }) => by === "speakers").map(({ name }): string => name);
    expect(new Set([...rule.matchAll(/`([\w-]+)`/g)].map(([, event]) => event))).toEqual(new Set(speakers));
  });

  /** Posts have tests of their own, and so has the name of a room (MOD-12). */
  const OTHERS: ReadonlySet<string> = new Set(["chat-message", "describe"]);
  const SAYING = CHAT_EVENTS.filter(({ name, by }) => by === "speakers" && !OTHERS.has(name)).map(
    ({ name, emits, examples: [example] }): [event: string, payload: object, heard: string | undefined] => [
      name,
      onMessage(example!),
      Object.keys(emits ?? {})[0],
    ],
  );

  it.each(SAYING)("MUTED: %s", async (event, payload, heard) => {
    const { room, mia, ada, ben } = await talk();
    await mia.ask("mute", { user: "ada", seconds: 60 });
    expect(await ada.ask(event, payload)).toEqual(refusalOf("MUTED"));
    room.quiet();
    if (heard) expect(ben.received(heard)).toEqual([]);
    await mia.ask("unmute", { user: "ada" });
    expect(await ada.ask(event, payload), `the first example of ${event} must succeed`).toMatchObject(OK);
    room.quiet();
    if (heard) expect(ben.received(heard), `what ben gets of the first example of ${event}`).toHaveLength(1);
  });

  it.each(SAYING)("ROOM_READ_ONLY: %s", async (event, payload, heard) => {
    const { room, mia, ada, ben } = await talk();
    await mia.ask("read-only", { on: true });
    expect(await ada.ask(event, payload)).toEqual(refusalOf("ROOM_READ_ONLY"));
    room.quiet();
    if (heard) expect(ben.received(heard)).toEqual([]);
    await mia.ask("read-only", { on: false });
    expect(await ada.ask(event, payload), `the first example of ${event} must succeed`).toMatchObject(OK);
    room.quiet();
    if (heard) expect(ben.received(heard), `what ben gets of the first example of ${event}`).toHaveLength(1);
  });
});
