// Tests what rooms tell the lobby about unread messages, and what it tells their readers: LOB-9
import { describe, expect, it } from "vitest";

import type { Listing } from "../../../src/features/directory/listing.ts";
import { LOOKED_MAX, NEWEST_MAX, READERS_MAX } from "../../../src/chat/people/unread-counts.ts";
import { REPORT_WINDOW_MS_MIN, REPORT_WINDOW_WATCHED_MS } from "../../../src/features/directory/pace.ts";
import { directRoomOf } from "../../../src/protocol/direct-room.ts";
import { UNREAD_MAX } from "../../../src/protocol/unread.ts";
import { ROOM } from "../../host/chat-room.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";

const LOOK_MS = 25_000;
const HOUR_MS = 3_600_000;

/** A room and its lobby, whose clocks go together. */
class Deployment {
  readonly reporting: ReportingRoom;
  readonly lobby = new MemoryLobby();
  readonly #name: string;

  /** @param pair the users of a room between two people */
  constructor(pair?: readonly [string, string]) {
    this.#name = pair ? directRoomOf(...pair) : ROOM;
    this.reporting = new ReportingRoom(undefined, { name: this.#name });
    if (pair) this.reporting.room.direct.begin(pair);
    this.reporting.onReport = (report) => {
      this.lobby.nowMs = this.reporting.room.shell.nowMs;
      return this.lobby.report(report);
    };
  }

  async advance(ms: number): Promise<void> {
    await this.reporting.advance(ms);
    this.lobby.advanceTo(this.reporting.room.shell.nowMs);
  }

  /** Long enough for every window to end; members stay. */
  async rest(): Promise<void> {
    await this.reporting.live(600_000, 30_000);
    this.lobby.advanceTo(this.reporting.room.shell.nowMs);
  }

  /** A user looks at their list for a while. */
  look(user: string): void {
    this.lobby.nowMs = this.reporting.room.shell.nowMs;
    const { unaware } = this.lobby.joined(user, LOOK_MS);
    if (unaware.includes(this.#name))
      this.reporting.room.shell.turn(() => (this.reporting.room.chat.part("directory") as Listing).watched());
  }

  mentions(user: string): object | undefined {
    const [joined] = this.lobby.joined(user).rooms;
    return (
      joined && {
        mentions: joined.mentions,
        ...(joined.mentionSeq !== undefined && { mentionSeq: joined.mentionSeq }),
      }
    );
  }

  unread(user: string): number | undefined {
    return this.lobby.unreadOf(user)[this.#name];
  }

  async post(user: string, content = "hello"): Promise<string> {
    const answer = await this.reporting.room.ask("chat-message", user, { content });
    await this.reporting.settle();
    return (answer as { id: string }).id;
  }

  /** As fast as the room lets a user do so. */
  async remove(user: string, id: string): Promise<void> {
    expect(await this.reporting.room.ask("delete-message", user, { id })).toMatchObject({ ok: true });
    await this.advance(100);
  }
}

describe("counts", () => {
  it("own and deleted messages never count, and what is read counts no more", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const [ada] = [await room.join("ada"), await room.join("ben")];
    all.look("ada");
    const ids: string[] = [];
    for (const user of ["ben", "ada", "ben", "cleo"]) ids.push(await all.post(user));
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect([all.unread("ada"), all.unread("ben")]).toEqual([3, 2]);
    await room.ask("delete-message", "ben", { id: ids[2] });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect([all.unread("ada"), all.unread("ben")]).toEqual([2, 2]);
    await ada.ask("read", { seq: 1 });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.unread("ada")).toBe(1);
    await ada.ask("read", { seq: 4 });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect([all.unread("ada"), all.unread("ben")]).toEqual([0, 2]);
  });

  it(`end at ${UNREAD_MAX}, also behind as many own ones, and hold through sleep`, async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    for (let i = 0; i < UNREAD_MAX - 1; i++) await all.post("ben");
    for (let i = 0; i < UNREAD_MAX; i++) await all.post("ada");
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(UNREAD_MAX - 1);
    room.shell.evict();
    await all.post("ben");
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(UNREAD_MAX);
    await all.post("ben");
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(UNREAD_MAX);
  });

  it("go on behind deleted messages, through sleep, and take in what was further back", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    for (let i = 0; i < 5; i++) await all.post("ben", "@ada");
    const raid: string[] = [];
    for (let i = 0; i < NEWEST_MAX; i++) raid.push(await all.post("cleo"));
    await all.rest();
    expect(all.unread("ada")).toBe(UNREAD_MAX);
    for (const id of raid.slice(0, -3)) await all.remove("cleo", id);
    await all.rest();
    expect([all.unread("ada"), all.mentions("ada")]).toEqual([8, { mentions: 5, mentionSeq: 5 }]);
    for (const id of raid.slice(-3)) await all.remove("cleo", id);
    await all.rest();
    expect(all.unread("ada")).toBe(5);
    room.shell.evict();
    await all.post("ben");
    await all.rest();
    expect(all.unread("ada")).toBe(6);
  });

  it(`are those among the newest ${LOOKED_MAX} messages`, async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    for (let i = 0; i < 5; i++) await all.post("ben");
    for (let i = 0; i < LOOKED_MAX - 2; i++) await all.remove("cleo", await all.post("cleo"));
    room.shell.evict();
    await all.post("cleo");
    await all.rest();
    expect(all.unread("ada")).toBe(2);
  });

  it("are told to those who have been there and read nothing, and to nobody else: READ-6", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    ada.leave();
    await all.advance(HOUR_MS);
    room.shell.evict();
    await all.post("ben");
    await all.advance(2000);
    expect([all.unread("ada"), all.unread("zoe"), all.lobby.joined("zoe").rooms]).toEqual([1, undefined, []]);
  });

