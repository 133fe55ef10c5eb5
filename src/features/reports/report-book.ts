// The reports of a room: a row for each reported message, all of them in memory once they are needed. Bounded, and without a copy of any
// text. Called by reports.ts.
import type { FeatureState } from "../../extension/extension.ts";
import type { Report, Reporter } from "./report-events.ts";

/** Open reports of a room. */
export const OPEN_MAX = 500;
/** Resolved ones that are kept, and for how long. */
export const RESOLVED_KEPT_MAX = 200;
export const RESOLVED_KEPT_MS = 30 * 24 * 3_600_000;
/** Users whose report of one message is kept; of more, the first. */
export const REPORTERS_MAX = 50;

const HOUR_MS = 3_600_000;

/** As it is stored. */
export type StoredReport = Omit<Report, "message">;

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

  /** When a user reported something within the last hour, the earliest first. */
  reportedLately(user: string, nowMs: number): number[] {
    const times: number[] = [];
    for (const { reporters } of this.#all.values())
      for (const reporter of reporters)
        if (reporter.user === user && Math.abs(nowMs - reporter.at) < HOUR_MS) times.push(reporter.at);
    return times.sort((a, b) => a - b);
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

/** The report with another reporter, open again. */
export function withReporter({ resolved: _resolved, ...report }: StoredReport, reporter: Reporter): StoredReport {
  return { ...report, reporters: [...report.reporters, reporter] };
}
