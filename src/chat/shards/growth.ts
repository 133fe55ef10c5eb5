// The number of shards of a room. The room adds a shard when the others have little space left, and sends the members of all shards home once
// the crowd has gone. Made by shards.ts. Rules: SHD-1, SHD-11.
import type { Deadline } from "../../clock/deadlines.ts";
import type { ShardReport } from "../../protocol/shards.ts";
import type { Room } from "../room/room.ts";
import type { Reach } from "./reach.ts";
import type { ShardTable } from "./shard-table.ts";

/** SHD-11: a crowd that is gone for so long does not need its shards any more. */
export const SHRINK_AFTER_MS = 60_000;

/** Rows that have changed are stored after so long a quiet: before the room can sleep. */
const QUIET_MS = 1000;

interface GrowthParts {
  readonly table: ShardTable;
  readonly reach: Reach;
  /** Sockets of one object. */
  readonly maxMembers: number;
}

export class Growth {
  readonly #room: Room;
  readonly #parts: GrowthParts;
  readonly #shrink: Deadline;
  readonly #keep: Deadline;
  #hasAsked = false;

  /** Called once the room has started. */
  constructor(room: Room, parts: GrowthParts) {
    this.#room = room;
    this.#parts = parts;
    // In its sleep the room would forget since when the crowd is gone.
    this.#shrink = room.deadline("shards-shrink", () => this.#sendHome(), { keepsAwake: true });
    this.#keep = room.deadline("shards-table", () => this.#store(), { keepsAwake: true });
  }

  /** Tries again where that fails. */
  #store(): void {
    this.#keep.set(this.#room.now() + QUIET_MS);
    this.#parts.table.store();
    this.#keep.clear();
  }

  /** A shard reported how many it has. */
  note(size: Pick<ShardReport, "shard" | "sockets" | "users">): void {
    const { table } = this.#parts;
    table.note(size);
    if (!table.isStored) this.#keep.set(this.#room.now() + QUIET_MS);
    this.watch();
  }

  /**
   * Finds space for a connection that the room has none for, and adds a shard where the others have little left.
   * @param full shards that have refused it
   * @returns the shards as the header of src/rpc/shard.ts has them; `undefined` where none has space
   */
  growFor(region: string, full: readonly number[] = []): string | undefined {
    const { table } = this.#parts;
    const nowMs = this.#room.now();
    table.refused(full, nowMs);
    this.askUnheard();
    return table.growFor(region, nowMs);
  }

  /** The room died: shards that hear of that report how full they are, and get what they missed. */
  askUnheard(): void {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    this.#parts.reach.greet(this.#parts.table.unheard);
  }

  get #isGone(): boolean {
    const { table, maxMembers } = this.#parts;
    return table.sockets > 0 && table.sockets + this.#room.clients.size <= maxMembers / 2;
  }

  /** Called when there are more or fewer connections, in the room or in a shard. */
  watch(): void {
    if (!this.#isGone) this.#shrink.clear();
    else if (this.#shrink.atMs === undefined) this.#shrink.set(this.#room.now() + SHRINK_AFTER_MS);
  }

  /** The members come back to the room, which has space for all of them. */
  #sendHome(): void {
    // The room itself may have filled meanwhile.
    if (this.#isGone) this.#parts.reach.add({ type: "send-away", cause: "home" });
  }
}
