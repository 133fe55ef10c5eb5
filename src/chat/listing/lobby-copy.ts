// The room's facts that the lobby is known to have. The room owes a report as far as they differ from its facts of now. Called by
// listing.ts.
import { hasPassed } from "../../clock/has-passed.ts";
import { REPORT_AGAIN_MS, type ReportAnswer, type RoomReport } from "../../protocol/room-list.ts";
import type { Facts, RoomFacts } from "./room-facts.ts";

/** The facts of a report, and when it was made. */
type Reported = Facts & Pick<RoomReport, "madeAtMs">;

/** As a connection of the room carries it. */
export interface KeptCopy {
  readonly reported: Reported | undefined;
  readonly wantsPeople: boolean;
}

export class LobbyCopy {
  readonly #facts: RoomFacts;
  /** `undefined` while the lobby may have something else. */
  #reported: Reported | undefined;
  /** The lobby needs the members in each report: this deployment announces to users. */
  #wantsPeople = false;

  constructor(facts: RoomFacts) {
    this.#facts = facts;
  }

  get kept(): KeptCopy {
    return { reported: this.#reported, wantsPeople: this.#wantsPeople };
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
    const { readMarks, madeAtMs = -Infinity } = this.#reported ?? {};
    return readMarks !== this.#facts.now().readMarks || hasPassed(madeAtMs, REPORT_AGAIN_MS, nowMs);
  }

  restore({ reported, wantsPeople }: KeptCopy): void {
    this.#reported = reported;
    this.#wantsPeople = wantsPeople;
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
  note({ members, lastSeq, lastActivity, madeAtMs, direct, people }: RoomReport, { wantsPeople }: ReportAnswer): void {
    const knowsPeople = !wantsPeople || people !== undefined;
    const facts = { members, lastSeq, isBare: lastActivity === null, readMarks: direct?.read.join() };
    this.#reported = knowsPeople ? { ...facts, madeAtMs } : undefined;
    this.#wantsPeople ||= wantsPeople === true;
  }
}
