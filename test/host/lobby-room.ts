// A room that tells a lobby how it is doing, for tests: what it told, and a lobby that can be away.
import { setImmediate } from "node:timers/promises";

import type { LinkTransport } from "../../src/relay/transport.ts";
import type { ReportAnswer, RoomReport } from "../../src/protocol/room-list.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";

export class ReportingRoom {
  readonly room: ChatRoom;
  readonly reports: RoomReport[] = [];
  /** While set, reports fail with it. */
  failure: Error | undefined;
  /** Called with each report that arrives; what it returns is the lobby's answer. */
  onReport: (report: RoomReport) => ReportAnswer | void = () => {};
  #posted = 0;

  constructor(relay?: LinkTransport) {
    const send = async (report: RoomReport): Promise<ReportAnswer> => {
      this.reports.push(report);
      // A call to another object answers later.
      await setImmediate();
      if (this.failure) throw this.failure;
      return this.onReport(report) ?? {};
    };
    this.room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 }, {}, { reportToLobby: send, relay });
  }

  /** What was told since the last time. */
  take(): Array<Pick<RoomReport, "members" | "lastSeq">> {
    return this.reports.splice(0).map(({ members, lastSeq }) => ({ members, lastSeq }));
  }

  /** Lets reports that are under way arrive. */
  async settle(): Promise<void> {
    await setImmediate();
    await setImmediate();
  }

  async advance(ms: number): Promise<void> {
    await this.settle();
    this.room.shell.advance(ms);
    await this.settle();
  }

  /** In steps, so that answers arrive in between as they would. */
  async live(ms: number, stepMs: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) await this.advance(stepMs);
  }

  async post(): Promise<void> {
    await this.room.call("chat-message", "ada", { content: `post ${++this.#posted}` });
    await this.settle();
  }
}
