// Adds up the reports of the members in one process: per second for the curves, and in total, with each member's delivery
// check and each room's index.
import { Histogram } from "../measuring/statistics.ts";
import { nowUs } from "./clock.ts";
import type { FinalReport, SecondReport } from "./messages.ts";
import { CODE_OF_OTHERS, RoomIndex } from "./room-index.ts";
import type { Member, Observer, Post } from "./client-slot.ts";
import { addSeqFaults, NO_SEQ_FAULTS, DeliveryCheck, type SeqFaults } from "./delivery-check.ts";

const US_PER_SECOND = 1e6;

class Second {
  posts = 0;
  acks = 0;
  deliveries = 0;
  errors = 0;
  readonly delivery = new Histogram();
  readonly ack = new Histogram();
}

/** Errors by action and code: `post: RATE_LIMITED`, `connect: 429`. */
export class Errors {
  readonly counts: Record<string, number> = {};

  add(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}

export class Tally implements Observer {
  readonly #startUs: number;
  readonly #seconds = new Map<number, Second>();
  readonly #checks = new Map<Member, DeliveryCheck>();
  readonly #indexes = new Map<string, RoomIndex>();
  readonly errors = new Errors();
  readonly connect = new Histogram();
  /** Between the moment at which a post was due and that at which it went out: the generator's own lateness. */
  readonly lag = new Histogram();
  readonly counts = {
    connectAttempts: 0,
    connectFailures: 0,
    connects: 0,
    posts: 0,
    unsent: 0,
    acks: 0,
    refusals: 0,
    deliveries: 0,
    strayed: 0,
    drops: 0,
    returns: 0,
    recoveries: 0,
    framesIn: 0,
    heartbeats: 0,
    requests: 0,
  };

  /** @param startUs the run's second 0 */
  constructor(startUs: number) {
    this.#startUs = startUs;
  }

  #second(): Second {
    const number = Math.max(0, Math.trunc((nowUs() - this.#startUs) / US_PER_SECOND));
    let second = this.#seconds.get(number);
    if (!second) this.#seconds.set(number, (second = new Second()));
    return second;
  }

  ledgerOf(member: Member): DeliveryCheck {
    let check = this.#checks.get(member);
    if (!check) this.#checks.set(member, (check = new DeliveryCheck()));
    return check;
  }

  #bookOf({ slot: { room } }: Member): RoomIndex {
    let index = this.#indexes.get(room);
    if (!index) this.#indexes.set(room, (index = new RoomIndex()));
    return index;
  }

  // ---- callbacks of members ----------------------------------------------------------------------------------

  delivered(member: Member, seq: number, mark: { room: number; code: number; dueUs: number } | undefined): void {
    // It counts as lost: its number is unknown.
    if (!isPlace(seq)) return this.failed("a message without a place");
    this.ledgerOf(member).see(seq);
    const second = this.#second();
    second.deliveries++;
    this.counts.deliveries++;
    this.#bookOf(member).see(seq, mark?.code ?? CODE_OF_OTHERS);
    if (!mark) return;
    if (mark.room !== member.slot.roomNumber) this.counts.strayed++;
    second.delivery.add(nowUs() - mark.dueUs);
  }

  entered(member: Member, lastSeq: number): void {
    this.ledgerOf(member).enter(lastSeq);
  }

  acked(member: Member, seq: number, post: Post): void {
    const second = this.#second();
    second.acks++;
    this.counts.acks++;
    second.ack.add(nowUs() - post.dueUs);
    if (isPlace(seq)) this.#bookOf(member).ack(seq, post.code);
    else this.failed("an ack without a place");
  }

  refused(_member: Member, code: string): void {
    this.counts.refusals++;
    this.failed(`post: ${code}`);
  }

  dropped(_member: Member, reason: string): void {
    this.counts.drops++;
    this.failed(`dropped: ${reason}`);
  }

  returned(_member: Member, recovered: boolean): void {
    this.counts.returns++;
    if (recovered) this.counts.recoveries++;
  }

  failed(reason: string): void {
    this.#second().errors++;
    this.errors.add(reason);
  }

  beat(): void {
    this.counts.heartbeats++;
  }

  sent(frames: number): void {
    this.counts.framesIn += frames;
  }

  requested(): void {
    this.counts.requests++;
  }

  // ---- measurements of the process ---------------------------------------------------------------------------

  joined(dueUs: number): void {
    this.counts.connects++;
    this.connect.add(nowUs() - dueUs);
  }

  posted(dueUs: number, isSent: boolean): void {
    if (!isSent) {
      this.counts.unsent++;
      return this.failed("post: the user was away");
    }
    this.#second().posts++;
    this.counts.posts++;
    this.lag.add(nowUs() - dueUs);
  }

  /** Takes out the seconds that nothing is added to any more. @param isOver all of them */
  takeSeconds(isOver: boolean): SecondReport[] {
    const current = Math.trunc((nowUs() - this.#startUs) / US_PER_SECOND);
    const done = [...this.#seconds].filter(([number]) => isOver || number < current);
    for (const [number] of done) this.#seconds.delete(number);
    return done.map(([number, { delivery, ack, ...counts }]) => ({
      second: number,
      ...counts,
      delivery: delivery.entries,
      ack: ack.entries,
    }));
  }

  lastSeqs(): Record<string, number> {
    return Object.fromEntries([...this.#indexes].map(([room, index]) => [room, index.lastSeq]));
  }

  baseSeqs(): Record<string, number> {
    return Object.fromEntries([...this.#indexes].map(([room, index]) => [room, index.baseSeq]));
  }

  /** @param spans of the rooms, as all processes know them */
  report(
    members: readonly Member[],
    spans: Readonly<Record<string, { baseSeq: number; lastSeq: number }>>,
  ): FinalReport {
    let faults: SeqFaults = NO_SEQ_FAULTS;
    let [unanswered, ignored] = [0, 0];
    for (const member of members) {
      unanswered += member.unanswered;
      ignored += member.ignored;
      const span = spans[member.slot.room];
      const check = this.#checks.get(member) ?? (member.isIn ? new DeliveryCheck() : undefined);
      if (span && check) faults = addSeqFaults(faults, check.faults(span, member.isIn));
    }
    const away = Math.max(0, this.counts.connects - members.filter(({ isIn }) => isIn).length);
    return {
      counts: { ...this.counts, unanswered, ignored, away },
      faults,
      errors: this.errors.counts,
      connect: this.connect.entries,
      lag: this.lag.entries,
      indexes: Object.fromEntries([...this.#indexes].map(([room, index]) => [room, index.page])),
    };
  }
}

/** Another value, sent by a broken server, would spoil every sum. */
const isPlace = (seq: number): boolean => Number.isSafeInteger(seq);
