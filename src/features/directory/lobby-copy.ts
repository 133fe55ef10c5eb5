// The room's facts that the lobby is known to have. The room owes a report as far as they differ from its facts of now. Called by
// listing.ts.
import { hasPassed } from "../../clock/rates.ts";
import { REPORT_AGAIN_MS, type ReportAnswer, type RoomReport } from "../../protocol/room-list.ts";
import type { Facts, RoomFacts } from "./room-facts.ts";

/** The facts of a report, and when it was made. */
type Reported = Facts & Pick<RoomReport, "madeAtMs">;

/** A client that says a read mark again so long after the last report has reason to. */
const SAID_AGAIN_MS = 5000;

/** As a connection of the room carries it. */
export interface KeptCopy {
  readonly reported: Reported | undefined;
  readonly wantsPeople: boolean;
  /** Counts of unread messages have changed otherwise than by posts. */
  readonly owesUnread?: boolean;
  readonly isWatched?: boolean;
}

export class LobbyCopy {
  readonly #facts: RoomFacts;
  /** `undefined` while the lobby may have something else. */
  #reported: Reported | undefined;
  /** The lobby needs the members in each report: this deployment announces to users. */
  #wantsPeople = false;
  #owesUnread = false;
  #isWatched = false;

  constructor(facts: RoomFacts) {
    this.#facts = facts;
  }

  get kept(): KeptCopy {
    const [owesUnread, isWatched] = [this.#owesUnread, this.#isWatched];
    return {
      reported: this.#reported,
      wantsPeople: this.#wantsPeople,
      ...(owesUnread && { owesUnread }),
      ...(isWatched && { isWatched }),
    };
  }

  /** A reader of the room looks at their list of rooms. */
  get isWatched(): boolean {
    return this.#isWatched;
  }

  /** There is something that somebody waits for who looks. */
  get owesNews(): boolean {
    return this.owesListing || this.#owesUnread;
  }

  get wantsPeople(): boolean {
    return this.#wantsPeople;
  }

  /** Members are owed: the lobby needs them, and may have others. */
  get owesPeople(): boolean {
    return this.#wantsPeople && this.#reported === undefined;
  }

  /** The list would change: worth an alarm. */
  get owesListing(): boolean {
    const { members, lastSeq, isBare } = this.#facts.now();
    const reported = this.#reported;
    return reported?.members !== members || reported.lastSeq !== lastSeq || reported.isBare !== isBare;
  }

  /** The lobby lists the room as empty. */
  get isEmpty(): boolean {
    return this.#reported?.members === 0;
  }

  /** Something else than the list is worth a report while the room is awake: read marks, or the half-hourly repetition. */
  owesRest(nowMs: number): boolean {
    const { madeAtMs = -Infinity } = this.#reported ?? {};
    return this.#owesUnread || hasPassed(madeAtMs, REPORT_AGAIN_MS, nowMs);
  }

  restore({ reported, wantsPeople, owesUnread = false, isWatched = false }: KeptCopy): void {
    this.#reported = reported;
    this.#wantsPeople = wantsPeople;
    this.#owesUnread = owesUnread;
    this.#isWatched = isWatched;
  }

  /**
   * A user has read. Only messages of which the lobby knows make a difference to it.
   * @param before how far until then; absent where they said it again: the lobby may have forgotten it in a crash
   * @returns whether the lobby has to hear of it
   */
  noteRead(before: number | undefined, nowMs: number): boolean {
    const { lastSeq = Infinity, madeAtMs = -Infinity } = this.#reported ?? {};
    const isNews = before === undefined ? hasPassed(madeAtMs, SAID_AGAIN_MS, nowMs) : before < lastSeq;
    this.#owesUnread ||= isNews;
    return isNews;
  }

  /** A report takes the counts along. If it does not arrive, `oweUnread` is called. */
  takeUnread(): void {
    this.#owesUnread = false;
  }

  /** Counts have changed: a report may be worth it. */
  oweUnread(): void {
    this.#owesUnread = true;
  }

  watch(): void {
    this.#isWatched = true;
  }

  /** Takes it that the lobby has the facts of now, from a report of `madeAtMs`. */
  assume(madeAtMs: number): void {
    this.#reported = { ...this.#facts.now(), madeAtMs };
  }

  /** The lobby may have something else. */
  forget(): void {
    this.#reported = undefined;
  }

  /**
   * The lobby may have other facts. A stranger can make the alarm of an unused room ring: a room without messages is worth a report
   * while it is awake, and no alarm to try again.
   */
  doubt(): void {
    if (this.#facts.now().lastSeq > 0) this.forget();
    else this.assume(-Infinity);
  }

  /** Each report has the members from now on. */
  wantPeople(): void {
    this.#wantsPeople = true;
  }

  /** The lobby has taken a report. */
  note(
    { members, lastSeq, lastActivity, madeAtMs, people }: RoomReport,
    { wantsPeople, isWatched }: ReportAnswer,
  ): void {
    const knowsPeople = !wantsPeople || people !== undefined;
    const facts = { members, lastSeq, isBare: lastActivity === null };
    this.#isWatched = isWatched === true;
    this.#reported = knowsPeople ? { ...facts, madeAtMs } : undefined;
    this.#wantsPeople ||= wantsPeople === true;
  }
}
