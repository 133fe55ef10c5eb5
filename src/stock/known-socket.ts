// A socket of a stock server that is connected, or may come back: where it is, its place in the log of packets, its rooms over time, and its data.
// Made by recovery.ts.
import { ChannelHistory, type ChannelHistoryRecord } from "../storage/channel-history.ts";
import type { AsleepRecord } from "./asleep-record.ts";
import type { EngineRequest } from "./node-request.ts";
import type { Recipients } from "./packet-log.ts";

/** A socket of the package. */
export interface StockSocket {
  readonly id: string;
  readonly pid?: string;
  data: unknown;
  readonly rooms: ReadonlySet<string>;
  readonly handshake: { auth: unknown; issued: number; time: string };
  /** The callbacks that wait for answers of the client. */
  readonly acks: ReadonlyMap<number, unknown>;
  readonly connected: boolean;
  readonly conn: {
    readonly id: string;
    readonly request: EngineRequest;
    close(discard: boolean): void;
    on(event: "heartbeat", listener: () => void): unknown;
    off(event: "heartbeat", listener: () => void): unknown;
  };
  eventNames(): ReadonlyArray<string | symbol>;
}

/** A place in the log of packets. `life` is the incarnation of the log. */
export interface Position {
  readonly life: string;
  readonly seq: number;
}

/** Named by a client that has got no packet. */
export const NO_OFFSET = "";

/** Named in place of a client whose connection slept with the object. */
export const ASLEEP_OFFSET = "asleep";

export const offsetOf = ({ life, seq }: Position): string => `${life}.${seq.toString(36)}`;

/** @returns the place that an offset names, if it is one */
export function positionIn(offset: string): Position | undefined {
  const [life = "", text = ""] = offset.split(".");
  const position = { life, seq: Number.parseInt(text, 36) };
  return position.seq >= 0 && offsetOf(position) === offset ? position : undefined;
}

/** A socket as it is stored. */
export interface SocketRecord {
  readonly sid: string;
  readonly nsp: string;
  /** Where the log was when the socket came. */
  readonly begun: Position;
  /** The incarnation of the log when it was connected last. */
  readonly life: string;
  readonly rooms: readonly string[];
  readonly history: ChannelHistoryRecord;
  readonly data: unknown;
  /** Absent while it is connected, and after a crash. */
  readonly goneAtMs?: number;
  /** When the packets may begin that it misses, if it broke with a crash. */
  readonly brokeAtMs?: number;
  /** If it was connected to an object that sleeps. */
  readonly asleep?: AsleepRecord;
}

/** In its namespace. */
interface Here {
  readonly is: "here";
  readonly socket: StockSocket;
  readonly unwatch: () => void;
}

/** Its connection is over, and its client may come back, or is recovering. */
export interface Away {
  readonly is: "away";
  readonly rooms: readonly string[];
  readonly goneAtMs: number;
  /** Its connection broke at this time or later. */
  readonly brokeAtMs: number;
  /** If its connection sleeps with the object. */
  readonly asleep?: AsleepRecord | undefined;
}

/** Not yet in its namespace, or over. */
interface Nowhere {
  readonly is: "nowhere";
}

interface Watch {
  /** Called when the application has read or set `socket.data`: it may change what is in it. */
  readonly read: () => void;
  /** Called with each answer to a ping. */
  readonly looked: () => void;
}

export class KnownSocket {
  /** The secret by which its client comes back. */
  readonly pid: string;
  readonly sid: string;
  readonly nsp: string;
  readonly begun: Position;
  life: string;
  readonly history: ChannelHistory;
  #place: Here | Away | Nowhere;
  /** Its connection slept with the object, and code runs that restores it: what that does to it is not stored. */
  isRestoring = false;
  /** Of a socket that is gone, too: as long as the object lives, its data are the application's own. */
  #held: { data: unknown };

  constructor(pid: string, { sid, nsp, begun, life, rooms, history, data }: SocketRecord, away?: Away) {
    this.pid = pid;
    this.sid = sid;
    this.nsp = nsp;
    this.begun = begun;
    this.life = life;
    this.history = new ChannelHistory(rooms, history);
    this.#place = away ?? { is: "nowhere" };
    this.#held = { data };
  }

