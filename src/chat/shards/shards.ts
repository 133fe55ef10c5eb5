// The shards of a big room: objects that hold sockets which the room has no place for. The room sends them all that it sends to its own
// connections, lets their members in and carries out their requests. Without a shard nothing of this costs anything. features.ts makes it;
// durable/chat-room.ts passes the reports of shards on. SHD-2, SHD-8, SHD-10, SHD-13
import type { Answer, Notice, Role, Welcome } from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import {
  isShardChannel,
  type JoinVerdict,
  type LogPlace,
  type ShardAudience,
  type ShardItem,
  type ShardJoin,
  type ShardReport,
  type ShardRequest,
} from "../../protocol/shards.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { Throttle } from "../../clock/throttle.ts";
import type { ShardFacts } from "../../protocol/watching.ts";
import { Feeds } from "../../shards/feeds.ts";
import { WAITING_CHARS_MAX, type FeedPorts } from "../../shards/feed.ts";
import type { AuthorizeResult } from "../../socketio/server/namespace.ts";
import { refuse } from "../room/answers.ts";
import { Carried } from "../room/carried.ts";
import type { Elsewhere } from "../room/elsewhere.ts";
import type { Feature } from "../room/feature.ts";
import type { Request } from "../room/requests.ts";
import type { Client, Connection, Membership, Room } from "../room/room.ts";
import { Slot } from "../room/slot.ts";
import { earlierItem, missedItems } from "./log-items.ts";
import { Pieces } from "./pieces.ts";
import { shardConnection, type ConnectionFacts } from "./shard-connection.ts";
import { ShardTable, type ShardLimits } from "./shard-table.ts";

/** SHD-11: a crowd that is gone for so long does not need its shards any more. */
export const SHRINK_AFTER_MS = 60_000;

/** The part of the ports that is outside of the room. */
export interface ShardsOutside extends ShardLimits, Omit<FeedPorts, "missed" | "report" | "count"> {
  /** Shards that one object calls. */
  readonly fanOut: number;
}

export interface ShardsPorts extends ShardsOutside {
  /** Changes of messages. */
  readonly changes: { readonly lastRev: number; raise(rev: number): void };
  readonly trail: { readonly lastNumber: number };
  /** Decides on a CONNECT, as for the room's own connections. */
  readonly authorize: (identity: Identity) => AuthorizeResult<Membership>;
  readonly ownerOf: (membership: Membership) => string;
  readonly welcome: (client: Connection) => Welcome;
  readonly perform: (request: Request) => void | Promise<void>;
}

/** A room that is full with all its shards asks them whether they still are, at most this often. */
export const ASK_AGAIN_MS = 10_000;

/** Rows that have changed are stored after so long a quiet: before the room can sleep. */
const QUIET_MS = 1000;

/**
 * SHD-7: with more characters on their way to a shard its members' requests are refused. Pages of history alone could otherwise fill the
 * feed, which then drops the answers of all.
 */
export const ANSWERS_CHARS_MAX = WAITING_CHARS_MAX / 2;

/** How long a client waits with such a request. */
const BUSY_MS = 1000;

/** What the room's own connections carry through its sleep: without it the room counts as dead. */
type Memory = Pick<LogPlace, "by" | "rev">;

/** From one sample of what waits for shards to the next, at least. */
const SAMPLE_MS = 1000;

export class Shards implements Feature, Elsewhere {
  readonly #room: Room;
  readonly #ports: ShardsPorts;
  readonly #table: ShardTable;
  readonly #feeds: Feeds;
  #named: string | undefined;
  readonly #carried: Carried<Memory>;
  /** The last look for changes: many shards ask for the same. */
  #changed: { readonly after: number; readonly lastRev: number; readonly isSo: boolean } | undefined;
  /** Shards with members, or with answers to come. */
  readonly #reached = new Set<number>();
  /** Answers that the room owes, by shard. */
  readonly #owed = new Map<number, number>();
  readonly #pieces: Pieces;
  #hasAsked = false;
  readonly #asking = new Throttle(ASK_AGAIN_MS);
  readonly #sampling = new Throttle(SAMPLE_MS);
  #shrink!: Deadline;
  #keep!: Deadline;

