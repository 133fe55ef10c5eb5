// One run from beginning to end: all users connect and post, connections may break, and the run waits for all messages and looks them up.
// `npm run load` calls it here, `npm run bench` in a process of its own (generator.ts), `npm run crash` with a server that is killed meanwhile.
import { once } from "node:events";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

import { countedBetween, scrape } from "./counted.ts";
import { Crowd, holdsWithin, requireFiles, seatsFor, withTokens, type Place, type TokenFor } from "./crowd.ts";
import { checkHistories, type HistoryVerdict } from "./history.ts";
import { nowUs, type Seat } from "./member.ts";
import { costBetween, snapshot, type Cost, type Snapshot } from "./meter.ts";
import { liveOf, SILENT, type Progress } from "./progress.ts";
import { outcomeOf, type Reading, type Workload } from "./reading.ts";
import { Tally } from "./tally.ts";

/** Presence events and other work of the connects are over after this time. */
const SETTLE_MS = 1500;
const ANSWERS_MS_MAX = 20_000;
const DRAIN_MS_MAX = 15_000;
/** If the run was interrupted. */
const HURRIED_MS_MAX = 2000;
/** A duplicate arrives within this time. */
const DUPLICATE_MS = 300;
const BACK_MS_MAX = 60_000;
const SECOND_MS = 1000;
const SHOW_MS = 500;
const US_PER_MS = 1000;
/** Rooms report their counters to the lobby from time to time; a busy one once a minute. */
const COUNTED_MS_MAX = 110_000;
const COUNTED_POLL_MS = 2500;
const RUN_CHARS = 4;

export interface Job {
  readonly workload: Workload;
  readonly place: Place;
  /** For the report. */
  readonly server: string;
  /** Whether histories can be read back. */
  readonly isParley: boolean;
  /** The server's processes, if they are known. */
  readonly pids: readonly number[];
}

export interface Circumstances {
  readonly tokenFor: TokenFor;
  readonly progress?: Progress;
  /** When aborted, the run ends early with its results so far. */
  readonly interrupt?: AbortSignal;
  /** Reads the server's counters with this token, which takes until its rooms have reported. */
  readonly countsWith?: { readonly token: string | undefined };
  /** Done while posting goes on, after the measured interval. */
  readonly disturb?: (crowd: Crowd) => Promise<void>;
}

export class Run {
  readonly #job: Job;
  readonly #circumstances: Circumstances;
  readonly #progress: Progress;
  readonly #interrupt: AbortSignal;
  readonly #startUs = nowUs();
  readonly #startedAt = new Date();
  readonly #id = Math.random().toString(36).slice(2).slice(-RUN_CHARS).padStart(RUN_CHARS, "0");
  readonly #tally = new Tally();
  #phase: () => void = () => undefined;
  #counting: NodeJS.Timeout | undefined;

  constructor(job: Job, circumstances: Circumstances) {
    this.#job = job;
    this.#circumstances = circumstances;
    this.#progress = circumstances.progress ?? SILENT;
    this.#interrupt = circumstances.interrupt ?? new AbortController().signal;
  }

  /** Of the run, with its fraction. */
  get #second(): number {
    return (nowUs() - this.#startUs) / US_PER_MS / SECOND_MS;
  }

