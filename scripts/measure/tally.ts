// Adds up what the members of a run report: counts, latencies, a row for each second, and the accounts of deliveries. Called by run.ts.
import { Latencies } from "./latencies.ts";
import { CODE_OF_OTHERS, Deliveries, Places, type SeqFaults, type Span } from "./ledger.ts";
import { nowUs, type Member, type Observer, type Post } from "./member.ts";
import type { Faults, SecondRow } from "./reading.ts";

const NONE = { posts: 0, acks: 0, deliveries: 0, errors: 0 };

export class Tally implements Observer {
  readonly delivery = new Latencies();
  readonly ack = new Latencies();
  readonly connect = new Latencies();
  /** Between the moment at which a post was due and that at which it went out: the generator's own lateness. */
  readonly late = new Latencies();
  readonly errors: Record<string, number> = {};
  readonly rows: SecondRow[] = [];
  readonly counts = {
    attempts: 0,
    failures: 0,
    in: 0,
    posts: 0,
    unsent: 0,
    acks: 0,
    refusals: 0,
    deliveries: 0,
    strayed: 0,
    drops: 0,
    returns: 0,
    recoveries: 0,
    pings: 0,
  };
  lastDeliveryUs = 0;
  /** By the member's number. */
  readonly #deliveries: Deliveries[] = [];
  readonly #places = new Map<string, Places>();
  /** Latencies are those of posts that were due in this time. */
  #fromUs = Infinity;
  #toUs = Infinity;
  /** Of the present second. */
  #second = { ...NONE };
  readonly #secondDelivery = new Latencies();
  readonly #secondAck = new Latencies();

  measure(fromUs: number, toUs: number): void {
    [this.#fromUs, this.#toUs] = [fromUs, toUs];
  }

  deliveriesTo({ seat: { number } }: Member): Deliveries {
    return (this.#deliveries[number] ??= new Deliveries());
  }

  placesIn(room: string): Places {
    let places = this.#places.get(room);
    if (!places) this.#places.set(room, (places = new Places()));
    return places;
  }

  get spans(): Map<string, Span> {
    return new Map([...this.#places].map(([room, places]) => [room, places.span]));
  }

  // ---- what members report -----------------------------------------------------------------------------------

  delivered(member: Member, seq: number, mark: { room: number; code: number; dueUs: number } | undefined): void {
    // It counts as lost: its number is unknown.
    if (!isPlace(seq)) return this.failed("a message without a place");
    this.deliveriesTo(member).see(seq);
    this.placesIn(member.seat.room).show(seq, mark?.code ?? CODE_OF_OTHERS);
    this.counts.deliveries++;
    this.#second.deliveries++;
    if (!mark) return;
    if (mark.room !== member.seat.roomNumber) this.counts.strayed++;
    this.lastDeliveryUs = nowUs();
    const us = this.lastDeliveryUs - mark.dueUs;
    this.#secondDelivery.add(us);
    if (this.#isMeasured(mark.dueUs)) this.delivery.add(us);
  }

  entered(member: Member, lastSeq: number): void {
    this.deliveriesTo(member).enter(lastSeq);
  }

  acked(member: Member, seq: number, { code, dueUs }: Post): void {
    const us = nowUs() - dueUs;
    this.counts.acks++;
    this.#second.acks++;
    this.#secondAck.add(us);
    if (this.#isMeasured(dueUs)) this.ack.add(us);
    if (isPlace(seq)) this.placesIn(member.seat.room).ack(seq, code);
    else this.failed("an ack without a place");
  }

  #isMeasured(dueUs: number): boolean {
    return dueUs >= this.#fromUs && dueUs < this.#toUs;
  }

  refused(code: string): void {
    this.counts.refusals++;
    this.failed(`post: ${code}`);
  }

  dropped(reason: string): void {
    this.counts.drops++;
    this.failed(`dropped: ${reason}`);
  }

  returned(isRecovered: boolean): void {
    this.counts.returns++;
    if (isRecovered) this.counts.recoveries++;
  }

  pinged(): void {
    this.counts.pings++;
  }

  failed(reason: string): void {
    this.#second.errors++;
    this.errors[reason] = (this.errors[reason] ?? 0) + 1;
  }

  // ---- what the crowd does -----------------------------------------------------------------------------------

  joined(dueUs: number): void {
    this.counts.in++;
    this.connect.add(nowUs() - dueUs);
  }

  posted(dueUs: number, isSent: boolean): void {
    if (!isSent) {
      this.counts.unsent++;
      return this.failed("post: the user was away");
    }
    this.counts.posts++;
    this.#second.posts++;
    this.late.add(nowUs() - dueUs);
  }

  // ---- results -----------------------------------------------------------------------------------------------

  endSecond(facts: Pick<SecondRow, "second" | "connected" | "cores" | "residentBytes" | "stolenCores">): void {
    const [delivery, ack] = [this.#secondDelivery, this.#secondAck];
    this.rows.push({
      ...facts,
      ...this.#second,
      p50Ms: delivery.ms(0.5),
      p95Ms: delivery.ms(0.95),
      p99Ms: delivery.ms(0.99),
      maxMs: delivery.ms(1),
      ackP99Ms: ack.ms(0.99),
    });
    this.#second = { ...NONE };
    delivery.reset();
    ack.reset();
  }

  /** @param spans beyond which nothing is due to the members */
  faults(members: readonly Member[], spans: ReadonlyMap<string, Span>): Omit<Faults, "absent" | "unread"> & SeqFaults {
    const sum = { lost: 0, doubled: 0, outOfOrder: 0, missedAway: 0, unanswered: 0 };
    for (const member of members) {
      sum.unanswered += member.ignored;
      const span = spans.get(member.seat.room);
      if (!span || (!member.isIn && !this.#deliveries[member.seat.number])) continue;
      const faults = this.deliveriesTo(member).faults(span, member.isIn);
      for (const name of ["lost", "doubled", "outOfOrder", "missedAway"] as const) sum[name] += faults[name];
    }
    const places = [...this.#places.values()];
    return {
      ...sum,
      disagreeing: places.reduce((all, { disagreeing }) => all + disagreeing, 0),
      repeated: places.reduce((all, { repeated }) => all + repeated, 0),
      strayed: this.counts.strayed,
    };
  }
}

/** Another value, sent by a broken server, would spoil every sum. */
const isPlace = (seq: number): boolean => Number.isSafeInteger(seq);
