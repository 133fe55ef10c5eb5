// Namespace `/admin` of a room: its callers, the snapshots, and that a watched room sleeps. WATCH-1 to WATCH-4
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import { WATCHERS_MAX } from "../../src/chat/watching.ts";
import { WATCH_INTERVAL_MS, type WatchedRoom } from "../../src/protocol/watching.ts";
import { internalsOf } from "../../src/socketio/object/internals.ts";
import { callApi } from "./api-caller.ts";
import { RawClient } from "./raw-client.ts";
import { freshRoom, isArmed, join, Sleeper, stubOf, tokenFor } from "./rooms.ts";
import { rowsWritten } from "./rows-written.ts";

type Claims = Parameters<typeof tokenFor>[1];

/** A watcher with our own client's kind of connection. */
const openOperator = (room: string): Promise<RawClient> => RawClient.open({ room, query: { ext: "1", watch: "1" } });

/** @returns the payload of the CONNECT_ERROR, if it is one */
const refusalOf = (operator: RawClient, token: string | undefined): Promise<unknown> =>
  operator.enter("/admin", { token }).then(
    () => undefined,
    (refused: unknown) => refused,
  );

const shownTo = (operator: RawClient): WatchedRoom[] => operator.received<WatchedRoom>("watch", "/admin");

const isShown = (
  operator: RawClient,
  what: string,
  matches: (room: WatchedRoom) => boolean = () => true,
): Promise<WatchedRoom> => operator.until(what, () => shownTo(operator).find(matches));

async function watch(room: string, claims: Claims = { role: "service" }): Promise<RawClient> {
  const operator = await openOperator(room);
  expect(await refusalOf(operator, await tokenFor("olga", claims))).toBeUndefined();
  await isShown(operator, "the room");
  return operator;
}

describe.concurrent("the users who may watch a room: WATCH-1", () => {
  it("no member, reader, or moderator of other rooms, and no client without a token or with an ended one", async () => {
    const room = freshRoom();
    for (const [token, code] of [
      [await tokenFor("olga", { role: "member" }), "FORBIDDEN"],
      [await tokenFor("olga", { role: "reader" }), "FORBIDDEN"],
      [await tokenFor("olga", { role: "moderator", rooms: ["elsewhere-*"] }), "FORBIDDEN_ROOM"],
      [undefined, "UNAUTHORIZED"],
      [await tokenFor("olga", { role: "service" }, -10), "TOKEN_EXPIRED"],
    ] as const) {
      const operator = await openOperator(room);
      expect(await refusalOf(operator, token)).toMatchObject({ message: expect.any(String), data: { code } });
      expect(shownTo(operator)).toEqual([]);
    }
  });

  it("services, moderators and users with a granted role may, and do not become members", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await callApi("POST", `/api/rooms/${room}/moderation`, {
      body: { action: "grant", user: "gus", role: "moderator" },
    });
    const service = await watch(room);
    const moderator = await watch(room, { role: "moderator", rooms: [room] });
    const granted = await openOperator(room);
    expect(await refusalOf(granted, await tokenFor("gus"))).toBeUndefined();
    const { connections } = await isShown(
      moderator,
      "all",
      (shown) => shown.connectionCount === 4 && shown.connections.every(({ user }) => user !== undefined),
    );
    expect(connections.filter(({ isWatching }) => isWatching !== true).map(({ user }) => user)).toEqual(["ada"]);
    const overview = await callApi("GET", `/api/rooms/${room}`);
    expect(overview.body.members).toBe(1);
    expect(JSON.stringify(ada.received("presence"))).not.toMatch(/olga|gus/);
    await ada.ask("chat-message", { content: "not for them" });
    expect(JSON.stringify(service.frames)).not.toContain("not for them");
  });

  it(`${WATCHERS_MAX} may at a time`, async () => {
    const room = freshRoom();
    const operators = await Promise.all(Array.from({ length: WATCHERS_MAX }, () => watch(room)));
    const token = await tokenFor("olga", { role: "service" });
    expect(await refusalOf(await openOperator(room), token)).toMatchObject({ data: { code: "ROOM_FULL" } });
    operators[0]!.close();
    await vi.waitFor(async () => expect(await refusalOf(await openOperator(room), token)).toBeUndefined());
  });
});

