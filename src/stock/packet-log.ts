// The packets that clients of a stock server may have missed. Those that leave together are one row, because a row is what the operator
// pays. Called by recovery.ts.
import {
  nameOf,
  readBack,
  storedName,
  WindowTables,
  type Sql,
  type StoredName,
  type WindowOptions,
  type WindowRow,
} from "../storage/window-tables.ts";
import { NO_OFFSET, positionIn, type KnownSocket, type Position } from "./known-socket.ts";
import { encodeMessage, frameBytes, PACKET_SEPARATOR, type Frame } from "../socketio/wire/engine-io.ts";
import { decodePayload, encodePayload } from "../socketio/wire/polling-payload.ts";

/** To whom a packet goes. Without rooms it goes to all sockets of the namespace. */
export interface Recipients {
  readonly nsp: string;
  readonly rooms: readonly string[];
  readonly except: readonly string[];
}

/** Half of what a client may leave unread, so that new packets fit, too. Who missed more starts afresh. */
export const REPLAYED_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes of a packet as it is stored: a larger one is not kept, and who needs it starts afresh. */
export const PACKET_BYTES_MAX = 1_400_000;

/** Bytes that wait at most, so that a row with one packet more fits into the database, which takes 2 MB. */
const WAITING_BYTES_MAX = 256 * 1024;

/** Characters of one of the two tables. */
export const TABLE_CHARS_MAX = 8 * 1024 * 1024;

/** Keeps a position. No namespace has that name. */
const TO_NOBODY: Recipients = { nsp: "", rooms: [], except: [] };

/** A packet in `audience`; one of no frames was too large. */
type StoredPacket = readonly [
  nsp: string,
  rooms: readonly StoredName[],
  except: readonly StoredName[],
  frameCount: number,
];

const packetsOf = ({ audience }: WindowRow): readonly StoredPacket[] =>
  (JSON.parse(audience) as { readonly to: readonly StoredPacket[] }).to;

export class PacketLog extends WindowTables {
  #waiting: StoredPacket[] = [];
  /** Their payloads. */
  #bodies: string[] = [];
  #waitingBytes = 0;
  /** The last position that could not be stored. */
  #lostTo = 0;

  constructor(sql: Sql, options: Pick<WindowOptions, "windowMs" | "nowMs" | "newIncarnation" | "beginsAgain">) {
    const lastOf = (row: WindowRow): number => row.seq + readBack(row, packetsOf).length - 1;
    const own = { lastOf, charsMax: TABLE_CHARS_MAX };
    super(sql, ["stock_packets_0", "stock_packets_1"], { ...options, ...own });
  }

  /** Whether an earlier instance left no packet that somebody can miss. */
  get isForgotten(): boolean {
    const { newest } = this;
    return !newest || readBack(newest, packetsOf).every(([nsp]) => nsp === TO_NOBODY.nsp);
  }

  /** The last one, stored or not. */
  override get lastSeq(): number {
    return super.lastSeq + this.#waiting.length;
  }

  /** Adds a packet at the next position. The caller stores it with `flush` before it is sent. */
  append({ nsp, rooms, except }: Recipients, frames: readonly Frame[], nowMs: number): void {
    const body = encodePayload(frames.map(encodeMessage));
    const bytes = frameBytes(body);
    const isKept = bytes <= PACKET_BYTES_MAX;
    const packet: StoredPacket = [nsp, rooms.map(storedName), except.map(storedName), isKept ? frames.length : 0];
    this.#waiting.push(packet);
    if (isKept) this.#bodies.push(body);
    this.#waitingBytes += (isKept ? bytes : 0) + JSON.stringify(packet).length;
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.flush(nowMs);
  }

