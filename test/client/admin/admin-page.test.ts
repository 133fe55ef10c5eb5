// Tests the operator page's state: figures, the watched room, the admin store and its calls.
import { describe, expect, it } from "vitest";

import type { WatchPorts } from "../../../client/admin/live.ts";
import { AdminApi } from "../../../client/admin/state/admin-api.ts";
import type { ListedRoom, RecentUse, Use } from "../../../client/admin/state/answers.ts";
import { claimsOf } from "../../../client/core/claims.ts";
import { AdminStore } from "../../../client/admin/state/admin-store.ts";
import {
  awakeShare,
  countText,
  dollarsText,
  isConfirmed,
  matching,
  numberOf,
  rateText,
  spanText,
  sumsOf,
  wakeParts,
  wakesOf,
  originText,
} from "../../../client/admin/state/figures.ts";
import { hashOf, routeOf } from "../../../client/admin/state/route.ts";
import {
  inOrder,
  leftIn,
  messagesLately,
  UNSEEN,
  withMore,
  withShown,
} from "../../../client/admin/state/room-snapshot.ts";
import type { ConnectionFacts, WatchedRoom } from "../../../src/protocol/watching.ts";

const USE: Use = {
  since: 0,
  posted: 5,
  delivered: 9,
  framesIn: 7,
  bytesIn: 100,
  framesOut: 20,
  bytesOut: 400,
  opened: 2,
  requests: 3,
  rows: 12,
  alarmsSet: 1,
  alarms: 1,
  awakeSeconds: 3,
  wakes: { connect: 2, message: 1, close: 0, alarm: 0, call: 1, watch: 0 },
};

const LATELY: RecentUse = { ...USE, awakeSeconds: 1.5, monthlyCost: null };

const roomCalled = (room: string, more: Partial<ListedRoom> = {}): ListedRoom => ({
  room,
  members: 1,
  connections: 2,
  lastSeq: 5,
  lastActivity: 1,
  use: USE,
  monthlyCost: null,
  lately: LATELY,
  ...more,
});

const shownAt = (at: number, lastSeq: number, more: Partial<WatchedRoom> = {}): WatchedRoom => ({
  room: "general",
  at,
  members: 1,
  lastSeq,
  awake: { since: 0, cause: "connect", detail: "websocket" },
  connectionCount: 0,
  connections: [],
  hasMore: false,
  ...more,
});

