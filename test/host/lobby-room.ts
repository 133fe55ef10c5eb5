// A room that reports to a lobby, which keeps the reports and can fail. Called by the tests of the listing.
import { setImmediate } from "node:timers/promises";

import type { LinkTransport } from "../../src/relay/transport.ts";
import type { ReportAnswer, RoomReport } from "../../src/protocol/room-list.ts";
import { ChatRoom, UNLIMITED, type RoomParts } from "./chat-room.ts";

export class ReportingRoom {
  readonly room: ChatRoom;
  readonly reports: RoomReport[] = [];
  /** While set, reports fail with it. */
  failure: Error | undefined;
  /** Called with each report that arrives. @returns the lobby's answer */
  onReport: (report: RoomReport) => ReportAnswer | void = () => {};
  #posted = 0;

  constructor(relay?: LinkTransport, more: Pick<RoomParts, "custom" | "name"> = {}) {
    const send = async (report: RoomReport): Promise<ReportAnswer> => {
      this.reports.push(report);
      // A call to another object answers later.
      await setImmediate();
      if (this.failure) throw this.failure;
      return this.onReport(report) ?? {};
    };
    this.room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 }, {}, { reportToLobby: send, relay, ...more });
  }

  /** The reports since the last call. */
  take(): Array<Pick<RoomReport, "members" | "lastSeq">> {
    return this.reports.splice(0).map(({ members, lastSeq }) => ({ members, lastSeq }));
  }

  /** The sum of a series over all reports; a batch that was sent again counts once. */
  counted(series: string): number {
    const batches = new Map(this.reports.flatMap(({ delta }) => (delta ? [[delta.id, delta.counts]] : [])));
    return [...batches.values()].reduce((sum, counts) => sum + (counts[series] ?? 0), 0);
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
    await this.room.ask("chat-message", "ada", { content: `post ${++this.#posted}` });
    await this.settle();
  }
}
