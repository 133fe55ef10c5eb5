// The shards of a room, by number: where each stands, and how full it is. A full room adds one when the others have little space left, and
// removes the last ones once they are empty. A row is written when a shard is added or removed, and with each tenth that one fills. Made by
// shards.ts.
import type { ShardReport } from "../../protocol/shards.ts";
import type { RoomState } from "../../storage/room-state.ts";

const KEY = "shards";

/** Of the space of one shard: with less than this left in all shards of a region, the next connection from there gets a new one. */
const SPARE = 0.25;

const TENTHS = 10;

/**
 * A shard that refused a connection gets none for so long: a request that asks again finds another one. If the shard dies, its members come
 * back later than that.
 */
export const REFUSED_MS = 500;

export interface ShardRow {
  /** A part of the world, as the platform names it for objects; empty where the Worker does not know. */
  readonly region: string;
  readonly sockets: number;
  readonly users: number;
}

/** Former instances of a shard whose reports may still arrive. */
const FORMER_MAX = 8;

interface Reported extends Pick<ShardReport, "from" | "number"> {
  /** Instances of the shard that seem to have come before that one. */
  readonly former: ReadonlyMap<string, Former>;
}

interface Former {
  /** Of its last report. */
  readonly number: number;
  /** Whether a later report came, after that of another instance. */
  readonly isBack: boolean;
}

export interface ShardLimits {
  /** Sockets of one object. */
  readonly maxMembers: number;
  readonly maxShards: number;
}

export class ShardTable {
  readonly #state: RoomState;
  readonly #limits: ShardLimits;
  readonly #rows: ShardRow[];
  /** Shards that this run of the room has heard of: others may have lost all connections since. */
  readonly #heard = new Set<number>();
  /** The last report of each shard. */
  readonly #reported = new Map<number, Reported>();
  /** Where the removed shards stand: connections that were on their way bring them back. */
  readonly #regions: string[] = [];
  /** Shards that refused a connection, and until when they get none, in milliseconds since 1970. */
  readonly #refusesUntilMs = new Map<number, number>();
  #isStored = true;

  constructor(state: RoomState, limits: ShardLimits) {
    this.#state = state;
    this.#limits = limits;
    this.#rows = limits.maxShards > 0 ? [...((state.get(KEY) ?? []) as ShardRow[])] : [];
  }

  get rows(): readonly ShardRow[] {
    return this.#rows;
  }

