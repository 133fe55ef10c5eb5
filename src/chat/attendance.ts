// Who is in the room, compared with what the outside was told of that: HOOK-4. Told is the difference, so what happened
// while nobody could be told, or in a crash, comes out right by itself; who came and went in between is not told of.
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "./leavers.ts";
import type { Members } from "./members.ts";
import type { Room } from "./room.ts";
import { ToldMembers } from "./told-members.ts";
import { joined, left, occupied, vacated, type WebhookBatch } from "./webhook-batch.ts";

/** After a crash or a deploy everybody is disconnected, and may come back for so long without having left. */
export const RESTART_GRACE_MS = 30_000;

/** What outlives sleep and crashes besides the members who were told. */
export interface AttendanceMark {
  /** Since when the outside believes somebody to be here, in milliseconds since 1970. */
  readonly occupiedSinceMs?: number | undefined;
  /** Until then, who was told and is not here may come back unnoticed. */
  readonly graceEndsMs?: number | undefined;
}

/** To be called once a batch is told. */
export type Settle = () => void;

export class Attendance {
  readonly #room: Room;
  readonly #members: Members;
  #told: ToldMembers | undefined;
  #occupiedSinceMs: number | undefined;
  #graceEndsMs: number | undefined;
  /** Changes that were noticed, and how many of them have been looked at; in a new life nothing has been. */
  #noticed = 0;
  #lookedAt = -1;

  /** @param watch called when there is something to look at */
  constructor(room: Room, members: Members, { occupiedSinceMs }: AttendanceMark, watch: () => void) {
    this.#room = room;
    this.#members = members;
    this.#occupiedSinceMs = occupiedSinceMs;
    // Until a connection turns out to be there, this looks like a restart.
    if (occupiedSinceMs !== undefined) this.#graceEndsMs = room.now() + RESTART_GRACE_MS;
    members.watch(() => {
      this.#notice();
      watch();
    });
  }

  get mark(): AttendanceMark {
    return { occupiedSinceMs: this.#occupiedSinceMs, graceEndsMs: this.#graceEndsMs };
  }

  /** When those who are missing have left for good, in milliseconds since 1970. */
  get graceEndsMs(): number | undefined {
    return this.#graceEndsMs;
  }

  get hasNoticed(): boolean {
    return this.#noticed > Math.max(0, this.#lookedAt);
  }

  /** The room slept, and its connections are there: whoever is missing has been missing since before. */
  awake({ graceEndsMs }: AttendanceMark): void {
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

  collectArrivals(batch: WebhookBatch): Settle[] {
    if (!this.#isUnsure) return [];
    const told = (this.#told ??= new ToldMembers(this.#room.state));
    const settles: Settle[] = [];
    for (const { user, name, sinceMs } of this.#members.all()) {
      if (told.has(user)) continue;
      const stay = this.#stay(sinceMs);
      const isFirst = this.#occupiedSinceMs === undefined && settles.length === 0;
      if (isFirst && batch.add(occupied(stay, user, name))) settles.push(() => (this.#occupiedSinceMs = sinceMs));
      if (!batch.add(joined(stay, user, name))) break;
      settles.push(() => told.add(user, sinceMs));
    }
    return settles;
  }

  collectDepartures(batch: WebhookBatch, nowMs: number): Settle[] {
    if (!this.#isUnsure) return [];
    const told = this.#told!;
    const isTold = told.count > 0 || this.#occupiedSinceMs !== undefined;
    if (!isTold || nowMs >= (this.#graceEndsMs ?? -Infinity)) this.#graceEndsMs = undefined;
    const settles = this.#graceEndsMs === undefined ? this.#collectLeft(batch, told, nowMs) : [];
    const noticed = this.#noticed;
    if (!batch.isFull) settles.push(() => (this.#lookedAt = noticed));
    return settles;
  }

  #collectLeft(batch: WebhookBatch, told: ToldMembers, nowMs: number): Settle[] {
    const settles: Settle[] = [];
    for (const [user, sinceMs] of told.all()) {
      if (this.#members.has(user)) continue;
      if (!batch.add(left(this.#stay(sinceMs), user, nowMs))) return settles;
      settles.push(() => told.delete(user));
    }
    const sinceMs = this.#occupiedSinceMs;
    if (this.#members.count > 0 || sinceMs === undefined) return settles;
    if (batch.add(vacated(this.#stay(sinceMs), nowMs))) settles.push(() => (this.#occupiedSinceMs = undefined));
    return settles;
  }

  get #isUnsure(): boolean {
    return this.#noticed > this.#lookedAt;
  }

  #stay(since: number): { room: string; epoch: string; since: number } {
    return { room: this.#room.name, epoch: this.#room.log.epoch, since };
  }

  /** @throws whatever the storage throws; tried again the next time */
  store(): void {
    this.#told?.store();
  }
}
