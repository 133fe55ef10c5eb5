// Reactions: emoji below messages.
import { describe, expect, it } from "vitest";

import { REACTION_USERS_SHOWN_MAX } from "../../../src/chat/log/change.ts";
import {
  EMOJI_PER_MESSAGE_MAX,
  EMOJI_PER_USER_MAX,
  REACTIONS_PER_MESSAGE_MAX,
} from "../../../src/chat/messages/reacting.ts";
import { roomWith, type ChatRoom, type Person } from "../../host/chat-room.ts";
import { EPOCH } from "../../host/memory-log.ts";
import { REACT } from "../../../src/protocol/events/messages.ts";
import type { Client } from "../../host/harness.ts";

const ID = `${EPOCH}-1`;

async function talk(...others: Person[]): Promise<{ room: ChatRoom; ada: Client; ben: Client; people: Client[] }> {
  const { room, people } = await roomWith("ada", "ben", ...others);
  const [ada, ben] = people as [Client, Client];
  await ada.ask("chat-message", { content: "hello" });
  room.quiet();
  return { room, ada, ben, people };
}

const reactionsIn = async (client: Client): Promise<unknown> => (await client.ask("history", {})).messages[0].reactions;

const emojiOf = (number: number): string => `:${number}:`;

describe("MSG-4: react", () => {
  it("sets a reaction and takes it back, for everyone and in the history", async () => {
    const { room, ada, ben } = await talk();
    expect(await ben.ask("react", { id: ID, emoji: "👍", on: true })).toEqual({ ok: true });
    await ada.ask("react", { id: ID, emoji: "👍", on: true });
    room.quiet();
    room.shell.evict();
    expect(await reactionsIn(ada)).toEqual([{ emoji: "👍", count: 2, users: ["ben", "ada"] }]);
    await ben.ask("react", { id: ID, emoji: "👍", on: false });
    const common = { id: ID, seq: 1, emoji: "👍", rev: expect.any(Number) };
    for (const client of [ada, ben])
      expect(client.received("reaction")).toEqual([
        { ...common, user: "ben", on: true, count: 1 },
        { ...common, user: "ada", on: true, count: 2 },
        { ...common, user: "ben", on: false, count: 1 },
      ]);
    await ada.ask("react", { id: ID, emoji: "👍", on: false });
    expect(await reactionsIn(ada)).toBeUndefined();
  });

  it("sends one event when it is repeated", async () => {
    const { room, ada, ben } = await talk();
    for (const on of [false, true, true, false, false]) {
      expect(await ben.ask("react", { id: ID, emoji: "🎉", on })).toEqual({ ok: true });
    }
    expect(ada.received("reaction")).toMatchObject([{ on: true }, { on: false }]);
    expect(room.log.rowsWritten, "a row for the message, and one for each reaction").toBe(3);
  });

  it("takes emoji of any form, and names", async () => {
    const { ada, ben } = await talk();
    const emoji = ["❤", "👍🏽", "👩‍👩‍👧‍👦", "🏃🏽‍♀️‍➡️", "🇫🇷", "1️⃣", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", ":party_parrot:", "+1"];
    for (const one of emoji)
      expect(await ben.ask("react", { id: ID, emoji: one, on: true }), one).toEqual({ ok: true });
    expect(ada.received("reaction")).toHaveLength(emoji.length);
  });

  it("counts an emoji once, however it is written, and takes it back in any form", async () => {
    const { ada, ben } = await talk();
    for (const emoji of ["❤", "❤\uFE0F", "❤\uFE0E"])
      expect(await ben.ask("react", { id: ID, emoji, on: true })).toEqual({ ok: true });
    expect(await ada.ask("react", { id: ID, emoji: "❤", on: true })).toEqual({ ok: true });
    expect((await ada.ask("reactions", { id: ID })).reactions).toEqual([
      { emoji: "❤\uFE0F", count: 2, users: ["ben", "ada"] },
    ]);
    await ben.ask("react", { id: ID, emoji: "❤", on: false });
    expect(ada.received("reaction").map(({ emoji, user, count }) => [emoji, user, count])).toEqual([
      ["❤\uFE0F", "ben", 1],
      ["❤\uFE0F", "ada", 2],
      ["❤\uFE0F", "ben", 1],
    ]);
  });

  it("takes every emoji that Unicode recommends", () => {
    const every = Array.from({ length: 0x2_00_00 }, (_, code) => String.fromCodePoint(code));
    const isOne = /^\p{RGI_Emoji}$/v;
    const known = every.flatMap((one) => [one, `${one}\uFE0F`]).filter((one) => isOne.test(one));
    // Colours of skin are emoji as well, and nobody's reaction.
    const refused = known.filter((emoji) => !REACT.schema.safeParse({ id: ID, emoji, on: true }).success);
    expect(refused).toEqual(["🏻", "🏼", "🏽", "🏾", "🏿"]);
  });
});

describe("MSG-5: reactions", () => {
  it("lists all users; a message lists the first 20", async () => {
    const { room, ada } = await talk();
    const users = Array.from({ length: REACTION_USERS_SHOWN_MAX + 2 }, (_, i) => `user-${i}`);
    for (const user of users) await room.ask("react", user, { id: ID, emoji: "👍", on: true });
    const count = users.length;
    expect(await reactionsIn(ada)).toEqual([{ emoji: "👍", count, users: users.slice(0, REACTION_USERS_SHOWN_MAX) }]);
    const all = { ok: true, reactions: [{ emoji: "👍", count, users }] };
    expect(await ada.ask("reactions", { id: ID })).toEqual(all);
    const reader = await room.join({ user: "rita", role: "reader" });
    expect(await reader.ask("reactions", { id: ID })).toEqual(all);
  });

  it("is an empty list for a message without reactions", async () => {
    const { ada } = await talk();
    expect(await ada.ask("reactions", { id: ID })).toEqual({ ok: true, reactions: [] });
  });
});

describe("a reaction is refused", () => {
  it("FORBIDDEN: with more emoji than one user may set, or a message takes", async () => {
    const { room, ben } = await talk();
    const set = (user: string, number: number): Promise<unknown> =>
      room.ask("react", user, { id: ID, emoji: emojiOf(number), on: true });
    for (let i = 0; i < EMOJI_PER_USER_MAX; i++) expect(await set("cleo", i)).toEqual({ ok: true });
    const forbidden = { error: { code: "FORBIDDEN" } };
    expect(await set("cleo", 99)).toMatchObject(forbidden);
    for (let i = EMOJI_PER_USER_MAX; i < EMOJI_PER_MESSAGE_MAX; i++)
      expect(await set(`dora-${i}`, i)).toEqual({ ok: true });
    expect(await set("emil", 99)).toMatchObject(forbidden);
    expect(await set("emil", 0), "one that is there").toEqual({ ok: true });
    expect(await ben.ask("react", { id: ID, emoji: emojiOf(99), on: false }), "nothing to take back").toEqual({
      ok: true,
    });
  });

  it("two users, or guests, do not take all emoji of a message", async () => {
    const { room } = await talk();
    const guest = await room.join({ user: "gus", isGuest: true });
    const set = (user: string, number: number): Promise<unknown> =>
      room.ask("react", user, { id: ID, emoji: emojiOf(number), on: true });
    for (let i = 0; i < EMOJI_PER_MESSAGE_MAX / 2; i++) await set(i % 2 ? "cleo" : "dora", i);
    const forbidden = { error: { code: "FORBIDDEN" } };
    for (const user of ["cleo", "dora"]) expect(await set(user, 50)).toMatchObject(forbidden);
    expect(await guest.ask("react", { id: ID, emoji: emojiOf(50), on: true })).toMatchObject(forbidden);
    expect(await guest.ask("react", { id: ID, emoji: emojiOf(0), on: true }), "one that is there").toEqual({
      ok: true,
    });
    expect(await set("emil", 50)).toEqual({ ok: true });
    expect(await set("emil", 51)).toMatchObject(forbidden);
  });

  it("FORBIDDEN: to a message with the maximum of reactions", async () => {
    const { room, ada, ben } = await talk();
    const users = Array.from({ length: REACTIONS_PER_MESSAGE_MAX }, (_, i) => `user-${i}`);
    room.log.keep(1, 1, { edits: [], reactions: new Map([["👍", users]]) });
    expect(await ben.ask("react", { id: ID, emoji: "👍", on: true })).toMatchObject({ error: { code: "FORBIDDEN" } });
    expect((await ada.ask("reactions", { id: ID })).reactions).toMatchObject([{ count: users.length }]);
  });

  it.each(["react", "reactions"])("NOT_FOUND: %s, no such message", async (event) => {
    const { ben } = await talk();
    expect(await ben.ask(event, { id: "x-1", emoji: "👍", on: true })).toMatchObject({ error: { code: "NOT_FOUND" } });
  });

  it("INTERNAL: it could not be stored, and sends no event", async () => {
    const { room, ada, ben } = await talk();
    room.log.failure = new Error("disk full");
    expect(await ben.ask("react", { id: ID, emoji: "👍", on: true })).toMatchObject({ error: { code: "INTERNAL" } });
    expect(ada.received("reaction")).toEqual([]);
  });
});
