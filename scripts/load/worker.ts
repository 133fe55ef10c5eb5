// One process of a load test: its members connect, post and count. Commanded by the main process over its message channel.
import { setTimeout as sleep } from "node:timers/promises";

import { nowUs } from "./clock.ts";
import { LightMember } from "./light-member.ts";
import { codeOf, markedText } from "./mark.ts";
import type { Order, Pace, Plan, Span, Told } from "./messages.ts";
import { startPacing, type Pacing } from "./pacing.ts";
import { ShimMember, StockMember } from "./real-members.ts";
import type { JoinError, Member, ClientSlot } from "./client-slot.ts";
import { Tally } from "./tally.ts";

const TICK_MS = 250;
const POLL_MS = 20;
/** A duplicate arrives within this time. */
const SETTLE_MS = 300;
/** Connects under way at once, at most: beyond, they wait, and their time runs. */
const CONNECTS_AT_ONCE = 512;
const CONNECT_TRIES = 3;
const RETRY_MS = 1000;
const US_PER_SECOND = 1e6;
const US_PER_MS = 1000;

class WorkerPool {
  readonly #plan: Plan;
  readonly #tally: Tally;
  readonly #members: readonly Member[];
  readonly #counters: number[];
  #pacing: Pacing | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#tally = new Tally(plan.startUs);
    this.#members = plan.seats.map((slot) => this.#slot(slot));
    this.#counters = plan.seats.map(() => 0);
    setInterval(() => this.#tick(false), TICK_MS);
  }

  #slot(slot: ClientSlot): Member {
    const { where, run } = this.#plan;
    if (!slot.isReal) return new LightMember(where, slot, run, this.#tally);
    if (slot.dialect === "shim") return new ShimMember(where, slot, run, this.#tally);
    return new StockMember(where, slot, run, this.#tally);
  }

  #tick(isOver: boolean): void {
    const connected = this.#members.filter(({ isIn }) => isIn).length;
    tell({ kind: "tick", connected, seconds: this.#tally.takeSeconds(isOver) });
  }

  /** Each user at a moment of its own, whether or not the server keeps up. */
  async connect(): Promise<void> {
    const fromUs = nowUs();
    const waiting = this.#members.entries();
    const join = async (): Promise<void> => {
      for (const [index, member] of waiting) {
        const dueUs = fromUs + (index / this.#plan.connectsPerSecond) * US_PER_SECOND;
        await sleep(Math.max(0, (dueUs - nowUs()) / US_PER_MS));
        await this.#join(member, dueUs);
      }
    };
    await Promise.all(Array.from({ length: Math.min(CONNECTS_AT_ONCE, this.#members.length) }, join));
    tell({ kind: "connected" });
  }

  async #join(member: Member, dueUs: number): Promise<void> {
    for (let tries = 0; tries < CONNECT_TRIES; tries++) {
      this.#tally.counts.connectAttempts++;
      try {
        await member.join();
        return this.#tally.joined(dueUs);
      } catch (error) {
        this.#tally.counts.connectFailures++;
        this.#tally.failed(`connect: ${(error as JoinError).code}`);
        await sleep(RETRY_MS * 2 ** tries * (0.5 + Math.random()));
      }
    }
  }

  post(pace: Pace): void {
    this.#pacing = startPacing(pace, this.#members.length, (index, dueUs, done) => this.#post(index, dueUs, done));
  }

  #post(index: number, dueUs: number, onAnswer: () => void): void {
    const member = this.#members[index]!;
    const code = codeOf(member.slot.number, this.#counters[index]!++);
    const content = markedText(this.#plan, member.slot.roomNumber, code, dueUs);
    const isSent = member.post({ code, content, dueUs, onAnswer });
    this.#tally.posted(dueUs, isSent);
    if (!isSent) onAnswer();
  }

  async stop(waitMs: number): Promise<void> {
    this.#pacing?.stop();
    await until(() => this.#members.every(({ unanswered, isIn }) => unanswered === 0 || !isIn), waitMs);
    const [baseSeqs, lastSeqs] = [this.#tally.baseSeqs(), this.#tally.lastSeqs()];
    const spans = Object.keys(lastSeqs).map((room) => [
      room,
      { baseSeq: baseSeqs[room]!, lastSeq: lastSeqs[room]! } satisfies Span,
    ]);
    tell({ kind: "stopped", spans: Object.fromEntries(spans) as Record<string, Span> });
  }

  async finish(waitMs: number, spans: Readonly<Record<string, Span>>): Promise<void> {
    const isDone = (member: Member): boolean => {
      const span = spans[member.slot.room];
      return !span || !member.isIn || this.#tally.ledgerOf(member).isCompleteTo(span.lastSeq);
    };
    await until(() => this.#members.every(isDone), waitMs);
    await sleep(SETTLE_MS);
    this.#tick(true);
    tell({ kind: "finished", report: this.#tally.report(this.#members, spans) });
  }
}

async function until(isDone: () => boolean, waitMs: number): Promise<void> {
  const untilUs = nowUs() + waitMs * US_PER_MS;
  while (!isDone() && nowUs() < untilUs) await sleep(POLL_MS);
}

function tell(told: Told): void {
  process.send?.(told);
}

let pool: WorkerPool | undefined;

async function obey(order: Order): Promise<void> {
  switch (order.kind) {
    case "connect":
      pool = new WorkerPool(order.plan);
      return pool.connect();
    case "post":
      return pool?.post(order.pace);
    case "stop":
      return pool?.stop(order.waitMs);
    case "finish":
      return pool?.finish(order.waitMs, order.spans);
  }
}

process.on("message", (order: Order) => void obey(order));
// Ends with the sockets open: closing them one by one would only make the server tell the rest.
process.once("disconnect", () => process.exit(0));
