// Bans and kicks: disconnecting users, refusing banned ones, and no recovery of older connections. MOD-3, MOD-4, MOD-5
import { describe, expect, it, vi } from "vitest";

import type { Member } from "../../../src/protocol/chat-events.ts";
import type { Client } from "../../host/harness.ts";
import { START_MS } from "../../host/harness.ts";
import { identityOf, RECOVERS, recoveryAuthOf, type ChatRoom } from "../../host/chat-room.ts";
import { cast, OK, post, refusalOf, sleep, type Cast } from "../../host/moderated-room.ts";

const NOW_MS = START_MS + 1000;

const noticeOf = (code: string, more: object = {}): object => ({ code, message: expect.any(String), ...more });

/** Names of the events that a client got from a moment on. */
const heardSince = ({ packets }: Client, count: number): unknown[] =>
  packets.slice(count).map(({ type, data }) => (Array.isArray(data) ? data[0] : type));

const isRecovered = (client: Client, { pid }: { pid: string }): boolean => recoveryAuthOf(client).pid === pid;

describe("MOD-3: a ban", () => {
  it("sends its reason to all connections of the user and disconnects them; the others get the ban and the leave", async () => {
    const { room, mia, ada, ben } = await cast();
    const tab = await room.join("ada");
    const counts = [ada, tab].map(({ packets }) => packets.length);
    expect(await mia.ask("ban", { user: "ada", seconds: 60, reason: "spam" })).toEqual(OK);
    for (const [i, client] of [ada, tab].entries()) {
      expect(heardSince(client, counts[i]!)).toEqual(["moderation", "notice", 1]);
      expect(client.received("notice")).toEqual([
        noticeOf("BANNED", { message: expect.stringContaining("spam"), retryAfterMs: 60_000 }),
      ]);
      expect(client.closing).toMatchObject({ code: 4003 });
    }
    room.shell.advance(10_000);
    expect(ben.received("presence").at(-1)).toEqual({ count: 2, joined: [], left: [{ user: "ada" }] });
    await post(ben);
    expect(heardSince(ada, counts[0]!)).toHaveLength(3);
  });

  it("SIO-13: that cannot be read lets no client in, and closes the session, so that stock clients come back", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: "ada", seconds: 60 });
    sleep(room);
    const read = vi.spyOn(room.state, "get").mockImplementation(() => {
      throw new Error("disk I/O error");
    });
    const ada = await room.shell.connect({ identity: identityOf("ada") });
    expect([ada.packets, ada.closing]).toEqual([[], undefined]);
    room.shell.advance(1000);
    expect(ada.closing).toMatchObject({ code: 1013 });
    expect(room.shell.problems).toMatchObject([{ error: { message: "disk I/O error" } }]);
    read.mockRestore();
    expect((await room.shell.connect({ identity: identityOf("ada") })).refusal).toMatchObject({
      data: { code: "BANNED" },
    });
  });

  it("refuses CONNECT until it ends, with every kind of token, through sleep and crash", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: "ada", seconds: 60 });
    const tries = (): Array<Promise<Client>> => [
      room.join("ada"),
      room.join({ user: "ada", name: "Somebody else", role: "reader" }),
      room.joinWithToken(room.token("ada")),
    ];
    const refusal = (retryAfterMs: number): object => ({
      message: expect.any(String),
      data: { code: "BANNED", until: NOW_MS + 60_000, retryAfterMs },
    });
    for (const client of await Promise.all(tries())) expect(client.refusal).toEqual(refusal(60_000));
    sleep(room);
    for (const client of await Promise.all(tries())) expect(client.refusal).toEqual(refusal(59_000));
    room.shell.crash();
    for (const client of await Promise.all(tries())) {
      expect(client.refusal).toEqual(refusal(59_000));
      expect(client.packets).toHaveLength(1);
    }
    room.shell.advance(58_999);
    expect((await room.join("ada")).refusal).toEqual(refusal(1));
    room.shell.advance(1);
    for (const client of await Promise.all(tries())) expect(client.received("welcome")).toHaveLength(1);
  });

  it("without seconds does not end, and has a reason and no retryAfterMs", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: "zoe", reason: "spam" });
    room.shell.crash();
    room.shell.advance(10 * 365 * 86_400_000);
    expect((await room.join("zoe")).refusal).toEqual({
      message: expect.stringContaining("spam"),
      data: { code: "BANNED" },
    });
  });

  it("refuses calls from outside the room, too", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: "ada", seconds: 60 });
    for (const event of ["chat-message", "history", "presence"])
      expect(await room.ask(event, "ada", { content: "x" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await room.ask("history", "ben", {})).toMatchObject(OK);
  });

  it("refuses a CONNECT where the ban comes between the verification of its token and its admission", async () => {
    for (let ticks = 0; ticks < 20; ticks++) {
      const { room, mia } = await cast();
      const late = room.shell.open();
      late.send(`40${JSON.stringify({ token: room.token("zoe") })}`);
      for (let i = 0; i < ticks; i++) await Promise.resolve();
      mia.emit("ban", { user: "zoe" });
      await room.shell.settle();
      const isOut = late.closing !== undefined || late.refusal?.data.code === "BANNED";
      expect(isOut, `after ${ticks} ticks`).toBe(true);
      const { members } = await mia.ask("presence", {});
      expect(members.filter(({ connections }: Member) => connections > 0)).toHaveLength(3);
    }
  });

  it("comes after the answer to a post of the user that waits to be stored", async () => {
    const { room, mia, ada } = await cast({ flushWindowMs: 500 });
    await post(mia);
    const call = ada.call("chat-message", { content: "last words" });
    await mia.ask("ban", { user: "ada" });
    ada.emit("chat-message", { content: "too late" });
    room.quiet();
    expect(call.answer).toMatchObject(OK);
    expect(room.log.messages.map(({ content }) => content)).not.toContain("too late");
  });
});

