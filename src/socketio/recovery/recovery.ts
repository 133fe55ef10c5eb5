// Connection state recovery on the stock client's own terms: a private id (`pid`) given at CONNECT and an
// offset in it and at the end of every event. A client is recovered only when nothing is missing, also where the
// object was evicted or crashed in between. Source: https://socket.io/docs/v4/connection-state-recovery
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

import { frameBytes, type Frame } from "../wire/engine-io.ts";
import { encodeEvent } from "../wire/socket-io.ts";
import { ChannelHistory, type ChannelHistoryRecord } from "./channel-history.ts";

/** One broadcast that a recovering socket has not seen. */
export interface MissedEvent {
  readonly seq: number;
  /** The life of its place, where the log has lives. */
  readonly life?: string;
  /** When it was broadcast, in ms since 1970. */
  readonly atMs: number;
  readonly event: string;
  readonly args: readonly unknown[];
}

/** The state that a socket gets back besides its missed events and the facts in its token. */
export interface RememberedSocket {
  readonly channels: readonly string[];
  /** When it was in which channel; without it, in its channels all the time. */
  readonly history?: ChannelHistoryRecord;
  readonly data: unknown;
  /** When it went, in ms since 1970; absent while it is there. */
  readonly goneAtMs?: number;
  /** Whether either side said goodbye: then it does not come back. */
  readonly saidGoodbye?: boolean;
}

/** A broadcast as it is kept: to everyone, or to channels, less some. */
export interface Broadcast {
  readonly event: string;
  readonly args: readonly unknown[];
  readonly channels?: readonly string[];
  readonly except?: readonly string[];
}

/** Whether the socket was in the channel, or is of that name itself, when the broadcast with that place was made. */
export type WasIn = (channel: string, seq: number) => boolean;

/** The order of one namespace's broadcasts, and the data to replay them. Namespaces cannot share one. */
export interface RecoveryLog {
  /** Names this log among all there ever were: an offset of another one is refused. Read at the first CONNECT. */
  readonly epoch: string;
  /** Signs private ids; kept as long as the log. */
  readonly key: string;
  /** The newest broadcast's place. */
  readonly lastSeq: number;
  /**
   * The life of the log in which what stands at a place was broadcast, in letters and digits: it tells what stands there from what did
   * before a backup was restored. `undefined` where that is not known any more. Absent where the storage never goes back.
   */
  lifeAt?(seq: number): string | undefined;
  /** Keeps a broadcast before it is sent. Absent where the application keeps its events itself. */
  append?(broadcast: Broadcast): number;
  /**
   * @returns the events that a socket that has seen `seq` missed, in order; `undefined` where they may be incomplete, or are too many
   * to be replayed
   */
  since(seq: number, wasIn: WasIn): readonly MissedEvent[] | undefined;
  /** Keeps the state that cannot be made again from the token. Absent where all of it can. */
  remember?(id: string, socket: RememberedSocket): void;
  /** The remembered state. A socket without any is not recovered, where the log remembers at all. */
  recall?(id: string): RememberedSocket | undefined;
  /** The socket is still there after sleep: its remembered state is in use. */
  retain?(id: string): void;
  /** Its namespace, made on demand, is empty and gone. The log may be used again later. */
  close?(): void;
}

/** The socket that a client was before, and the last place it saw: proven, but not yet known to be recoverable. */
export interface Claim {
  readonly nsp: string;
  readonly id: string;
  readonly pid: string;
  readonly seq: number;
}

/** The owner of a private id. */
interface Holder {
  readonly nsp: string;
  readonly owner: string;
}

export interface Resumed {
  readonly id: string;
  readonly pid: string;
  readonly remembered: RememberedSocket | undefined;
  /** The events that it missed, each with its offset. */
  readonly missed: readonly Frame[];
}

/**
 * Bytes replayed at most; a client that missed more starts afresh. Half of the bytes that a polling session may leave unfetched, so that
 * events in between fit too.
 */
export const MISSED_BYTES_MAX = 512 * 1024;

/** Departures kept in memory: they date the going of sockets without a row each. */
const DEPARTED_MAX = 10_000;

interface Departure {
  readonly atMs: number;
  /** Whether it may be recovered: not after a goodbye from either side. */
  readonly mayReturn: boolean;
}

interface ResumeOptions {
  readonly nowMs: number;
  /** Bytes that can be replayed to it. */
  readonly bytesMax: number;
  /** Whether the server took it to be there until a moment ago: then the time of its going is unknown. */
  readonly wasThere: boolean;
}

export class Recovery {
  readonly log: RecoveryLog;
  readonly windowMs: number;
  readonly #departed = new Map<string, Departure>();
  /** The log's key, hashed: half of the cost of a signature. */
  #signing: { readonly key: string; readonly mac: ReturnType<typeof hmac.create> } | undefined;
  /** The last replay, encoded. */
  #encoded:
    | { readonly missed: readonly MissedEvent[]; readonly frames: readonly Frame[]; readonly bytes: number }
    | undefined;

