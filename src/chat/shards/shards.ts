// The shards of a big room: objects that hold sockets which the room has no space for. The room sends them all that it sends to its own
// connections, lets their members in and carries out their requests. Without a shard nothing of this costs anything. parts.ts makes it;
// durable/chat-room.ts passes the reports of shards on. Rules: SHD-2, SHD-8, SHD-10,
// SHD-13.
import type { Notice, Role } from "../../protocol/chat-events.ts";
import {
  isShardChannel,
  shardOfSession,
  type LogPosition,
  type ShardAudience,
  type ShardItem,
  type ShardReport,
} from "../../protocol/shards.ts";
import { Throttle } from "../../clock/rates.ts";
import type { ShardFacts } from "../../protocol/watching.ts";
import type { StreamsPorts } from "../../shards/streams.ts";
import type { RemoteMembers } from "../room/remote-members.ts";
import type { RoomPart, StoreAfterErase } from "../room/room-part.ts";
import type { Client, Room } from "../room/room.ts";
import { CLOSINGS } from "../../socketio/wire/closings.ts";
import { Growth } from "./growth.ts";
import { LogItems } from "./log-items.ts";
import { MemberRequests, type MemberRequestsPorts } from "./member-requests.ts";
import { Reach } from "./reach.ts";
import { ShardTable, type ShardLimits } from "./shard-table.ts";
import { CurrentPosition, type CurrentPositionPorts } from "./current-position.ts";

/** The part of the ports that is outside of the room. */
export interface ShardObjectPorts extends ShardLimits, Pick<StreamsPorts, "send" | "newId" | "wait"> {
  /** Shards that one object calls. */
  readonly fanOut: number;
}

export interface ShardsPorts extends ShardObjectPorts, CurrentPositionPorts, MemberRequestsPorts {
  readonly typing: CurrentPositionPorts["typing"] & {
    /** More or fewer members of shards type. */
    countChanged(): void;
    /** The members of shards may have heard another count. */
    recount(): void;
  };
}

/** From one sample of what waits for shards to the next, at least. */
const SAMPLE_MS = 1000;

export class Shards implements RoomPart, RemoteMembers {
  /** Grows for connections that the room has no space for. */
  growth!: Growth;
  readonly #room: Room;
  readonly #ports: ShardsPorts;
  readonly #table: ShardTable;
  readonly #currentPosition: CurrentPosition;
  readonly #reach: Reach;
  readonly #requests: MemberRequests;
  readonly #logItems: LogItems;
  #outliving: readonly number[] = [];
  /** Members who type, by shard. */
  readonly #typing = new Map<number, number>();
  readonly #sampling = new Throttle(SAMPLE_MS);

  constructor(room: Room, ports: ShardsPorts) {
    this.#room = room;
    this.#ports = ports;
    this.#table = new ShardTable(room.state, ports);
    this.#logItems = new LogItems(room, ports.changes);
    const currentPosition = new CurrentPosition(room, ports);
    const reach = new Reach({
      ...ports,
      currentPosition,
      hasMembers: (shard) => (this.#table.rows[shard]?.sockets ?? 0) > 0,
      missed: (from, to) => this.missed(from, to),
      report: room.reportProblem,
      count: (series, by) => room.meter.count(series, by),
      now: () => room.now(),
      deadline: (name, run, options) => room.deadline(name, run, options),
    });
    this.#currentPosition = currentPosition;
    this.#reach = reach;
    this.#requests = new MemberRequests(room, ports, { reach, currentPosition, logItems: this.#logItems });
  }

  start(): void {
    const { maxMembers } = this.#ports;
    this.growth = new Growth(this.#room, { table: this.#table, reach: this.#reach, maxMembers });
    this.#room.remote = this;
  }

  onRestore(client: Client): void {
    this.#currentPosition.carried.restore(client);
  }

  /** Called once all connections of the room are back. */
  wake(): void {
    if (this.#currentPosition.wake()) this.#table.trust();
    else if (this.connections > 0) this.#ports.typing.recount();
    this.#table.rows.forEach(({ sockets }, shard) => sockets > 0 && this.#reach.reach(shard));
    this.#room.members.setRemote(this.users, false);
  }

  onDisconnect(client: Client): void {
    this.#currentPosition.carried.release(client);
    this.growth.watch();
  }

  /** Called before the room is deleted: its shards, which are erased first, hear nothing more of this log. */
  stop(): void {
    this.#reach.streams.stop();
  }

  /** Called before the room is erased. @param shards that could not close their connections: the next log sends these away */
  outlive(shards: readonly number[]): void {
    this.#outliving = shards;
  }

  onErase(): StoreAfterErase | undefined {
    const shards = this.#outliving;
    return shards.length > 0 ? () => this.#table.storeOnly(shards) : undefined;
  }

  get connections(): number {
    return this.#table.sockets;
  }

  get users(): number {
    return this.#table.users;
  }

  get typing(): number {
    return Array.from(this.#typing.values()).reduce((sum, count) => sum + count, 0);
  }

  get shards(): number {
    return this.#table.rows.length;
  }

  /** The number of shards that may have connections: a shard that has reported none is one of them. */
  get everCount(): number {
    return this.#table.everCount;
  }

  /** Where each shard stands, how full it is, and what waits for it. */
  get facts(): ShardFacts[] {
    return this.#table.rows.map(({ region, sockets }, shard) => ({
      region,
      sockets,
      waitingChars: this.#reach.streams.charsOf(shard),
    }));
  }

  // ---- from the room to the shards -------------------------------------------------------------------------

  emit(
    { channels, ...audience }: ShardAudience,
    event: string,
    argLists: ReadonlyArray<readonly unknown[]>,
    seqs?: readonly number[],
  ): void {
    if (this.#reach.isEmpty) return;
    const those = channels?.filter(isShardChannel);
    if (those?.length === 0) return;
    this.#reach.add({
      type: "emit",
      audience: { ...audience, ...(those && { channels: those }) },
      event,
      argLists,
      seqs,
    });
  }

