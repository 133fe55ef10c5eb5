// Connection state recovery as stock clients know it: CONNECT gives a private id (`pid`), and an offset stands in it and at the end of
// every event. Recovers a client only if nothing is missing, also after the object was evicted or crashed. Called by server/.
// Source: https://socket.io/docs/v4/connection-state-recovery
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { frameBytes, type Frame } from "../wire/engine-io.ts";
import { encodeEvent } from "../wire/socket-io.ts";
import { fingerprint } from "../../storage/fingerprint.ts";
import { ChannelHistory, type ChannelHistoryRecord } from "../../storage/channel-history.ts";
import { isSameSecret } from "./same-secret.ts";

/** One broadcast that a recovering socket has not seen. */
export interface MissedEvent {
  readonly seq: number;
  /** The incarnation in which it was broadcast, if the log has incarnations. */
  readonly incarnation?: string;
  /** When it was broadcast, in ms since 1970. */
  readonly atMs: number;
  readonly event: string;
  readonly args: readonly unknown[];
}

/** The stored state of a socket, which it gets back besides its missed events and the facts in its token. */
export interface RememberedSocket {
  readonly channels: readonly string[];
  /** Its times in each channel; without them, it was in its channels all the time. */
  readonly history?: ChannelHistoryRecord;
  readonly data: unknown;
  /** The time of its end, in ms since 1970; absent while it is connected. */
  readonly goneAtMs?: number;
  /** Whether either side ended it on purpose: then it cannot be recovered. */
  readonly leftOnPurpose?: boolean;
}

/** A broadcast as it is stored: to everyone, or to `channels`, but not to those in `except`. */
export interface Broadcast {
  readonly event: string;
  readonly args: readonly unknown[];
  readonly channels?: readonly string[];
  readonly except?: readonly string[];
}

/** Whether the socket was in the channel, or has that name as its id, when the broadcast at that position was made. */
export type WasIn = (channel: string, seq: number) => boolean;

/** The order of one namespace's broadcasts, and the data to replay them. Namespaces cannot share one. */
export interface RecoveryLog {
  /** The unique name of this log; offsets of other logs are refused. Read at the first CONNECT. */
  readonly epoch: string;
  /** Signs private ids; kept as long as the log. */
  readonly key: string;
  /** The newest broadcast's position. */
  readonly lastSeq: number;
  /**
   * The incarnation of the log in which the event at a position was broadcast, in letters and digits. After a restored backup, the same position holds
   * another event of another incarnation. `undefined` if the incarnation is not known any more. Absent if the storage never goes back.
   */
  incarnationAt?(seq: number): string | undefined;
  /** Stores a broadcast before it is sent. Absent if the application stores its events itself. @returns its position */
  append?(broadcast: Broadcast): number;
  /**
   * @returns the events after `seq` that a socket missed, in order; `undefined` if they may be incomplete, or are too many to be replayed
   */
  since(seq: number, wasIn: WasIn): readonly MissedEvent[] | undefined;
  /** Stores the state of a socket that does not follow from its token. Absent if all of it does. */
  remember?(id: string, socket: RememberedSocket): void;
  /** The stored state. If the log stores states, a socket without one is not recovered. */
  recall?(id: string): RememberedSocket | undefined;
  /** Called for a socket that is still connected after sleep: its stored state is in use. */
  retain?(id: string): void;
  /** Called when its namespace, made on demand, is empty and gone. The log may be used again later. */
  close?(): void;
}

/** The former socket of a client, proven by its `pid`, and the last position that it saw. It may not be recoverable. */
export interface Claim {
  readonly nsp: string;
  readonly id: string;
  readonly pid: string;
  readonly seq: number;
}

/** The namespace and the owner for which a private id is signed. */
interface Holder {
  readonly nsp: string;
  readonly owner: string;
}

export interface Resumed {
  readonly id: string;
  readonly pid: string;
  readonly remembered: RememberedSocket | undefined;
  /** The encoded events that it missed, each with its offset. */
  readonly missed: readonly Frame[];
}

/**
 * Bytes replayed at most; a client that missed more gets a fresh connection. Half of the bytes that a polling session may leave unfetched,
 * so that new events fit, too.
 */
export const MISSED_BYTES_MAX = 512 * 1024;

/** Departures kept in memory, because a row for each would cost more. */
const DEPARTED_MAX = 10_000;

interface Departure {
  readonly atMs: number;
  /** Whether it may be recovered: not if either side ended it on purpose. */
  readonly mayReturn: boolean;
}

export interface ResumeOptions {
  readonly nowMs: number;
  /** Bytes that can be replayed to it at most. */
  readonly bytesMax: number;
  /** Whether its former connection was open until a moment ago: then the time of its end is unknown. */
  readonly wasThere: boolean;
}

export class Recovery {
  readonly log: RecoveryLog;
  readonly windowMs: number;
  readonly #departed = new Map<string, Departure>();
  /** The hashed key of the log, which saves half of the cost of a signature. */
  #signing: { readonly key: string; readonly mac: ReturnType<typeof hmac.create> } | undefined;
  /** The last replay, encoded. */
  #encoded:
    | { readonly missed: readonly MissedEvent[]; readonly frames: readonly Frame[]; readonly bytes: number }
    | undefined;

  constructor(log: RecoveryLog, windowMs: number) {
    this.log = log;
    this.windowMs = windowMs;
  }

  offset(seq: number, incarnation = this.log.incarnationAt?.(seq) ?? ""): string {
    return `${this.log.epoch}${incarnation}.${seq.toString(36)}`;
  }

