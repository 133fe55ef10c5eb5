// The runtime of one Durable Object: events and calls in, a storage behind an output gate, hibernating sockets, an alarm. It can put its
// object to sleep, and let it die at any moment. Made by deployment.ts.
import type { Connection } from "./connection.ts";
import { InputGate } from "./input-gate.ts";
import { contextOf } from "./object-context.ts";
import { OutputGate } from "./output-gate.ts";
import { isPlanned, PLANNED } from "./planned.ts";
import type { RpcSession } from "./rpc-session.ts";
import type { ServerSocket } from "./server-socket.ts";
import { Storage, type Backup } from "./storage.ts";
import type { World, Zone } from "./world.ts";

/** The platform may take so long to see that an object could sleep by now. */
const PATIENCE_MS_MAX = 5000;

/**
 * The platform takes so long to put an object to sleep. Here sleep may come sooner, because more is found then; but not between two requests
 * of long-polling, whose session would end each time.
 */
const POLLED_IDLE_MS_MIN = 10_000;

/** As the platform: an alarm that fails rings again after this, and twice as long each further time. */
const ALARM_RETRY_MS = 2000;
const ALARM_RETRIES_MAX = 6;

/** A class of Durable Objects. */
// oxlint-disable-next-line typescript/no-explicit-any -- a class may declare any context and environment of its own
export type ObjectClass<Instance extends object = object> = new (ctx: any, env: any) => Instance;

/** The methods that callers reach from outside, by name. */
export type ObjectInstance = Record<string, (...args: unknown[]) => unknown>;

/** A frame on its way out of an object. */
export interface Spoken {
  readonly connection: Connection;
  readonly frame: string | Uint8Array;
}

/** Called as things happen to an object. */
export interface HostListener {
  /** A frame leaves the object. */
  spoken(host: ObjectHost, spoken: Spoken): void;
  /** A group of writes was closed, or has just become durable. */
  closed(host: ObjectHost, group: number): void;
  confirmed(host: ObjectHost, group: number): void;
  /** The object dies. @param kept so many groups of writes turn out to be durable */
  lost(host: ObjectHost, kept: number): void;
  beforeSleep(host: ObjectHost): void;
}

export interface HostOptions {
  readonly kind: string;
  readonly name: string;
  readonly make: ObjectClass;
  readonly env: object;
  /** `ctx.exports` */
  readonly exports: object;
  readonly listener: Partial<HostListener>;
  /** How long until a write is durable. */
  readonly commitMs: () => number;
}

export class ObjectHost {
  readonly kind: string;
  readonly name: string;
  readonly world: World;
  readonly storage = new Storage();
  zone: Zone;
  instance: ObjectInstance | undefined;
  readonly sockets = new Set<ServerSocket>();
  /** In which others call it. */
  readonly sessions = new Set<RpcSession>();
  sleepAfterMs = 10_000;
  alarmLateMs = 0;
  autoResponse: { request: string; response: string } | undefined;
  lives = 0;
  sleeps = 0;
  alarms = 0;
  readonly #options: HostOptions;
  readonly #input: InputGate;
  readonly #output = new OutputGate();
  readonly #clockZone: Zone;
  /** Calls that are not answered yet, in either direction. */
  #busy = 0;
  /** Reject the calls without an answer when the object dies. */
  readonly #callers = new Set<() => void>();
  #confirmedAtMs = 0;
  #armed: { isCancelled: boolean } | undefined;
  #activeAtMs = 0;
  #polledAtMs = -Infinity;
  /** Alarms that rang in a row for an object that did not start. */
  #failedAlarms = 0;
  #isWatched = false;
  #patienceMs = 1;

  constructor(world: World, options: HostOptions) {
    this.world = world;
    this.kind = options.kind;
    this.name = options.name;
    this.#options = options;
    this.#input = new InputGate(world);
    this.#clockZone = world.makeZone(`object ${options.name}`);
    this.zone = this.#clockZone;
    this.storage.resume = (run) => void world.at(world.nowMs, this.zone, run);
    this.#begin();
  }

