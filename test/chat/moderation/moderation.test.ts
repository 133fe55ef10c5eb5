// The actions of moderators: permission, the events they cause, refusals, and the lists. MOD-1, MOD-11
import { describe, expect, it } from "vitest";

import type { ModerationChange } from "../../../src/protocol/chat-events.ts";
import type { AnyAnswer } from "../../host/client.ts";
import { expiresIn } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";
import { cast, OK, post, refusalOf, SERVICE, sleep, withGranted, type Cast } from "../../host/moderated-room.ts";

/** `cast` takes a second. */
const NOW_MS = START_MS + 1000;

/** Every action on ada, its payload, and the event that everyone gets. */
const ACTIONS: ReadonlyArray<[action: string, payload: object, heard: object]> = [
  ["kick", { user: "ada", reason: " enough " }, { user: "ada", reason: "enough" }],
  ["ban", { user: "ada" }, { user: "ada" }],
  ["ban", { user: "ada", seconds: 60 }, { user: "ada", seconds: 60, until: NOW_MS + 60_000 }],
  ["mute", { user: "ada", seconds: 5 }, { user: "ada", seconds: 5, until: NOW_MS + 5000 }],
  ["slow-mode", { seconds: 30 }, { seconds: 30 }],
  ["read-only", { on: true }, { on: true }],
  ["describe", { name: " Coffee\n& code ", topic: "What we brew" }, { name: "Coffee & code", topic: "What we brew" }],
  ["grant", { user: "ada", role: "reader" }, { user: "ada", role: "reader" }],
];

/** Actions that undo another, after it. */
const UNDOINGS: ReadonlyArray<[action: string, payload: object, first: string, given: object]> = [
  ["unban", { user: "zoe" }, "ban", { user: "zoe" }],
  ["unmute", { user: "ada" }, "mute", { user: "ada", seconds: 60 }],
  ["slow-mode", { seconds: 0 }, "slow-mode", { seconds: 30 }],
  ["read-only", { on: false }, "read-only", { on: true }],
  ["describe", { topic: "" }, "describe", { name: "Coffee", topic: "What we brew" }],
  ["revoke", { user: "ada" }, "grant", { user: "ada", role: "reader" }],
];

const told = ({ ben }: Cast): ModerationChange[] => ben.received("moderation");

describe("MOD-1: a moderator", () => {
  it.each(ACTIONS)("%s %j: everyone gets the event before the answer", async (action, payload, heard) => {
    const given = await cast();
    const { mia, ada } = given;
    expect(await mia.ask(action, payload)).toEqual(OK);
    expect(told(given)).toEqual([{ action, by: "mia", ...heard }]);
    expect(ada.received("moderation")).toEqual(told(given));
    expect(mia.received("moderation")).toEqual(told(given));
    const [heardAt, ackedAt] = [mia.packets.findIndex(({ data }) => data?.[0] === "moderation"), mia.packets.length];
    expect(heardAt).toBeLessThan(ackedAt - 1);
  });

  it.each(UNDOINGS)("%s %j", async (action, payload, first, given) => {
    const room = await cast();
    expect(await room.mia.ask(first, given)).toEqual(OK);
    expect(await room.mia.ask(action, payload)).toEqual(OK);
    expect(told(room).at(-1)).toEqual({ action, by: "mia", ...payload });
  });

  it.each(ACTIONS)(
    "by grant, by a service from outside, and by event without an ack: %s %j",
    async (action, payload) => {
      const granted = await withGranted(await cast());
      expect(await granted.gil.ask(action, payload)).toEqual(OK);
      const served = await cast();
      expect(await served.room.ask(action, SERVICE, payload)).toEqual(OK);
      const silent = await cast();
      silent.mia.emit(action, payload);
      for (const room of [granted, served, silent]) expect(told(room).at(-1)).toMatchObject({ action });
      expect(silent.mia.received("error")).toEqual([]);
    },
  );
});

describe("MOD-1: others", () => {
  it("a moderator whose new token has the role member", async () => {
    const { room, mia } = await cast();
    await mia.ask("refresh-token", { token: room.token({ user: "mia", exp: expiresIn(900) }) });
    expect(await mia.ask("ban", { user: "ada" })).toEqual(refusalOf("FORBIDDEN"));
  });
});

describe("NOT_FOUND", () => {
  it.each([
    ["kick", "zoe"],
    ["unban", "ada"],
    ["unmute", "ada"],
    ["revoke", "ada"],
  ])("%s %s", async (event, user) => {
    const given = await cast();
    expect(await given.mia.ask(event, { user })).toEqual(refusalOf("NOT_FOUND"));
    expect(told(given)).toEqual([]);
  });

  it.each([
    ["unban", "ban"],
    ["unmute", "mute"],
  ])("%s when it is over by itself", async (undo, event) => {
    const { room, mia } = await cast();
    await mia.ask(event, { user: "ada", seconds: 10 });
    room.shell.advance(10_000);
    expect(await mia.ask(undo, { user: "ada" })).toEqual(refusalOf("NOT_FOUND"));
  });
});

