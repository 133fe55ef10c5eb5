// Tests a room's reports to the lobby, and their timing: LOB-1 to LOB-4
import { describe, expect, it } from "vitest";

import { REPORT_BELIEVED_MS } from "../../../src/features/directory/room-facts.ts";
import {
  REPORT_PATIENCE_MS,
  REPORT_WINDOW_EMPTY_MS,
  REPORT_WINDOW_MS_MIN,
} from "../../../src/features/directory/pace.ts";
import { marksOf } from "../../../src/protocol/people-marks.ts";
import { ROOM_DELETED } from "../../../src/chat/room/notices.ts";
import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { identityOf, ROOM } from "../../host/chat-room.ts";
import { START_MS } from "../../host/harness.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";
import { MemoryLobby } from "../../host/memory-lobby.ts";

const HOUR_MS = 3_600_000;

describe("when a room reports: LOB-2", () => {
  it("reports a change after quiet at once", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.settle();
    const empty = { room: ROOM, lastSeq: 0, lastActivity: null, believedMs: REPORT_BELIEVED_MS };
    const here = {
      members: 1,
      connections: 1,
      madeAtMs: START_MS,
      people: marksOf(["ada"]),
      unread: expect.any(String),
    };
    expect(reporting.reports).toEqual([{ ...empty, ...here, delta: expect.anything() }]);
    await reporting.advance(REPORT_AGAIN_MS / 2);
    reporting.take();
    await reporting.post();
    const lastActivity = START_MS + REPORT_AGAIN_MS / 2;
    expect(reporting.reports).toMatchObject([{ members: 1, lastSeq: 1, lastActivity }]);
  });

  it("reports later changes once, with the next event that wakes the room", async () => {
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

  it("doubles the window of a busy room up to a minute", async () => {
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
    // It falls quiet: the last report is right.
    await reporting.post();
    await reporting.live(180_000, 5000);
    expect(reporting.take().at(-1)).toEqual({ members: 1, lastSeq: 27 * 30 + 1 });
  });

  it("reports within a second that the last member left", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    ada.leave();
    expect(reporting.room.shell.canSleep).toBe(false);
    await reporting.advance(REPORT_WINDOW_EMPTY_MS);
    expect(reporting.take()).toEqual([
      { members: 1, lastSeq: 0 },
      { members: 0, lastSeq: 1 },
    ]);
    await reporting.advance(HOUR_MS);
    expect(reporting.take()).toEqual([]);
  });

  it("reports within a second that the first member came", async () => {
    const reporting = new ReportingRoom();
    await reporting.post();
    await reporting.room.join("ada");
    await reporting.room.join("ben");
    await reporting.advance(REPORT_WINDOW_EMPTY_MS);
    expect(reporting.take()).toEqual([
      { members: 0, lastSeq: 1 },
      { members: 2, lastSeq: 1 },
    ]);
  });

  it("causes no report for a reload, awake or asleep", async () => {
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

  it("causes no report for a second tab, and counts it in the next one", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    reporting.take();
    const { shell } = reporting.room;
    const { quietMs } = shell;
    await reporting.room.join("ada");
    expect(shell.quietMs).toBe(quietMs);
    await reporting.live(600_000, 30_000);
    expect(reporting.reports).toEqual([]);
    await reporting.post();
    expect(reporting.reports).toMatchObject([{ members: 1, connections: 2 }]);
  });

  it("reports posts over HTTP to an empty room at once and then once a second, without an alarm", async () => {
    const reporting = new ReportingRoom();
    for (let i = 0; i < 10; i++) await reporting.post();
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 1 }]);
    expect(reporting.room.shell.canSleep, "it does not forget what it owes").toBe(false);
    await reporting.advance(1000);
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 10 }]);
    expect(reporting.room.shell.quietMs).toBe(Infinity);
    expect(reporting.room.state.writes).toBe(0);
  });

  it("makes a few reports when hundreds of members come and go", async () => {
    const reporting = new ReportingRoom();
    const people = [];
    for (let i = 0; i < 300; i++) {
      people.push(await reporting.room.join(`user-${i}`));
      if (i % 10 === 0) await reporting.advance(100);
    }
    await reporting.live(180_000, 5000);
    const came = reporting.take();
    expect(came.at(-1)).toEqual({ members: 300, lastSeq: 0 });
    expect(came.length).toBeLessThanOrEqual(5);
    for (const person of people) person.leave();
    await reporting.advance(REPORT_WINDOW_EMPTY_MS);
    const went = reporting.take();
    expect(went.at(-1)).toEqual({ members: 0, lastSeq: 0 });
    expect(went.length).toBeLessThanOrEqual(3);
  });
});

describe("sleep: LOB-3", () => {
  it("sends owed reports after a sleep, and none that has arrived", async () => {
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

  it("hands the last report over to another connection when its holder goes", async () => {
    const reporting = new ReportingRoom();
    const { shell } = reporting.room;
    const ada = await reporting.room.join("ada");
    await reporting.room.join("ben");
    await reporting.room.join("eve");
    await reporting.settle();
    reporting.take();
    ada.leave();
    await reporting.advance(1500);
    shell.evict();
    await reporting.live(60_000, 5000);
    expect(reporting.take().at(-1)).toEqual({ members: 2, lastSeq: 0 });
    shell.evict();
    await reporting.live(600_000, 30_000);
    expect(reporting.take()).toEqual([]);
  });

  it("repeats the report of an occupied room when it wakes, long before the lobby takes it for empty", async () => {
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

  it("reports a room that died when its alarm rings", async () => {
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

  it("causes no report for reading requests", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.ask("history", "ada", {});
    reporting.room.chat.calls.overview();
    await reporting.settle();
    expect(reporting.reports).toEqual([]);
    expect(reporting.room.shell.quietMs).toBe(Infinity);
  });
});

describe("a room that ends", () => {
  it("sends no further report after the deletion, also with one under way", async () => {
    const reporting = new ReportingRoom();
    const ada = await reporting.room.join("ada");
    await reporting.post();
    await reporting.advance(HOUR_MS);
    reporting.take();
    await reporting.room.ask("chat-message", "ada", { content: "last words" });
    reporting.room.chat.calls.prepareShutdown(() => ROOM_DELETED);
    ada.leave();
    reporting.room.chat.calls.prepareErase();
    reporting.take();
    await reporting.settle();
    expect(reporting.take()).toEqual([]);
  });

  it("leaves the list when its last message is dropped: LOB-1", async () => {
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

  it("reports at once after its clock was set back by less than a minute: LOB-1", async () => {
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