describe("figures", () => {
  it("are short, and small sums are not shown as 0", () => {
    expect([0, 999, 1234, 12_345, 3_400_000].map(countText)).toEqual(["0", "999", "1,234", "12.3K", "3.4M"]);
    expect([null, 0, 0.004, 0.01, 12.345, 12_345.6].map(dollarsText)).toEqual([
      "–",
      "$0.00",
      "< $0.01",
      "$0.01",
      "$12.35",
      "$12,346",
    ]);
    expect([-500, 59_400, 60_000, 7_200_000, 7_260_000, 200_000_000].map(spanText)).toEqual([
      "0 s",
      "59 s",
      "1 min",
      "2 h",
      "2 h 1 min",
      "2 d",
    ]);
    expect([numberOf(1, "room"), numberOf(2, "room"), numberOf(0, "delivery", "deliveries")]).toEqual([
      "1 room",
      "2 rooms",
      "0 deliveries",
    ]);
    expect([0, 0.04, 0.36, 9.94, 9.96, 1234.5].map(rateText)).toEqual(["0", "< 0.1", "0.4", "9.9", "10", "1,235"]);
    const share = (awakeSeconds: number): string => awakeShare({ awakeSeconds }, 1_000_000);
    expect([0, 1, 370, 2000].map(share)).toEqual(["0 %", "< 1 %", "37 %", "100 %"]);
  });

  it("wakes by cause fill a bar", () => {
    expect(wakesOf(USE)).toBe(4);
    expect(wakeParts(USE)).toEqual([
      { cause: "connect", count: 2, from: 0, to: 0.5 },
      { cause: "message", count: 1, from: 0.5, to: 0.75 },
      { cause: "call", count: 1, from: 0.75, to: 1 },
    ]);
  });

  it("rooms add up; an unknown cost is not 0 dollars", () => {
    const cost = { rows: 1, requests: 0, duration: 1, total: 2 };
    const rooms = [roomCalled("a", { connections: 0, members: 0 }), roomCalled("b")];
    const unpriced = { monthlyCost: null, monthlyCostLately: null };
    expect(sumsOf(rooms)).toEqual({ rooms: 2, occupied: 1, members: 1, connections: 2, ...unpriced });
    const priced = roomCalled("c", { monthlyCost: cost, lately: { ...LATELY, monthlyCost: { ...cost, total: 1 } } });
    expect(sumsOf([...rooms, priced])).toMatchObject({ monthlyCost: 2, monthlyCostLately: 1 });
    const named = roomCalled("r-7", { name: "Regeneration" });
    expect(matching([roomCalled("General"), roomCalled("other"), named], " gen ").map(({ room }) => room)).toEqual([
      "General",
      "r-7",
    ]);
  });

  it("only the whole name confirms an action", () => {
    expect(["general", " general ", "genera", "General", ""].map((typed) => isConfirmed(typed, "general"))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("the origin of a dead letter", () => {
  it.each([
    [{ from: "general" }, "general"],
    [{ announcement: "a1" }, "announcement a1"],
    [{ from: "" }, "unknown"],
  ])("%o is %s", (letter, text) => {
    expect(originText(letter)).toBe(text);
  });
});

describe("the address", () => {
  it.each(["#", "#room/general", "#reports", "#dead-letters"])("%s leads back to itself", (hash) => {
    expect(hashOf(routeOf(hash))).toBe(hash);
  });

  it("of anything else is the list of rooms", () => {
    for (const hash of ["", "#room/no spaces", "#room/", "#nonsense"]) expect(routeOf(hash)).toEqual({ view: "rooms" });
  });

  it("reads the user from a token, and survives an invalid one", () => {
    const token = `x.${Buffer.from(JSON.stringify({ sub: "Zoë", role: "service" })).toString("base64url")}.y`;
    expect(claimsOf(token)).toEqual({ user: "Zoë", role: "service" });
    expect(claimsOf("nonsense")).toBeUndefined();
  });
});

describe("a watched room", () => {
  it("messages of the last minute, by the room's clock", () => {
    const snapshot = [shownAt(100_000, 10), shownAt(110_000, 14), shownAt(120_000, 20)].reduce(
      (before, shown) => withShown(before, shown, shown.at - 5000),
      UNSEEN,
    );
    expect(messagesLately(snapshot, 115_000)).toEqual({ count: 10, isWhole: false });
    // 60 s ago there were 10.
    expect(messagesLately(snapshot, 160_000)).toEqual({ count: 10, isWhole: true });
    expect(messagesLately(snapshot, 165_000 + 1)).toEqual({ count: 6, isWhole: true });
    expect(messagesLately(snapshot, 300_000)).toEqual({ count: 0, isWhole: true });
    expect(messagesLately(UNSEEN, 300_000)).toEqual({ count: 0, isWhole: false });
  });

  it("does not list the connections in shards, and counts those of the room itself that are left", () => {
    const connection = (id: string): ConnectionFacts => ({
      id,
      transport: "websocket",
      isExtended: false,
      since: 0,
      lastSeen: 0,
    });
    const shards = [2, 3].map((sockets) => ({ region: "weur", sockets, waitingChars: 0 }));
    const shown = shownAt(1, 1, { connectionCount: 9, shards, connections: [connection("a")], hasMore: true });
    const snapshot = withShown(UNSEEN, shown, 1);
    expect([leftIn(UNSEEN), leftIn(snapshot)]).toEqual([0, 3]);
    expect(leftIn(withMore(snapshot, [connection("b")]))).toBe(2);
  });

  it("a message after a long silence is one of the last minute", () => {
    const snapshot = [shownAt(100_000, 10), shownAt(200_000, 10), shownAt(300_000, 11)].reduce(
      (before, shown) => withShown(before, shown, shown.at),
      UNSEEN,
    );
    expect(messagesLately(snapshot, 300_000)).toEqual({ count: 1, isWhole: true });
  });

  it("starts again with a room that was created again", () => {
    const before = withShown(UNSEEN, shownAt(1000, 50), 1000);
    const snapshot = withShown(before, shownAt(2000, 1), 2000);
    expect(messagesLately(snapshot, 2000)).toEqual({ count: 0, isWhole: false });
  });

  it("lists the longest connected first and watchers last", () => {
    const facts = (id: string, since: number, isWatching?: true): ConnectionFacts => ({
      id,
      since,
      lastSeen: since,
      transport: "websocket",
      isExtended: false,
      ...(isWatching && { isWatching }),
    });
    const order = inOrder([facts("w", 1, true), facts("b", 3), facts("a", 2)]).map(({ id }) => id);
    expect(order).toEqual(["a", "b", "w"]);
  });
});

/** A store over a server that answers as `answers` says, by method and path, to a token. */
function deskOver(answers: Record<string, () => Response>, token = "secret") {
  const calls: string[] = [];
  const watched: Array<{ room: string; ports: WatchPorts; isOver: boolean }> = [];
  let kept: string | undefined;
  const fetch = (url: string, { method, body, headers }: RequestInit): Promise<Response> => {
    const path = url.replace("http://server", "");
    calls.push(`${method} ${path}${body ? ` ${body as string}` : ""}`);
    expect(url).not.toContain("secret");
    expect(headers).toMatchObject({ Authorization: `Bearer ${token}` });
    const answer = answers[`${method} ${path.split("?")[0]}`];
    return answer ? Promise.resolve(answer()) : Promise.reject(new TypeError("offline"));
  };
  const store = new AdminStore({
    api: (token) => new AdminApi("http://server", token, fetch),
    watch: (room, _token, ports) => {
      const watch = { room, ports, isOver: false };
      watched.push(watch);
      return () => void (watch.isOver = true);
    },
    keepToken: (token) => (kept = token),
    now: () => 1000,
    changed: () => {},
  });
  return { store, calls, watched, kept: () => kept };
}

const answer =
  (body: object, status = 200) =>
  (): Response =>
    Response.json(body, { status });
const refused = (status: number, code: string) => answer({ error: { code, message: `because ${code}` } }, status);
const LIST = { "GET /api/stats": answer({ ok: true, rooms: [roomCalled("general")] }) };

describe("the store", () => {
  it("signs in with a token that the API accepts, and stores no refused one", async () => {
    const { store, kept } = deskOver({ "GET /api/stats": refused(403, "FORBIDDEN") });
    await store.signIn("secret");
    expect([store.token, kept()]).toEqual([undefined, undefined]);
    expect(store.signInProblem).toEqual({ code: "FORBIDDEN", message: "because FORBIDDEN" });
    const other = deskOver(LIST);
    await other.store.signIn("secret");
    expect([other.store.token, other.kept(), other.store.rooms?.length]).toEqual(["secret", "secret", 1]);
  });

  it.each<[object, string | undefined, boolean]>([
    [{ role: "service" }, "service", true],
    [{ role: "moderator" }, "moderator", false],
    [{ "https://x/roles": "service" }, undefined, true],
    // Supabase writes another thing there.
    [{ role: "authenticated", app_metadata: { chat_role: "service" } }, undefined, true],
  ])("takes %j for the role %s, and offers a service's actions: %s", async (claims, role, isService) => {
    const payload = Buffer.from(JSON.stringify({ sub: "olga", ...claims })).toString("base64url");
    const { store } = deskOver(LIST, `x.${payload}.y`);
    await store.signIn(`x.${payload}.y`);
    expect([store.role, store.isService]).toEqual([role, isService]);
  });

  it("watches the room that it shows, and no other one any more", async () => {
    const { store, watched, calls } = deskOver(LIST);
    await store.signIn("secret");
    store.go({ view: "room", room: "general" });
    store.go({ view: "room", room: "unlisted" });
    expect(watched.map(({ room, isOver }) => [room, isOver])).toEqual([
      ["general", true],
      ["unlisted", false],
    ]);
    // Only a room that its lobby does not tell of is asked, because that wakes it.
    expect(calls.filter((call) => call.includes("/api/rooms/"))).toEqual([
      "GET /api/rooms/unlisted/stats?limit=500",
      'POST /api/rooms/unlisted/events/reports {"payload":{"limit":20}}',
    ]);
    watched[0]!.ports.shown(shownAt(1, 1));
    expect(store.snapshot.shown).toBeUndefined();
    watched[1]!.ports.shown(shownAt(1, 1, { room: "unlisted" }));
    expect(store.snapshot.shown?.room).toBe("unlisted");
    store.go({ view: "rooms" });
    expect(watched.every(({ isOver }) => isOver)).toBe(true);
  });

  it("reports the result of an action, or the API's error", async () => {
    const { store, calls } = deskOver({
      ...LIST,
      "POST /api/drain": answer({ ok: true, rooms: [] }),
      "DELETE /api/rooms/general": refused(403, "FORBIDDEN"),
      "POST /api/rooms/general/moderation": answer({ ok: true }),
    });
    await store.signIn("secret");
    store.ask({ kind: "drain", room: "general" });
    await store.drain("general", 5000);
    expect(calls).toContain('POST /api/drain {"rooms":["general"],"reconnectWithinMs":5000}');
    expect(store.dialog).toBeUndefined();
    store.ask({ kind: "delete", room: "general" });
    await store.remove("general");
    expect(store.said).toEqual({ text: "FORBIDDEN: because FORBIDDEN", isBad: true });
    expect(store.dialog).toBeDefined();
    await store.moderate("general", { action: "kick", user: "ben" });
    expect(store.said).toEqual({ text: "ben was kicked", isBad: false });
  });

  it("resolves a report, and loads the room's others again", async () => {
    const left = { reports: [], open: 0 };
    const { store, calls } = deskOver({
      "GET /api/stats": answer({ ok: true, rooms: [roomCalled("general", { facts: { openReports: 1 } })] }),
      "POST /api/rooms/general/events/reports": answer({ ok: true, ...left }),
      "POST /api/rooms/general/events/resolve-report": answer({ ok: true }),
    });
    await store.signIn("secret");
    store.go({ view: "reports" });
    await store.resolve("general", { id: "m1", action: "mute", seconds: 60, deleteMessage: true }, "Ben was muted");
    expect(store.said).toEqual({ text: "Ben was muted", isBad: false });
    expect(calls).toContain("GET /api/stats?having=openReports&limit=200");
    expect(calls).toContain(
      'POST /api/rooms/general/events/resolve-report {"payload":{"id":"m1","action":"mute","seconds":60,"deleteMessage":true}}',
    );
    expect(store.reports.of("general")).toMatchObject(left);
    store.signOut();
    expect(store.reports.of("general")).toBeUndefined();
  });

  it("dead letters: some are delivered, some kept, and the list is loaded again", async () => {
    const letter = { id: 3, at: 1, from: "a", to: "b", messages: 1, changes: 0, reason: "gone" };
    const { store, calls } = deskOver({
      ...LIST,
      "GET /api/relay/dead": answer({ ok: true, letters: [letter], hasMore: false }),
      "POST /api/relay/dead/replay": answer({ ok: true, replayed: [], failed: [{ id: 3, reason: "still gone" }] }),
      "DELETE /api/relay/dead/3": answer({ ok: true }),
    });
    await store.signIn("secret");
    store.go({ view: "dead-letters" });
    await store.letters.replay([3]);
    expect(store.said?.text).toBe("0 delivered, 1 kept: still gone");
    await store.letters.discard(3);
    expect(store.letters.page?.letters).toEqual([letter]);
    expect(calls.filter((call) => call.startsWith("GET /api/relay"))).toHaveLength(3);
  });

  it("is signed out when its token ends, and stays when the network does", async () => {
    const answers: Record<string, () => Response> = { ...LIST };
    const { store, kept, watched } = deskOver(answers);
    await store.signIn("secret");
    store.go({ view: "room", room: "general" });
    delete answers["GET /api/stats"];
    await store.refresh();
    expect([store.token, store.listProblem?.code, store.rooms?.length]).toEqual(["secret", "UNREACHABLE", 1]);
    answers["GET /api/stats"] = refused(401, "TOKEN_EXPIRED");
    await store.refresh();
    expect([store.token, kept(), store.signInProblem?.code]).toEqual([undefined, undefined, "TOKEN_EXPIRED"]);
    expect(watched[0]!.isOver).toBe(true);
  });
});
