// The part of a big room's audience that one shard holds: a namespace like the room's own, which asks the room about every CONNECT and event,
// and does what the room says (follower.ts). Made by durable/create-shard.ts; the Socket.IO server calls it as a namespace.
import { Attention } from "../crowd/crowd.ts";
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
import { Follower, type Keeping } from "./follower.ts";
import { MemberEvents } from "./member-events.ts";
import { joinChannels, setStaff, type Client } from "./members.ts";
import { RoomLink, type RoomLinkPorts } from "./room-link.ts";
import { ShardLog } from "./shard-log.ts";

/** What a client may name to recover has fewer characters. */
const NAMED_CHARS_MAX = 512;

export interface AudiencePorts extends Pick<RoomLinkPorts, "report">, Keeping {
  readonly settings: {
    readonly maxMembers: number;
    readonly maxConnectionsPerUser: number;
    readonly recoveryWindowMs: number;
  };
  /** Counts a series for `GET /metrics`. */
  readonly count: (series: string, by: number) => void;
  /** Counts since the last call. */
  takeCounts(): Readonly<Record<string, number>> | undefined;
  readonly close: (client: Client, closing: Closing) => void;
}

export class Audience extends Namespace<EventsMap, ServerToClientEvents, ShardMember> {
  /** The room has operations for all events, known or not: `HANDLE_EVENT`. */
  readonly handlers = {};
  override readonly recovery: Recovery | undefined;
  /** Carries out the pieces of the feed. */
  follower!: Follower;
  readonly #ports: AudiencePorts;
  readonly #log = new ShardLog();
  /** Of members who are about to be let in. */
  readonly #welcomes = new WeakMap<ShardMember, Welcome>();
  #link!: RoomLink;
  #attention!: Attention;
  #events!: MemberEvents;

  constructor(ports: AudiencePorts) {
    super();
    this.#ports = ports;
    const { recoveryWindowMs } = ports.settings;
    this.recovery = recoveryWindowMs > 0 ? new Recovery(this.#log, recoveryWindowMs) : undefined;
  }

  override onStart(): void {
    const { now, newId, report, deadlines, hub } = this[CONTEXT];
    const ports = this.#ports;
    const deadline: RoomLinkPorts["deadline"] = (name, run, options) => deadlines.add(name, run, options);
    const link = new RoomLink({
      report: ports.report,
      facts: () => this.#facts(),
      now,
      newId,
      turn: (work) => this[CONTEXT].turn(work),
      deadline,
      problem: report,
    });
    this.#link = link;
    const counts = (): Counts => ({ lastSeq: this.follower.place?.seq ?? 0 });
    const attention = new Attention({ hub, counts, deadline });
    this.#attention = attention;
    this.#events = new MemberEvents({
      link,
      attention,
      now,
      deadline,
      refreshToken: (...given) => this[CONTEXT].refreshToken(...given),
      close: (client) => ports.close(client, CLOSINGS.restart),
    });
    const { kept, keep, count, close } = ports;
    this.follower = new Follower(this, { kept, keep, count, close, report, log: this.#log, link, attention });
  }

  /** Called once the object was erased, and has another audience. */
  stop(): void {
    this.#link.stop();
  }

  #facts(): ReturnType<RoomLinkPorts["facts"]> {
    const counts = this.#ports.takeCounts();
    const others = Number(this.channels.has(STAFF_CHANNEL)) + Number(this.#attention.isAsked);
    const { typing } = this.#events;
    const { place } = this.follower;
    return {
      sockets: this.sockets.size,
      users: this.channels.size - others,
      typing,
      ...(counts && { counts }),
      ...(place && { epoch: place.epoch }),
    };
  }

  override onWake(): void {
    if (this.sockets.size !== (this.#ports.kept?.sockets ?? 0)) this.#changed();
  }

  /** A connection came or went. */
  #changed(): void {
    this.#link.changed();
    this.follower.keepSoon();
  }

  // ---- connections -----------------------------------------------------------------------------------------

  override async authorize({
    identity,
    auth,
    handshake: { address },
  }: ConnectRequest<Identity>): Promise<AuthorizeResult<ShardMember>> {
    if (!identity) throw new Error("a chat room requires a verified token");
    const verdict = await this.#link.join({ identity, address }, this.#recovers(auth));
    if (!verdict.accepted) return verdict;
    this.#welcomes.set(verdict.member, verdict.welcome);
    return { accepted: true, data: verdict.member };
  }

  /** The former connection that a client names, where the log here does not reach back to its offset. Whether it is so is checked later. */
  #recovers({ pid, offset: given }: ConnectRequest["auth"]): NamedFormer | undefined {
    if (typeof pid !== "string" || !this.recovery) return undefined;
    const offset = typeof given === "string" ? given : undefined;
    if (pid.length + (offset?.length ?? 0) > NAMED_CHARS_MAX) return undefined;
    const named = offset ?? pid.slice(0, pid.lastIndexOf("."));
    const seq = Number.parseInt(named.slice(named.lastIndexOf(".") + 1), 36);
    // Without a connection the place may be one of long ago.
    const isKnown = this.follower.place !== undefined && this.sockets.size > 0 && this.#log.hasAllAfter(seq);
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
    if (client.recovered) this.#link.recovered(client.id);
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
    this.#link.ended(client.id);
    this.#changed();
  }

  override [HANDLE_EVENT](client: Client, event: string, args: readonly unknown[]): void | Promise<void> {
    return this.#events.take(client, event, args);
  }
}
