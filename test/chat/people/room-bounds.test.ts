// The bounds of a user over all rooms of an isolate, and over those that the lobby counts: LIM-8
import { describe, expect, it } from "vitest";

import { LEASE_MS, newUserRooms, REFUSED_MS } from "../../../src/chat/people/room-bounds.ts";
import type { ChatSettings } from "../../../src/chat/room/room.ts";
import type { Role } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, type Person } from "../../host/chat-room.ts";
import type { Client } from "../../host/client.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";
import { guestsOf } from "../../../src/socketio/wire/client-address.ts";

const HOUR_MS = 3_600_000;
const STEP_MS = 30_000;

type Bounds = Partial<Pick<ChatSettings, "maxRoomsPerUser" | "newRoomsPerUser">>;

/** Rooms of one isolate, each with a clock of its own that they turn together. */
class Isolate {
  readonly #bounds: Bounds;
  readonly #rooms = new Map<string, ChatRoom>();
  readonly userRooms = newUserRooms();
  readonly lobby: MemoryLobby | undefined;

  constructor(bounds: Bounds, lobby?: MemoryLobby) {
    this.#bounds = bounds;
    this.lobby = lobby;
  }

  room(name: string): ChatRoom {
    const { userRooms, lobby } = this;
    const reportToLobby = lobby && (async (report: Parameters<MemoryLobby["report"]>[0]) => lobby.report(report));
    const known =
      this.#rooms.get(name) ??
      new ChatRoom({ ...this.#bounds, flushWindowMs: 0 }, {}, { name, userRooms, reportToLobby });
    this.#rooms.set(name, known);
    return known;
  }

  async join(room: string, person: string | Person, address?: string): Promise<Client> {
    return this.room(room).join(person, address === undefined ? {} : { address });
  }

  async joinAll(rooms: readonly string[], person: string | Person): Promise<Client[]> {
    return Promise.all(rooms.map((room) => this.join(room, person)));
  }

  /** The rooms have one clock: none is more than a step ahead. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS)
      for (const room of this.#rooms.values()) await room.pass(Math.min(left, STEP_MS));
  }
}

const isIn = (client: Client): boolean => client.received("welcome").length > 0;
const ROOMS = ["tea", "bread", "oven"] as const;

describe("the rooms that a user is in: LIM-8", () => {
  const three = { maxRoomsPerUser: 3 };

  it("refuse one room too many, and name the bound; other users are free", async () => {
    const isolate = new Isolate(three);
    await isolate.joinAll(ROOMS, "ada");
    const { refusal } = await isolate.join("yeast", "ada");
    expect(refusal).toMatchObject({
      message: expect.stringContaining("MAX_ROOMS_PER_USER"),
      data: { code: "TOO_MANY_CONNECTIONS", retryAfterMs: expect.any(Number) },
    });
    expect(isIn(await isolate.join("yeast", "ben"))).toBe(true);
  });

  it("count a room once, whatever tabs and reconnects there are, until the last connection is gone", async () => {
    const isolate = new Isolate(three);
    const [tea] = await isolate.joinAll(ROOMS, "ada");
    const tab = await isolate.join("tea", "ada");
    tea!.leave();
    const again = await isolate.join("tea", "ada");
    expect([isIn(tab), isIn(again), isIn(await isolate.join("yeast", "ada"))]).toEqual([true, true, false]);
    tab.leave();
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(false);
    again.leave();
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(true);
  });

  it("stay counted where a room sleeps and wakes, and longer than a lease in one that is awake", async () => {
    const isolate = new Isolate(three);
    isolate.room("yeast");
    await isolate.joinAll(ROOMS, "ada");
    for (const room of ROOMS) isolate.room(room).shell.evict();
    await isolate.pass(3 * LEASE_MS);
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(false);
  });

  it("of a room that died end when it runs again", async () => {
    const isolate = new Isolate(three);
    await isolate.joinAll(ROOMS, "ada");
    await isolate.pass(1);
    isolate.room("tea").shell.crash();
    expect(isIn(await isolate.join("tea", "ben"))).toBe(true);
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(true);
    expect(isIn(await isolate.join("salt", "ada"))).toBe(false);
  });

  it("end with the connection, whatever a fresh token made of the user", async () => {
    const isolate = new Isolate({ maxRoomsPerUser: 1 });
    const guest = { user: "gus", isGuest: true } as const;
    const gus = await isolate.join("tea", guest, "192.0.2.1");
    await gus.ask("refresh-token", { token: isolate.room("tea").token("gus") });
    gus.leave();
    expect(isIn(await isolate.join("oven", guest, "192.0.2.1"))).toBe(true);
  });

  it("of rooms that crashed end with the lease, and the same rooms let the user in at once", async () => {
    const isolate = new Isolate(three);
    await isolate.joinAll(ROOMS, "ada");
    for (const room of ROOMS) isolate.room(room).shell.crash();
    isolate.room("yeast");
    expect(isIn(await isolate.join("tea", "ada"))).toBe(true);
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(false);
    await isolate.pass(LEASE_MS);
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(true);
  });

  it("count the guests of one network as one user, whatever their names, and services not at all", async () => {
    const isolate = new Isolate(three);
    for (const [number, room] of ROOMS.entries()) {
      const guest = { user: `guest-${number}`, isGuest: true } as const;
      expect(isIn(await isolate.join(room, guest, `2001:db8:1:2::${number}`))).toBe(true);
    }
    const further = { user: "guest-9", isGuest: true } as const;
    expect(isIn(await isolate.join("yeast", further, "2001:db8:1:2::9"))).toBe(false);
    expect(isIn(await isolate.join("yeast", further, "2001:db8:1:3::9"))).toBe(true);
    expect(isIn(await isolate.join("oven", further, "2001:db8:1:2::9"))).toBe(true);
    const bot = { user: "bot", role: "service" } as const;
    const all = await isolate.joinAll([...ROOMS, "yeast", "salt"], bot);
    expect(all.every(isIn)).toBe(true);
  });
});

describe("the rooms that a user begins: LIM-8", () => {
  const two = { newRoomsPerUser: 2 };

  it("refuse one too many in an hour; a room where somebody is, or has written, is not new", async () => {
    const isolate = new Isolate(two);
    await isolate.join("bread", "ben");
    await isolate.room("oven").ask("chat-message", { user: "backend", role: "service" }, { content: "hi" });
    const [, , third] = await isolate.joinAll(["tea", "salt", "yeast"], "ada");
    expect(third!.refusal).toMatchObject({
      message: expect.stringContaining("NEW_ROOMS_PER_USER"),
      data: { code: "TOO_MANY_CONNECTIONS", retryAfterMs: HOUR_MS },
    });
    expect((await isolate.joinAll(["bread", "oven", "tea"], "ada")).every(isIn)).toBe(true);
    isolate.room("yeast").shell.advance(HOUR_MS);
    expect(isIn(await isolate.join("yeast", "ada"))).toBe(true);
  });

  it("count calls and uploads without a connection, but for those of services", async () => {
    const isolate = new Isolate(two);
    const post = async (room: string, user: string, role: Role): Promise<object> =>
      isolate.room(room).ask("chat-message", { user, role }, { content: "hi" });
    for (const room of ["tea", "salt", "tea"]) expect(await post(room, "mia", "moderator")).toHaveProperty("ok");
    expect(await post("yeast", "mia", "moderator")).toMatchObject({
      error: { code: "RATE_LIMITED", message: expect.stringMatching(/^Rate limit exceeded: .*NEW_ROOMS_PER_USER/) },
    });
    for (let n = 0; n < 5; n++) expect(await post(`order-${n}`, "backend", "service")).toHaveProperty("ok");
    expect(isIn(await isolate.join("yeast", "mia"))).toBe(false);
  });

  it("count uploads of all guests of a network together, also with those rooms that they enter", async () => {
    const isolate = new Isolate(two);
    const facts = { id: "0".repeat(20), name: "me.png", type: "image/png", size: 100 };
    const upload = async (room: string, user: string, guests?: string): Promise<object> => {
      const answer = Promise.withResolvers<object>();
      const bearer = { user, name: user, role: "member", ...(guests !== undefined && { guests }) } as const;
      await isolate.room(room).chat.calls.permitUpload(bearer, facts, answer.resolve);
      return answer.promise;
    };
    const network = guestsOf("2001:db8:1:2::7");
    expect(await upload("tea", "guest-1", network)).toHaveProperty("ok");
    const guest = { user: "guest-2", isGuest: true } as const;
    expect(isIn(await isolate.join("salt", guest, "2001:db8:1:2::8"))).toBe(true);
    expect(await upload("yeast", "guest-3", network)).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(isIn(await isolate.join("yeast", { ...guest, user: "guest-4" }, "2001:db8:1:2::9"))).toBe(false);
    expect(await upload("yeast", "guest-5", guestsOf("2001:db8:1:3::7"))).toHaveProperty("ok");
    for (const room of ["bread", "flour"]) expect(await upload(room, "ada")).toHaveProperty("ok");
    expect(await upload("sugar", "ada")).toMatchObject({ error: { code: "RATE_LIMITED" } });
  });
});

describe("rooms of several isolates, counted by the lobby: LIM-8", () => {
  /** Each room in an isolate of its own. */
  function spread(bounds: Bounds): (room: string) => Isolate {
    const lobby = new MemoryLobby(undefined, { maxRoomsPerUser: 0, newRoomsPerUser: 0, ...bounds });
    const isolates = new Map<string, Isolate>();
    return (room) => {
      const isolate = isolates.get(room) ?? new Isolate(bounds, lobby);
      isolates.set(room, isolate);
      return isolate;
    };
  }

  it("send a user away from one room too many, who reads why; the next CONNECT there is refused at once", async () => {
    const isolateOf = spread({ maxRoomsPerUser: 2 });
    const clients: Client[] = [];
    for (const room of ROOMS) {
      clients.push(await isolateOf(room).join(room, "ada"));
      await isolateOf(room).pass(10);
    }
    expect(clients.map((client) => client.received("notice").length)).toEqual([0, 0, 1]);
    expect(clients[2]!.received("notice")).toMatchObject([
      { code: "TOO_MANY_CONNECTIONS", message: expect.stringContaining("MAX_ROOMS_PER_USER") },
    ]);
    expect((await isolateOf("oven").join("oven", "ada")).refusal).toMatchObject({
      data: { code: "TOO_MANY_CONNECTIONS" },
    });
    expect(isIn(await isolateOf("oven").join("oven", "ben"))).toBe(true);
    clients[0]!.leave();
    await isolateOf("tea").pass(2000);
    await isolateOf("oven").pass(REFUSED_MS);
    const back = await isolateOf("oven").join("oven", "ada");
    await isolateOf("oven").pass(10);
    expect([isIn(back), back.received("notice")]).toEqual([true, []]);
  });

  it("tell the lobby where more than one user has written, also after a sleep", async () => {
    const isolateOf = spread({ newRoomsPerUser: 100 });
    const reports: unknown[] = [];
    const isolate = isolateOf("tea");
    const report = isolate.lobby!.report.bind(isolate.lobby);
    isolate.lobby!.report = (given) => (reports.push(given.isShared), report(given));
    const people = [await isolate.join("tea", "ada"), await isolate.join("tea", "ben")];
    people[0]!.emit("chat-message", { content: "first" });
    await isolate.pass(HOUR_MS / 10);
    expect(reports.at(-1)).toBeUndefined();
    people[1]!.emit("chat-message", { content: "second" });
    await isolate.pass(HOUR_MS / 10);
    isolate.room("tea").shell.evict();
    people[1]!.leave();
    await isolate.pass(HOUR_MS / 10);
    expect(reports.at(-1)).toBe(true);
  });

  it("list no room that its user had no right to begin", async () => {
    const isolateOf = spread({ newRoomsPerUser: 2 });
    for (const room of ROOMS) {
      const ada = await isolateOf(room).join(room, "ada");
      ada.emit("chat-message", { content: "first" });
      await isolateOf(room).pass(6000);
    }
    expect(
      isolateOf("tea")
        .lobby!.list()
        .map(({ room }) => room),
    ).toEqual(["bread", "tea"]);
  });

  it("list all rooms that a service begins by its connections", async () => {
    const isolateOf = spread({ newRoomsPerUser: 2, maxRoomsPerUser: 2 });
    for (const room of ROOMS) {
      const bot = await isolateOf(room).join(room, { user: "bot", role: "service" });
      bot.emit("chat-message", { content: "first" });
      await isolateOf(room).pass(6000);
      expect([isIn(bot), bot.received("notice")]).toEqual([true, []]);
    }
    const listed = isolateOf("tea").lobby!.list();
    expect(listed.map(({ room }) => room)).toEqual(["bread", "oven", "tea"]);
  });

  it("count a room in the hour of its beginning alone, however long it stays awake", async () => {
    const isolateOf = spread({ newRoomsPerUser: 2 });
    const { lobby } = isolateOf("tea");
    const begin = async (room: string): Promise<Client> => {
      const ada = await isolateOf(room).join(room, "ada");
      ada.emit("chat-message", { content: "first" });
      return ada;
    };
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= STEP_MS) {
        lobby!.nowMs += STEP_MS;
        for (const room of ROOMS) await isolateOf(room).pass(STEP_MS);
      }
    };
    for (const room of ROOMS) isolateOf(room).room(room);
    const clients = [await begin("tea"), await begin("bread")];
    await pass(HOUR_MS);
    await pass(HOUR_MS / 4);
    clients.push(await begin("oven"));
    await pass(HOUR_MS);
    expect(clients.flatMap((client) => client.received("notice"))).toEqual([]);
    expect(lobby!.list().map(({ room }) => room)).toEqual(["bread", "oven", "tea"]);
  });
});