describe("MOD-1: an action that changes nothing", () => {
  it.each<[event: string, payload: object]>([
    ["slow-mode", { seconds: 0 }],
    ["read-only", { on: false }],
    ["describe", { name: "\u200B", topic: " " }],
    ["describe", {}],
    ["grant", { user: "ada", role: "member" }],
  ])("%s %j is answered `ok`, and sends no second event", async (event, payload) => {
    const given = await cast();
    if (event === "grant") await given.mia.ask(event, payload);
    const before = told(given).length;
    expect(await given.mia.ask(event, payload)).toEqual(OK);
    expect(told(given)).toHaveLength(before);
  });
});

describe("MOD-1: order and storage", () => {
  it("stores and shows earlier posts before a ban", async () => {
    const { room, mia, ada, ben } = await cast({ flushWindowMs: 500 });
    await post(ben);
    const waiting = ada.call("chat-message", { content: "just in time" });
    expect(waiting.acks).toEqual([]);
    await mia.ask("ban", { user: "ada" });
    expect(waiting.answer).toMatchObject({ ok: true, seq: 2 });
    const order = ben.packets.map(({ data }) => data?.[0]).filter((event) => event !== "presence");
    expect(order.slice(-2)).toEqual(["chat-message", "moderation"]);
    expect(room.log.messages.at(-1)).toMatchObject({ sender: "ada", content: "just in time" });
  });

  it.each(ACTIONS.flatMap(([action, payload]) => [0, 1].map((stored) => [action, payload, stored] as const)))(
    "INTERNAL: %s %j of which not everything can be stored has not happened (%d value is)",
    async (action, payload, stored) => {
      const given = await cast();
      const { room, mia, ada } = given;
      room.state.failure = new Error("disk full");
      room.state.storedBeforeFailure = stored;
      expect(await mia.ask(action, payload)).toEqual(refusalOf("INTERNAL"));
      expect(told(given)).toEqual([]);
      expect(room.shell.problems).toHaveLength(1);
      room.state.failure = undefined;
      expect(await post(ada)).toMatchObject(OK);
      expect(await mia.ask("audit", {})).toMatchObject({ entries: [] });
      sleep(room);
      expect(await mia.ask("audit", {})).toMatchObject({ entries: [] });
    },
  );
});

describe("MOD-11: audit", () => {
  it("lists actions in order, with their time, through sleep, and in pages", async () => {
    const { room, mia } = await cast();
    for (const seconds of [1, 2, 3, 4, 5]) await mia.ask("slow-mode", { seconds });
    sleep(room);
    const { entries } = await mia.ask("audit", {});
    expect(entries.map(({ number, seconds }: AnyAnswer) => [number, seconds])).toEqual(
      [1, 2, 3, 4, 5].map((n) => [n, n]),
    );
    expect(entries[0]).toEqual({ number: 1, at: NOW_MS, action: "slow-mode", by: "mia", seconds: 1 });
    const page = await mia.ask("audit", { limit: 2 });
    expect(page).toEqual({ ok: true, entries: entries.slice(3), hasMore: true });
    expect(await mia.ask("audit", { limit: 3, before: 4 })).toEqual({
      ok: true,
      entries: entries.slice(0, 3),
      hasMore: false,
    });
  });

  it("keeps the newest 500 in as many rows, also through sleep", async () => {
    const { room } = await cast();
    for (let i = 1; i <= 1203; i++) await room.ask("slow-mode", { ...SERVICE, user: `s${i}` }, { seconds: i });
    const numbers = async (): Promise<number[]> => {
      const pages = [801, 1001, 1204].map((before) =>
        room.ask("audit", { ...SERVICE, user: `q${before}` }, { before, limit: 200 }),
      );
      return (await Promise.all(pages)).flatMap(({ entries }) => entries.map(({ number }: AnyAnswer) => number));
    };
    const expected = [
      ...Array.from({ length: 97 }, (_, i) => 704 + i),
      ...Array.from({ length: 200 }, (_, i) => 801 + i),
    ];
    expect((await numbers()).slice(0, 297)).toEqual(expected);
    expect([...room.state.list({ prefix: "" })]).toHaveLength(501);
    sleep(room);
    expect((await numbers()).slice(0, 297)).toEqual(expected);
    expect((await numbers()).at(-1)).toBe(1203);
  });
});