  it("are not told to the banned", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    await room.join({ user: "mia", role: "moderator" });
    await room.ask("ban", { user: "mia", role: "moderator" } as never, { user: "ada" });
    await all.post("mia");
    await all.advance(120_000);
    expect([all.unread("ada"), all.unread("mia")]).toEqual([undefined, 0]);
  });

  it(`of more than ${READERS_MAX} readers, guests are left out first: strangers take nobody's place`, async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    await all.post("ben");
    await ada.ask("read", { seq: 1 });
    ada.leave();
    await all.post("ben");
    for (let n = 0; n <= READERS_MAX; n++) {
      const guest = await room.join(`guest-${n.toString(16).padStart(16, "0")}`);
      await guest.ask("read", { seq: 2 });
      guest.leave();
    }
    await all.post("ben");
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(2);
  });
});

describe("mentions", () => {
  it("are those of others that are unread, with the newest one; reading and deleting end them", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    await room.join("ben");
    const ids: string[] = [];
    for (const [user, content] of [
      ["ben", "hello"],
      ["ben", "@ada, look"],
      ["ada", "I am @ada"],
      ["cleo", "@ben and @ada"],
      ["ben", "bye"],
    ])
      ids.push(await all.post(user!, content));
    await all.advance(120_000);
    expect([all.mentions("ada"), all.mentions("ben")]).toEqual([
      { mentions: 2, mentionSeq: 4 },
      { mentions: 1, mentionSeq: 4 },
    ]);
    await room.ask("delete-message", "cleo", { id: ids[3] });
    await all.advance(120_000);
    expect([all.mentions("ada"), all.mentions("ben")]).toEqual([{ mentions: 1, mentionSeq: 2 }, { mentions: 0 }]);
    await ada.ask("read", { seq: 2 });
    await all.advance(120_000);
    expect(all.mentions("ada")).toEqual({ mentions: 0 });
  });

  it("follow edits, and a sleep of room and lobby", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    const id = await all.post("ben", "hello");
    await all.rest();
    await room.ask("edit-message", "ben", { id, content: "hello @ada" });
    await all.post("ben", "are you there?");
    await all.rest();
    expect(all.mentions("ada")).toEqual({ mentions: 1, mentionSeq: 1 });
    room.shell.evict();
    await all.post("ben", "hello?");
    await all.rest();
    all.lobby.restart();
    expect(all.mentions("ada")).toEqual({ mentions: 1, mentionSeq: 1 });
  });

  it("follow edits that change them while somebody looks, and other edits are not reported", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    const id = await all.post("ben", "hello @ada");
    await all.rest();
    all.look("ada");
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    for (const [content, mentions] of [
      ["bye", 0],
      ["bye, @ada", 1],
      ["@ben, it is for you", 0],
    ] as const) {
      await room.ask("edit-message", "ben", { id, content });
      await all.advance(REPORT_WINDOW_WATCHED_MS);
      expect(all.mentions("ada"), content).toMatchObject({ mentions });
    }
    all.reporting.take();
    await room.ask("edit-message", "ben", { id, content: "it is for you, @ben" });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.reporting.take()).toEqual([]);
  });

  it("that are further back than a room counts stay known until so few are unread that it knows better", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    await all.post("ben", "@ada");
    await all.rest();
    for (let n = 0; n < 2 * UNREAD_MAX; n++) await all.post("ben");
    await all.rest();
    expect(all.mentions("ada")).toEqual({ mentions: 1, mentionSeq: 1 });
    await ada.ask("read", { seq: UNREAD_MAX + 2 });
    await all.rest();
    expect([all.unread("ada"), all.mentions("ada")]).toEqual([UNREAD_MAX - 1, { mentions: 0 }]);
  });

  it("are heard of at once by those who wait, also where the number of unread messages stays", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    for (let n = 0; n < UNREAD_MAX; n++) await all.post("ben");
    await all.rest();
    all.look("ada");
    let heard = 0;
    all.lobby.whenChanged("ada", () => heard++);
    await all.post("ben", "@ada");
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect([heard, all.mentions("ada")]).toEqual([1, { mentions: 1, mentionSeq: UNREAD_MAX + 1 }]);
  });

  it("in a room between two people are all messages of the other one", async () => {
    const all = new Deployment(["ada", "ben"]);
    const { room } = all.reporting;
    await room.join("ada");
    await room.join("ben");
    for (const user of ["ben", "ada", "ben"]) await all.post(user);
    await all.rest();
    expect([all.mentions("ada"), all.mentions("ben")]).toEqual([
      { mentions: 2, mentionSeq: 3 },
      { mentions: 1, mentionSeq: 2 },
    ]);
  });

  it("are unread again where the user marked them so", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    await all.post("ben", "@ada");
    await all.post("ben", "hello");
    await ada.ask("read", { seq: 2 });
    await all.rest();
    expect([all.unread("ada"), all.mentions("ada")]).toEqual([0, { mentions: 0 }]);
    all.look("ada");
    await ada.ask("read", { seq: 0, back: true });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect([all.unread("ada"), all.mentions("ada")]).toEqual([2, { mentions: 1, mentionSeq: 1 }]);
  });
});

