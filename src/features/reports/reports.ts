// Reports of abuse (ABUSE-1 to ABUSE-6): its part of a room, written against the public API alone. Made by index.ts for createParley, or in `features` of a
// room's class.
import * as z from "zod/mini";

import {
  normalContent,
  refuse,
  roomEvent,
  RoomFeature,
  type Answer,
  type ErrorAnswer,
  type FeatureCaller,
  type FeatureConnection,
  type Party,
  type RoomHandle,
} from "../../extension/extension.ts";
import { hasHeard, placeOf, ReportBook, withReporter, type StoredReport } from "./report-book.ts";
import type { Report, ReportsPage, Resolution, ReportsSent, ReportsWelcome } from "./report-events.ts";

export const REASON_LENGTH_MAX = 300;
export const PER_HOUR_DEFAULT = 10;
export const PAGE_DEFAULT = 20;
export const PAGE_MAX = 50;
/** UTF-16 units of JSON in a page of reports, or one report. */
export const PAGE_LENGTH_MAX = 200_000;

/** The number of open reports, in the list of rooms that operators see. */
const OPEN_REPORTS = "openReports";

/** In tokens. */
const REPORT_COST = 20;
const REPORTS_PER_TOKEN = 5;

const HOUR_MS = 3_600_000;

const id = z.string().check(z.minLength(1), z.maxLength(128));
const reason = z.string().check(z.overwrite(normalContent), z.minLength(1), z.maxLength(REASON_LENGTH_MAX));
const seconds = z.int().check(z.minimum(1));
const deleteMessage = z._default(z.boolean(), false);

const reportSchema = z.object({ id, reason });

const listSchema = z.object({
  state: z._default(z.literal(["open", "resolved"]), "open"),
  after: z.optional(z.string().check(z.maxLength(64))),
  limit: z._default(z.int().check(z.minimum(1), z.maximum(PAGE_MAX)), PAGE_DEFAULT),
});

const resolveSchema = z.discriminatedUnion("action", [
  z.object({ id, action: z.literal("dismiss") }),
  z.object({ reporter: z.string().check(z.minLength(1), z.maxLength(128)), action: z.literal("dismiss-reporter") }),
  z.object({ id, action: z.literal("delete") }),
  z.object({ id, action: z.literal("mute"), seconds, reason: z.optional(reason), deleteMessage }),
  z.object({ id, action: z.literal("ban"), seconds: z.optional(seconds), reason: z.optional(reason), deleteMessage }),
]);

type Resolving = z.output<typeof resolveSchema>;
/** What is done about the reports of one message. */
type Deciding = Extract<Resolving, { readonly id: string }>;

export interface ReportsOptions {
  /** Messages that a user may report in an hour, 1 to 100. Default: 10. */
  readonly perHour?: number;
}

export class Reports extends RoomFeature<ReportsSent> {
  readonly name = "reports";
  override readonly sends = ["message-reported", "report-resolved"] as const;
  override readonly events = {
    "report-message": roomEvent({
      schema: reportSchema,
      by: "members",
      cost: REPORT_COST,
      run: (given, caller) => this.#report(given, caller),
    }),
    reports: roomEvent({
      schema: listSchema,
      by: "moderators",
      cost: ({ limit }) => Math.ceil(limit / REPORTS_PER_TOKEN),
      run: (query, { user }) => this.#list(query, user),
    }),
    "resolve-report": roomEvent({
      schema: resolveSchema,
      by: "moderators",
      run: (given, caller) =>
        given.action === "dismiss-reporter" ? this.#dismissAll(given.reporter, caller) : this.#resolve(given, caller),
    }),
  };
  readonly #book = new ReportBook(this.room.state);
  readonly #perHour: number;

  /** @throws Error for a bad option, which it names */
  constructor(room: RoomHandle, { perHour = PER_HOUR_DEFAULT }: ReportsOptions = {}) {
    super(room);
    if (!(Number.isInteger(perHour) && perHour >= 1 && perHour <= 100))
      throw new Error(`Reports: perHour must be 1 to 100, not ${perHour}`);
    this.#perHour = perHour;
  }

