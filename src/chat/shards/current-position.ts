// The position in a room's log, as chunks name it for shards, and the run of the room: from one crash to the next, through sleep, in which the
// room's own connections carry its name. Made by shards.ts.
import type { LogPosition } from "../../protocol/shards.ts";
import { Carried } from "../room/carried.ts";
import type { Room } from "../room/room.ts";
import { Slot } from "../room/room-part.ts";

/** What the room's own connections carry through its sleep: without it the room counts as dead. */
interface Memory extends Pick<LogPosition, "by" | "rev"> {
  /** How many type, as all have heard: shards tell only that it has changed. */
  readonly typing: number;
}

export interface CurrentPositionPorts {
  /** Changes of messages. */
  readonly changes: { readonly lastRev: number; raise(rev: number): void };
  readonly trail: { readonly lastNumber: number };
  readonly typing: { notified: number };
  /** An id that no other run has. */
  readonly newId: () => string;
}

export class CurrentPosition {
  /** On the room's own connections. */
  readonly carried: Carried<Memory>;
  readonly #room: Room;
  readonly #ports: CurrentPositionPorts;
  #named: string | undefined;

  constructor(room: Room, ports: CurrentPositionPorts) {
    this.#room = room;
    this.#ports = ports;
    this.carried = new Carried(room, { slot: new Slot<readonly Memory[]>("shards"), keyOf: () => "", perHolder: 1 });
  }

  /** Called once all connections of the room are back. @returns whether the room has slept; otherwise it died */
  wake(): boolean {
    const [memory] = this.carried.items();
    if (!memory) return false;
    this.#named = memory.by;
    this.#ports.changes.raise(memory.rev);
    this.#ports.typing.notified = memory.typing;
    return true;
  }

  /** Names the run of the room. */
  get runId(): string {
    return (this.#named ??= this.#ports.newId());
  }

  /** Called before the first chunk: without a memory, changes of which this run does not know come before those of it. */
  begin(): void {
    if (this.carried.size === 0) this.#ports.changes.raise(this.#room.now());
  }

  get now(): LogPosition {
    const { log, notifiedSeq, notifiedRev } = this.#room;
    const seq = notifiedSeq();
    const { changes, trail } = this.#ports;
    const incarnation = log.incarnationAt(seq) ?? "";
    const rev = notifiedRev() ?? changes.lastRev;
    return { epoch: log.epoch, life: incarnation, seq, rev, by: this.runId, ruling: trail.lastNumber };
  }

  /**
   * Called at the end of a turn. The memory is kept up to date while no shard is reached, too: those that are next get the position after it.
   * @param hasSent whether chunks with the present position were sent: from then on the room has a memory
   */
  carry(hasSent: boolean): void {
    const { lastRev: rev } = this.#ports.changes;
    const { notified: typing } = this.#ports.typing;
    const [carried] = this.carried.items();
    if (carried ? carried.rev !== rev || carried.typing !== typing : hasSent)
      this.carried.put("", { by: this.runId, rev, typing });
  }
}