  set skewMs(skewMs: number) {
    this.#clockZone.skewMs = skewMs;
    this.zone.skewMs = skewMs;
    this.arm();
  }

  get skewMs(): number {
    return this.#clockZone.skewMs;
  }

  // ---- in --------------------------------------------------------------------------------------------------

  /** Something for the object arrives; it is made if it is not there. */
  deliver(run: (instance: ObjectInstance) => unknown): void {
    this.world.at(this.world.nowMs, this.#clockZone, () => {
      this.world.zone = this.zone;
      this.#enter(run);
    });
  }

  #enter(run: (instance: ObjectInstance) => unknown): void {
    this.#activeAtMs = this.world.nowMs;
    this.#patienceMs = 1;
    const instance = (this.instance ??= this.#make());
    if (!instance) return;
    const { zone } = this;
    const go = (): void => {
      if (zone.isOver) return;
      const result = run(instance);
      if (result instanceof Promise) result.catch((error: unknown) => this.world.onError(error));
    };
    this.#input.pass(go);
  }

  /** @returns nothing where the constructor throws; then the object is as after a crash */
  #make(): ObjectInstance | undefined {
    const { zone } = this;
    const end = (keep: boolean): void =>
      void this.world.at(this.world.nowMs, this.#clockZone, () => zone.isOver || this.die(keep, true));
    const context = contextOf(this, zone, {
      block: (run) =>
        this.#input.block(zone, run, (error) => {
          this.world.onError(error);
          end(false);
        }),
      waitUntil: (work) => {
        void work.catch((error: unknown) => this.world.onError(error)).finally(this.waits());
      },
      abort: () => end(true),
      exports: this.#options.exports,
    });
    try {
      return new this.#options.make(context, this.#options.env) as ObjectInstance;
    } catch (error) {
      this.world.onError(error);
      this.die(false, true);
      return undefined;
    }
  }

  /** A call from elsewhere. Its answer is an error if the object dies before it has got out. */
  call<Result>(
    run: (instance: ObjectInstance) => Promise<Result> | Result,
    reply: (result: Result | Error) => void,
  ): void {
    const died = (): void => reply(new Error(PLANNED.died));
    this.#callers.add(died);
    this.deliver((instance) => {
      const { zone } = this;
      this.#busy++;
      const end = (result: Result | Error): void => {
        if (zone.isOver) return;
        this.#busy--;
        this.say(() => {
          this.#callers.delete(died);
          reply(result);
        });
      };
      Promise.resolve()
        .then(() => run(instance))
        .then(end, (error: unknown) => {
          // The caller might try again and hide the error.
          if (!isPlanned(error) && (error instanceof TypeError || error instanceof ReferenceError))
            this.world.onError(error);
          end(error instanceof Error ? error : new Error(String(error)));
        });
    });
  }

  /** A request that opens no WebSocket. */
  notePolled(): void {
    this.#polledAtMs = this.world.nowMs;
  }

  /** The object waits for another object. @returns ends the waiting */
  waits(): () => void {
    const { zone } = this;
    this.#busy++;
    return () => void (zone.isOver || this.#busy--);
  }

  #begin(): void {
    this.lives++;
    this.zone = this.world.makeZone(`object ${this.name} ${this.lives}`);
    this.zone.skewMs = this.skewMs;
  }

  // ---- out -------------------------------------------------------------------------------------------------

  /** Lets something out, behind earlier writes. */
  say(run: () => void, spoken?: Spoken): void {
    this.#output.pass(this.storage.newestGroup, () => {
      const { listener } = this.#options;
      if (spoken && listener.spoken) spoken.connection.onceTied(() => listener.spoken!(this, spoken));
      run();
    });
  }

  /** The writes of the finished event become durable a while later. */
  settle(): void {
    const group = this.storage.closeGroup();
    if (group !== undefined) {
      this.#options.listener.closed?.(this, group);
      this.#confirmedAtMs = Math.max(this.#confirmedAtMs, this.world.nowMs + this.#options.commitMs());
      const { lives } = this;
      this.world.at(this.#confirmedAtMs, this.#clockZone, () => lives === this.lives && this.#confirm(group));
      this.arm();
    }
    this.#watchForSleep();
  }

  #confirm(group: number): void {
    this.storage.confirm(group);
    this.#options.listener.confirmed?.(this, group);
    this.#output.open(group);
  }

  // ---- the alarm -------------------------------------------------------------------------------------------

  /** The platform looks at when the alarm is due. */
  arm(): void {
    if (this.#armed) this.#armed.isCancelled = true;
    this.#armed = undefined;
    const { alarmAtMs } = this.storage;
    if (alarmAtMs === undefined) return;
    const soonestMs = this.world.nowMs + (this.#failedAlarms > 0 ? ALARM_RETRY_MS * 2 ** (this.#failedAlarms - 1) : 0);
    const atMs = Math.max(soonestMs, alarmAtMs - this.skewMs) + this.alarmLateMs;
    this.#armed = this.world.at(atMs, this.#clockZone, () => this.#ring());
  }

  #ring(): void {
    this.#armed = undefined;
    this.alarms++;
    this.storage.takeAlarm();
    // Until it has begun, it counts as failed: an object that cannot start would be woken for ever.
    this.#failedAlarms = Math.min(this.#failedAlarms + 1, ALARM_RETRIES_MAX);
    this.deliver((instance) => {
      this.#failedAlarms = 0;
      return instance["alarm"]?.();
    });
  }

  // ---- sleep and death -------------------------------------------------------------------------------------

  /** The reasons that keep it awake, as text for a failure. */
  get keptBy(): string {
    const { zone, storage } = this;
    const counts = { timers: zone.timers.size, calls: this.#busy, blocked: this.#input.isBusy };
    return JSON.stringify({ ...counts, sendings: this.#output.size, unconfirmed: storage.unconfirmed });
  }

  get canSleep(): boolean {
    if (this.world.nowMs - this.#polledAtMs < POLLED_IDLE_MS_MIN) return false;
    const isCalled = [...this.sessions].some(({ isOpen }) => isOpen);
    const isIdle = this.zone.timers.size + this.#busy + this.#output.size === 0 && !this.#input.isBusy && !isCalled;
    return this.instance !== undefined && isIdle && this.storage.unconfirmed === 0;
  }

  #watchForSleep(): void {
    if (!this.instance || this.#isWatched) return;
    this.#isWatched = true;
    const atMs = Math.max(this.#activeAtMs + this.sleepAfterMs, this.world.nowMs + this.#patienceMs);
    this.world.at(atMs, this.#clockZone, () => {
      this.#isWatched = false;
      // Something may keep it awake for long, so it is looked at rarely.
      this.#patienceMs = Math.min(this.#patienceMs * 2, PATIENCE_MS_MAX);
      const isQuiet = this.world.nowMs - this.#activeAtMs >= this.sleepAfterMs;
      if (isQuiet && this.canSleep) this.sleep();
    });
  }

  /** The object loses its memory and keeps storage and attachments; clients notice nothing. */
  sleep(): void {
    this.#options.listener.beforeSleep?.(this);
    this.sleeps++;
    this.#finish();
  }

  #finish(): void {
    this.world.end(this.zone);
    this.sessions.clear();
    this.instance = undefined;
    this.#begin();
  }

  /**
   * The process dies.
   * @param keep whether pending writes become durable after all, though no caller gets an answer
   * @param isNoticed whether the clients notice
   * @param backup the storage is set back to this
   */
  die(keep: boolean, isNoticed: boolean, backup?: Backup): void {
    const groups = keep ? this.storage.unconfirmed : 0;
    this.#options.listener.lost?.(this, groups);
    this.storage.crash(groups);
    if (backup !== undefined) this.storage.restore(backup);
    this.#output.clear();
    this.#input.clear();
    this.#busy = 0;
    this.#confirmedAtMs = 0;
    const lost = [...this.sockets];
    this.sockets.clear();
    this.#finish();
    this.arm();
    for (const died of this.#callers) died();
    this.#callers.clear();
    for (const { connection } of lost) connection.lose(isNoticed);
  }

  end(): void {
    this.world.end(this.zone);
    this.world.end(this.#clockZone);
    this.storage.close();
  }
}
