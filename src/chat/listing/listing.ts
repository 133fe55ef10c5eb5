// Reports the room to the lobby (LOB-1 to LOB-4). What is owed follows from a comparison: the facts of the last report that arrived
// against those of now. It is made after each input. A change of the list may wake the room for a report; failures (MET-2),
// read marks (DM-4) and the half-hourly repetition wait until another event wakes it. Made by features.ts.
import type { Deadline } from "../../clock/deadlines.ts";
import { hasPassed } from "../../clock/has-passed.ts";
import { Throttle, type ThrottleState } from "../../clock/throttle.ts";
import type { Message } from "../../protocol/chat-events.ts";
import type { DirectReport } from "../../protocol/direct-room.ts";
import { REPORT_AGAIN_MS, type ReportAnswer, type RoomReport } from "../../protocol/room-list.ts";
import { Carried } from "../room/carried.ts";
import { Courier, type Collected, type Retry } from "../room/courier.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";
import type { Counters } from "./counters.ts";
import { RoomFacts, type Facts } from "./room-facts.ts";

/** From one report to the next: this long at first, and up to that long in a room that is always busy (LOB-2). */
export const REPORT_WINDOW_MS_MIN = 5000;
export const REPORT_WINDOW_MS_MAX = 60_000;

/** The same where the room is empty, or was: no connection remembers what an empty room owes, so it waits awake. */
export const REPORT_WINDOW_EMPTY_MS = 1000;

/** An alarm for an owed report is set this much later: the heartbeat of stock clients is sooner, and takes the report along. */
export const REPORT_PATIENCE_MS = 45_000;

/** The waits after failures. */
const RETRY_MS = { first: 60_000, max: 3_600_000 };

export type ReportToLobby = (report: RoomReport) => Promise<ReportAnswer>;

/** The facts of a report, and when it was made. */
type Reported = Facts & Pick<RoomReport, "madeAtMs">;

/** Outlives the room's sleep on one of its connections. */
interface KeptListing {
  readonly throttle: ThrottleState;
  readonly reported: Reported | undefined;
  readonly retry: Retry | undefined;
  readonly wantsPeople: boolean;
}

export class Listing implements Feature {
  readonly #room: Room;
  readonly #facts: RoomFacts;
  readonly #counters: Counters;
  readonly #courier: Courier<RoomReport, ReportAnswer>;
  readonly #throttle = new Throttle(REPORT_WINDOW_MS_MIN, REPORT_WINDOW_MS_MAX);
  readonly #carried: Carried<KeptListing>;
  #reportDeadline!: Deadline;
  #unknownDeadline!: Deadline;
  /** What the lobby has; `undefined` while it may have something else. */
  #reported: Reported | undefined;
  /** The lobby needs the members in each report: this deployment announces to users. */
  #wantsPeople = false;