  constructor(log: RecoveryLog, windowMs: number) {
    this.log = log;
    this.windowMs = windowMs;
  }

  offset(seq: number, life = this.log.lifeAt?.(seq) ?? ""): string {
    return `${this.log.epoch}${life}.${seq.toString(36)}`;
  }

  /** @returns the place that an offset names, if it holds the same event as when the offset was given out */
  #seqOf(offset: unknown): number | undefined {
    const { epoch, lastSeq } = this.log;
    if (typeof offset !== "string" || !offset.startsWith(epoch)) return undefined;
    const dot = offset.lastIndexOf(".");
    const life = offset.slice(epoch.length, dot);
    const seq = Number.parseInt(offset.slice(dot + 1), 36);
    if (this.offset(seq, life) !== offset || !(seq >= 0 && seq <= lastSeq)) return undefined;
    return this.#isOf(life, seq) ? seq : undefined;
  }

  #isOf(life: string, seq: number): boolean {
    if (!this.log.lifeAt) return life === "";
    const known = this.log.lifeAt(seq);
    // The life of a place that was forgotten is unknown; the events after it decide.
    return known === undefined || known === life;
  }

  /**
   * The private id of a new socket. Only the same owner in the same namespace can use it, and the server needs no row to
   * verify it. It carries the place where the socket began, for a client that hears no event (REC-1).
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

  /** REC-3. @returns `undefined` when the client asks for nothing, or for a socket that is not its own */
  claim(
    { pid, offset }: { readonly pid?: unknown; readonly offset?: unknown },
    { nsp, owner }: Holder,
  ): Claim | undefined {
    if (typeof pid !== "string") return undefined;
    const id = pid.slice(0, pid.indexOf("."));
    const begun = pid.slice(id.length + 1, pid.lastIndexOf("."));
    const seq = this.#reached(begun, offset);
    return seq !== undefined && isSame(pid, this.#sign(id, begun, { nsp, owner })) ? { nsp, id, pid, seq } : undefined;
  }

  /**
   * How far the client is: to the offset that it heard last, and at least to where its socket began, for a stock client goes on
   * naming what an earlier socket heard until it hears an event.
   */
  #reached(begun: string, offset: unknown): number | undefined {
    const first = this.#seqOf(begun);
    const last = offset === undefined ? first : this.#seqOf(offset);
    return first === undefined || last === undefined ? undefined : Math.max(first, last);
  }

  /** @returns `undefined` when it cannot be given whole; it is not given later either then */
  resume(claim: Claim, now: ResumeOptions): Resumed | undefined {
    const resumed = this.#resume(claim, now);
    if (resumed) this.#departed.delete(claim.id);
    else this.depart(claim.id, { atMs: now.nowMs, mayReturn: false });
    return resumed;
  }

  #resume({ nsp, id, pid, seq }: Claim, { nowMs, bytesMax, wasThere }: ResumeOptions): Resumed | undefined {
    const remembered = this.log.recall?.(id);
    if (this.log.recall && (!remembered || remembered.saidGoodbye)) return undefined;
    const departure = this.#departed.get(id);
    if (departure?.mayReturn === false) return undefined;
    const history = new ChannelHistory(remembered?.channels ?? [], remembered?.history);
    if (!history.knowsAllAfter(seq)) return undefined;
    const missed = this.log.since(seq, (channel, at) => channel === id || history.wasIn(channel, at));
    if (!missed) return undefined;
    // The time of its going may be unknown; it is no later than the first event it missed.
    const noticedAtMs = wasThere ? undefined : (departure?.atMs ?? remembered?.goneAtMs);
    if (nowMs - (noticedAtMs ?? missed[0]?.atMs ?? nowMs) > this.windowMs) return undefined;
    const frames = this.#encode(nsp, missed, bytesMax);
    return frames && { id, pid, remembered, missed: frames };
  }

  /** Encoded once for all sockets that missed the same events, where the log returns the same list. */
  #encode(nsp: string, missed: readonly MissedEvent[], bytesMax: number): readonly Frame[] | undefined {
    const known = this.#encoded?.missed === missed ? this.#encoded : undefined;
    if (known) return known.bytes <= bytesMax ? known.frames : undefined;
    const frames: Frame[] = [];
    let bytes = 0;
    for (const { event, args, seq, life } of missed) {
      const encoded = encodeEvent(nsp, event, [...args, this.offset(seq, life)]);
      for (const frame of encoded) bytes += frameBytes(frame);
      if (bytes > bytesMax) return undefined;
      frames.push(...encoded);
    }
    this.#encoded = { missed, frames, bytes };
    return frames;
  }

  /** A socket went. */
  depart(id: string, departure: Departure): void {
    this.#departed.delete(id);
    this.#departed.set(id, departure);
    for (const [oldest, { atMs }] of this.#departed) {
      if (this.#departed.size <= DEPARTED_MAX && departure.atMs - atMs <= 2 * this.windowMs) break;
      this.#departed.delete(oldest);
    }
  }
}

/** Compares without telling by its time how much was right. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < b.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
