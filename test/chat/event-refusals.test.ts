// Refusals of each event besides its payload: too many requests, an unreadable log, muted users and read-only rooms.
import { describe, expect, it } from "vitest";

import { CHAT_EVENTS } from "../../src/protocol/chat-events.ts";
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

describe("RATE_LIMITED: asked too often", () => {
  it.each<[event: string, payload: object]>([
    ...CHAT_EVENTS.flatMap(({ name, cost, examples: [example] }): Array<[string, object]> =>
      cost === undefined ? [[name, example!]] : [],
    ),
    ["audit", { limit: 1 }],
    ["moderation-state", { limit: 1 }],
  ])("%s", async (event, payload) => {
    const { room, mia } = await talk();
    const ask = (): Promise<unknown> => mia.ask(event, payload);
    for (let i = 0; i < REQUEST_LIMIT.burst; i++) expect(await ask()).not.toEqual(refusalOf("RATE_LIMITED"));
    expect(await ask()).toEqual(refusalOf("RATE_LIMITED"));
    room.shell.advance(1000 / REQUEST_LIMIT.perSecond);
    expect(await ask()).not.toEqual(refusalOf("RATE_LIMITED"));
  });
});

describe("INTERNAL: the storage could not be read", () => {
  it.each<[event: string, payload: object]>([
    ["get-message", { id: ID }],
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
