// Reports to the lobby how the room is doing: at once after quiet, ever more seldom while it goes on, and once more when it
// falls quiet (LOB-1 to LOB-3). Uses a courier; a report that waits goes along with whatever wakes the room.
import type { Deadline } from "../../clock/deadlines.ts";
import { hasPassed } from "../../clock/has-passed.ts";
import type { ThrottleState } from "../../clock/throttle.ts";
import type { Answer, Message } from "../../protocol/chat-events.ts";
import type { DirectReport } from "../../protocol/direct-room.ts";
import { REPORT_AGAIN_MS, type ReportAnswer, type RoomReport } from "../../protocol/room-list.ts";
import { Courier, type Collected, type CourierState, type Retry } from "../room/courier.ts";
import { Carried } from "../room/carried.ts";
import type { Members } from "../room/members.ts";
import type { Reply } from "../room/operation.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";
import type { Counters } from "./counters.ts";
import { ReportClock, type ReportPlan } from "./report-clock.ts";
import { NEWS, REPORT_WINDOW_MS_MIN, ReportWindows, type News } from "./report-windows.ts";
import { isKnown, RoomFacts } from "./room-facts.ts";

/** An owed report waits so long for something else to wake the room: the heartbeat of stock clients is sooner. */
export const REPORT_PATIENCE_MS = 45_000;

/** Another number of connections is reported after this, lest each reload is a report. */
export const CONNECTIONS_SETTLED_MS = 10_000;

/** The waits after failures. */
const RETRY_MS = { first: 60_000, max: 3_600_000 };

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

type Reported = Pick<RoomReport, "connections" | "madeAtMs"> & Partial<RoomReport>;

/** The state that outlives the room's sleep on one of its connections. */
interface KeptListing {
  readonly window: ThrottleState;
  readonly news: News;
  /** Of the report that the lobby has last. */
  readonly reported?: Reported;
  /** The next look for something to report. */
  readonly lookAtMs?: number | undefined;
  readonly retry?: Retry | undefined;
  readonly wantsPeople: boolean;
}