  async run(): Promise<Reading> {
    const { workload, place } = this.#job;
    requireFiles(workload.users);
    const seats = await withTokens(seatsFor(workload, place), this.#circumstances.tokenFor);
    const crowd = new Crowd(seats, this.#id, workload, this.#tally);
    const showing = setInterval(() => this.#phase(), SHOW_MS);
    this.#countSeconds(crowd);
    try {
      return await this.#phases(crowd, seats);
    } finally {
      clearInterval(showing);
      clearInterval(this.#counting);
      crowd.stopPosting();
      crowd.leave();
      this.#progress.end();
    }
  }

  async #phases(crowd: Crowd, seats: readonly Seat[]): Promise<Reading> {
    const { workload, pids } = this.#job;
    const before = await this.#scrape();
    const start = snapshot(pids);
    const { users } = workload;
    this.#phase = () => this.#progress.show("connecting", crowd.connected, users, `${crowd.connected}/${users}`);
    await this.#orInterrupt(crowd.connect(() => this.#interrupt.aborted));
    const connectedAt = this.#second;
    await this.#pause(SETTLE_MS);
    const settled = snapshot(pids);

    const postingFrom = this.#second;
    const postingSeconds = workload.warmUpSeconds + workload.seconds;
    this.#phase = () => {
      const seconds = this.#second - postingFrom;
      this.#progress.show("posting", seconds, postingSeconds, liveOf(seconds, postingSeconds, this.#tally.rows.at(-1)));
    };
    if (!this.#interrupt.aborted && workload.postsPerUserPerSecond > 0) crowd.startPosting();
    await this.#pause(workload.warmUpSeconds * SECOND_MS);
    const measured = await this.#measure();
    const broken = workload.breaks && (await this.#break(crowd, workload.breaks));
    await this.#circumstances.disturb?.(crowd);
    crowd.stopPosting();
    const postingTo = this.#second;
    const drainMs = await this.#drain(crowd);

    // Reads the counters before the history check connects, which would be counted, too.
    const counted = await this.#count(before);
    const { counts, delivery, ack, connect, late } = this.#tally;
    const unanswered = crowd.members.reduce((sum, member) => sum + member.unanswered, 0);
    const away = Math.max(0, counts.in - crowd.connected);
    const { missedAway, ...faults } = this.#tally.faults(crowd.members, this.#tally.spans);
    clearInterval(this.#counting);
    // The members leave first: a full room would refuse the connection of the history check.
    crowd.leave();
    const history = await this.#lookUp(seats);
    const reading: Omit<Reading, "outcome"> = {
      format: 2,
      startedAt: this.#startedAt.toISOString(),
      server: this.#job.server,
      workload,
      machine: machineOf(),
      phases: { connectedAt, postingFrom, postingTo, finishedAt: this.#second },
      connections: {
        users: workload.users,
        in: counts.in,
        attempts: counts.attempts,
        failures: counts.failures,
        drops: counts.drops,
        returns: counts.returns,
        recoveries: counts.recoveries,
        away,
        serverCpuSeconds: costBetween(start, settled).serverCpuSeconds,
        residentBytes: settled.residentBytes - start.residentBytes,
      },
      messages: {
        posts: counts.posts,
        acks: counts.acks,
        refusals: counts.refusals,
        unsent: counts.unsent,
        unanswered,
        deliveries: counts.deliveries,
      },
      measured: { ...measured, residentBytes: measured.residentBytes - start.residentBytes },
      ...(broken && { broken }),
      drainMs,
      latency: {
        connect: connect.percentiles,
        delivery: delivery.percentiles,
        ack: ack.percentiles,
        generatorLate: late.percentiles,
      },
      deliveryCurve: delivery.curve,
      faults: {
        ...faults,
        // An interrupted run does not wait for the last answers.
        unanswered: this.#interrupt.aborted ? 0 : faults.unanswered,
        absent: history?.absent ?? 0,
        unread: history?.unread ?? 0,
      },
      missedAway,
      ...(history && {
        history: {
          rooms: history.rooms,
          messages: history.messages,
          ...(history.problem && { problem: history.problem }),
        },
      }),
      errors: this.#tally.errors,
      ...(counted && { counted }),
      rows: this.#tally.rows,
    };
    return { ...reading, outcome: outcomeOf(reading, this.#interrupt.aborted) };
  }

  /** A row for each second. */
  #countSeconds(crowd: Crowd): void {
    const { pids } = this.#job;
    let last = snapshot(pids);
    this.#counting = setInterval(() => {
      const now = snapshot(pids);
      const { serverCpuSeconds, stolenCores, seconds } = costBetween(last, now);
      last = now;
      this.#tally.endSecond({
        second: Math.round(this.#second),
        connected: crowd.connected,
        stolenCores,
        ...(pids.length > 0 && { cores: serverCpuSeconds / seconds, residentBytes: now.residentBytes }),
      });
    }, SECOND_MS);
  }

  async #measure(): Promise<Omit<Cost, "stolenCores"> & Reading["measured"]> {
    const { counts } = this.#tally;
    const before = { ...counts };
    const from: Snapshot = snapshot(this.#job.pids);
    this.#tally.measure(nowUs(), nowUs() + this.#job.workload.seconds * SECOND_MS * US_PER_MS);
    await this.#pause(this.#job.workload.seconds * SECOND_MS);
    const to = snapshot(this.#job.pids);
    const { seconds, serverCpuSeconds, generatorBusy } = costBetween(from, to);
    return {
      seconds,
      posts: counts.posts - before.posts,
      deliveries: counts.deliveries - before.deliveries,
      pings: counts.pings - before.pings,
      serverCpuSeconds,
      generatorBusy,
      residentBytes: to.residentBytes,
    };
  }

  async #break(crowd: Crowd, { share, awayMs }: NonNullable<Workload["breaks"]>): Promise<Reading["broken"]> {
    const recoveriesBefore = this.#tally.counts.recoveries;
    const cut = crowd.cut(share, awayMs);
    await this.#pause(awayMs);
    const from = snapshot(this.#job.pids);
    const elapsedMs = (): number => performance.now() - from.atMs;
    await holdsWithin(BACK_MS_MAX, () => this.#interrupt.aborted || cut.every(({ isIn }) => isIn));
    const backMs = elapsedMs();
    const { spans } = this.#tally;
    const lastSeqOf = (room: string): number => spans.get(room)?.lastSeq ?? 0;
    await holdsWithin(
      BACK_MS_MAX,
      () =>
        this.#interrupt.aborted ||
        cut.every((member) => this.#tally.deliveriesTo(member).isCompleteTo(lastSeqOf(member.seat.room))),
    );
    return {
      users: cut.length,
      recovered: this.#tally.counts.recoveries - recoveriesBefore,
      backMs,
      caughtUpMs: elapsedMs(),
      serverCpuSeconds: costBetween(from, snapshot(this.#job.pids)).serverCpuSeconds,
    };
  }

  /** Waits until all have their answers and all messages. @returns milliseconds from the last post to the last delivery, at least 0 */
  async #drain({ members }: Crowd): Promise<number> {
    this.#waitFor("what is under way");
    const stoppedUs = nowUs();
    const isHurried = this.#interrupt.aborted;
    await holdsWithin(isHurried ? HURRIED_MS_MAX : ANSWERS_MS_MAX, () =>
      members.every(({ unanswered, isIn }) => unanswered === 0 || !isIn),
    );
    const { spans } = this.#tally;
    await holdsWithin(isHurried ? HURRIED_MS_MAX : DRAIN_MS_MAX, () =>
      members.every((member) => {
        const span = spans.get(member.seat.room);
        return !span || !member.isIn || this.#tally.deliveriesTo(member).isCompleteTo(span.lastSeq);
      }),
    );
    await sleep(DUPLICATE_MS);
    return Math.max(0, (this.#tally.lastDeliveryUs - stoppedUs) / US_PER_MS);
  }

  async #lookUp(seats: readonly Seat[]): Promise<HistoryVerdict | undefined> {
    if (!this.#job.isParley || this.#interrupt.aborted) return undefined;
    this.#waitFor("the rooms' histories");
    const seatsOf = Map.groupBy(seats, ({ room }) => room);
    const rooms = [...this.#tally.spans.keys()].map((room) => ({
      seats: seatsOf.get(room)!,
      places: this.#tally.placesIn(room),
    }));
    return checkHistories(this.#id, rooms);
  }

  async #scrape(): Promise<string | undefined> {
    const { countsWith } = this.#circumstances;
    return countsWith && scrape(this.#job.place.origin, countsWith.token);
  }

  /** The server's counters, once they include all acked posts. */
  async #count(before: string | undefined): Promise<Reading["counted"]> {
    if (before === undefined) return undefined;
    const untilUs = nowUs() + COUNTED_MS_MAX * US_PER_MS;
    this.#waitFor("the server's own counts");
    for (;;) {
      const after = await this.#scrape();
      if (after === undefined) return undefined;
      const counted = countedBetween(before, after);
      const isAll = counted.posts === undefined || counted.posts >= this.#tally.counts.acks;
      if (isAll || this.#interrupt.aborted || nowUs() > untilUs) return counted;
      await this.#pause(COUNTED_POLL_MS);
    }
  }

  #waitFor(what: string): void {
    this.#phase = () => this.#progress.show(`waiting for ${what}`, 1, 1, "");
  }

  /** Skips all waits on request, except for bugs. */
  async #orInterrupt(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#interrupt.aborted || once(this.#interrupt, "abort")]);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#interrupt }).catch(() => undefined);
  }
}

function machineOf(): Reading["machine"] {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model ?? "unknown",
    cores: cpus.length,
    node: process.versions.node,
    platform: `${os.type()} ${os.release()}`,
  };
}
