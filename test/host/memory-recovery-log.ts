// A recovery log in memory, which outlives every sleep and crash of a room and forgets nothing. Called by the tests of recovery.
import {
  Recovery,
  type Broadcast,
  type MissedEvent,
  type RecoveryLog,
  type RememberedSocket,
  type WasIn,
} from "../../src/socketio/recovery/recovery.ts";
import { Probe, type ProbeParts } from "./probe.ts";

export class MemoryRecoveryLog implements RecoveryLog {
  readonly epoch: string;
  readonly key = "a key";
  /** How often something was remembered. */
  writes = 0;
  readonly #now: () => number;
  readonly #broadcasts: Array<Broadcast & MissedEvent> = [];
  readonly #sockets = new Map<string, RememberedSocket>();

  constructor(epoch: string, now: () => number = () => 0) {
    this.epoch = epoch;
    this.#now = now;
  }

  get lastSeq(): number {
    return this.#broadcasts.length;
  }

  append(broadcast: Broadcast): number {
    const seq = this.lastSeq + 1;
    this.#broadcasts.push(structuredClone({ ...broadcast, seq, atMs: this.#now() }));
    return seq;
  }

  since(seq: number, wasIn: WasIn): MissedEvent[] {
    const isFor = ({ seq: at, channels, except }: Broadcast & MissedEvent): boolean =>
      (channels?.some((channel) => wasIn(channel, at)) ?? true) && !except?.some((channel) => wasIn(channel, at));
    return this.#broadcasts.slice(seq).filter(isFor);
  }

  remember(id: string, socket: RememberedSocket): void {
    this.writes++;
    this.#sockets.set(id, structuredClone(socket));
  }

  recall(id: string): RememberedSocket | undefined {
    return structuredClone(this.#sockets.get(id));
  }
}

/** A namespace for tests whose sockets come back. */
export class RecoverableProbe extends Probe {
  override readonly recovery: Recovery;

  constructor(log: RecoveryLog, parts: ProbeParts, calls: string[]) {
    super(parts, calls);
    this.recovery = new Recovery(log, 60_000);
  }
}
