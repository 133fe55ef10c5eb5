// Tests a room's reports to the lobby, and their timing: LOB-1 to LOB-4
import { describe, expect, it } from "vitest";

import { REPORT_BELIEVED_MS } from "../../../src/chat/listing/room-facts.ts";
import { REPORT_PATIENCE_MS } from "../../../src/chat/listing/listing.ts";
import { REPORT_WINDOW_MS_MIN } from "../../../src/chat/listing/report-windows.ts";
import { marksOf } from "../../../src/protocol/people-marks.ts";
import { ROOM_DELETED } from "../../../src/chat/room/notices.ts";
import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { identityOf, ROOM } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";

const HOUR_MS = 3_600_000;

describe("when a room reports: LOB-2", () => {
  it("at once what happens after quiet, whole", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.settle();
    const empty = { room: ROOM, lastSeq: 0, lastActivity: null, believedMs: REPORT_BELIEVED_MS };
    const here = { members: 1, connections: 1, madeAtMs: START_MS, people: marksOf(["ada"]) };
    expect(reporting.reports).toEqual([{ ...empty, ...here, deltas: [expect.anything()] }]);
    await reporting.advance(HOUR_MS);
    reporting.take();
    await reporting.post();
    expect(reporting.reports).toMatchObject([{ members: 1, lastSeq: 1, lastActivity: START_MS + HOUR_MS }]);
  });

  it("what comes soon after waits, and is told once, with what wakes the room anyway", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.settle();
    for (let i = 0; i < 5; i++) await reporting.post();
    await reporting.room.join("ben");
    await reporting.settle();
    expect(reporting.take()).toEqual([{ members: 1, lastSeq: 0 }]);
    // The heartbeat of stock clients is due first.
    await reporting.advance(REPORT_WINDOW_MS_MIN + REPORT_PATIENCE_MS);
    expect(reporting.take()).toEqual([{ members: 2, lastSeq: 5 }]);
    await reporting.live(REPORT_AGAIN_MS - 120_000, 30_000);
    expect(reporting.take()).toEqual([]);
  });

  it("in a room that is always busy ever more seldom, once a minute at last", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    const minute = async (): Promise<number> => {
      for (let i = 0; i < 30; i++) {
        await reporting.post();
        await reporting.advance(2000);
      }
      return reporting.take().length;
    };
    expect(await minute()).toBeLessThanOrEqual(5);
    for (let i = 0; i < 5; i++) await minute();
    expect(await minute()).toBeLessThanOrEqual(1 + 1);
    let hour = 0;
    for (let i = 0; i < 20; i++) hour += await minute();
    expect(hour).toBeLessThanOrEqual(21);
    // It falls quiet: the last word is right.
    await reporting.post();
    await reporting.live(180_000, 5000);
    expect(reporting.take().at(-1)).toEqual({ members: 1, lastSeq: 27 * 30 + 1 });
  });

  it("at once when the last one goes: nobody stays who would remember to tell it", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    ada.leave();
    await reporting.settle();
    expect(reporting.take()).toEqual([
      { members: 1, lastSeq: 0 },
      { members: 0, lastSeq: 1 },
    ]);
    await reporting.advance(HOUR_MS);
    expect(reporting.take()).toEqual([]);
  });

  it("at once when the first one comes, whatever was told a moment ago", async () => {
    const reporting = new ReportingRoom();
    await reporting.post();
    await reporting.room.join("ada");
    await reporting.room.join("ben");
    await reporting.settle();
    expect(reporting.take()).toEqual([
      { members: 0, lastSeq: 1 },
      { members: 1, lastSeq: 1 },
    ]);
  });

  it("a reload is nobody's business, whether the room is awake or was asleep", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    let ben = await reporting.room.join("ben");
    let second = await reporting.room.join("ada");
    await reporting.live(120_000, 30_000);
    reporting.take();
    for (const sleeps of [false, true]) {
      if (sleeps) reporting.room.shell.evict();
      ben.leave();
      second.leave();
      await reporting.advance(3000);
      reporting.room.shell.ring();
      ben = await reporting.room.join("ben");
      second = await reporting.room.join("ada");
      await reporting.live(600_000, 30_000);
      expect(reporting.take()).toEqual([]);
    }
  });

  it("a second tab is told with whatever wakes the room, once, and wakes nobody", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    reporting.take();
    const { shell } = reporting.room;
    const { quietMs } = shell;
    const second = await reporting.room.join("ada");
    expect([reporting.reports.length, shell.quietMs]).toEqual([0, quietMs]);
    // It sleeps soon after each of its heartbeats.
    for (let i = 0; i < 5; i++) {
      shell.evict();
      await reporting.advance(30_000);
    }
    expect(reporting.reports.splice(0)).toMatchObject([{ members: 1, connections: 2 }]);
    shell.evict();
    second.leave();
    await reporting.advance(1000);
    for (let i = 0; i < 5; i++) {
      shell.evict();
      await reporting.advance(30_000);
    }
    expect(reporting.reports).toMatchObject([{ members: 1, connections: 1 }]);
  });

  it("posts from outside to a room with nobody in it: at once, and once a second, with no alarm", async () => {
    const reporting = new ReportingRoom();
    for (let i = 0; i < 10; i++) await reporting.post();
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 1 }]);
    expect(reporting.room.shell.canSleep, "it does not forget what it owes").toBe(false);
    await reporting.advance(1000);
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 10 }]);
    expect(reporting.room.shell.quietMs).toBe(Infinity);
    expect(reporting.room.state.writes).toBe(0);
  });

  it("a thousand who come at once are a few reports", async () => {
    const reporting = new ReportingRoom();
    const people = [];
    for (let i = 0; i < 1000; i++) {
      people.push(await reporting.room.join(`user-${i}`));
      if (i % 10 === 0) await reporting.advance(100);
    }
    await reporting.live(180_000, 5000);
    const came = reporting.take();
    expect(came.at(-1)).toEqual({ members: 1000, lastSeq: 0 });
    expect(came.length).toBeLessThanOrEqual(5);
    for (const person of people) person.leave();
    await reporting.settle();
    const went = reporting.take();
    expect(went.at(-1)).toEqual({ members: 0, lastSeq: 0 });
    expect(went.length).toBeLessThanOrEqual(3);
  });
});

