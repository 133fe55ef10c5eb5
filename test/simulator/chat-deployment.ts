// The chat of a run: its objects, its Worker, and the queue between rooms, with the settings of the plan. Tells the witness what each room
// stores, and checks each sleep.
import {
  ChatRoom,
  createParley,
  DeadLetters,
  FeaturedRoom,
  internalsOf,
  Lobby,
  RoomShard,
  RuledRoom,
  SqlMessageLog,
} from "product:objects";

import { Deployment, type CallFate, type HostListener, type ObjectHost, type World } from "../kit/simulation.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { Plan } from "./plan.ts";
import { Rules } from "./rules.ts";
import { roomNameOf, ShardCalls } from "./shard-calls.ts";
import type { Kept } from "./restored.ts";
import type { Witness } from "./witness.ts";

type RoomLog = InstanceType<typeof SqlMessageLog>;

/** Signs the tokens of all clients. */
export const SECRET = "the key of all simulated deployments";

interface Deadlines {
  next(): number | undefined;
  nextAwake(): number | undefined;
}

/** The internals of a room, as far as the checks read it. */
interface RoomParts {
  readonly server: {
    readonly deadlines: Deadlines;
    readonly sessions: ReadonlyMap<string, unknown>;
  };
}

export const partsOf = ({ instance }: ObjectHost): RoomParts | undefined =>
  instance && (internalsOf(instance).parts as RoomParts);

export interface ChatDeploymentOptions {
  readonly world: World;
  readonly witness: Witness;
  readonly plan: Plan;
  readonly spoken: HostListener["spoken"];
}

export class ChatDeployment extends Deployment {
  readonly shardCalls: ShardCalls;
  readonly #witness: Witness;
  readonly #plan: Plan;
  /** Messages in groups that are not durable yet. */
  readonly #unconfirmed = new Map<ObjectHost, Array<{ group: number; epoch: string; messages: Message[] }>>();
  /** How far each log has been read. */
  readonly #readTo = new Map<string, number>();

  constructor({ world, witness, plan, spoken }: ChatDeploymentOptions) {
    const parley = createParley({ queues: { relay: "RELAY_QUEUE" } });
    const rules = plan.rules && new Rules(plan.rules, { world, witness, hostOf: (name) => this.room(name) });
    super(world, {
      objects: { CHAT_ROOM: roomClassOf(plan), ROOM_SHARD: RoomShard, LOBBY: Lobby, DEAD_LETTERS: DeadLetters },
      env: { ...settingsOf(plan), ...(rules && { RULES: rules }), FEATURES: plan.hasFeatures ? "on" : "off" },
      queues: { RELAY_QUEUE: (batch, env) => parley.queue(batch, env) },
      worker: (request, env, ctx) => parley.fetch(request, env, ctx),
      commitMs: plan.commitMs,
      sleepAfterMs: plan.sleepAfterMs,
      listen: (binding) => {
        if (binding === "CHAT_ROOM") return this.#listener(spoken);
        return binding === "ROOM_SHARD" ? { spoken, beforeSleep: (host) => this.#checkSleep(host) } : {};
      },
    });
    this.shardCalls = new ShardCalls(world, witness);
    this.#witness = witness;
    this.#plan = plan;
  }

  room(name: string): ObjectHost {
    return this.object("CHAT_ROOM", name);
  }

  /** Also of a shard, by its name. */
  hostOf(name: string): ObjectHost {
    return this.object(name.includes("/") ? "ROOM_SHARD" : "CHAT_ROOM", name);
  }

  /** The rooms, and the shards that were asked for anything. */
  get objects(): ObjectHost[] {
    const shards = [...this.hosts.values()].filter(({ kind }) => kind === "ROOM_SHARD");
    return [...this.rooms, ...shards.sort((a, b) => (a.name < b.name ? -1 : 1))];
  }

  /** The room of an object. */
  roomOf(host: ObjectHost): ObjectHost {
    return this.room(roomNameOf(host));
  }

  override fetch(host: ObjectHost, request: Request): Promise<Response> {
    this.shardCalls.noteRequest(host);
    return super.fetch(host, request);
  }

  protected override fateOf(host: ObjectHost, method: string): CallFate {
    return this.shardCalls.fateOf(host, method, super.fateOf(host, method));
  }

  get rooms(): ObjectHost[] {
    return this.#plan.rooms.map((name) => this.room(name));
  }

  get lobby(): ObjectHost | undefined {
    return [...this.hosts.values()].find(({ kind }) => kind === "LOBBY");
  }

  /** Messages in the queue that no consumer has taken. */
  get underWay(): number {
    return this.queues.reduce((sum, { underWay }) => sum + underWay, 0);
  }

  /** A backup of the room was restored. @returns the log that it has, if it has one */
  restored(host: ObjectHost): Kept | undefined {
    const log = this.#logOf(host);
    if (!log) return undefined;
    const { epoch, open } = log;
    const { storage } = host;
    const { failure } = storage;
    // To open the log may be a write.
    storage.failure = undefined;
    const kept = open();
    const lastSeq = [...kept.ascending(0)].at(-1)?.seq ?? 0;
    storage.failure = failure;
    this.#readTo.set(epoch, lastSeq);
    return { epoch, lastSeq, place: kept.lastSeq };
  }

  #listener(spoken: HostListener["spoken"]): HostListener {
    return {
      spoken,
      closed: (host, group) => this.#read(host, group),
      confirmed: (host, group) => this.#confirm(host, group),
      lost: (host, kept) => this.#lose(host, kept),
      beforeSleep: (host) => this.#checkSleep(host),
    };
  }