  flush(nowMs: number): void {
    if (this.#waiting.length === 0) return;
    const { to, bodies } = this.#take();
    try {
      this.add({ to }, bodies.join(PACKET_SEPARATOR), nowMs, to.length);
    } catch (error) {
      // Their positions are given out.
      this.skip(to.length);
      this.#lostTo = super.lastSeq;
      throw error;
    }
  }

  #take() {
    const taken = { to: this.#waiting, bodies: this.#bodies };
    this.#waiting = [];
    this.#bodies = [];
    this.#waitingBytes = 0;
    return taken;
  }

  /** Called when the log is opened: an earlier instance has given out the positions up to this one, and may have stored no packet of them. */
  beginAfter(seq: number): void {
    if (seq <= this.lastSeq) return;
    this.skip(seq - this.lastSeq);
    this.#lostTo = seq;
  }

  /** Called when nobody can miss any. */
  override drop(): void {
    // Their positions are given out.
    this.skip(this.#take().to.length);
    super.drop();
  }

  /** Called when all packets are too old to be replayed. Forgets them, but not the position. */
  forget(nowMs: number): void {
    this.flush(nowMs);
    this.drop();
    this.append(TO_NOBODY, [], nowMs);
    this.flush(nowMs);
  }

  /** @returns the frames of all packets that a socket missed, after the offset that its client names; `undefined` as for `since` */
  missedBy(known: KnownSocket, offset: string, sinceMs: number): Frame[][] | undefined {
    const seq = this.#positionOf(offset, known.begun);
    if (seq === undefined || !known.history.knowsAllAfter(seq)) return undefined;
    return this.since(seq, sinceMs, (recipients, at) => known.isAmong(recipients, at));
  }

  /** @returns where the log was with the last packet of a client; `undefined` if it names one that this log does not have */
  #positionOf(offset: string, begun: Position): number | undefined {
    if (offset === NO_OFFSET) return begun.seq;
    const position = positionIn(offset);
    // No incarnation is later than this one.
    if (!position || position.life > this.incarnation) return undefined;
    // Until its first packet, a client names that of an earlier socket, perhaps of another object.
    if (position.life < begun.life || position.seq < begun.seq) return begun.seq;
    const life = this.incarnationAt(position.seq);
    // That of a forgotten position is unknown; the packets after it decide.
    return life === undefined || life === position.life ? position.seq : undefined;
  }

  /**
   * @param sinceMs all packets before it have reached the socket, if they were for it
   * @returns the frames of all packets after `seq` for one socket; `undefined` if they may be incomplete, or are too many to be replayed
   * @throws Error if a row is damaged
   */
  since(seq: number, sinceMs: number, isFor: (packet: Recipients, seq: number) => boolean): Frame[][] | undefined {
    if (seq > this.lastSeq || seq < this.#lostTo) return undefined;
    if (seq < this.cutTo && (this.oldest?.at_ms ?? Infinity) >= sinceMs) return undefined;
    const missed: Frame[][] = [];
    let next: number | undefined;
    let bytes = 0;
    for (const row of this.from(seq + 1, sinceMs)) {
      const packets = readBack(row, packetsOf);
      if (row.seq + packets.length <= seq) continue;
      // What is between two rows could not be stored by an earlier instance.
      if (next !== undefined && row.seq > next) return undefined;
      next = row.seq + packets.length;
      let frames: readonly Frame[] | undefined;
      let frameAt = 0;
      for (const [at, [nsp, rooms, except, frameCount]] of packets.entries()) {
        const begin = frameAt;
        frameAt += frameCount;
        const own = row.seq + at;
        if (own <= seq || !isFor({ nsp, rooms: rooms.map(nameOf), except: except.map(nameOf) }, own)) continue;
        if (frameCount === 0) return undefined;
        frames ??= readBack(row, framesOf);
        const ofPacket = frames.slice(begin, frameAt);
        for (const frame of ofPacket) bytes += frameBytes(frame);
        if (bytes > REPLAYED_BYTES_MAX) return undefined;
        missed.push(ofPacket);
      }
    }
    return missed;
  }
}

function framesOf({ body }: WindowRow): Frame[] {
  const frames = decodePayload(body);
  if (!frames) throw new Error("bytes that are no base64");
  // Without the digit of the Engine.IO message.
  return frames.map((frame) => (typeof frame === "string" ? frame.slice(1) : frame));
}
