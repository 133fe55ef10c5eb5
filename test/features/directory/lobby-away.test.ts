// Tests a room whose lobby cannot be reached: it goes on, retries less and less often, and loses no count. LOB-3
import { describe, expect, it } from "vitest";

import { REPORT_WINDOW_MS_MIN } from "../../../src/features/directory/pace.ts";
import { REPORT_AGAIN_MS } from "../../../src/protocol/room-list.ts";
import { ChatRoom } from "../../host/chat-room.ts";
import { ReportingRoom } from "../../host/lobby-room.ts";

describe("a lobby that is away: LOB-3", () => {
  it("disturbs no client, is logged once, and gets a report of the next change", async () => {
    const reporting = new ReportingRoom();
    reporting.failure = new Error("the lobby is moving");
    const ada = await reporting.room.join("ada");
    for (let i = 0; i < 20; i++) {
      expect(await ada.ask("chat-message", { content: `${i}` })).toMatchObject({ ok: true });
      await reporting.advance(2000);
    }
    expect(reporting.room.shell.problems).toMatchObject([{ problem: "the report to the lobby failed" }]);
    expect(reporting.take().length).toBeLessThan(8);
    reporting.failure = undefined;
    await reporting.live(240_000, 30_000);
    reporting.take();
    await reporting.post();
    expect(reporting.take()).toEqual([{ members: 1, lastSeq: 21 }]);
  });

  it("gets no further retries for tabs that come and go", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    await room.join("ada");
    await reporting.advance(60_000);
    reporting.take();
    reporting.failure = new Error("the lobby is moving");
    for (let i = 0; i < 120; i++) {
      const second = await room.join("ada");
      await reporting.advance(15_000);
      second.leave();
      await reporting.advance(15_000);
    }
    expect(reporting.take().length).toBeLessThanOrEqual(8);
  });

  it("causes no alarm in an unused room that an unjoined session opened", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    reporting.failure = new Error("the lobby is moving");
    const stranger = room.shell.open();
    await reporting.advance(11_000);
    stranger.leave();
    await reporting.settle();
    expect(room.shell.quietMs).toBe(Infinity);
  });

  it("gets a retry after 5 s from a room that reports its members: ANN-7", async () => {
    const reporting = new ReportingRoom();
    reporting.onReport = () => ({ wantsPeople: true });
    await reporting.room.join("ada");
    await reporting.advance(60_000);
    reporting.failure = new Error("the lobby is moving");
    await reporting.room.join("ben");
    await reporting.settle();
    reporting.failure = undefined;
    reporting.take();
    await reporting.advance(REPORT_WINDOW_MS_MIN);
    expect(reporting.take()).toEqual([{ members: 2, lastSeq: 0 }]);
  });

  it("is not needed: a room works without the binding", async () => {
    const room = new ChatRoom();
    const ada = await room.join("ada");
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject({ ok: true });
    room.chat.parts.hooks.tell("onReportChanged");
    expect(room.shell.problems).toEqual([]);
  });

  it("gets the report of a room that died once it is back", async () => {
    const reporting = new ReportingRoom();
    await reporting.room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    reporting.failure = new Error("away");
    reporting.room.shell.crash();
    reporting.room.shell.ring();
    await reporting.settle();
    reporting.failure = undefined;
    reporting.take();
    await reporting.advance(REPORT_AGAIN_MS);
    expect(reporting.take()).toEqual([{ members: 0, lastSeq: 1 }]);
  });

  it("gets that report also after an unjoined session came before the alarm", async () => {
    const reporting = new ReportingRoom();
    const { room } = reporting;
    await room.join("ada");
    await reporting.post();
    await reporting.advance(60_000);
    reporting.failure = new Error("away");
    room.shell.crash();
    await room.joinWithToken("of nobody");
    await reporting.settle();
    room.shell.ring();
    await reporting.settle();
    reporting.failure = undefined;
    reporting.take();
    await reporting.advance(REPORT_AGAIN_MS);
    expect(reporting.take()[0]).toEqual({ members: 0, lastSeq: 1 });
  });
});
