// The part of a big room's members that one shard holds: a namespace like the room's own, which asks the room about every CONNECT and event,
// and does what the room says (replica.ts). Made by src/objects/create-shard.ts; the Socket.IO server calls it as a namespace.
import { SubscriptionLevels } from "../crowd/crowd.ts";
import type { Counts, ServerToClientEvents, Welcome } from "../protocol/chat-events.ts";
import { denyOverLimit } from "../protocol/connection-limits.ts";
import type { Identity } from "../protocol/identity.ts";
import { STAFF_CHANNEL, userChannel, type NamedFormer, type ShardMember } from "../protocol/shards.ts";
import { Recovery } from "../socketio/recovery/recovery.ts";
import type { EventsMap } from "../socketio/server/events.ts";
import {
  CONTEXT,
  HANDLE_EVENT,
  Namespace,
  type AuthorizeResult,
  type ConnectRequest,
  type Refusal,
} from "../socketio/server/namespace.ts";
import { CLOSINGS, type Closing } from "../socketio/wire/closings.ts";
import { Replica, type Keeping } from "./replica.ts";
import { MemberEvents } from "./member-events.ts";
import { joinChannels, setStaff, type Client } from "./members.ts";
import { Uplink, type UplinkPorts } from "./uplink.ts";
import { ShardLog } from "./shard-log.ts";

/** What a client may name to recover has fewer characters. */
const NAMED_CHARS_MAX = 512;

export interface ShardMembersPorts extends Pick<UplinkPorts, "report">, Keeping {
  readonly settings: {
    readonly maxMembers: number;
    readonly maxConnectionsPerUser: number;
    readonly recoveryWindowMs: number;
  };
  /** Counts a series for `GET /metrics`. */
  readonly count: (series: string, by: number) => void;
  /** Counts since the last call. */
  takeCounts(): Readonly<Record<string, number>> | undefined;
}

export class ShardMembers extends Namespace<EventsMap, ServerToClientEvents, ShardMember> {
  /** The room has operations for all events, known or not: `HANDLE_EVENT`. */
  readonly handlers = {};
  override readonly recovery: Recovery | undefined;
  /** Carries out the chunks of the stream. */
  replica!: Replica;
  readonly #ports: ShardMembersPorts;
  readonly #log = new ShardLog();
  /** Of members who are about to be let in. */
  readonly #welcomes = new WeakMap<ShardMember, Welcome>();
  #uplink!: Uplink;
  #subscriptions!: SubscriptionLevels;
  #events!: MemberEvents;

  constructor(ports: ShardMembersPorts) {
    super();
    this.#ports = ports;
    const { recoveryWindowMs } = ports.settings;
    this.recovery = recoveryWindowMs > 0 ? new Recovery(this.#log, recoveryWindowMs) : undefined;
  }

  override onStart(): void {
    const { now, newId, report, deadlines, hub } = this[CONTEXT];
    const ports = this.#ports;
    const close = ({ session }: Client, closing: Closing): void => this[CONTEXT].closeSession(session, closing);
    const deadline: UplinkPorts["deadline"] = (name, run, options) => deadlines.add(name, run, options);
    const uplink = new Uplink({
      report: ports.report,
      facts: () => this.#facts(),
      now,
      newId,
      turn: (work) => this[CONTEXT].turn(work),
      deadline,
      problem: report,
    });
    this.#uplink = uplink;
    const counts = (): Counts => ({ lastSeq: this.replica.position?.seq ?? 0 });
    const subscriptions = new SubscriptionLevels({ hub, counts, deadline });
    this.#subscriptions = subscriptions;
    this.#events = new MemberEvents({
      uplink,
      subscriptions,
      now,
      deadline,
      refreshToken: (...given) => this[CONTEXT].refreshToken(...given),
      close: (client) => close(client, CLOSINGS.restart),
    });
    const { kept, keep, count } = ports;
    this.replica = new Replica(this, { kept, keep, count, close, report, log: this.#log, uplink, subscriptions });
  }

  /** Called once the object was erased, and has other members. */
  stop(): void {
    this.#uplink.stop();
  }

  #facts(): ReturnType<UplinkPorts["facts"]> {
    const counts = this.#ports.takeCounts();
    const others = Number(this.channels.has(STAFF_CHANNEL)) + Number(this.#subscriptions.isAsked);
    const { typing } = this.#events;
    const { position } = this.replica;
    return {
      sockets: this.sockets.size,
      users: this.channels.size - others,
      typing,
      ...(counts && { counts }),
      ...(position && { epoch: position.epoch }),
    };
  }

  override onWake(): void {
    if (this.sockets.size !== (this.#ports.kept?.sockets ?? 0)) this.#changed();
  }

  /** A connection came or went. */
  #changed(): void {
    this.#uplink.changed();
    this.replica.keepSoon();
  }

  // ---- connections -----------------------------------------------------------------------------------------

  override async authorize({
    identity,
    auth,
    handshake: { address },
  }: ConnectRequest<Identity>): Promise<AuthorizeResult<ShardMember>> {
    if (!identity) throw new Error("a chat room requires a verified token");
    const decision = await this.#uplink.join({ identity, address }, this.#recovers(auth));
    if (!decision.accepted) return decision;
    this.#welcomes.set(decision.member, decision.welcome);
    return { accepted: true, data: decision.member };
  }

  /** The former connection that a client names, where the log here does not reach back to its offset. Whether it is so is checked later. */
  #recovers({ pid, offset: given }: ConnectRequest["auth"]): NamedFormer | undefined {
    if (typeof pid !== "string" || !this.recovery) return undefined;
    const offset = typeof given === "string" ? given : undefined;
    if (pid.length + (offset?.length ?? 0) > NAMED_CHARS_MAX) return undefined;
    const named = offset ?? pid.slice(0, pid.lastIndexOf("."));
    const seq = Number.parseInt(named.slice(named.lastIndexOf(".") + 1), 36);
    // Without a connection the position may be one of long ago.
    const isKnown = this.replica.position !== undefined && this.sockets.size > 0 && this.#log.hasAllAfter(seq);
    return seq >= 0 && !isKnown ? { pid, ...(offset !== undefined && { offset }) } : undefined;
  }

  override admit({ user }: ShardMember): Refusal | undefined {
    const there = { all: this.sockets.size, ofUser: this.channels.get(userChannel(user))?.size ?? 0 };
    return denyOverLimit(there, this.#ports.settings, "This part of the room");
  }

  override ownerOf({ owner }: ShardMember): string {
    return owner;
  }

  override onConnect(client: Client): void {
    const welcome = this.#welcomes.get(client.peek())!;
    joinChannels(client, welcome.role);
    // A mark from before the room grew stays where it is: news would seem to begin there for ever.
    const read = { unread: 0, readSeq: welcome.lastSeq };
    client.emit("welcome", { ...welcome, ...read, typing: [], now: this[CONTEXT].now(), rests: ["read"] });
    if (client.recovered) this.#uplink.recovered(client.id);
    this.#changed();
  }

  override onRefresh(client: Client, identity: Identity): void {
    const { name, role } = identity;
    const member = client.peek();
    client.data = { ...member, name, role, refreshed: identity };
    // With the same role a grant still counts.
    if (role !== member.role) setStaff(client, role);
  }

  override onDisconnect(client: Client): void {
    this.#events.gone(client);
    this.#uplink.ended(client.id);
    this.#changed();
  }

  override [HANDLE_EVENT](client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    return this.#events.take(client, event, args);
  }
}