  constructor(room: Room, ports: ShardsPorts) {
    this.#room = room;
    this.#ports = ports;
    this.#carried = new Carried(room, { slot: new Slot<readonly Memory[]>("shards"), keyOf: () => "", perHolder: 1 });
    this.#table = new ShardTable(room.state, ports);
    this.#pieces = new Pieces(
      () => this.#now(),
      (piece) => this.#feeds.push(piece),
    );
    this.#feeds = new Feeds(
      { fanOut: ports.fanOut },
      {
        ...ports,
        missed: (from, to) => this.missed(from, to),
        report: room.reportProblem,
        count: (series, by) => room.meter.count(series, by),
      },
    );
  }

  start(): void {
    this.#shrink = this.#room.deadline("shards-shrink", () => this.#sendHome());
    this.#keep = this.#room.deadline("shards-table", () => this.#store(), { keepsAwake: true });
    this.#room.elsewhere = this;
  }

  /** Tries again where that fails. */
  #store(): void {
    this.#keep.set(this.#room.now() + QUIET_MS);
    this.#table.store();
    this.#keep.clear();
  }

  onRestore(client: Client): void {
    this.#carried.restore(client);
  }

  /** Called once all connections of the room are back. */
  wake(): void {
    const [memory] = this.#carried.items();
    if (memory) {
      this.#named = memory.by;
      this.#ports.changes.raise(memory.rev);
      this.#table.trust();
    }
    this.#table.rows.forEach(({ sockets }, shard) => sockets > 0 && this.#reach(shard));
    this.#room.members.setElsewhere(this.users, false);
  }

  onDisconnect(client: Client): void {
    this.#carried.release(client);
    this.#watchSize();
  }

  /** The shards belong to the room that was deleted. */
  onErase(): undefined {
    this.#feeds.stop();
  }

  /** Names this instance of the room. */
  get #instance(): string {
    return (this.#named ??= this.#ports.newId());
  }

  get connections(): number {
    return this.#table.sockets;
  }

  get users(): number {
    return this.#table.users;
  }

  get shards(): number {
    return this.#table.rows.length;
  }

  /** Where each shard stands, how full it is, and what waits for it. */
  get facts(): ShardFacts[] {
    return this.#table.rows.map(({ region, sockets }, shard) => ({
      region,
      sockets,
      waitingChars: this.#feeds.charsOf(shard),
    }));
  }

  /**
   * The places for a connection that this room has no space for; `undefined` where there are none.
   * @param full shards that have refused it
   */
  placesFor(region: string, full: readonly number[] = []): string | undefined {
    const nowMs = this.#room.now();
    this.#table.refused(full, nowMs);
    this.#askUnheard();
    const places = this.#table.placesFor(region, nowMs);
    // One that died meanwhile has space again.
    const isTime = places === undefined && this.#asking.passIfOpen(nowMs);
    if (isTime) this.#ask([...this.#table.rows.keys()]);
    return places;
  }

  /** The room died: shards that hear of that report how full they are, and get what they missed. */
  #askUnheard(): void {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    this.#ask(this.#table.unheard);
  }

  #ask(shards: readonly number[]): void {
    if (shards.length === 0) return;
    for (const shard of shards) this.#reach(shard);
    this.#pieces.greet();
  }

  // ---- from the room to the shards -------------------------------------------------------------------------

  emit(
    { channels, ...audience }: ShardAudience,
    event: string,
    argLists: ReadonlyArray<readonly unknown[]>,
    seqs?: readonly number[],
  ): void {
    if (this.#reached.size === 0) return;
    const those = channels?.filter(isShardChannel);
    if (those?.length === 0) return;
    this.#pieces.add({
      type: "emit",
      audience: { ...audience, ...(those && { channels: those }) },
      event,
      argLists,
      seqs,
    });
  }

  dismiss(user: string, notice: Notice, roles?: readonly Role[]): void {
    if (this.#reached.size > 0) this.#pieces.add({ type: "dismiss", user, notice, ...(roles && { roles }) });
  }

  #now(): LogPlace {
    const { log, seenSeq } = this.#room;
    const seq = seenSeq();
    const { changes, trail } = this.#ports;
    const life = log.lifeAt(seq) ?? "";
    return { epoch: log.epoch, life, seq, rev: changes.lastRev, by: this.#instance, ruling: trail.lastNumber };
  }

  onTurnEnd(): void {
    if (this.#reached.size === 0) return;
    this.#askUnheard();
    if (this.#pieces.send()) {
      this.#carry();
      if (this.#sampling.passIfOpen(this.#room.now())) this.#room.meter.observe("shard_waiting", this.#feeds.charsMax);
    }
    for (const shard of this.#reached) if (this.#isOver(shard)) this.#leave(shard);
  }

  #carry(): void {
    const { lastRev: rev } = this.#ports.changes;
    const [carried] = this.#carried.items();
    if (carried?.rev !== rev) this.#carried.put("", { by: this.#instance, rev });
  }

  #reach(shard: number): void {
    if (this.#reached.has(shard)) return;
    if (this.#reached.size === 0) {
      const { changes } = this.#ports;
      // All changes of earlier instances come before those of this one.
      if (changes.lastRev === 0) changes.raise(this.#room.now());
      this.#pieces.begin();
    }
    this.#reached.add(shard);
    this.#feeds.reach([...this.#reached]);
  }

  #isOver(shard: number): boolean {
    return (this.#table.rows[shard]?.sockets ?? 0) === 0 && !this.#owed.get(shard) && this.#feeds.isIdle(shard);
  }

  #leave(shard: number): void {
    this.#reached.delete(shard);
    this.#feeds.reach([...this.#reached]);
  }

  /** The items that lead a shard from one place of the log to a later one. */
  missed(from: LogPlace, to: LogPlace): ShardItem[] {
    const missed = this.#room.read((log) => (this.#hasChangedAfter(from.rev) ? undefined : missedItems(log, from, to)));
    return missed ?? [{ type: "lost" }];
  }

  /** Looks at every change that is kept. */
  #hasChangedAfter(rev: number): boolean {
    const { lastRev } = this.#ports.changes;
    if (this.#changed?.after !== rev || this.#changed.lastRev !== lastRev) {
      const isSo = this.#room.log.changedAfter(rev, 1).length > 0;
      this.#changed = { after: rev, lastRev, isSo };
    }
    return this.#changed.isSo;
  }

  // ---- from the shards to the room -------------------------------------------------------------------------

  /** Takes the report of a shard, in a turn. @returns the instance of the room */
  take(report: ShardReport): string {
    if (this.#table.isNew(report)) this.#take(report);
    return this.#instance;
  }

  #take({ shard, joins, requests, recoverAfter, counts, ...size }: ShardReport): void {
    const { meter, members } = this.#room;
    if (counts) meter.add(counts);
    const isAsking = joins.length + requests.length > 0;
    if (size.sockets > 0 || isAsking) this.#reach(shard);
    // Those who are let in count until the next report, so that the shard stays reached.
    this.#table.note({ shard, users: size.users + joins.length, sockets: size.sockets + joins.length });
    if (!this.#table.isStored) this.#keep.set(this.#room.now() + QUIET_MS);
    members.setElsewhere(this.users, true);
    this.#watchSize();
    if (joins.length > 0) this.#room.catchUp();
    const earlier = this.#room.read((log) => earlierItem(log, recoverAfter));
    if (earlier) this.#pieces.add(earlier, shard);
    for (const join of joins)
      this.#pieces.add({ type: "verdict", id: join.id, verdict: this.#decide(shard, join) }, shard);
    for (const request of requests) this.#perform(shard, request);
  }

  #decide(shard: number, { identity }: ShardJoin): JoinVerdict {
    const { authorize, ownerOf, welcome } = this.#ports;
    const verdict = authorize(identity);
    if (!verdict.accepted) return verdict;
    const { data } = verdict;
    const member = { ...data, owner: ownerOf(data) };
    const client = this.#connectionOf(shard, { socket: "", address: "", member });
    return { accepted: true, member, welcome: welcome(client), key: this.#room.log.key };
  }

  #perform(shard: number, { id, event, given, owedBy, ...connection }: ShardRequest): void {
    // It would overtake one that died with the room. The shard closes the connection.
    if (owedBy !== undefined && owedBy !== this.#instance) return;
    const { user, name, role } = connection.member;
    this.#owed.set(shard, (this.#owed.get(shard) ?? 0) + 1);
    const reply = (answer: Answer<object>): void => {
      this.#pieces.add({ type: "answer", id, answer }, shard);
      this.#owed.set(shard, this.#owed.get(shard)! - 1);
    };
    if (this.#feeds.charsOf(shard) + this.#pieces.chars > ANSWERS_CHARS_MAX)
      return reply(refuse("RATE_LIMITED", "The room is busy; try again.", BUSY_MS));
    const client = this.#connectionOf(shard, connection);
    const request = { event, bearer: { user, name, role }, client, given: given && JSON.parse(given), reply };
    const fail = (error: unknown): void => {
      this.#room.reportProblem(`a request ${event} of a shard failed`, error);
      this.#room.turn(() => reply(refuse("INTERNAL", "The request failed; try again.")));
    };
    try {
      void Promise.resolve(this.#ports.perform(request)).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #connectionOf(shard: number, facts: ConnectionFacts): Connection {
    return shardConnection(facts, (item) => this.#pieces.add(item, shard));
  }

  // ---- the crowd goes --------------------------------------------------------------------------------------

  get #isGone(): boolean {
    const { connections } = this;
    return connections > 0 && connections + this.#room.clients.size <= this.#ports.maxMembers / 2;
  }

  #watchSize(): void {
    if (!this.#isGone) this.#shrink.clear();
    else if (this.#shrink.atMs === undefined) this.#shrink.set(this.#room.now() + SHRINK_AFTER_MS);
  }

  /** The members come back to the room, which has space for all of them. */
  #sendHome(): void {
    // The room itself may have filled meanwhile.
    if (this.#isGone) this.#pieces.add({ type: "lost", isHomeward: true });
  }
}
