// Collects arrivals and departures for the webhook (HOOK-4): the difference between the members and those whom the receiver was notified
// of. So the receiver is right again after an outage or a crash; a stay that was over by then is not sent. The room stores each event that
// it is about to send, because after a crash the receiver may have it. Used by webhooks.ts.
import { PagedMap, pagesIn } from "../../storage/paged-map.ts";
import type { Room } from "../../chat/room/room.ts";
import { joined, left, occupied, vacated, type OutgoingEvents } from "./webhook-batch.ts";

/** A crash or a deploy ends all connections. The receiver hears of no departure of a member who connects again within this time. */
export const RESTART_GRACE_MS = 30_000;

/** A stay that the receiver was notified of. */
interface NotifiedStay {
  /** When it began, in milliseconds since 1970. */
  readonly since: number;
  /** `coming` and `going`: sent, and the queue has not confirmed it, so the receiver may have it or not. */
  readonly state: "coming" | "here" | "going";
}

/** What outlives sleep and crashes besides the notified members. */
export interface PresenceMark {
  /** The time since which the room is occupied, as the receiver knows it. */
  readonly occupied?: NotifiedStay | undefined;
  /** Until then notified members who are not here may come back unnoticed; in milliseconds since 1970. */
  readonly graceEndsMs?: number | undefined;
}

export class PresenceFeed {
  readonly #room: Room;
  readonly #markedGraceEndsMs: number | undefined;
  /** Read when it first matters. */
  #notified: PagedMap<NotifiedStay> | undefined;
  #occupied: NotifiedStay | undefined;
  #graceEndsMs: number | undefined;
  /** Whether the room began, with members whom the receiver knows, and without a connection. */
  isRestart: boolean;
  #isConfirmed = false;
  /** Counts changes of the members, and how many of them were compared; after a start none were. */
  #noticed = 0;
  #compared = -1;

  /**
   * @param emptyGraceMs a room counts as vacated this long after its last member went
   * @param changed called when there may be a difference
   */
  constructor(room: Room, mark: PresenceMark, emptyGraceMs: number, changed: () => void) {
    this.#room = room;
    this.#occupied = mark.occupied;
    this.#markedGraceEndsMs = mark.graceEndsMs;
    // Counts as a restart until a connection is restored. A room that is about to be vacated has had its grace.
    this.isRestart = mark.occupied !== undefined && mark.occupied.state !== "going";
    if (this.isRestart) this.#graceEndsMs = Math.min(mark.graceEndsMs ?? Infinity, room.now() + RESTART_GRACE_MS);
    room.members.watch(() => {
      this.#noticed++;
      // Presence waits for members who may come back, except for the last one: no member is left to notify.
      if (room.members.count === 0) this.#graceEndsMs = room.now() + emptyGraceMs;
      changed();
    });
  }

  /** With a member here the next restart is another one, with a grace of its own. */
  get mark(): PresenceMark {
    const graceEndsMs = this.isRestart && this.#room.members.count > 0 ? undefined : this.#graceEndsMs;
    return { occupied: this.#occupied, graceEndsMs };
  }

  get graceEndsMs(): number | undefined {
    return this.#graceEndsMs;
  }

  get isBehind(): boolean {
    return this.#noticed > Math.max(0, this.#compared);
  }

  get #isUnsure(): boolean {
    return this.#noticed > this.#compared;
  }

  /**
   * The room slept and its connections are there: members who are missing have been missing since before.
   * @param isConfirmed whether all that was about to be sent has been sent: no room sleeps in the middle of that
   */
  awake(isConfirmed: boolean): void {
    this.isRestart = false;
    this.#isConfirmed = isConfirmed;
    const latestMs = this.#room.now() + RESTART_GRACE_MS;
    const markedMs = this.#markedGraceEndsMs;
    this.#graceEndsMs = markedMs === undefined ? undefined : Math.min(markedMs, latestMs);
  }