  override welcome({ user, isModerator }: FeatureConnection): ReportsWelcome {
    if (this.room.isDirect) return {};
    const open = isModerator ? { open: this.#book.countOpen(user) } : {};
    return { reports: { reasonLengthMax: REASON_LENGTH_MAX, ...open } };
  }

  override facts(): Readonly<Record<string, number>> {
    return { [OPEN_REPORTS]: this.#book.countOpen() };
  }

  /** ABUSE-5. */
  override onTrimmed(firstSeq: number): void {
    if (this.#book.forgetBefore(firstSeq)) this.room.factsChanged();
  }

  // ---- reporting -------------------------------------------------------------------------------------------

  /** ABUSE-1, ABUSE-2. */
  #report({ id: message, reason: why }: z.output<typeof reportSchema>, caller: FeatureCaller): ErrorAnswer | undefined {
    const { user, name, party } = caller;
    if (this.room.isDirect) return refuse("FORBIDDEN", "A conversation between two people has no moderators.");
    const found = this.room.findMessage(message);
    if ("error" in found) return found;
    if (found.deleted) return refuse("NOT_FOUND", "id: the message was deleted");
    const { seq, sender, name: author } = found;
    if (sender === user) return refuse("FORBIDDEN", "You cannot report a message of your own.");
    const known = this.#book.get(message);
    if (known && hasHeard(known, party)) return undefined;
    const nowMs = this.room.now();
    const isNew = !known || known.resolved !== undefined;
    const refusal = this.#refuse(party, nowMs, isNew);
    if (refusal) return refusal;
    const reporter = { user, name, reason: why, at: nowMs };
    const report = known ?? { id: message, seq, sender, name: author, reporters: [] };
    this.#book.keep(withReporter(report, reporter, party));
    if (isNew) this.room.factsChanged();
    this.room.moderators.except(sender).emit("message-reported", { id: message, seq, sender });
    return undefined;
  }

  /** ABUSE-2. */
  #refuse(party: Party, nowMs: number, isNew: boolean): ErrorAnswer | undefined {
    const times = this.#book.reportedLately(party, nowMs);
    const retryAfterMs = (times.at(-this.#perHour) ?? -Infinity) + HOUR_MS - nowMs;
    if (retryAfterMs > 0)
      return refuse("RATE_LIMITED", `Rate limit exceeded: ${this.#perHour} reports in an hour.`, retryAfterMs);
    if (!isNew || !this.#book.isFullFor(party)) return undefined;
    return refuse("RATE_LIMITED", "Rate limit exceeded: too many reports wait for a moderator.", HOUR_MS);
  }

  // ---- for moderators --------------------------------------------------------------------------------------

  /** ABUSE-3. */
  #list({ state, after, limit }: z.output<typeof listSchema>, user: string): ReportsPage {
    const all = this.#book.list(state === "resolved").filter(({ sender }) => sender !== user);
    const from = after === undefined ? 0 : all.findIndex((report) => cursorOf(report) === after) + 1;
    const reports: Report[] = [];
    let length = 0;
    for (const stored of all.slice(from, from + limit)) {
      const report = this.#shown(stored);
      length += JSON.stringify(report).length;
      if (reports.length > 0 && length > PAGE_LENGTH_MAX) break;
      reports.push(report);
    }
    const last = all[from + reports.length - 1];
    const hasMore = last !== undefined && from + reports.length < all.length;
    return { reports, open: this.#book.countOpen(user), ...(hasMore && { after: cursorOf(last) }) };
  }

  #shown(stored: StoredReport): Report {
    const message = this.room.findMessage(stored.id);
    const reporters = stored.reporters.map(({ guests: _guests, ...reporter }) => reporter);
    return { ...stored, reporters, ...(!("error" in message) && { message }) };
  }

  /** ABUSE-4: reports that others made as well stay. */
  #dismissAll(reporter: string, { user: by }: FeatureCaller): { readonly dismissed: number } | ErrorAnswer {
    const theirs = this.#book.openedBy(reporter).filter(({ sender }) => sender !== by);
    if (theirs.length === 0) return refuse("NOT_FOUND", "reporter: no open report is of that user alone");
    for (const report of theirs) this.#note(report, by, "dismiss");
    this.#book.tidy(this.room.now());
    this.room.factsChanged();
    return { dismissed: theirs.length };
  }

  /** Stores the decision about a report, then tells the moderators. */
  #note(report: StoredReport, by: string, action: Resolution): void {
    const { id, seq, sender } = report;
    this.#book.keep({ ...report, resolved: { by, at: this.room.now(), action } });
    this.room.moderators.except(sender).emit("report-resolved", { id, seq, by, action });
  }

  /** ABUSE-4. */
  async #resolve(given: Deciding, caller: FeatureCaller): Promise<ErrorAnswer | undefined> {
    const report = this.#book.get(given.id);
    if (!report || report.sender === caller.user) return refuse("NOT_FOUND", "id: there is no report of that message");
    if (report.resolved) return undefined;
    const answer = await this.#carryOut(given, report, caller);
    if ("error" in answer) return answer;
    // Another moderator may have been as quick, and a member may have reported it again.
    const now = this.#book.get(given.id);
    if (!now || now.resolved) return undefined;
    this.#note(now, caller.user, given.action);
    this.#book.tidy(this.room.now());
    this.room.factsChanged();
    return undefined;
  }

  /** Acts in the moderator's name, by the room's own rules: ranks, and the audit list. */
  async #carryOut(
    given: Deciding,
    { id: message, sender: user }: StoredReport,
    caller: FeatureCaller,
  ): Promise<Answer<object>> {
    const remove = (): Promise<Answer<object>> => this.room.perform("delete-message", { id: message }, caller);
    switch (given.action) {
      case "dismiss":
        return { ok: true };
      case "delete":
        return remove();
      case "mute":
      case "ban": {
        const { action, seconds: lasting, reason: why, deleteMessage: isRemoved } = given;
        const terms = { user, ...(why !== undefined && { reason: why }) };
        const answer =
          action === "mute"
            ? await this.room.perform("mute", { ...terms, seconds: lasting }, caller)
            : await this.room.perform("ban", { ...terms, ...(lasting !== undefined && { seconds: lasting }) }, caller);
        return isRemoved && "ok" in answer ? remove() : answer;
      }
    }
  }
}

/** Names the place of a report in its list. */
const cursorOf = (report: StoredReport): string => `${placeOf(report)}.${report.seq}`;
