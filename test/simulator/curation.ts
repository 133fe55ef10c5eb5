// Pins and reports of abuse in a run: members report messages, and try the requests of moderators in vain; a moderator pins, unpins and
// resolves. Checks the lists of the rooms, and that no member hears of a report. Called by run.ts, witness.ts and verdict.ts.
import type { At } from "./plan.ts";
import type { Person } from "./person.ts";
import { Switches } from "./switches.ts";
import type { Witness } from "./witness.ts";

export type CurationEvent = "pin" | "unpin" | "report-message" | "resolve-report" | "reports";

export interface Curating {
  readonly do: "curate";
  readonly who: string;
  readonly event: CurationEvent;
  /** Whether a service asks, in the room of that person, or the person. */
  readonly isModerator: boolean;
  /** How far back the message is, among those that the person has seen or that were pinned or reported. */
  readonly back: number;
  readonly action: "dismiss" | "delete";
}

/** Asks a room as a moderator. Rejects where the call fails. */
export type AskRoom = (room: string, event: string, payload: object) => Promise<unknown>;

/** More than a plan reports. */
const LIST_LIMIT = 50;

type Listed = ReadonlyArray<{ readonly id: string }>;

const idsOf = (listed: Listed): ReadonlySet<string> => new Set(listed.map(({ id }) => id));

export class Curation {
  readonly #witness: Witness;
  readonly #pins: Switches;
  readonly #reports: Switches;
  /** A second report of a user changes nothing, not even one that was resolved. */
  readonly #reported = new Set<string>();

  constructor(witness: Witness) {
    this.#witness = witness;
    this.#pins = new Switches(witness, { invariant: "pinned", on: "pinned", off: "unpinned", endsWithMessage: true });
    const reported = { on: "reported", off: "resolved", endsWithMessage: false };
    this.#reports = new Switches(witness, { invariant: "reported", ...reported });
  }

  restored(epoch: string): void {
    this.#pins.restored(epoch);
    this.#reports.restored(epoch);
  }

  take(step: At<Curating>, person: Person, ask: AskRoom): void {
    const { event, isModerator } = step;
    const { room, user } = person.plan;
    if (!isModerator && !person.isConnected) return;
    const id = this.#idFor(step, person);
    if (event === "reports" && isModerator) return void this.#checkReports(room, ask);
    const payload = payloadOf(step, id);
    if (!payload) return;
    const key = `${user} ${id}`;
    if (event === "report-message" && this.#reported.has(key)) return;
    if (event === "report-message") this.#reported.add(key);
    if (!isModerator && event !== "report-message")
      return person.call(event, payload, (answer) => this.#demandRefused(person, event, answer));
    const isOn = event === "pin" || event === "report-message";
    const answered = this.#switchesOf(event).noteRequest(id!, isOn);
    if (!isModerator) return this.#report(person, payload, answered);
    if (step.action === "delete" && event === "resolve-report") this.#witness.changes.mayDelete(id!);
    // A call that fails may have been carried out; it arrives no later.
    ask(room, event, payload).then(answered, () => answered(undefined));
  }

  #report(person: Person, payload: object, answered: (answer: unknown) => void): void {
    const { room, user } = person.plan;
    const askedAtMs = this.#witness.now();
    person.call("report-message", payload, (answer) => {
      const sinceMs = this.#witness.silences.readerSince(room, user) ?? Infinity;
      if (sinceMs < askedAtMs) this.#demandRefused(person, "report-message", answer);
      answered(answer);
    });
  }

  #switchesOf(event: CurationEvent): Switches {
    return event === "pin" || event === "unpin" ? this.#pins : this.#reports;
  }

  #demandRefused({ plan }: Person, event: string, answer: unknown): void {
    const isOk = (answer as { readonly ok?: true } | undefined)?.ok === true;
    this.#witness.demand(!isOk, "let in", () => `${plan.name} was allowed to ${event}, without the right to it`);
  }

  #idFor({ event, back }: Curating, { plan, seenIds }: Person): string | undefined {
    const isOff = event === "unpin" || event === "resolve-report";
    const known = isOff ? this.#switchesOf(event).idsIn(plan.room) : seenIds;
    // A copy goes with the message in the other room.
    return known.filter((id) => this.#witness.posted(id) && !this.#witness.posted(id)!.origin).at(-1 - back);
  }

  /** A room sends a packet. @param isAtOnce whether none can have waited for a poll or an upgrade */
  spoken(room: string, packet: string, isAtOnce: boolean): void {
    const isTold = packet.startsWith('42["message-reported"') || packet.startsWith('42["report-resolved"');
    this.#witness.demand(!isTold, "let in", () => `${room} told a member of a report: ${packet.slice(0, 80)}`);
    if (!isAtOnce || !packet.startsWith('42["welcome"')) return;
    const [, { pins }] = JSON.parse(packet.slice(2)) as [string, { readonly pins?: Listed }];
    if (pins) this.#pins.check(room, idsOf(pins), this.#witness.now());
  }

  /** Asks the room of a person for its lists, at the end. */
  checkEnd(person: Person, ask: AskRoom): void {
    const { room } = person.plan;
    const sinceMs = this.#witness.now();
    person.call("pins", {}, (answer) => {
      const { pins } = (answer ?? {}) as { readonly pins?: Listed };
      if (pins) this.#pins.check(room, idsOf(pins), sinceMs);
    });
    void this.#checkReports(room, ask);
  }

  async #checkReports(room: string, ask: AskRoom): Promise<void> {
    const sinceMs = this.#witness.now();
    const answer = await ask(room, "reports", { limit: LIST_LIMIT }).catch(() => undefined);
    const { reports } = (answer ?? {}) as { readonly reports?: Listed };
    if (reports) this.#reports.check(room, idsOf(reports), sinceMs);
  }
}

/** @returns nothing where there is no message for it yet */
function payloadOf({ event, action }: Curating, id: string | undefined): object | undefined {
  if (event === "reports") return {};
  if (id === undefined) return undefined;
  if (event === "report-message") return { id, reason: "rude" };
  return event === "resolve-report" ? { id, action } : { id };
}