  /** How many there were at a time since the room started: connections on their way to the removed ones may have arrived since. */
  get everCount(): number {
    return Math.max(this.#rows.length, this.#regions.length);
  }

  get sockets(): number {
    return this.#rows.reduce((sum, { sockets }) => sum + sockets, 0);
  }

  get users(): number {
    return this.#rows.reduce((sum, { users }) => sum + users, 0);
  }

  /** Whether the rows are stored as they are. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** The room has slept: the stored rows are right. */
  trust(): void {
    for (const shard of this.#rows.keys()) this.#heard.add(shard);
  }

  /** Stored shards that have not reported since the room died. */
  get unheard(): number[] {
    return [...this.#rows.keys()].filter((shard) => !this.#heard.has(shard));
  }

  /** A call that failed may arrive all the same, after later ones, also of another instance of the shard. */
  isNew({ shard, from, number, epoch }: ShardReport, log: { readonly epoch: string }): boolean {
    const last = this.#reported.get(shard);
    if (last?.from === from) {
      if (number <= last.number) return false;
      this.#reported.set(shard, { ...last, number });
      return true;
    }
    // Of before a deletion, when another instance had not begun.
    if (last && epoch !== undefined && epoch !== log.epoch) return false;
    const former = new Map(last?.former);
    const known = former.get(from);
    if (known && number <= known.number) return false;
    // One later report may have been on its way. An instance that sends another one is there; that which seemed to follow it came late.
    if (known?.isBack === false) {
      former.set(from, { number, isBack: true });
      this.#reported.set(shard, { ...last!, former });
      return false;
    }
    former.delete(from);
    if (last) former.set(last.from, { number: last.number, isBack: false });
    this.#reported.set(shard, { from, number, former: new Map([...former].slice(-FORMER_MAX)) });
    return true;
  }

  note({ shard, sockets, users }: Pick<ShardReport, "shard" | "sockets" | "users">): void {
    const before = this.#rows[shard];
    this.#heard.add(shard);
    while (this.#rows.length <= shard) this.#rows.push(this.#emptyRow(this.#rows.length));
    this.#rows[shard] = { ...this.#rows[shard]!, sockets, users };
    if (sockets === 0) while (this.#rows.at(-1)?.sockets === 0) this.#remove();
    if (before?.sockets !== sockets || before.users !== users) this.#isStored = false;
    if (this.#tenthsOf(before?.sockets ?? 0) !== this.#tenthsOf(sockets)) this.store();
  }

  #emptyRow(shard: number): ShardRow {
    return { region: this.#regions[shard] ?? "", sockets: 0, users: 0 };
  }

  #remove(): void {
    const { region } = this.#rows.pop()!;
    this.#regions[this.#rows.length] = region;
  }

  /** These shards have refused a connection, some for connections that have not joined yet, which no report counts. */
  refused(shards: readonly number[], nowMs: number): void {
    for (const shard of shards) this.#refusesUntilMs.set(shard, nowMs + REFUSED_MS);
  }

  /**
   * Adds and stores shards for connections from a region where those that stand there have little space left.
   * @returns all shards, each with the tenths of it that are free: `weur:7,enam:10`; `undefined` where all are full and say so themselves,
   * and no other one may be added
   */
  growFor(region: string, nowMs: number): string | undefined {
    const { maxMembers, maxShards } = this.#limits;
    const refuses = (shard: number): boolean => nowMs < (this.#refusesUntilMs.get(shard) ?? 0);
    const freeOf = (row: ShardRow, shard: number): number => {
      if (refuses(shard)) return 0;
      return this.#heard.has(shard) ? Math.max(0, maxMembers - row.sockets) : maxMembers;
    };
    const free = (): number =>
      this.#rows.reduce((sum, row, shard) => sum + (row.region === region ? freeOf(row, shard) : 0), 0);
    const before = this.#rows.length;
    // Several, if one that was removed is back: connections that no report counts may have filled it.
    while (free() < SPARE * maxMembers && this.#rows.length < maxShards) {
      this.#heard.add(this.#rows.length);
      this.#rows.push({ region, sockets: 0, users: 0 });
    }
    if (this.#rows.length > before) this.store();
    let tenths = this.#rows.map((row, shard) => TENTHS - this.#tenthsOf(maxMembers - freeOf(row, shard)));
    // One of them may have died since its report, and has space: the connection asks the shards themselves.
    if (!tenths.some(Boolean)) tenths = tenths.map((_, shard) => Number(!refuses(shard)));
    if (!tenths.some(Boolean)) return undefined;
    return this.#rows.map(({ region: of }, shard) => `${of}:${tenths[shard]}`).join();
  }

  /** A tenth that has begun counts, so that a full shard alone has none left, and an empty one all. */
  #tenthsOf(sockets: number): number {
    const { maxMembers } = this.#limits;
    if (sockets >= maxMembers) return TENTHS;
    return Math.min(TENTHS - 1, Math.ceil((TENTHS * sockets) / maxMembers));
  }

  /** Stores the rows of these shards as they are, those that were removed included, and the others as empty. */
  storeOnly(shards: readonly number[]): void {
    const rowOf = (shard: number): ShardRow => this.#rows[shard] ?? this.#emptyRow(shard);
    this.#state.put(
      KEY,
      Array.from({ length: Math.max(...shards) + 1 }, (_, shard) =>
        shards.includes(shard) ? rowOf(shard) : { ...rowOf(shard), sockets: 0, users: 0 },
      ),
    );
  }

  store(): void {
    if (this.#rows.length > 0) this.#state.put(KEY, this.#rows);
    else this.#state.delete(KEY);
    this.#isStored = true;
  }
}