describe("MOD-4: a kick", () => {
  it("sends its reason to all connections and disconnects them; the user may come back at once", async () => {
    const { room, mia, ada, ben } = await cast();
    const tab = await room.join("ada");
    expect(await mia.ask("kick", { user: "ada", reason: "calm down" })).toEqual(OK);
    for (const client of [ada, tab]) {
      expect(client.received("notice")).toEqual([
        noticeOf("KICKED", { message: expect.stringContaining("calm down") }),
      ]);
      expect(client.frames.at(-1)).toBe("41");
      expect(client.closing).toMatchObject({ code: 4003 });
    }
    expect(ben.received("moderation")).toEqual([{ action: "kick", by: "mia", user: "ada", reason: "calm down" }]);
    const back = await room.join("ada");
    expect(await post(back)).toMatchObject(OK);
  });
});

describe("PRES-2: a kicked or banned user has left at once", () => {
  const gone = { count: 2, joined: [], left: [{ user: "ada" }] };
  const hush = ({ room, ben }: Cast): void => {
    room.quiet();
    ben.packets.length = 0;
  };

  it.each(["kick", "ban"])("by a %s of all connections, with one leave", async (action) => {
    const scene = await cast();
    const { room, mia, ben } = scene;
    await room.join("ada");
    hush(scene);
    expect(await mia.ask(action, { user: "ada" })).toEqual(OK);
    expect(ben.received("presence")).toEqual([gone]);
    expect(await mia.ask("presence", {})).toMatchObject({ count: 2, members: [{ user: "ben" }, { user: "mia" }] });
    room.afterGrace();
    expect(ben.received("presence")).toEqual([gone]);
  });

  it("also when they disconnected a moment before the ban", async () => {
    const scene = await cast();
    const { mia, ada, ben } = scene;
    hush(scene);
    ada.leave();
    expect(await mia.ask("ban", { user: "ada" })).toEqual(OK);
    expect(ben.received("presence")).toEqual([gone]);
  });

  it("joins again when coming back after a kick", async () => {
    const scene = await cast();
    const { room, mia, ben } = scene;
    hush(scene);
    await mia.ask("kick", { user: "ada" });
    await room.join("ada");
    room.shell.advance(1000);
    expect(ben.received("presence").slice(1)).toEqual([{ count: 3, joined: [{ user: "ada", name: "ada" }], left: [] }]);
  });
});