describe("while somebody looks", () => {
  it("changes arrive within two seconds, and a busy room does not report each message", async () => {
    const all = new Deployment();
    const { reporting } = all;
    const { room } = reporting;
    const ada = await room.join("ada");
    await room.join("ben");
    await all.rest();
    all.look("ada");
    reporting.take();
    for (let i = 0; i < 50; i++) {
      await all.post("ben");
      await all.advance(100);
    }
    expect(reporting.take().length).toBeLessThanOrEqual(4);
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.unread("ada")).toBe(50);
    await ada.ask("read", { seq: 50 });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.unread("ada")).toBe(0);
  });

  it("a room that is awake learns at once that somebody begins to look", async () => {
    const all = new Deployment();
    await all.reporting.room.join("ada");
    for (let i = 0; i < 5; i++) await all.post("ben");
    all.look("ada");
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.unread("ada")).toBe(5);
  });

  it("no room is called that may sleep, and none reports sooner once nobody looks any more", async () => {
    const all = new Deployment();
    const { reporting } = all;
    await reporting.room.join("ada");
    await all.rest();
    await all.post("ben");
    await all.advance(10_000);
    expect(all.lobby.joined("ada", LOOK_MS).unaware).toEqual([]);
    await all.rest();
    await all.post("ben");
    reporting.take();
    await all.post("ben");
    await all.advance(REPORT_WINDOW_MS_MIN - 1);
    expect(reporting.take()).toEqual([]);
  });

  it("hears of another name of a room", async () => {
    const all = new Deployment();
    await all.reporting.room.join("ada");
    await all.rest();
    all.look("ada");
    let told = 0;
    all.lobby.whenChanged("ada", () => told++);
    await all.reporting.room.ask("describe", { user: "mia", role: "moderator" }, { name: "Coffee & code" });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(told).toBe(1);
    expect(all.lobby.joined("ada").rooms).toMatchObject([{ room: ROOM, name: "Coffee & code" }]);
  });

  it("hears of a change once, of its own rooms only", async () => {
    const all = new Deployment();
    await all.reporting.room.join("ada");
    await all.rest();
    const told: string[] = [];
    for (const user of ["ada", "zoe"]) {
      all.lobby.joined(user, LOOK_MS);
      all.lobby.whenChanged(user, () => told.push(user));
    }
    const { version } = all.lobby.joined("ada", LOOK_MS);
    await all.post("ben");
    await all.post("ben");
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(told).toEqual(["ada"]);
    expect(all.lobby.joined("ada").version).not.toBe(version);
  });
});

describe("after a crash", () => {
  it("of the room: the next report has the truth", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    await room.join("ada");
    await all.post("ben");
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(1);
    room.shell.crash();
    const ada = await room.join("ada");
    await ada.ask("read", { seq: 1 });
    await all.advance(120_000);
    expect(all.unread("ada")).toBe(0);
  });

  it("of the lobby: a page that says its mark again makes the room report, and nothing else has to happen there", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    all.look("ada");
    await all.post("ben");
    await all.rest();
    all.look("ada");
    await ada.ask("read", { seq: 1 });
    await all.advance(500);
    all.lobby.restart();
    await all.rest();
    // Its last row is from before.
    all.reporting.take();
    await ada.ask("read", { seq: 1 });
    await all.advance(REPORT_WINDOW_WATCHED_MS);
    expect(all.reporting.take()).toHaveLength(1);
    expect(all.unread("ada")).toBe(0);
  });

  it("a mark that is said again soon after a report makes none", async () => {
    const all = new Deployment();
    const { room } = all.reporting;
    const ada = await room.join("ada");
    await all.post("ben");
    await ada.ask("read", { seq: 1 });
    await all.advance(120_000);
    await all.post("ben");
    await ada.ask("read", { seq: 2 });
    await all.advance(60_000);
    await all.post("ben");
    all.reporting.take();
    for (let i = 0; i < 5; i++) await ada.ask("read", { seq: 2 });
    await all.advance(1000);
    expect(all.reporting.take()).toEqual([]);
  });
});
