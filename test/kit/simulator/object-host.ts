// The runtime of one Durable Object, as far as the product uses it: hibernating sockets, storage behind an output gate, an
// alarm, calls. It can put its object to sleep, and let it die at any moment.
import { serialize, deserialize } from "node:v8";

import type { Connection } from "./network.ts";
import { Storage } from "./storage.ts";
import { Zone, type World } from "./world.ts";

/** The platform's limit of the attachment of one WebSocket. */
const ATTACHMENT_BYTES_MAX = 16 * 1024;

/** So long the platform may take to see that an object could sleep by now. */
const PATIENCE_MS_MAX = 5000;

export type ObjectClass = new (context: unknown, env: unknown) => ObjectInstance;

/** The methods that callers reach from outside, by name. */
export type ObjectInstance = Record<string, (...args: unknown[]) => unknown>;

export class ServerSocket {
  readonly connection: Connection;
  readonly #host: () => ObjectHost | undefined;
  #attachment: Uint8Array | undefined;

  constructor(connection: Connection, host: () => ObjectHost | undefined) {
    this.connection = connection;
    this.#host = host;
  }

  send(frame: string | Uint8Array): void {
    if (this.connection.isClosing) throw new Error("the socket is closing");
    this.#host()?.say(() => this.connection.toClient(frame), { connection: this.connection, frame });
  }

  close(code = 1005, reason = ""): void {
    if (this.connection.isClosing) return;
    this.connection.isClosing = true;
    this.#host()?.say(() => this.connection.closeFromServer(code, reason));
  }

  serializeAttachment(value: unknown): void {
    const attachment = serialize(value);
    if (attachment.byteLength > ATTACHMENT_BYTES_MAX)
      throw new Error(`an attachment of ${attachment.byteLength} bytes`);
    this.#attachment = attachment;
  }

  deserializeAttachment(): unknown {
    return this.#attachment ? deserialize(this.#attachment) : null;
  }
}

/** Output of the object, which the output gate holds back until all earlier writes are durable. */
interface Saying {
  readonly after: number | undefined;
  readonly run: () => void;
}

/** A frame on its way out of an object. */
export interface Spoken {
  readonly connection: Connection;
  readonly frame: string | Uint8Array;
}

export interface HostPorts {
  /** How long until what is written is durable. */
  readonly commitMs: () => number;
  readonly spoken: (host: ObjectHost, spoken: Spoken) => void;
  /** A group of writes was closed, or has just become durable. */
  readonly closed: (host: ObjectHost, group: number) => void;
  readonly confirmed: (host: ObjectHost, group: number) => void;
  readonly lost: (host: ObjectHost, keptGroups: number) => void;
  /** How long nothing must have happened before the object may be put to sleep. */
  readonly idleMsMin: (host: ObjectHost) => number;
  readonly beforeSleep: (host: ObjectHost) => void;
}

export class ObjectHost {
  readonly name: string;
  readonly world: World;
  readonly storage = new Storage();
  readonly env: unknown;
  zone: Zone;
  instance: ObjectInstance | undefined;
  sockets = new Set<ServerSocket>();
  sleepAfterMs = 10_000;
  alarmLateMs = 0;
  autoResponse: { request: string; response: string } | undefined;
  lives = 0;
  sleeps = 0;
  alarms = 0;
  /** Calls that are not answered yet, in either direction. */
  #busy = 0;
  /** Reject the calls without an answer when the object dies. */
  readonly #callers = new Set<() => void>();
  #blocks = 0;
  #held: Array<() => void> = [];
  #sayings: Saying[] = [];
  #confirmedAtMs = 0;
  #armed: { atMs: number; isCancelled: boolean } | undefined;
  #activeAtMs = 0;
  #isWatched = false;
  #patienceMs = 1;
  readonly #class: ObjectClass;
  readonly #ports: HostPorts;
  readonly #clockZone: Zone;

  constructor(world: World, options: { name: string; make: ObjectClass; env: unknown; ports: HostPorts }) {
    this.world = world;
    this.name = options.name;
    this.#class = options.make;
    this.env = options.env;
    this.#ports = options.ports;
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
    const instance = (this.instance ??= new this.#class(this.#makeContext(), this.env));
    const { zone } = this;
    const go = (): void => {
      if (zone.isOver) return;
      const result = run(instance);
      if (result instanceof Promise) result.catch((error: unknown) => this.world.onError(error));
    };
    // What came while it was blocked stays in front of what comes now.
    if (this.#blocks + this.#held.length > 0) this.#held.push(go);
    else go();
  }

  /** Lets in what came while the object was blocked, each as an event of its own. */
  #letIn(zone: Zone): void {
    if (this.#held.length === 0) return;
    this.world.at(this.world.nowMs, zone, () => {
      if (this.#blocks > 0) return;
      this.#held.shift()?.();
      this.#letIn(zone);
    });
  }

  /** A call from elsewhere. Its answer is an error if the object dies before it has got out. */
  call<Result>(
    run: (instance: ObjectInstance) => Promise<Result> | Result,
    reply: (result: Result | Error) => void,
  ): void {
    const died = (): void => reply(new Error("the object died"));
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
          if (error instanceof TypeError || error instanceof ReferenceError) this.world.onError(error);
          end(error instanceof Error ? error : new Error(String(error)));
        });
    });
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