export class Listing implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #facts: RoomFacts;
  readonly #counters: Counters;
  readonly #courier: Courier<RoomReport, ReportAnswer>;
  readonly #windows = new ReportWindows();
  readonly #carried: Carried<KeptListing>;
  #clock!: ReportClock;
  /** Set until the lobby has a report of this life of the room. */
  #unknown!: Deadline;
  #news: News = NEWS.none;
  /** The news in the report under way. */
  #sending: News = NEWS.none;
  /** The report that the lobby has; `undefined` where the latest may not have arrived. */
  #reported: Reported | undefined;
  /** Whether the lobby wants to know who is there. */
  #wantsPeople = false;
  #scheduled: CourierState = { is: "idle" };

  /** @param direct the two users of a room between two people */
  constructor(
    room: Room,
    members: Members,
    { send, counters, direct }: { send: ReportToLobby; counters: Counters; direct: () => DirectReport | undefined },
  ) {
    this.#room = room;
    this.#members = members;
    this.#counters = counters;
    this.#facts = new RoomFacts(room, members, direct);
    this.#carried = new Carried(room, { slot: new Slot("listing"), keyOf: () => "listing", perHolder: 1 });
    const waits = { people: { ...RETRY_MS, first: REPORT_WINDOW_MS_MIN }, list: RETRY_MS };
    const windows = this.#windows;
    const wantsPeople = (): boolean => this.#wantsPeople;
    this.#courier = new Courier(room, {
      throttle: {
        dueMs: (nowMs) => windows.dueMs(this.#level, this.#isEmpty, nowMs),
        pass: (nowMs) => this.#sending > NEWS.none && windows.pass(this.#sending, this.#isEmpty, nowMs),
      },
      // Users who are announced to are found soon after the lobby is back (ANN-7).
      get retryMs() {
        return wantsPeople() ? waits.people : waits.list;
      },
      isBehind: () => this.#level > NEWS.none,
      collect: (nowMs) => this.#collect(nowMs),
      send,
      settle: (report, answer) => this.#settle(report, answer),
      failed: (error) => this.#failed(error),
      keep: () => this.#keep(),
      schedule: () => this.#schedule(),
    });
  }

  start(): void {
    const { deadline, now, log } = this.#room;
    this.#clock = new ReportClock(this.#room, (nowMs) => this.#look(nowMs));
    // A room that is woken by its clock, and finds no connection that remembers a report, may have died (LOB-3). Without
    // messages it is no reason to wake again: a stranger can make any room's clock ring.
    const ring = (): void => {
      if (this.#carried.size === 0) this.#raise(log.lastSeq > 0 ? NEWS.change : NEWS.aside);
    };
    this.#unknown = deadline("lobby-unknown", ring, { rides: true });
    this.#unknown.set(now());
    this.#members.watch(() => this.#change(this.#wantsPeople ? NEWS.soon : NEWS.change));
  }

  onRestore(client: Client): void {
    for (const { window, news, reported, lookAtMs, retry, wantsPeople } of this.#carried.restore(client)) {
      this.#windows.restore(window);
      this.#news = news;
      this.#reported = reported;
      this.#wantsPeople = wantsPeople;
      if (retry) this.#courier.restore(retry);
      else this.#courier.request(this.#room.now());
      if (this.#courier.state.is === "idle") this.#clock.set({ alongMs: lookAtMs });
    }
  }

  onPosted(messages: readonly Message[]): void {
    this.#facts.noteActivity(messages.at(-1)!.timestamp);
    this.#change();
  }

  /** LOB-1: a room without members and messages leaves the list. */
  onTrimmed(): void {
    if (this.#facts.noteTrimmed()) this.#change();
  }

  /** DM-4: a read mark goes along with whatever wakes the room. */
  follow(event: string): Reply<Answer<object>> | undefined {
    if (event !== "read" || !this.#facts.direct) return undefined;
    return () => this.#raise(NEWS.aside);
  }

  onConnect(): void {
    this.#schedule();
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
    this.#schedule();
  }

  onErase(): undefined {
    this.#courier.stop();
    this.#clock.set({});
    this.#unknown.clear();
  }

  /** The lobby is to know who is there, from now on. */
  tellPeople(): void {
    if (this.#wantsPeople || this.#isEmpty) return;
    this.#wantsPeople = true;
    this.tell(NEWS.soon);
  }

  /** Reports although the lobby may have the same report: it is no longer true, or not enough. */
  tell(news: News = NEWS.change): void {
    this.#reported = undefined;
    this.#change(news);
  }

  /** Called after each input: failures are a reason for a report (MET-2), and counters have to outlive a sleep that may follow. */
  onTurnEnd(): void {
    const nowMs = this.#room.now();
    if (this.#counters.hasFailures) this.#courier.request(nowMs);
    if (this.#counters.hasFailures || this.#isEmpty) this.#courier.run(nowMs);
    this.#counters.keepSometimes(nowMs);
  }

  // ---- when ------------------------------------------------------------------------------------------------

  get #isEmpty(): boolean {
    return this.#room.clients.size === 0;
  }

  get #level(): News {
    return this.#news === NEWS.none && this.#counters.hasFailures ? NEWS.aside : this.#news;
  }

  #change(news: News = NEWS.change): void {
    this.#raise(this.#facts.direct ? NEWS.soon : news);
  }

  #raise(news: News): void {
    const nowMs = this.#room.now();
    const isRaised = news > this.#news;
    if (isRaised) this.#news = news;
    // LOB-3: the next change is a reason to try again.
    if (news >= NEWS.change) this.#courier.hurry(nowMs);
    this.#courier.request(nowMs);
    if (isRaised) this.#schedule();
    if (this.#courier.state.is === "waiting") this.#courier.run(nowMs);
  }

  #look(nowMs: number): void {
    if (!this.#isEmpty && (this.#hasOtherConnections || this.#isOld(nowMs))) this.#raise(NEWS.aside);
    this.#courier.run(nowMs);
    this.#schedule();
  }

  get #hasOtherConnections(): boolean {
    return this.#reported !== undefined && this.#reported.connections !== this.#room.clients.size;
  }

  /** LOB-4: whether the lobby is soon going to doubt what it knows. */
  #isOld(nowMs: number): boolean {
    return hasPassed(this.#reported?.madeAtMs ?? -Infinity, REPORT_AGAIN_MS, nowMs);
  }

  #schedule(): void {
    const { state } = this.#courier;
    const isNew = this.#clock.set(this.#plan(state));
    if (isNew || state !== this.#scheduled) this.#keep();
    this.#scheduled = state;
  }

  #plan(state: CourierState): ReportPlan {
    if (state.is === "sending") return {};
    if (state.is === "idle") return { alongMs: this.#lookMs };
    const { is, atMs } = state;
    if (this.#owed <= NEWS.aside) return { alongMs: atMs };
    if (is === "retrying") return { latestMs: atMs };
    if (this.#isEmpty) return { awakeMs: atMs };
    return { alongMs: atMs, latestMs: this.#owed === NEWS.soon ? atMs : atMs + REPORT_PATIENCE_MS };
  }

  /** The next look for something to report, while there is nothing. */
  get #lookMs(): number | undefined {
    if (this.#isEmpty) return undefined;
    const nowMs = this.#room.now();
    if (!this.#hasOtherConnections) return Math.min(this.#reported?.madeAtMs ?? -Infinity, nowMs) + REPORT_AGAIN_MS;
    const settledMs = Math.max(nowMs + CONNECTIONS_SETTLED_MS, this.#windows.dueMs(NEWS.aside, false, nowMs));
    return Math.min(this.#clock.alongMs ?? Infinity, settledMs);
  }

  // ---- what ------------------------------------------------------------------------------------------------

  #collect(nowMs: number): Collected<RoomReport> {
    const report = this.#facts.describe(this.#wantsPeople);
    if (!report) return this.#unreadable(nowMs);
    const isOld = this.#members.count > 0 && this.#isOld(nowMs);
    const isAside = this.#counters.hasFailures || this.#hasOtherConnections || isOld;
    const isNews = isAside || !isKnown(report, this.#reported, this.#wantsPeople);
    this.#sending = isNews ? this.#level : NEWS.none;
    this.#news = NEWS.none;
    if (!isNews) return {};
    const deltas = this.#counters.take(nowMs);
    return { parcel: deltas.length > 0 ? { ...report, deltas } : report };
  }

  #unreadable(nowMs: number): Collected<RoomReport> {
    if (this.#news > NEWS.aside) throw new Error("the log could not be read");
    // Failures wait for the next window, not for the next failure.
    this.#windows.pass(NEWS.aside, this.#isEmpty, nowMs);
    return {};
  }

  #settle(report: RoomReport, { wantsPeople }: ReportAnswer): undefined {
    this.#sending = NEWS.none;
    this.#counters.arrived();
    this.#unknown.clear();
    this.#reported = report;
    if (!wantsPeople || this.#wantsPeople) return;
    this.#wantsPeople = true;
    if (report.people === undefined && !this.#isEmpty) this.#news = NEWS.soon;
  }

  #failed(error: unknown): void {
    this.#news = this.#owed;
    this.#sending = NEWS.none;
    this.#reported = undefined;
    // Once for a series: while the lobby is away, every room would log it again and again.
    if (this.#courier.failures === 1) this.#room.report("the report to the lobby failed", error);
  }

  /** The news that the lobby may not have, those of the report under way included. */
  get #owed(): News {
    return this.#sending > this.#news ? this.#sending : this.#news;
  }

  #keep(): void {
    const isSending = this.#courier.state.is === "sending";
    this.#carried.put("listing", {
      window: this.#windows.state,
      news: this.#owed,
      lookAtMs: isSending ? this.#room.now() : this.#clock.alongMs,
      retry: this.#courier.retry,
      wantsPeople: this.#wantsPeople,
      ...(this.#reported && !isSending && { reported: shortened(this.#reported) }),
    });
  }
}

/** The rest is compared by its news alone, and people may be many. */
const shortened = ({ connections = 0, madeAtMs }: Reported): Reported => ({ connections, madeAtMs });
