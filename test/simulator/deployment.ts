// The server side of a run: rooms, lobby and dead letters as objects, and the queue between rooms, which delivers at least once
// and in no order.
import { ChatRoom, DeadLetters, deliverRelay, Lobby, RuledRoom, SqlMessageLog } from "product:objects";

import type { Message } from "../../src/protocol/chat-events.ts";
import { ObjectHost, type HostPorts, type ObjectClass, type Spoken } from "../kit/simulator/object-host.ts";
import type { Plan } from "./plan.ts";
import { Rules } from "./rules.ts";
import type { Witness } from "./witness.ts";
import { isTracing, trace } from "../kit/simulator/trace.ts";
import { START_MS, type World, type Zone } from "../kit/simulator/world.ts";

interface QueueItem {
  readonly body: unknown;
  attempts: number;
}

interface Deadlines {
  next(): number | undefined;
  nextAwake(): number | undefined;
}

/** The inside of a room, as far as the checks read it. */
export interface RoomParts {
  readonly server: {
    readonly deadlines: Deadlines;
    readonly sessions: ReadonlyMap<string, { readonly polling?: object }>;
  };
}

/**
 * The platform takes at least so long to put an object to sleep, and one that sleeps between two polls loses their session. Where
 * there is none, sleep may come sooner here: the more often, the more is found.
 */
const POLLED_IDLE_MS_MIN = 10_000;

function isPolled(host: ObjectHost): boolean {
  const sessions = Deployment.partsOf(host)?.server.sessions.values() ?? [];
  return [...sessions].some(({ polling }) => polling !== undefined);
}

export class Deployment {
  readonly hosts = new Map<string, ObjectHost>();
  readonly world: World;
  readonly witness: Witness;
  readonly env: Record<string, unknown>;
  commitMs: readonly [min: number, max: number];
  callsFail = false;
  isChaos = false;
  /** Items in the queue that nobody has taken. */
  underWay = 0;
  readonly #ready: QueueItem[] = [];
  readonly #worker: Zone;
  readonly #plan: Plan;
  /** Messages in groups that are not durable yet. */
  readonly #unconfirmed = new Map<ObjectHost, Array<{ group: number; epoch: string; messages: Message[] }>>();
  /** How far each log has been read. */
  readonly #readTo = new Map<string, number>();
  #isPumping = false;
  onSpoken: (host: ObjectHost, spoken: Spoken) => void = () => {};

  constructor(world: World, witness: Witness, plan: Plan) {
    this.world = world;
    this.witness = witness;
    this.#plan = plan;
    this.commitMs = plan.commitMs;
    this.#worker = world.makeZone("worker");
    this.env = {
      ENVIRONMENT: "production",
      JWT_SECRET: "nobody signs anything here, at all",
      DURABILITY: plan.durability,
      RELAY: plan.relay,
      FLUSH_WINDOW_MS: String(plan.flushWindowMs),
      // Rooms with the longest window gather every batch, all others run ahead of it.
      FLUSH_BURST: plan.flushWindowMs > 50 ? "1" : "8",
      MESSAGE_RATE: String(plan.messageRate),
      MESSAGE_BURST: String(plan.messageRate),
      RECOVERY_WINDOW_SECONDS: String(plan.recoveryWindowSeconds),
      MAX_CONNECTIONS_PER_IP: "0",
      MAX_CONNECTIONS_PER_USER: "0",
      CHAT_ROOM: this.#namespace("room", this.#roomClass),
      LOBBY: this.#namespace("lobby", Lobby),
      DEAD_LETTERS: this.#namespace("dead", DeadLetters),
      RELAY_QUEUE: { send: (body: unknown) => this.#enqueue(body) },
    };
    const around = { world, witness, hostOf: (room: string) => this.room(room) };
    if (plan.rules) this.env["RULES"] = new Rules(plan.rules, around);
  }

  get #roomClass(): ObjectClass {
    return this.#plan.rules ? RuledRoom : ChatRoom;
  }

  room(name: string): ObjectHost {
    return this.#host("room", name, this.#roomClass);
  }

  get rooms(): ObjectHost[] {
    return this.#plan.rooms.map((name) => this.room(name));
  }