  /** @returns the position that an offset names, if it still holds the same event */
  #seqOf(offset: unknown): number | undefined {
    const { epoch, lastSeq } = this.log;
    if (typeof offset !== "string" || !offset.startsWith(epoch)) return undefined;
    const dot = offset.lastIndexOf(".");
    const incarnation = offset.slice(epoch.length, dot);
    const seq = Number.parseInt(offset.slice(dot + 1), 36);
    if (this.offset(seq, incarnation) !== offset || !(seq >= 0 && seq <= lastSeq)) return undefined;
    if (!this.log.incarnationAt) return incarnation === "" ? seq : undefined;
    const known = this.log.incarnationAt(seq);
    // The incarnation of a forgotten position is unknown; the events after it decide.
    return known === undefined || known === incarnation ? seq : undefined;
  }

  /**
   * Makes the private id of a new socket. Only the same owner can use it in the same namespace; its signature saves a row. It carries the
   * position where the socket began, for a client that gets no event (REC-1).
   */
  pid(nsp: string, id: string, owner: string): string {
    return this.#sign(id, this.offset(this.log.lastSeq), { nsp, owner });
  }

  #sign(id: string, begun: string, { nsp, owner }: Holder): string {
    const { key } = this.log;
    if (this.#signing?.key !== key) this.#signing = { key, mac: hmac.create(sha256, utf8ToBytes(key)) };
    const mac = this.#signing.mac
      .clone()
      .update(utf8ToBytes(JSON.stringify([nsp, id, begun, owner])))
      .digest();
    return `${id}.${begun}.${bytesToHex(mac).slice(0, 32)}`;
  }

  /** REC-3. @returns `undefined` if the client does not ask for recovery, or does not own that socket */
  claim(
    { pid, offset }: { readonly pid?: unknown; readonly offset?: unknown },
    { nsp, owner }: Holder,
  ): Claim | undefined {
    if (typeof pid !== "string") return undefined;
    const id = pid.slice(0, pid.indexOf("."));
    const begun = pid.slice(id.length + 1, pid.lastIndexOf("."));
    const first = this.#seqOf(begun);
    const last = offset === undefined ? first : this.#seqOf(offset);
    if (first === undefined || last === undefined) return undefined;
    if (!isSameSecret(pid, this.#sign(id, begun, { nsp, owner }))) return undefined;
    // At least the position where its socket began: until its first event, a stock client names the last offset of an earlier socket.
    return { nsp, id, pid, seq: Math.max(first, last) };
  }

  /** The times of a socket in its channels, as the log stores them. */
  historyOf(id: string, channels: readonly string[]): ChannelHistory {
    return new ChannelHistory(channels, this.log.recall?.(id)?.history);
  }

  /** A text that differs if the state of a socket differs. @returns `undefined` for a state without one */
  fingerprint(state: unknown): string | undefined {
    return fingerprint(state);
  }

  /** @returns `undefined` if not all of it can be recovered; then the claim is spent */
  resume(claim: Claim, now: ResumeOptions): Resumed | undefined {
    const resumed = this.#resume(claim, now);
    if (resumed) this.#departed.delete(claim.id);
    else this.depart(claim.id, { atMs: now.nowMs, mayReturn: false });
    return resumed;
  }

  #resume({ nsp, id, pid, seq }: Claim, { nowMs, bytesMax, wasThere }: ResumeOptions): Resumed | undefined {
    const remembered = this.log.recall?.(id);
    if (this.log.recall && (!remembered || remembered.leftOnPurpose)) return undefined;
    const departure = this.#departed.get(id);
    if (departure?.mayReturn === false) return undefined;
    const history = new ChannelHistory(remembered?.channels ?? [], remembered?.history);
    if (!history.knowsAllAfter(seq)) return undefined;
    const missed = this.log.since(seq, (channel, at) => channel === id || history.wasIn(channel, at));
    if (!missed) return undefined;
    // The time of its end may be unknown; it is no later than that of the first missed event.
    const noticedAtMs = wasThere ? undefined : (departure?.atMs ?? remembered?.goneAtMs);
    if (nowMs - (noticedAtMs ?? missed[0]?.atMs ?? nowMs) > this.windowMs) return undefined;
    const frames = this.#encode(nsp, missed, bytesMax);
    return frames && { id, pid, remembered, missed: frames };
  }

  /** Encodes missed events, once for all sockets for which the log returns the same list. */
  #encode(nsp: string, missed: readonly MissedEvent[], bytesMax: number): readonly Frame[] | undefined {
    const known = this.#encoded?.missed === missed ? this.#encoded : undefined;
    if (known) return known.bytes <= bytesMax ? known.frames : undefined;
    const frames: Frame[] = [];
    let bytes = 0;
    for (const { event, args, seq, incarnation } of missed) {
      const encoded = encodeEvent(nsp, event, [...args, this.offset(seq, incarnation)]);
      for (const frame of encoded) bytes += frameBytes(frame);
      if (bytes > bytesMax) return undefined;
      frames.push(...encoded);
    }
    this.#encoded = { missed, frames, bytes };
    return frames;
  }

  /** Called when a socket ends. */
  depart(id: string, departure: Departure): void {
    this.#departed.delete(id);
    this.#departed.set(id, departure);
    for (const [oldest, { atMs }] of this.#departed) {
      if (this.#departed.size <= DEPARTED_MAX && departure.atMs - atMs <= 2 * this.windowMs) break;
      this.#departed.delete(oldest);
    }
  }
}