  /** Members who are missing have left. */
  endGrace(): void {
    this.#graceEndsMs = undefined;
    this.#noticed++;
  }

  // ---- differences -----------------------------------------------------------------------------------------

  collectArrivals(outgoing: OutgoingEvents): void {
    if (!this.#isUnsure) return;
    const notified = (this.#notified ??= this.#readNotified());
    let isFirst = this.#occupied?.state !== "here";
    for (const { user, name, sinceMs } of this.#room.members.all()) {
      const known = notified.get(user);
      if (known?.state === "here" && !isFirst) continue;
      if (isFirst) this.#collectOccupied(outgoing, { user, name, sinceMs });
      isFirst = false;
      if (known?.state === "here") continue;
      // A `coming` member may have been sent before: the same event is sent. A `going` one has come again.
      const stay: NotifiedStay = { since: known?.state === "coming" ? known.since : sinceMs, state: "coming" };
      if (!outgoing.batch.add(joined(this.#placed(stay), user, name))) return;
      outgoing.onSend.push(() => notified.set(user, stay));
      // `amend` writes no row: after a crash the event is sent again, with the same id.
      outgoing.onTaken.push(() => notified.amend(user, { ...stay, state: "here" }));
    }
  }

  /** Stored, so that after a crash returning members cause no event and the others are sent as left. */
  #readNotified(): PagedMap<NotifiedStay> {
    const notified = new PagedMap<NotifiedStay>(pagesIn(this.#room.state, "webhook-members:"));
    if (!this.#isConfirmed) return notified;
    for (const [user, stay] of notified.entries())
      if (stay.state === "coming") notified.amend(user, { ...stay, state: "here" });
    return notified;
  }

  #collectOccupied(outgoing: OutgoingEvents, first: { user: string; name: string; sinceMs: number }): void {
    const known = this.#occupied;
    const stay: NotifiedStay = { since: known?.state === "coming" ? known.since : first.sinceMs, state: "coming" };
    if (!outgoing.batch.add(occupied(this.#placed(stay), first.user, first.name))) return;
    outgoing.onSend.push(() => (this.#occupied = stay));
    outgoing.onTaken.push(() => (this.#occupied = { ...stay, state: "here" }));
  }

  collectDepartures(outgoing: OutgoingEvents, nowMs: number): void {
    if (!this.#isUnsure) return;
    const notified = this.#notified!;
    const isAnybody = notified.size > 0 || this.#occupied !== undefined;
    if (!isAnybody || nowMs >= (this.#graceEndsMs ?? -Infinity)) this.#graceEndsMs = undefined;
    if (this.#graceEndsMs === undefined) this.#collectLeft(outgoing, notified, nowMs);
    const noticed = this.#noticed;
    if (!outgoing.batch.isFull) outgoing.onTaken.push(() => (this.#compared = noticed));
  }

  #collectLeft({ batch, onSend, onTaken }: OutgoingEvents, notified: PagedMap<NotifiedStay>, nowMs: number): void {
    const { members } = this.#room;
    for (const [user, stay] of notified.entries()) {
      if (members.has(user)) continue;
      if (!batch.add(left(this.#placed(stay), user, nowMs))) return;
      onSend.push(() => notified.set(user, { ...stay, state: "going" }));
      onTaken.push(() => notified.delete(user));
    }
    const stay = this.#occupied;
    if (members.count > 0 || !stay || !batch.add(vacated(this.#placed(stay), nowMs))) return;
    onSend.push(() => (this.#occupied = { ...stay, state: "going" }));
    onTaken.push(() => (this.#occupied = undefined));
  }

  #placed({ since }: NotifiedStay): { room: string; epoch: string; since: number } {
    return { room: this.#room.name, epoch: this.#room.log.epoch, since };
  }

  /** @throws a storage error; the next call writes what this one could not */
  save(): void {
    this.#notified?.save();
  }
}