describe.concurrent("snapshots: WATCH-2", () => {
  it("show the room with its connections, then the changes", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const olga = await watch(room);
    const [first] = shownTo(olga) as [WatchedRoom];
    expect(first).toMatchObject({ room, members: 1, connectionCount: 2, lastSeq: 0, hasMore: false });
    expect(first.awake).toMatchObject({ cause: "connect", detail: "websocket" });
    const facts = Object.fromEntries(first.connections.map((connection) => [connection.user, connection]));
    expect(facts["ada"]).toMatchObject({ name: "ada", role: "member", transport: "websocket", isExtended: false });
    expect(facts["olga"]).toMatchObject({ role: "service", isWatching: true, isExtended: true });
    await ada.ask("chat-message", { content: "hello" });
    await isShown(olga, "the message", ({ lastSeq }) => lastSeq === 1);
    await join(room, "ben");
    await isShown(olga, "ben", ({ members }) => members === 2);
    ada.close();
    await isShown(olga, "ada's going", ({ members, lastSeq }) => members === 1 && lastSeq === 1);
  });

  it("are sent once a second at most", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const olga = await watch(room);
    for (let i = 0; i < 8; i++) await ada.ask("chat-message", { content: `${i}` });
    await isShown(olga, "the last one", ({ lastSeq }) => lastSeq === 8);
    const times = shownTo(olga).map(({ at }) => at);
    for (const [i, at] of times.entries()) {
      if (i > 0) expect(at - times[i - 1]!).toBeGreaterThanOrEqual(WATCH_INTERVAL_MS);
    }
  });

  it("are not sent when nothing changed, also not for reading the room's state", async () => {
    const room = freshRoom();
    const olga = await watch(room);
    const before = shownTo(olga).length;
    for (let i = 0; i < 3; i++) await callApi("GET", `/api/rooms/${room}/stats`);
    expect(shownTo(olga)).toHaveLength(before);
  });

  it("are not made without watchers", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const olga = await watch(room);
    olga.close();
    await vi.waitFor(async () =>
      expect((await callApi("GET", `/api/rooms/${room}/stats`)).body.connectionCount).toBe(1),
    );
    await ada.ask("chat-message", { content: "unseen" });
    expect(JSON.stringify(ada.frames)).not.toContain('"watch"');
    await vi.waitFor(async () => expect((await waitsFor(room)).awake).toBeUndefined());
  });
});

/** The object's deadlines, and those that keep it awake; in milliseconds since 1970. */
const waitsFor = (room: string): Promise<{ next: number | undefined; awake: number | undefined }> =>
  runInDurableObject(stubOf(room), (instance) => {
    const { deadlines } = internalsOf(instance).parts.server;
    return { next: deadlines.next(), awake: deadlines.nextAwake() };
  });

describe.concurrent("a watched room sleeps: WATCH-2, WATCH-4", () => {
  it("while it is watched, and sends snapshots again after a post", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const olga = await watch(room);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    expect(await ada.ask("chat-message", { content: "good morning" })).toMatchObject({ ok: true });
    await isShown(olga, "the message", ({ lastSeq }) => lastSeq === 1);
    await sleeper.sleep();
    await sleeper.see();
  });

  it("and sends the changes of an alarm, with the cause of the wake", async () => {
    const room = freshRoom();
    await join(room, "ada");
    const olga = await watch(room);
    await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    expect(await runDurableObjectAlarm(stubOf(room))).toBe(true);
    expect(await isShown(olga, "the alarm", ({ awake }) => awake.cause === "alarm")).toMatchObject({ members: 1 });
  });

  it("and watching leaves nothing behind: the same deadlines as before, no row, no timer", async () => {
    const room = freshRoom();
    await join(room, "ada", { query: { ext: "1" } });
    const settled = async () => {
      const { next, awake } = await waitsFor(room);
      expect(awake).toBeUndefined();
      return next;
    };
    const before = await vi.waitFor(settled, { interval: 200 });
    await isArmed(room);
    const { rows, alarms } = await rowsWritten(room, async () => {
      const olga = await watch(room);
      olga.close();
      await vi.waitFor(async () =>
        expect((await callApi("GET", `/api/rooms/${room}/stats`)).body.connectionCount).toBe(1),
      );
    });
    // A CONNECT that arrives late sets an alarm, for every client.
    expect(rows - alarms).toBe(0);
    expect(await vi.waitFor(settled)).toBe(before);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    await sleeper.see();
  });

  it("wakes by watchers that connect and leave are counted as `watch`", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    const olga = await watch(room);
    expect(shownTo(olga)[0]!.awake).toMatchObject({ cause: "watch", detail: "connect" });
    await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    olga.close();
    await vi.waitFor(async () => {
      const { body } = await callApi("GET", `/api/rooms/${room}/stats`);
      expect(body.connectionCount).toBe(1);
      expect(body.use.wakes).toMatchObject({ watch: 2 });
    });
    expect(ada.closed).toBeUndefined();
  });
});

it.concurrent("a watcher who lost the right is disconnected before the next `watch`: WATCH-3", async () => {
  const room = freshRoom();
  const ada = await join(room, "ada");
  await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "grant", user: "gus", role: "moderator" } });
  const gus = await openOperator(room);
  await refusalOf(gus, await tokenFor("gus"));
  const short = await openOperator(room);
  const expiresAtMs = Date.now() + 6000;
  await refusalOf(short, await tokenFor("olga", { role: "service" }, 6));
  await callApi("POST", `/api/rooms/${room}/moderation`, { body: { action: "revoke", user: "gus" } });
  const revokedAtMs = Date.now();
  await vi.waitFor(
    async () => {
      await ada.ask("chat-message", { content: "news" });
      for (const client of [gus, short]) expect(client.texts.join("\x1e")).toContain("41/admin,");
    },
    { interval: 500 },
  );
  const since = (operator: RawClient, ms: number): unknown[] => shownTo(operator).filter(({ at }) => at > ms);
  expect([since(gus, revokedAtMs), since(short, expiresAtMs)]).toEqual([[], []]);
});