  // ---- stored messages -------------------------------------------------------------------------------------

  #read(host: ObjectHost, group: number): void {
    if (!host.storage.touches(group, "batches_")) return;
    const found = this.#logOf(host);
    if (!found) return;
    const { epoch } = found;
    const log = found.open();
    // As they were posted: they may have been changed already.
    const messages = [...log.ascending(this.#readTo.get(epoch) ?? 0)].map(({ seq }) =>
      this.#witness.ruling.stored(host.name, log.find(seq)!.posted),
    );
    if (messages.length === 0) return;
    this.#readTo.set(epoch, messages.at(-1)!.seq);
    const unconfirmed = this.#unconfirmed.get(host) ?? [];
    this.#unconfirmed.set(host, [...unconfirmed, { group, epoch, messages }]);
  }

  /** The log of a room, once it has one. */
  #logOf({ name: room, storage }: ObjectHost): { epoch: string; open: () => RoomLog } | undefined {
    const [isThere] = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'log_names'").toArray();
    const [named] = isThere ? storage.sql.exec("SELECT epoch FROM log_names LIMIT 1").toArray() : [];
    const retention = { messages: Infinity, ageMs: Infinity };
    const open = (): RoomLog => new SqlMessageLog(storage, { room, retention, nowMs: 0, newName: () => "" });
    return named && { epoch: named["epoch"] as string, open };
  }

  #confirm(host: ObjectHost, group: number): void {
    const unconfirmed = this.#unconfirmed.get(host) ?? [];
    for (const { epoch, messages } of unconfirmed.filter((waiting) => waiting.group <= group))
      for (const message of messages) {
        this.#witness.durable(host.name, epoch, message);
        if (!message.origin) this.#witness.silences.stored(host.name, message, message.timestamp);
      }
    this.#unconfirmed.set(
      host,
      unconfirmed.filter((waiting) => waiting.group > group),
    );
  }

  #lose(host: ObjectHost, kept: number): void {
    this.#witness.died(host.name);
    if (kept > 0) this.#confirm(host, Infinity);
    for (const { epoch, messages } of this.#unconfirmed.get(host) ?? []) {
      const through = Math.min(this.#readTo.get(epoch)!, messages[0]!.seq - 1);
      this.#readTo.set(epoch, through);
    }
    this.#unconfirmed.delete(host);
  }

  // ---- sleep -----------------------------------------------------------------------------------------------

  #checkSleep(host: ObjectHost): void {
    const { deadlines } = partsOf(host)?.server ?? {};
    if (!deadlines) return;
    const awake = deadlines.nextAwake();
    const next = deadlines.next();
    const { alarmAtMs } = host.storage;
    const demand = (isTrue: boolean, problem: () => string): void =>
      this.#witness.demand(isTrue, "sleeps", () => `${host.name} sleeps ${problem()}`);
    const inMs = (atMs: number): number => atMs - this.world.nowMs - host.skewMs;
    demand(awake === undefined, () => `although something in memory waits until ${inMs(awake!)} ms from now`);
    const isMet = next === undefined || (alarmAtMs !== undefined && alarmAtMs <= next);
    demand(!this.holdsSession(host), () => "with an RPC session of its own open");
    demand(isMet, () => `until ${alarmAtMs ?? "somebody comes"}, and has something due at ${next}`);
  }
}

function roomClassOf({ rules, hasFeatures }: Plan): typeof ChatRoom {
  if (rules) return RuledRoom;
  return hasFeatures ? FeaturedRoom : ChatRoom;
}

function settingsOf(plan: Plan): Record<string, string> {
  return {
    ENVIRONMENT: "production",
    JWT_SECRET: SECRET,
    DURABILITY: plan.durability,
    RELAY: plan.relay,
    FLUSH_WINDOW_MS: String(plan.flushWindowMs),
    // Rooms with the longest window gather every batch, all others run ahead of it.
    FLUSH_BURST: plan.flushWindowMs > 50 ? "1" : "8",
    MESSAGE_RATE: String(plan.messageRate),
    MESSAGE_BURST: String(plan.messageRate),
    RECOVERY_WINDOW_SECONDS: String(plan.recoveryWindowSeconds),
    ...(plan.shards && {
      MAX_MEMBERS: String(plan.shards.maxMembers),
      MAX_SHARDS: String(plan.shards.maxShards),
      SHARD_FAN_OUT: String(plan.shards.fanOut),
    }),
    ...(plan.shownRate !== undefined && { CROWD_MEMBERS: "1", CROWD_SHOWN_RATE: String(plan.shownRate) }),
    MAX_CONNECTIONS_PER_IP: "0",
    MAX_CONNECTIONS_PER_USER: "0",
    CONNECT_RATE_PER_IP: "0",
  };
}
