// Players arrive at a steady rate, ask for a match over HTTP, connect, and race, again and again: how many does the server hold before the ping
// event takes too long? Called by generator.ts, and by the load tester.
import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { performance } from "node:perf_hooks";

import { Histogram } from "../../measuring/statistics.ts";
import type { RaceJob, RaceReading, RaceWindow, ServerFacts } from "./job.ts";
import { Meter } from "./meter.ts";
import { Racer, type RaceObserver } from "./racer.ts";

const TICK_MS = 2;
const WINDOW_MS = 2000;
/** So many windows above the limit in a row: a pause of one is not the end. */
const SLOW_WINDOWS = 3;
/** The first compile the server's code, and count for nothing. */
const WARM_UP_WINDOWS = 3;
/** From this share of its core on the generator itself would be slow. */
const GENERATOR_BUSY_MAX = 0.85;
const PING_MS = 1000;
const US_PER_MS = 1000;
const MATCHMAKE_PATH = "/api/matchmake";
const NO_COST = { generatorBusy: 0, serverCpuSeconds: 0, wallSeconds: 0 };

/** @param watch called after each window. @returns once the server is too slow, or the time is over */
export async function runRace(
  server: ServerFacts,
  job: RaceJob,
  watch: (window: RaceWindow) => void = () => undefined,
): Promise<RaceReading> {
  const crowd = new Racers(server, job);
  const meter = server.pids.length > 0 ? new Meter(server.pids) : undefined;
  const emptyBytes = meter?.residentBytes() ?? 0;
  const windows: RaceWindow[] = [];
  const total = { ...NO_COST };
  const startedMs = performance.now();
  let slow = 0;
  let endedBy: RaceReading["endedBy"] = "time";
  await new Promise<void>((resolve) => {
    const ticker = setInterval(() => crowd.tick(performance.now() - startedMs), TICK_MS);
    const windower = setInterval(() => {
      const cost = meter?.read() ?? { ...NO_COST, wallSeconds: WINDOW_MS / 1000 };
      meter?.start();
      total.serverCpuSeconds += cost.serverCpuSeconds;
      total.wallSeconds += cost.wallSeconds;
      const window: RaceWindow = {
        ...crowd.endWindow(),
        serverBusy: cost.serverCpuSeconds / cost.wallSeconds,
        generatorBusy: cost.generatorBusy,
        residentBytes: meter?.residentBytes() ?? 0,
      };
      windows.push(window);
      watch(window);
      slow = windows.length > WARM_UP_WINDOWS && window.p95Ms > job.p95MsMax ? slow + 1 : 0;
      if (slow === SLOW_WINDOWS) endedBy = "server";
      else if (window.generatorBusy > GENERATOR_BUSY_MAX) endedBy = "generator";
      else if (performance.now() - startedMs < job.seconds * 1000) return;
      clearInterval(ticker);
      clearInterval(windower);
      resolve();
    }, WINDOW_MS);
  });
  const bad = { server: SLOW_WINDOWS, generator: 1, time: 0 }[endedBy];
  const good = windows.slice(0, windows.length - bad);
  const held = good.findLast(({ p95Ms }) => p95Ms <= job.p95MsMax) ?? windows[0]!;
  return {
    kind: "race",
    ...total,
    generatorBusy: Math.max(0, ...good.map(({ generatorBusy }) => generatorBusy)),
    windows,
    held,
    endedBy,
    emptyBytes,
    finishes: crowd.finishes,
    refusals: crowd.refusals,
    failures: crowd.failures,
  };
}

/** All players of a run. Each types at a moment of its own in the period of the keystrokes. */
class Racers implements RaceObserver {
  readonly failures: Record<string, number> = {};
  finishes = 0;
  refusals = 0;
  readonly #server: ServerFacts;
  readonly #job: RaceJob;
  /** A connection for each question, as people have it. */
  readonly #agent = new Agent({ keepAlive: false });
  /** By the tick of the period in which they type. */
  readonly #turns: Racer[][];
  readonly #pingTurns: number;
  #arrived = 0;
  #in = 0;
  #turn = 0;
  #pings = new Histogram();
  #shows = new Histogram();
  #deliveries = 0;
  #keystrokesBefore = 0;

  constructor(server: ServerFacts, job: RaceJob) {
    this.#server = server;
    this.#job = job;
    this.#turns = Array.from({ length: job.keystrokeMs / TICK_MS }, () => []);
    this.#pingTurns = Math.max(1, Math.round(PING_MS / job.keystrokeMs));
  }

  now(): number {
    return performance.now() * US_PER_MS;
  }

  tick(elapsedMs: number): void {
    while (this.#arrived < (elapsedMs / 1000) * this.#job.arrivalsPerSecond) void this.#arrive(this.#arrived++);
    for (; this.#turn * TICK_MS <= elapsedMs; this.#turn++) {
      const period = Math.trunc(this.#turn / this.#turns.length);
      for (const [index, racer] of this.#turns[this.#turn % this.#turns.length]!.entries()) {
        racer.type();
        if ((period + index) % this.#pingTurns === 0) racer.ping();
      }
    }
  }

  async #arrive(number: number): Promise<void> {
    const { host, ports, wire } = this.#server;
    const port = ports[0]!;
    try {
      const path = wire.path.replaceAll("{room}", await this.#match(host, port));
      const racer = new Racer({ host, port, path }, number, this);
      this.#turns[Math.trunc(Math.random() * this.#turns.length)]!.push(racer);
    } catch (error) {
      this.failed(`no match: ${(error as Error).message}`);
    }
  }

  async #match(host: string, port: number): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const asked = request({ host, port, method: "POST", path: MATCHMAKE_PATH, agent: this.#agent }, (response) => {
      json(response).then((body) => resolve((body as { room: string }).room), reject);
    });
    asked.on("error", reject);
    asked.end();
    return promise;
  }

  endWindow(): Omit<RaceWindow, "serverBusy" | "generatorBusy" | "residentBytes"> {
    const nowUs = this.now();
    let keystrokes = 0;
    for (const racer of this.#turns.flat()) {
      keystrokes += racer.keystrokes;
      const { pingSentAtUs = nowUs } = racer;
      // Without an answer it has taken at least so long; just after it was sent that says nothing.
      if (nowUs - pingSentAtUs > this.#job.p95MsMax * US_PER_MS) this.#pings.add(nowUs - pingSentAtUs);
    }
    const window = {
      clients: this.#in,
      p50Ms: this.#pings.percentile(0.5) / US_PER_MS,
      p95Ms: this.#pings.percentile(0.95) / US_PER_MS,
      keystrokeP95Ms: this.#shows.percentile(0.95) / US_PER_MS,
      keystrokes: keystrokes - this.#keystrokesBefore,
      deliveries: this.#deliveries,
    };
    [this.#pings, this.#shows, this.#deliveries] = [new Histogram(), new Histogram(), 0];
    this.#keystrokesBefore = keystrokes;
    return window;
  }

  joined(): void {
    this.#in++;
  }

  delivered(): void {
    this.#deliveries++;
  }

  shown(sentAtUs: number, nowUs: number): void {
    this.#shows.add(nowUs - sentAtUs);
  }

  answered(sentAtUs: number, nowUs: number): void {
    this.#pings.add(nowUs - sentAtUs);
  }

  finished(): void {
    this.finishes++;
  }

  refused(): void {
    this.refusals++;
  }

  failed(reason: string): void {
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
  }
}
