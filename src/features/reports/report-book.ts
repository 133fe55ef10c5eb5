// The reports of a room: a row for each reported message, all of them in memory once they are needed. Bounded, and without a copy of any
// text. Called by reports.ts.
import { isFullFor, type FeatureState, type Party } from "../../extension/extension.ts";
import type { Report, Reporter } from "./report-events.ts";

/** Open reports of a room. */
export const OPEN_MAX = 500;
/** Resolved ones that are kept, and for how long. */
export const RESOLVED_KEPT_MAX = 200;
export const RESOLVED_KEPT_MS = 30 * 24 * 3_600_000;
/** Users whose report of one message is kept; of more, the first, until another one opens it again. */
export const REPORTERS_MAX = 50;

/** CHAT-10, for open reports and for the reporters of a message. */
const OPEN_SHARES = { max: OPEN_MAX, perParty: OPEN_MAX };
const REPORTER_SHARES = { max: REPORTERS_MAX, perParty: 1 };

const HOUR_MS = 3_600_000;

/** As it is stored, with the name of the network of a guest: a digest, and no address. */
export interface StoredReporter extends Reporter {
  readonly guests?: string;
}

export interface StoredReport extends Omit<Report, "message" | "reporters"> {
  readonly reporters: readonly StoredReporter[];
}

const isOf = ({ user, guests }: StoredReporter, { name, isGuest }: Party): boolean =>
  isGuest ? guests === name : guests === undefined && name === `user ${user}`;

const PREFIX = "message:";
/** So that keys sort as numbers do. */
const SEQ_LENGTH = 12;

const keyOf = ({ seq }: Pick<StoredReport, "seq">): string => PREFIX + String(seq).padStart(SEQ_LENGTH, "0");

/** The time by which a report has its place in the list, in milliseconds since 1970. */
export const placeOf = ({ resolved, reporters: [first] }: StoredReport): number => resolved?.at ?? first!.at;

export class ReportBook {
  readonly #state: FeatureState;
  /** By the id of the message. */
  #reports: Map<string, StoredReport> | undefined;

  constructor(state: FeatureState) {
    this.#state = state;
  }

  get #all(): Map<string, StoredReport> {
    this.#reports ??= new Map(
      Array.from(this.#state.list({ prefix: PREFIX }), ([, stored]) => {
        const report = stored as StoredReport;
        return [report.id, report];
      }),
    );
    return this.#reports;
  }

  get(id: string): StoredReport | undefined {
    return this.#all.get(id);
  }

  /** Open ones from the oldest to the newest, or resolved ones the other way round. */
  list(isResolved: boolean): StoredReport[] {
    const direction = isResolved ? -1 : 1;
    return [...this.#all.values()]
      .filter(({ resolved }) => (resolved !== undefined) === isResolved)
      .sort((a, b) => direction * (placeOf(a) - placeOf(b) || a.seq - b.seq));
  }

  /** Open ones, those about a user left out. */
  countOpen(besides?: string): number {
    let count = 0;
    for (const { resolved, sender } of this.#all.values()) if (!resolved && sender !== besides) count++;
    return count;
  }

  /** When a party reported something within the last hour, the earliest first. */
  reportedLately(party: Party, nowMs: number): number[] {
    const times: number[] = [];
    for (const { reporters } of this.#all.values())
      for (const reporter of reporters)
        if (isOf(reporter, party) && Math.abs(nowMs - reporter.at) < HOUR_MS) times.push(reporter.at);
    return times.sort((a, b) => a - b);
  }

  /** Whether a party may open no further report: those that it opened count for it. */
  isFullFor(party: Party): boolean {
    const open = this.list(false);
    return isFullFor(
      party,
      { all: open.length, own: open.filter((one) => isOf(one.reporters[0]!, party)).length },
      OPEN_SHARES,
    );
  }

  /** Open reports that a user has made, or other guests of the same network, and nobody else. */
  openedBy(user: string): StoredReport[] {
    const open = this.list(false);
    const all = open.flatMap(({ reporters }) => reporters.filter((reporter) => reporter.user === user));
    const networks = new Set(all.flatMap(({ guests }) => guests ?? []));
    const isTheirs = (reporter: StoredReporter): boolean =>
      reporter.user === user || (reporter.guests !== undefined && networks.has(reporter.guests));
    return open.filter(({ reporters }) => reporters.every(isTheirs));
  }

  /** @throws errors of the storage; nothing has changed then */
  keep(report: StoredReport): void {
    this.#state.put(keyOf(report), report);
    this.#all.set(report.id, report);
  }

  /** Deletes resolved reports that are too old or too many. @throws errors of the storage */
  tidy(nowMs: number): void {
    const resolved = this.list(true);
    const isOver = (report: StoredReport, at: number): boolean =>
      at >= RESOLVED_KEPT_MAX || nowMs - placeOf(report) >= RESOLVED_KEPT_MS;
    for (const report of resolved.filter(isOver)) this.#delete(report);
  }

  /** Deletes the reports of messages that the room has dropped. @returns whether there were any. @throws errors of the storage */
  forgetBefore(firstSeq: number): boolean {
    const gone = [...this.#all.values()].filter(({ seq }) => seq < firstSeq);
    for (const report of gone) this.#delete(report);
    return gone.length > 0;
  }

  #delete(report: StoredReport): void {
    this.#state.delete(keyOf(report));
    this.#all.delete(report.id);
  }
}

/** Whether a report has this party among its reporters, or, while it is open, no place for it. */
export function hasHeard({ reporters, resolved }: StoredReport, party: Party): boolean {
  const own = reporters.filter((reporter) => isOf(reporter, party)).length;
  if (resolved) return own > 0;
  return isFullFor(party, { all: reporters.length, own }, REPORTER_SHARES);
}

/** The report with another reporter, open again; in a full one the oldest makes room. */
export function withReporter(
  { resolved: _resolved, ...report }: StoredReport,
  reporter: Reporter,
  { name, isGuest }: Party,
): StoredReport {
  const others = report.reporters.slice(1 - REPORTERS_MAX);
  return { ...report, reporters: [...others, { ...reporter, ...(isGuest && { guests: name }) }] };
}