  say(speak: () => void, spoken?: Spoken): void {
    const run = (): void => {
      if (spoken) this.#ports.spoken(this, spoken);
      speak();
    };
    const after = this.storage.newestGroup;
    if (after === undefined && this.#sayings.length === 0) run();
    else this.#sayings.push({ after, run });
  }

  /** The writes of the finished event become durable a while later. */
  settle(): void {
    const group = this.storage.closeGroup();
    if (group !== undefined) {
      this.#ports.closed(this, group);
      this.#confirmedAtMs = Math.max(this.#confirmedAtMs, this.world.nowMs + this.#ports.commitMs());
      const { lives } = this;
      this.world.at(this.#confirmedAtMs, this.#clockZone, () => lives === this.lives && this.#confirm(group));
      this.arm();
    }
    this.#watchForSleep();
  }

  #confirm(group: number): void {
    this.storage.confirm(group);
    this.#ports.confirmed(this, group);
    while (this.#sayings.length > 0 && (this.#sayings[0]!.after ?? -1) <= group) this.#sayings.shift()!.run();
  }

  // ---- the alarm -------------------------------------------------------------------------------------------

  /** The platform looks at when the alarm is due. */
  arm(): void {
    if (this.#armed) this.#armed.isCancelled = true;
    this.#armed = undefined;
    const { alarmAtMs } = this.storage;
    if (alarmAtMs === undefined) return;
    const atMs = Math.max(this.world.nowMs, alarmAtMs - this.skewMs) + this.alarmLateMs;
    this.#armed = this.world.at(atMs, this.#clockZone, () => this.#ring());
  }

  #ring(): void {
    this.#armed = undefined;
    this.alarms++;
    this.storage.takeAlarm();
    this.deliver((instance) => instance["alarm"]!());
  }

  // ---- sleep and death -------------------------------------------------------------------------------------

  /** The reasons that keep it awake, as text for a failure. */
  get keptBy(): string {
    const counts = {
      timers: this.zone.timers.size,
      calls: this.#busy,
      blocks: this.#blocks,
      sayings: this.#sayings.length,
    };
    return JSON.stringify({ ...counts, unconfirmed: this.storage.unconfirmed });
  }

  get canSleep(): boolean {
    if (this.world.nowMs - this.#activeAtMs < this.#ports.idleMsMin(this)) return false;
    const isIdle = this.zone.timers.size + this.#busy + this.#blocks + this.#held.length + this.#sayings.length === 0;
    return this.instance !== undefined && isIdle && this.storage.unconfirmed === 0;
  }

  #watchForSleep(): void {
    if (!this.instance || this.#isWatched) return;
    this.#isWatched = true;
    const atMs = Math.max(this.#activeAtMs + this.sleepAfterMs, this.world.nowMs + this.#patienceMs);
    this.world.at(atMs, this.#clockZone, () => {
      this.#isWatched = false;
      // Something may keep it awake for long, and nobody needs to look all the time.
      this.#patienceMs = Math.min(this.#patienceMs * 2, PATIENCE_MS_MAX);
      const isQuiet = this.world.nowMs - this.#activeAtMs >= this.sleepAfterMs;
      if (isQuiet && this.canSleep) this.sleep();
    });
  }

  /** The object loses its memory and keeps storage and attachments; clients notice nothing. */
  sleep(): void {
    this.#ports.beforeSleep(this);
    this.sleeps++;
    this.#finish();
  }

  #finish(): void {
    this.world.end(this.zone);
    this.instance = undefined;
    this.#begin();
  }

  /** The process dies. @param isNoticed whether the clients do */
  die(keep: boolean, isNoticed: boolean): void {
    for (const { connection } of this.#crash(keep)) connection.lose(isNoticed);
  }

  /** @param keep whether pending writes become durable after all, though no caller gets an answer */
  #crash(keep: boolean): ServerSocket[] {
    const groups = keep ? this.storage.unconfirmed : 0;
    this.#ports.lost(this, groups);
    this.storage.crash(groups);
    this.#sayings = [];
    this.#held = [];
    this.#busy = 0;
    this.#blocks = 0;
    this.#confirmedAtMs = 0;
    const sockets = [...this.sockets];
    this.sockets.clear();
    this.#finish();
    this.arm();
    for (const died of this.#callers) died();
    this.#callers.clear();
    return sockets;
  }

  end(): void {
    this.world.end(this.zone);
    this.world.end(this.#clockZone);
    this.storage.close();
  }

  // ---- the context of the object ---------------------------------------------------------------------------

  #makeContext(): unknown {
    const { zone } = this;
    const alive = (): ObjectHost => {
      if (zone.isOver) throw new Error("this object is no more");
      return this;
    };
    const socketOf = (socket: ServerSocket): void => void alive().sockets.add(socket);
    return {
      id: { name: this.name, toString: () => Buffer.from(this.name.padEnd(16)).toString("hex") },
      get storage() {
        return alive().storage;
      },
      acceptWebSocket: socketOf,
      getTags: () => [],
      getWebSockets: () => [...alive().sockets].filter(({ connection }) => !connection.isClosing),
      setWebSocketAutoResponse: (pair?: { request: string; response: string }) => void (alive().autoResponse = pair),
      getWebSocketAutoResponseTimestamp: ({ connection }: ServerSocket) =>
        connection.respondedAtMs === undefined ? null : new Date(connection.respondedAtMs),
      blockConcurrencyWhile: (run: () => Promise<unknown>) => {
        this.#blocks++;
        // A failure in it resets the object.
        const reset = (): void =>
          void this.world.at(this.world.nowMs, this.#clockZone, () => zone.isOver || this.die(false, true));
        // As in workerd: once the constructors of all subclasses have run, and the microtasks that they queued before.
        const running = Promise.resolve().then(run);
        running.catch(reset);
        return running.finally(() => {
          if (zone.isOver) return;
          this.#blocks--;
          if (this.#blocks === 0) this.#letIn(zone);
        });
      },
    };
  }
}