  dismiss(user: string, notice: Notice, roles?: readonly Role[]): void {
    if (!this.#reach.isEmpty) this.#reach.add({ type: "dismiss", user, notice, ...(roles && { roles }) });
  }

  onTurnEnd(): void {
    if (this.#reach.isEmpty) return this.#currentPosition.carry(false);
    this.growth.askUnheard();
    const hasSent = this.#reach.endTurn();
    if (hasSent && this.#sampling.passIfOpen(this.#room.now()))
      this.#room.meter.observe("shard_waiting", this.#reach.streams.charsMax);
  }

  /** @returns the items that lead a shard from one position in the log to a later one */
  missed(from: LogPosition, to: LogPosition): ShardItem[] {
    // Counts are in no log.
    this.#ports.typing.recount();
    this.#room.members.tellAgain();
    return this.#logItems.missed(from, to);
  }

  // ---- from the shards to the room -------------------------------------------------------------------------

  /** Takes the report of a shard, in a turn. @returns the run of the room */
  take(report: ShardReport): string {
    if (this.#table.isNew(report, this.#room.log)) this.#take(report);
    return this.#currentPosition.runId;
  }

  #take({ shard, joins, requests, recovered, counts, typing, epoch, ...size }: ShardReport): void {
    const { meter, members } = this.#room;
    if (counts) meter.add(counts);
    if (typing !== this.#typing.get(shard)) {
      this.#typing.set(shard, typing);
      this.#ports.typing.countChanged();
    }
    const isAsking = joins.length + requests.length > 0;
    if (size.sockets > 0 || isAsking) this.#reach.reach(shard);
    // Those who are let in count until the next report, so that the shard stays reached.
    this.growth.note({ shard, users: size.users + joins.length, sockets: size.sockets + joins.length });
    members.setRemote(this.users, true);
    if (joins.length > 0) this.#room.catchUp();
    for (const socket of recovered) this.#supersede(socket, shard);
    this.#requests.decide(shard, joins);
    // A call may arrive after the log that its members saw was deleted: what they said belongs to that one.
    if (epoch !== undefined && epoch !== this.#room.log.epoch) return;
    for (const request of requests) this.#requests.perform(shard, request);
  }

  onConnect(client: Client): void {
    if (client.recovered) this.#supersede(client.id, undefined);
  }

  /** SHD-6: closes the former connection in the object where it began. @param shard that has the new one; `undefined`: the room */
  #supersede(socket: string, shard: number | undefined): void {
    const former = shardOfSession(socket);
    if (former === shard) return;
    if (former !== undefined) {
      if (!this.#reach.isEmpty) this.#reach.add({ type: "supersede", socket }, former);
      return;
    }
    const client = this.#room.clients.get(socket);
    if (client) this.#room.close(client, CLOSINGS.superseded);
  }
}