describe("MOD-5: recovery after a kick or a ban", () => {
  const putOut: ReadonlyArray<[what: string, (given: Cast) => Promise<unknown>]> = [
    ["a kick", ({ mia }) => mia.ask("kick", { user: "rex" })],
    [
      "a ban that was lifted",
      async ({ mia }) => {
        await mia.ask("ban", { user: "rex" });
        return mia.ask("unban", { user: "rex" });
      },
    ],
    [
      "a ban that ended",
      async ({ room, mia }) => {
        await mia.ask("ban", { user: "rex", seconds: 1 });
        room.shell.advance(1000);
      },
    ],
  ];
  const meanwhile: ReadonlyArray<[what: string, (room: ChatRoom) => void]> = [
    ["the room stays awake", () => undefined],
    ["the room sleeps", sleep],
    ["the room crashes", ({ shell }) => shell.crash()],
  ];
  const cases = putOut.flatMap(([what, act]) => meanwhile.map(([then, pass]) => [what, then, act, pass] as const));

  it.each(cases)("%s, %s: a fresh start, with nothing replayed", async (_what, _then, act, pass) => {
    const given = await cast();
    const { room, ben } = given;
    const rex = await room.join("rex", RECOVERS);
    await post(ben);
    const recoveryAuth = recoveryAuthOf(rex);
    await act(given);
    await post(ben);
    pass(room);
    const back = await room.join("rex", RECOVERS, recoveryAuth);
    expect(isRecovered(back, recoveryAuth)).toBe(false);
    expect(back.received("chat-message")).toEqual([]);
    // Their connection from now on can be recovered, also when the room sleeps.
    const fresh = recoveryAuthOf(back);
    back.leave();
    await room.ask("chat-message", "cyd", { content: "missed" });
    sleep(room);
    const again = await room.join("rex", RECOVERS, fresh);
    expect(isRecovered(again, fresh)).toBe(true);
    expect(again.received("chat-message")).toMatchObject([{ content: "missed" }]);
  });

  it("refuses to recover a connection that was broken when the ban came", async () => {
    const { room, mia, ben } = await cast();
    const rex = await room.join("rex", RECOVERS);
    await post(ben);
    const recoveryAuth = recoveryAuthOf(rex);
    rex.leave();
    await mia.ask("ban", { user: "rex" });
    await post(ben);
    const refused = await room.join("rex", RECOVERS, recoveryAuth);
    expect(refused.refusal).toMatchObject({ data: { code: "BANNED" } });
    expect(refused.packets).toHaveLength(1);
    await mia.ask("unban", { user: "rex" });
    expect(isRecovered(await room.join("rex", RECOVERS, recoveryAuth), recoveryAuth)).toBe(false);
  });

  it("keeps a connection that a ban does not bind when a CONNECT of the user is refused", async () => {
    const { room, mia } = await cast();
    const granted = await room.join("gil");
    await mia.ask("grant", { user: "gil", role: "moderator" });
    await granted.ask("ban", { user: "max" });
    const max = await room.join({ user: "max", role: "moderator" }, RECOVERS);
    const twin = await room.join("max", RECOVERS, recoveryAuthOf(max));
    expect(twin.refusal).toMatchObject({ data: { code: "BANNED" } });
    expect(max.closing).toBeUndefined();
  });

  it("recovers a muted user, still muted, with the missed messages", async () => {
    const { room, mia, ben } = await cast();
    const rex = await room.join("rex", RECOVERS);
    await mia.ask("mute", { user: "rex", seconds: 60 });
    await post(ben);
    const recoveryAuth = recoveryAuthOf(rex);
    rex.leave();
    await post(ben);
    const back = await room.join("rex", RECOVERS, recoveryAuth);
    expect(isRecovered(back, recoveryAuth)).toBe(true);
    expect(back.received("chat-message")).toHaveLength(1);
    expect(back.received("welcome")).toMatchObject([{ moderation: { mutedUntil: NOW_MS + 60_000 } }]);
    expect(await post(back)).toEqual(refusalOf("MUTED"));
  });
});