describe("MOD-11: moderation-state", () => {
  it("lists the room's modes, and users with a ban, a mute or a granted role until it ends", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: "zoe", reason: "spam" });
    await mia.ask("mute", { user: "ada", seconds: 60 });
    await mia.ask("grant", { user: "ada", role: "moderator" });
    await mia.ask("kick", { user: "ben" });
    await mia.ask("slow-mode", { seconds: 30 });
    const state = {
      ok: true,
      slowModeSeconds: 30,
      readOnly: false,
      hasMore: false,
      users: [
        {
          user: "ada",
          muted: { by: "mia", at: NOW_MS, until: NOW_MS + 60_000 },
          granted: { by: "mia", at: NOW_MS, role: "moderator" },
        },
        { user: "zoe", banned: { by: "mia", at: NOW_MS, reason: "spam" } },
      ],
    };
    expect(await mia.ask("moderation-state", {})).toEqual(state);
    sleep(room);
    expect(await mia.ask("moderation-state", {})).toEqual(state);
    room.shell.advance(60_000);
    await mia.ask("revoke", { user: "ada" });
    await mia.ask("unban", { user: "zoe" });
    expect(await mia.ask("moderation-state", {})).toMatchObject({ users: [] });
  });

  it("comes in pages, with any characters in user ids", async () => {
    const { mia } = await cast();
    const odd = [
      "\u0000",
      "a\nb",
      '"',
      "\\",
      "é",
      "É",
      "e\u0301",
      "😀",
      "\ud800",
      "\ud801",
      "__proto__",
      "constructor",
      "moderation:user:x",
      "%",
      "x".repeat(128),
    ];
    for (const user of odd) expect(await mia.ask("ban", { user })).toEqual(OK);
    const seen: string[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await mia.ask("moderation-state", { limit: 4, ...(seen.length > 0 && { after: seen.at(-1) }) });
      seen.push(...page.users.map(({ user }: AnyAnswer) => user));
      ({ hasMore } = page);
    }
    expect(seen.toSorted()).toEqual(odd.toSorted());
    for (const user of odd) expect(await mia.ask("unban", { user })).toEqual(OK);
  });

  it("holds hundreds of bans, which bind only their users, and deletes them when they are over", async () => {
    const { room } = await cast();
    const each = async (event: string, prefix: string): Promise<void> => {
      for (let i = 0; i < 200; i++)
        await room.ask(event, { ...SERVICE, user: `s${i}` }, { user: `${prefix}${i}`, seconds: 60 });
    };
    const isIn = async (user: string): Promise<boolean> => (await room.join(user)).received("welcome").length === 1;
    await each("ban", "u");
    expect([await isIn("u17"), await isIn("u199"), await isIn("zoe")]).toEqual([false, false, true]);
    sleep(room);
    expect([await isIn("u17"), await isIn("u199"), await isIn("yan")]).toEqual([false, false, true]);
    // A day later each change deletes a few old rows, in any order.
    room.shell.advance(2 * 86_400_000);
    await each("mute", "a");
    await each("mute", "z");
    expect([...room.state.list({ prefix: "moderation:user:" })]).toHaveLength(400);
    expect(await isIn("u17")).toBe(true);
  });
});

describe("MOD-12: the name and the topic of a room", () => {
  it("stand in the welcome and the list of modes, also after sleep, until a moderator takes them away", async () => {
    const { room, mia } = await cast();
    const [name, topic] = ["x".repeat(64), "y".repeat(250)];
    await mia.ask("describe", { name, topic });
    sleep(room);
    expect(await mia.ask("moderation-state", {})).toMatchObject({ name, topic, slowModeSeconds: 0 });
    expect((await room.join("zoe")).received("welcome")).toMatchObject([{ moderation: { name, topic } }]);
    await mia.ask("describe", { name: "" });
    await mia.ask("slow-mode", { seconds: 3 });
    const { moderation } = (await room.join("zed")).received("welcome")[0];
    expect(moderation).toEqual({ slowModeSeconds: 3, readOnly: false, topic });
    expect(await mia.ask("audit", { limit: 3 })).toMatchObject({
      entries: [{ action: "describe", by: "mia", name, topic }, { name: "" }, { action: "slow-mode" }],
    });
  });

  it("members give a room without messages what it lacks, once; after that moderators alone", async () => {
    const { mia, ada, ben } = await cast();
    expect(await ada.ask("describe", { name: "My Room" })).toEqual(OK);
    expect(await ben.ask("describe", { name: "Ben's" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await ben.ask("describe", { name: "Ben's", topic: "Ben" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await ben.ask("describe", { name: "My Room", topic: "Ours" })).toEqual(OK);
    await mia.ask("describe", { topic: "" });
    await post(ada);
    expect(await ada.ask("describe", { topic: "Mine" })).toEqual(refusalOf("FORBIDDEN"));
    expect(ben.received("moderation").map(({ by }: ModerationChange) => by)).toEqual(["ada", "ben", "mia"]);
  });

  it("muted users and readers give none, and nobody in a read-only room but moderators", async () => {
    const { room, mia, ada, ben } = await cast();
    const rita = await room.join({ user: "rita", role: "reader" });
    await mia.ask("mute", { user: "ada", seconds: 60 });
    expect(await ada.ask("describe", { name: "Mine" })).toEqual(refusalOf("MUTED"));
    expect(await rita.ask("describe", { name: "Mine" })).toEqual(refusalOf("FORBIDDEN"));
    await mia.ask("read-only", { on: true });
    expect(await ben.ask("describe", { name: "Mine" })).toEqual(refusalOf("ROOM_READ_ONLY"));
    expect(await mia.ask("describe", { name: "News" })).toEqual(OK);
  });
});
