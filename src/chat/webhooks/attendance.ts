// Who is in the room, compared with what the outside was told of that: HOOK-4. Told is the difference, so what happened
// while nobody could be told, or in a crash, comes out right by itself; who came and went in between is not told of.
// What is about to be told is stored before, because afterwards the outside may have heard it and we may be gone.
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "../people/recently-left.ts";
import type { Members } from "../room/members.ts";
import type { Room } from "../room/room.ts";
import { PagedMap, pagesIn } from "../../storage/paged-map.ts";
import { joined, left, occupied, vacated, type WebhookBatch } from "./webhook-batch.ts";

/** After a crash or a deploy everybody is disconnected, and may come back for so long without having left. */
export const RESTART_GRACE_MS = 30_000;

/** A stay that the outside was told of. */
export interface ToldStay {
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  /** While the queue has not said that it took the news, the outside may have heard of it or not. */
  readonly state: "coming" | "here" | "going";
}

type ToldMembers = PagedMap<ToldStay>;

/** What outlives sleep and crashes besides the members who were told. */
export interface AttendanceMark {
  /** Since when the outside believes somebody to be here. */
  readonly occupied?: ToldStay | undefined;
  /** Until then, who was told and is not here may come back unnoticed; in milliseconds since 1970. */
  readonly graceEndsMs?: number | undefined;
}

/** A batch on its way: what to note before it is told, and what once it is. */
export interface Telling {
  readonly batch: WebhookBatch;
  readonly before: Array<() => void>;
  readonly after: Array<() => void>;
}

export class Attendance {
  readonly #room: Room;
  readonly #members: Members;
  #told: ToldMembers | undefined;
  #occupied: ToldStay | undefined;
  #graceEndsMs: number | undefined;
  #isConfirmed = false;
  /** Changes that were noticed, and how many of them have been looked at; in a new life nothing has been. */
  #noticed = 0;
  #lookedAt = -1;

  /** @param watch called when there is something to look at */
  constructor(room: Room, members: Members, mark: AttendanceMark, watch: () => void) {
    this.#room = room;
    this.#members = members;
    this.#occupied = mark.occupied;
    // Until a connection turns out to be there, this looks like a restart.
    if (mark.occupied) this.#graceEndsMs = room.now() + RESTART_GRACE_MS;
    members.watch(() => {
      this.#notice();
      watch();
    });
  }

  get mark(): AttendanceMark {
    return { occupied: this.#occupied, graceEndsMs: this.#graceEndsMs };
  }

  /** When those who are missing have left for good, in milliseconds since 1970. */
  get graceEndsMs(): number | undefined {
    return this.#graceEndsMs;
  }

  get hasNoticed(): boolean {
    return this.#noticed > Math.max(0, this.#lookedAt);
  }

  /**
   * The room slept, and its connections are there: whoever is missing has been missing since before.
   * @param isConfirmed whether all that was about to be told has been told: no room sleeps in the middle of that
   */
  awake({ graceEndsMs }: AttendanceMark, isConfirmed: boolean): void {
    this.#isConfirmed = isConfirmed;
    const latestMs = this.#room.now() + RESTART_GRACE_MS;
    this.#graceEndsMs = graceEndsMs === undefined ? undefined : Math.min(graceEndsMs, latestMs);
  }

  #notice(): void {
    this.#noticed++;
    // Others keep an eye on those who leave them. When the last one goes, nobody is left to do so.
    if (this.#members.count === 0) this.#graceEndsMs = this.#room.now() + LEAVE_GRACE_MS + LEAVE_GATHER_MS;
  }

  /** Nobody who is missing will come back. */
  endGrace(): void {
    this.#graceEndsMs = undefined;
    this.look();
  }

  /** Has the next batch compare who is here with who was told. */
  look(): void {
    this.#noticed++;
  }

  collectArrivals(telling: Telling): void {
    if (!this.#isUnsure) return;
    const told = (this.#told ??= this.#readTold());
    let isFirst = this.#occupied?.state !== "here";
    for (const { user, name, sinceMs } of this.#members.all()) {
      const known = told.get(user);
      if (known?.state === "here" && !isFirst) continue;
      if (isFirst) this.#collectOccupied(telling, { user, name, sinceMs });
      isFirst = false;
      if (known?.state === "here") continue;
      // Perhaps it was told before: then it is the same news. Whose leave may have been told has come anew.
      const stay: ToldStay = { since: known?.state === "coming" ? known.since : sinceMs, state: "coming" };
      if (!telling.batch.add(joined(this.#placed(stay), user, name))) return;
      telling.before.push(() => told.set(user, stay));
      // Not worth a row: told again, it is the same news.
      telling.after.push(() => told.amend(user, { ...stay, state: "here" }));
    }
  }

  /** Kept so that after a crash members who come back are no news, and members who do not are told to have left. */
  #readTold(): ToldMembers {
    const told = new PagedMap<ToldStay>(pagesIn(this.#room.state, "webhook-members:"));
    if (!this.#isConfirmed) return told;
    for (const [user, stay] of told.entries())
      if (stay.state === "coming") told.amend(user, { ...stay, state: "here" });
    return told;
  }

  #collectOccupied(telling: Telling, first: { user: string; name: string; sinceMs: number }): void {
    const known = this.#occupied;
    const stay: ToldStay = { since: known?.state === "coming" ? known.since : first.sinceMs, state: "coming" };
    if (!telling.batch.add(occupied(this.#placed(stay), first.user, first.name))) return;
    telling.before.push(() => (this.#occupied = stay));
    telling.after.push(() => (this.#occupied = { ...stay, state: "here" }));
  }

  collectDepartures(telling: Telling, nowMs: number): void {
    if (!this.#isUnsure) return;
    const told = this.#told!;
    const isTold = told.size > 0 || this.#occupied !== undefined;
    if (!isTold || nowMs >= (this.#graceEndsMs ?? -Infinity)) this.#graceEndsMs = undefined;
    if (this.#graceEndsMs === undefined) this.#collectLeft(telling, told, nowMs);
    const noticed = this.#noticed;
    if (!telling.batch.isFull) telling.after.push(() => (this.#lookedAt = noticed));
  }

  #collectLeft({ batch, before, after }: Telling, told: ToldMembers, nowMs: number): void {
    for (const [user, stay] of told.entries()) {
      if (this.#members.has(user)) continue;
      if (!batch.add(left(this.#placed(stay), user, nowMs))) return;
      before.push(() => told.set(user, { ...stay, state: "going" }));
      after.push(() => told.delete(user));
    }
    const stay = this.#occupied;
    if (this.#members.count > 0 || !stay || !batch.add(vacated(this.#placed(stay), nowMs))) return;
    before.push(() => (this.#occupied = { ...stay, state: "going" }));
    after.push(() => (this.#occupied = undefined));
  }

  get #isUnsure(): boolean {
    return this.#noticed > this.#lookedAt;
  }

  #placed({ since }: ToldStay): { room: string; epoch: string; since: number } {
    return { room: this.#room.name, epoch: this.#room.log.epoch, since };
  }

  /** @throws whatever the storage throws; tried again the next time */
  store(): void {
    this.#told?.save();
  }
}