  get socket(): StockSocket | undefined {
    return this.#place.is === "here" ? this.#place.socket : undefined;
  }

  get away(): Away | undefined {
    return this.#place.is === "away" ? this.#place : undefined;
  }

  /** As an earlier instance of the object stored it, until it is in its namespace again. */
  get asleep(): AsleepRecord | undefined {
    return this.away?.asleep;
  }

  /** Whether its row follows what is done to it. */
  get isStored(): boolean {
    return this.#place.is !== "nowhere" && !this.isRestoring;
  }

  get rooms(): readonly string[] {
    return this.socket ? [...this.socket.rooms] : (this.away?.rooms ?? []);
  }

  get data(): unknown {
    return this.#held.data;
  }

  set data(data: unknown) {
    this.#held.data = data;
  }

  /** Called when it is in its namespace. @param place where the log is */
  enter(socket: StockSocket, { life, seq }: Position, { read, looked }: Watch): void {
    const before = this.rooms;
    // Middlewares may have changed them.
    for (const room of before) if (!socket.rooms.has(room)) this.history.leave(room, seq);
    for (const room of socket.rooms) if (!before.includes(room)) this.history.join(room, seq);
    const held = { data: socket.data };
    Object.defineProperty(socket, "data", {
      get: () => (read(), held.data),
      set: (given: unknown) => {
        held.data = given;
        read();
      },
      enumerable: true,
      configurable: true,
    });
    this.#held = held;
    socket.conn.on("heartbeat", looked);
    this.#place = { is: "here", socket, unwatch: () => socket.conn.off("heartbeat", looked) };
    // Otherwise each wake would write a row of each socket.
    if (!this.isRestoring) this.life = life;
  }

  /** Called when its connection is over. */
  leave(rooms: readonly string[], nowMs: number): void {
    this.#go({ is: "away", rooms, goneAtMs: nowMs, brokeAtMs: nowMs });
  }

  /** Called when nobody may come back to it. */
  forget(): void {
    this.#go({ is: "nowhere" });
  }

  #go(place: Away | Nowhere): void {
    if (this.#place.is === "here") this.#place.unwatch();
    this.#place = place;
    this.isRestoring = false;
  }

  /** Whether the packet at a position was sent to it. */
  isAmong({ nsp, rooms, except }: Recipients, seq: number): boolean {
    const wasIn = (room: string): boolean => this.history.wasIn(room, seq);
    return nsp === this.nsp && (rooms.length === 0 || rooms.some(wasIn)) && !except.some(wasIn);
  }

  /** @param asleepOf given if the object sleeps while sockets are connected */
  toRecord(asleepOf?: (socket: StockSocket, data: unknown) => AsleepRecord): SocketRecord {
    const { sid, nsp, begun, life, rooms, data, socket, away } = this;
    return {
      sid,
      nsp,
      begun,
      life,
      rooms,
      history: this.history.toRecord(),
      data,
      ...(away && { goneAtMs: away.goneAtMs }),
      ...(away && away.brokeAtMs < away.goneAtMs && { brokeAtMs: away.brokeAtMs }),
      ...(socket && asleepOf && { asleep: asleepOf(socket, data) }),
    };
  }
}

export function newcomer(nsp: string, { id, pid = "", data }: StockSocket, begun: Position): KnownSocket {
  const history = { joined: [], left: [] };
  return new KnownSocket(pid, { sid: id, nsp, begun, life: begun.life, rooms: [], history, data });
}

/**
 * A socket that an earlier instance of the object knew. If that one crashed, the time of its client begins now.
 * @param last the last packet that was stored
 */
export function knownFrom(
  [pid, record]: readonly [pid: string, record: SocketRecord],
  nowMs: number,
  last: { readonly atMs: number; readonly life: string | undefined },
): KnownSocket {
  const { life, rooms, asleep, goneAtMs = nowMs } = record;
  // Several instances may have crashed since.
  const crashedAtMs = life === last.life ? last.atMs : 0;
  const brokeAtMs = record.brokeAtMs ?? record.goneAtMs ?? crashedAtMs;
  return new KnownSocket(pid, record, { is: "away", rooms, goneAtMs, brokeAtMs, asleep });
}