  /** @param direct the two users and their read marks, in a room between two people */
  constructor(
    room: Room,
    { send, counters, direct }: { send: ReportToLobby; counters: Counters; direct: () => DirectReport | undefined },
  ) {
    this.#room = room;
    this.#counters = counters;
    this.#facts = new RoomFacts(room, direct);
    this.#carried = new Carried(room, { slot: new Slot("listing"), keyOf: () => "listing", perHolder: 1 });
    const wantsPeople = (): boolean => this.#wantsPeople;
    this.#courier = new Courier(room, {
      throttle: { dueMs: (nowMs) => this.#dueMs(nowMs), pass: (nowMs) => this.#throttle.pass(nowMs) },
      // Users who are announced to are found soon after the lobby is back (ANN-7).
      get retryMs() {
        return wantsPeople() ? { ...RETRY_MS, first: REPORT_WINDOW_MS_MIN } : RETRY_MS;
      },
      isBehind: () => this.#owesListing || this.#owesAnything,
      collect: (nowMs) => this.#collect(nowMs),
      send,
      settle: (report, answer) => this.#settle(report, answer),
      // Once for a series: while the lobby is away, every room would log it again and again.
      failed: (error) => this.#courier.failures === 1 && room.reportProblem("the report to the lobby failed", error),
      keep: () => this.#keep(),
      schedule: () => this.#setDeadline(),
    });
  }

  start(): void {
    const { deadline, members, now } = this.#room;
    this.#reportDeadline = deadline("lobby", (nowMs) => this.#courier.run(nowMs));
    this.#reported = { ...this.#facts.now(), madeAtMs: now() };
    // LOB-3. A stranger can make the alarm of an unused room ring: such a room reports once, and sets no alarm to try again.
    const ring = (): void => {
      if (this.#room.clients.size > 0) return;
      const facts = this.#facts.now();
      this.#reported = facts.lastSeq > 0 ? undefined : { ...facts, madeAtMs: -Infinity };
    };
    this.#unknownDeadline = deadline("lobby-unknown", ring, { piggybacks: true });
    this.#unknownDeadline.set(now());
    members.watch(() => (this.#wantsPeople ? this.reportAgain() : this.#courier.hurry(now())));
  }

  onRestore(client: Client): void {
    for (const { throttle, reported, retry, wantsPeople } of this.#carried.restore(client)) {
      this.#throttle.restore(throttle);
      this.#reported = reported;
      this.#wantsPeople = wantsPeople;
      if (retry) this.#courier.restore(retry);
    }
  }

  onPosted(messages: readonly Message[]): void {
    this.#facts.noteActivity(messages.at(-1)!.timestamp);
    this.#courier.hurry(this.#room.now());
  }

  onTurnEnd(): void {
    const nowMs = this.#room.now();
    this.#courier.request(nowMs);
    this.#courier.run(nowMs);
    this.#setDeadline();
    this.#counters.keepThrottled(nowMs);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
  }

  onErase(): undefined {
    this.#courier.stop();
    this.#unknownDeadline.clear();
  }

  /** The lobby is to know the members from now on. */
  reportPeople(): void {
    if (this.#wantsPeople || this.#room.clients.size === 0) return;
    this.#wantsPeople = true;
    this.reportAgain();
  }

  /** Reports although the facts may be those of the last report: something else has changed. */
  reportAgain(): void {
    const nowMs = this.#room.now();
    this.#reported = undefined;
    this.#courier.drop(nowMs);
    this.#courier.hurry(nowMs);
    this.#keep();
  }

  // ---- what is owed, and when ------------------------------------------------------------------------------

  /** The list would change: worth an alarm. */
  get #owesListing(): boolean {
    const { members, lastSeq, isBare } = this.#facts.now();
    const reported = this.#reported;
    return reported?.members !== members || reported.lastSeq !== lastSeq || reported.isBare !== isBare;
  }

  /** Something is worth a report while the room is awake. */
  get #owesAnything(): boolean {
    const { readMarks, madeAtMs = -Infinity } = this.#reported ?? {};
    if (this.#counters.isOwed || readMarks !== this.#facts.now().readMarks) return true;
    return hasPassed(madeAtMs, REPORT_AGAIN_MS, this.#room.now());
  }

  /** The longest window before a change of the list is reported. */
  get #windowMsMax(): number {
    if (this.#room.clients.size === 0 || this.#reported?.members === 0) return REPORT_WINDOW_EMPTY_MS;
    const isPeopleOwed = this.#wantsPeople && this.#reported === undefined;
    return this.#facts.isDirect || isPeopleOwed ? REPORT_WINDOW_MS_MIN : REPORT_WINDOW_MS_MAX;
  }

  #dueMs(nowMs: number): number {
    const dueMs = this.#throttle.dueMs(nowMs);
    return this.#owesListing ? Math.min(dueMs, this.#throttle.state.atMs + this.#windowMsMax) : dueMs;
  }

  #setDeadline(): void {
    const { state } = this.#courier;
    const isDue = (state.is === "waiting" || state.is === "retrying") && this.#owesListing;
    if (!isDue) return this.#reportDeadline.clear();
    const isPatient = state.is === "waiting" && this.#windowMsMax === REPORT_WINDOW_MS_MAX;
    this.#reportDeadline.set(state.atMs + (isPatient ? REPORT_PATIENCE_MS : 0));
  }

  // ---- a report --------------------------------------------------------------------------------------------

  #collect(nowMs: number): Collected<RoomReport> {
    const report = this.#facts.describe(this.#wantsPeople);
    // Until the answer is there the lobby may have either.
    if (this.#owesListing) this.#reported = undefined;
    const delta = this.#counters.take(nowMs);
    this.#keep();
    return { batch: delta ? { ...report, delta } : report };
  }

  #settle(report: RoomReport, { wantsPeople }: ReportAnswer): undefined {
    const { members, lastSeq, lastActivity, madeAtMs, direct } = report;
    this.#counters.arrived();
    this.#unknownDeadline.clear();
    const knowsPeople = !wantsPeople || report.people !== undefined;
    const facts = { members, lastSeq, isBare: lastActivity === null, readMarks: direct?.read.join() };
    this.#reported = knowsPeople ? { ...facts, madeAtMs } : undefined;
    this.#wantsPeople ||= wantsPeople === true;
  }

  #keep(): void {
    this.#carried.put("listing", {
      throttle: this.#throttle.state,
      reported: this.#reported,
      retry: this.#courier.retry,
      wantsPeople: this.#wantsPeople,
    });
  }
}