  #host(kind: string, name: string, make: ObjectClass): ObjectHost {
    const key = `${kind} ${name}`;
    let host = this.hosts.get(key);
    if (!host) {
      host = new ObjectHost(this.world, { name, make, env: this.env, ports: this.#ports(kind) });
      host.sleepAfterMs = this.#plan.sleepAfterMs;
      this.hosts.set(key, host);
    }
    return host;
  }

  #ports(kind: string): HostPorts {
    const chance = this.world.chance.branch(`commits of ${kind}`);
    const isRoom = kind === "room";
    return {
      commitMs: () => chance.between(...this.commitMs),
      spoken: (host, spoken) => this.onSpoken(host, spoken),
      closed: (host, group) => isRoom && this.#read(host, group),
      confirmed: (host, group) => this.#confirm(host, group),
      lost: (host, kept) => this.#lose(host, kept),
      idleMsMin: (host) => (isPolled(host) ? POLLED_IDLE_MS_MIN : 0),
      beforeSleep: (host) => this.#checkSleep(host),
    };
  }

  settle(): void {
    for (const host of this.hosts.values()) host.settle();
  }

  end(): void {
    for (const host of this.hosts.values()) host.end();
  }

  // ---- what is stored --------------------------------------------------------------------------------------

  #read(host: ObjectHost, group: number): void {
    if (!host.storage.touches(group, "batches_")) return;
    const { name, storage } = host;
    const [isThere] = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'log_names'").toArray();
    const [named] = isThere ? storage.sql.exec("SELECT epoch FROM log_names LIMIT 1").toArray() : [];
    if (!named) return;
    const retention = { messages: Infinity, ageMs: Infinity };
    const log = new SqlMessageLog(storage, { room: name, retention, nowMs: 0, newName: () => "" });
    const epoch = named["epoch"] as string;
    // As they were posted: they may have been changed already.
    const messages = [...log.ascending(this.#readTo.get(epoch) ?? 0)].map(({ seq }) =>
      this.witness.ruling.stored(name, log.find(seq)!.posted),
    );
    if (messages.length === 0) return;
    this.#readTo.set(epoch, messages.at(-1)!.seq);
    const unconfirmed = this.#unconfirmed.get(host) ?? [];
    this.#unconfirmed.set(host, [...unconfirmed, { group, epoch, messages }]);
  }