describe("sleep: LOB-3", () => {
  it("what is owed is told after a sleep, and what was told is not", async () => {
    const reporting = new ReportingRoom();
    const { shell } = reporting.room;
    await reporting.room.join("ada");
    await reporting.post();
    reporting.take();
    await reporting.advance(1500);
    shell.evict();
    await reporting.advance(REPORT_WINDOW_MS_MIN + REPORT_PATIENCE_MS);
    expect(reporting.take()).toEqual([{ members: 1, lastSeq: 1 }]);
    for (let i = 0; i < 10; i++) {
      shell.evict();
      await reporting.advance(50_000);
    }
    expect(reporting.take()).toEqual([]);
  });

  it("who carries what is owed may go: somebody else takes it", async () => {
    const reporting = new ReportingRoom();
    const { shell } = reporting.room;
    const ada = await reporting.room.join("ada");
    await reporting.room.join("ben");
    await reporting.settle();
    reporting.take();
    ada.leave();
    await reporting.advance(1500);
    shell.evict();
    await reporting.live(60_000, 5000);
    expect(reporting.take().at(-1)).toEqual({ members: 1, lastSeq: 0 });
  });

  it("an occupied room says so again, when it wakes anyway, long before it is doubted", async () => {
    const reporting = new ReportingRoom();
    // A client with extensions: the room wakes for its sake twice an hour.
    await reporting.room.shell.connect({ identity: identityOf({ user: "ada", name: "Ada" }) }, undefined, {
      isExtended: true,
    });
    await reporting.settle();
    reporting.take();
    const toldAtMs: number[] = [];
    reporting.onReport = () => void toldAtMs.push(reporting.room.shell.nowMs);
    for (let i = 0; i < 48; i++) {
      await reporting.advance(REPORT_AGAIN_MS);
      reporting.room.shell.evict();
    }
    const gaps = toldAtMs.map((atMs, i) => atMs - (toldAtMs[i - 1] ?? START_MS));
    expect(Math.max(...gaps)).toBeLessThan(REPORT_BELIEVED_MS / 2);
    expect(toldAtMs.length).toBeLessThanOrEqual(48);
  });

  it("a room that died says so, when its clock rings", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.post();
    await reporting.settle();
    reporting.take();
    reporting.room.shell.crash();
    // The alarm that the dead one had set.
    reporting.room.shell.ring();
    await reporting.settle();
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 1 }]);
    reporting.room.shell.ring();
    await reporting.settle();
    expect(reporting.take()).toEqual([]);
  });

  it("a room that is only looked at tells nothing", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.call("history", "ada", {});
    reporting.room.chat.calls.overview();
    await reporting.settle();
    expect(reporting.reports).toEqual([]);
    expect(reporting.room.shell.quietMs).toBe(Infinity);
  });
});

describe("a room that ends", () => {
  it("says no more of what it was, also where a report was under way", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    await reporting.advance(HOUR_MS);
    reporting.take();
    await reporting.room.call("chat-message", "ada", { content: "last words" });
    reporting.room.chat.calls.prepareShutdown(() => ROOM_DELETED);
    ada.leave();
    reporting.room.chat.calls.prepareErase();
    reporting.take();
    await reporting.settle();
    expect(reporting.take()).toEqual([]);
  });

  it("by forgetting its last message is in no list any more: LOB-1", async () => {
    const reporting = new ReportingRoom();
    const lobby = new MemoryLobby();
    reporting.onReport = (report) => lobby.report(report);
    reporting.room.log.retention = { messages: 100, ageMs: 24 * HOUR_MS };
    await reporting.post();
    await reporting.settle();
    expect(lobby.list()).toHaveLength(1);
    reporting.room.shell.evict();
    await reporting.advance(48 * HOUR_MS);
    reporting.room.shell.ring();
    await reporting.settle();
    expect(lobby.list()).toEqual([]);
  });

  it("a room whose clock was set back by less than a minute is heard all the same, at once: LOB-1", async () => {
    const reporting = new ReportingRoom();
    const lobby = new MemoryLobby();
    reporting.onReport = (report) => lobby.report(report);
    const ada = await reporting.room.join("ada");
    await reporting.settle();
    reporting.room.shell.nowMs -= 40_000;
    ada.leave();
    await reporting.advance(20_000);
    expect(lobby.list()).toEqual([]);
    // Not for ever: the next reports follow one another as before.
    expect(reporting.take().length).toBeLessThanOrEqual(3);
  });
});