  #confirm(host: ObjectHost, group: number): void {
    const unconfirmed = this.#unconfirmed.get(host) ?? [];
    for (const { epoch, messages } of unconfirmed.filter((waiting) => waiting.group <= group))
      for (const message of messages) {
        this.witness.durable(host.name, epoch, message);
        if (!message.origin) this.witness.silences.stored(host.name, message, message.timestamp);
      }
    this.#unconfirmed.set(
      host,
      unconfirmed.filter((waiting) => waiting.group > group),
    );
  }

  #lose(host: ObjectHost, kept: number): void {
    this.witness.died(host.name);
    if (kept > 0) this.#confirm(host, Infinity);
    for (const { epoch, messages } of this.#unconfirmed.get(host) ?? []) {
      const through = Math.min(this.#readTo.get(epoch)!, messages[0]!.seq - 1);
      this.#readTo.set(epoch, through);
    }
    this.#unconfirmed.delete(host);
  }

  // ---- sleep -----------------------------------------------------------------------------------------------

  static partsOf(host: ObjectHost): RoomParts | undefined {
    return (host.instance as unknown as { readonly parts?: RoomParts } | undefined)?.parts;
  }

  #checkSleep(host: ObjectHost): void {
    const { deadlines } = Deployment.partsOf(host)?.server ?? {};
    if (!deadlines) return;
    const awake = deadlines.nextAwake();
    const next = deadlines.next();
    const { alarmAtMs } = host.storage;
    this.witness.demand(
      awake === undefined,
      "sleeps",
      () =>
        `${host.name} sleeps although something in memory waits until ${awake! - this.world.nowMs - host.skewMs} ms from now`,
    );
    const isMet = next === undefined || (alarmAtMs !== undefined && alarmAtMs <= next);
    this.witness.demand(
      isMet,
      "sleeps",
      () => `${host.name} sleeps until ${alarmAtMs ?? "somebody comes"}, and has something due at ${next}`,
    );
  }

  // ---- calls between objects -------------------------------------------------------------------------------

  #namespace(kind: string, make: ObjectClass): object {
    return { getByName: (name: string) => this.#stub(this.#host(kind, name, make)) };
  }

  #stub(host: ObjectHost): object {
    return new Proxy(
      {},
      {
        get: (_, method) =>
          method === "then" ? undefined : (...args: unknown[]) => this.call(host, String(method), args),
      },
    );
  }

  /** As one object calls another, or the Worker does: slow, and sometimes it fails on either way. */
  call(host: ObjectHost, method: string, args: readonly unknown[]): Promise<unknown> {
    const { zone } = this.world;
    const caller = [...this.hosts.values()].find((other) => other.zone === zone);
    const done = caller?.waits() ?? (() => {});
    const { chance } = zone;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const given = structuredClone(args);
    if (isTracing) trace(this.world.nowMs - START_MS, host.name, "<-", method, given);
    const back = (run: () => void): void => {
      this.world.after(chance.between(0, 20), zone, () => {
        done();
        run();
      });
    };
    const fails = (): boolean => this.callsFail && chance.happens(0.5);
    const go = (): void => {
      if (fails()) return back(() => reject(new Error("the network failed")));
      this.world.after(chance.between(0, 20), this.world.nowhere, () =>
        host.call(
          (instance) => instance[method]!(...given),
          (result) => {
            const isLost = fails();
            back(() =>
              result instanceof Error || isLost
                ? reject(new Error("the call failed"))
                : resolve(structuredClone(result)),
            );
          },
        ),
      );
    };
    if (caller) caller.say(go);
    else go();
    return promise;
  }

  // ---- the queue -------------------------------------------------------------------------------------------

  #enqueue(body: unknown): Promise<void> {
    const { zone } = this.world;
    const caller = [...this.hosts.values()].find((other) => other.zone === zone)!;
    const done = caller.waits();
    const { chance } = this.#worker;
    const carried = structuredClone(body);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    caller.say(() => {
      const isTaken = !this.callsFail || chance.happens(0.5);
      const isHeard = isTaken && (!this.callsFail || chance.happens(0.7));
      this.world.after(chance.between(1, 30), this.world.nowhere, () => {
        if (isTaken) this.#put({ body: carried, attempts: 0 }, chance.between(0, 300));
        if (isTaken && chance.happens(this.isChaos ? 0.4 : 0.05))
          this.#put({ body: carried, attempts: 0 }, chance.between(0, 20_000));
      });
      this.world.after(chance.between(30, 60), zone, () => {
        done();
        if (isHeard) resolve();
        else reject(new Error("the queue did not answer"));
      });
    });
    return promise;
  }

  #put(item: QueueItem, delayMs: number): void {
    const chaosMs = this.isChaos ? this.#worker.chance.between(0, 5000) : 0;
    this.underWay++;
    this.world.after(delayMs + chaosMs, this.#worker, () => {
      this.#ready.push(item);
      this.#pump();
    });
  }

  #pump(): void {
    const ready = this.#ready;
    if (this.#isPumping || ready.length === 0) return;
    const { chance } = this.#worker;
    const items = Array.from({ length: Math.min(ready.length, chance.between(1, 6)) }, () =>
      ready.splice(chance.between(0, ready.length - 1), 1),
    ).flat();
    this.#isPumping = true;
    const settled = new Set<QueueItem>();
    const messages = items.map((item) => ({
      body: structuredClone(item.body),
      attempts: ++item.attempts,
      ack: () => void settled.add(item),
      retry: ({ delaySeconds = 0 } = {}) => {
        settled.add(item);
        this.#put(item, delaySeconds * 1000);
      },
    }));
    const again = (): void => {
      this.#isPumping = false;
      this.underWay -= items.length;
      for (const item of items) if (!settled.has(item)) this.#put(item, 1000);
      if (ready.length > 0) this.world.after(10, this.#worker, () => this.#pump());
    };
    deliverRelay({ messages }, this.env).then(again, again);
  }
}
