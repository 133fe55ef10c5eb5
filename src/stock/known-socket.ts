// A socket of a stock server that is connected, or may come back: its place in the log of packets, its rooms over time, and its data. Made by
// recovery.ts.
import { ChannelHistory, type ChannelHistoryRecord } from "../socketio/recovery/channel-history.ts";
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

export class KnownSocket {
  /** The secret by which its client comes back. */
  readonly pid: string;
  readonly sid: string;
  readonly nsp: string;
  readonly begun: Position;
  life: string;
  readonly history: ChannelHistory;
  /** While it is connected. */
  socket: StockSocket | undefined;
  goneAtMs: number | undefined;
  /** Whether it is over, and nobody may come back to it. */
  isForgotten = false;
  /** Its connection broke at this time or later. */
  brokeAtMs = 0;
  /** As an earlier instance of the object stored it, until it is in its namespace again. */
  asleep: AsleepRecord | undefined;
  /** Its connection slept with the object, and code runs that brings it back: what that does to it is not stored. */
  isWaking = false;
  #isBack = (): void => {};
  #rooms: readonly string[];
  #readData: () => unknown;
  #writeData = (_data: unknown): void => {};
  #unwatch = (): void => {};

  constructor(pid: string, { sid, nsp, begun, life, rooms, history, data, goneAtMs, brokeAtMs, asleep }: SocketRecord) {
    this.pid = pid;
    this.sid = sid;
    this.nsp = nsp;
    this.begun = begun;
    this.life = life;
    this.history = new ChannelHistory(rooms, history);
    this.goneAtMs = goneAtMs;
    this.brokeAtMs = brokeAtMs ?? goneAtMs ?? 0;
    this.asleep = asleep;
    this.#rooms = rooms;
    this.#readData = () => data;
  }

  get rooms(): readonly string[] {
    return this.socket ? [...this.socket.rooms] : this.#rooms;
  }

  get data(): unknown {
    return this.#readData();
  }

  /**
   * Watches reads of `socket.data`, because code that has read it may change what is in it.
   * @param read called when the application has read or set it
   * @param looked called with each answer to a ping, to look at it again
   */
  enter(socket: StockSocket, { read, looked }: { read: () => void; looked: () => void }): void {
    this.socket = socket;
    this.asleep = undefined;
    this.goneAtMs = undefined;
    this.isForgotten = false;
    this.settle();
    let { data } = socket;
    this.#readData = () => data;
    this.#writeData = (given) => (data = given);
    Object.defineProperty(socket, "data", {
      get: () => (read(), data),
      set: (given: unknown) => {
        data = given;
        read();
      },
      enumerable: true,
      configurable: true,
    });

    socket.conn.on("heartbeat", looked);
    this.#unwatch = () => socket.conn.off("heartbeat", looked);
  }

  /** Called when it is about to come back from a sleep. @returns done when it is in its namespace, or its connection is over */
  wakes(): Promise<void> {
    this.isWaking = true;
    return new Promise((resolve) => (this.#isBack = resolve));
  }

  /** Called when it is in its namespace, or its connection is over: nobody has to wait for it any longer. */
  settle(): void {
    this.#isBack();
  }

  /** Called when all are back, or will not be. */
  woken(): void {
    this.isWaking = false;
    this.#isBack = () => {};
  }

  replaceData(replace: (present: unknown) => unknown): void {
    this.#writeData(replace(this.data));
  }

  /** Called when it will not come back. */
  forget(): void {
    this.isForgotten = true;
    this.isWaking = false;
    this.#unwatch();
  }

  /** Called when its connection is over. What it holds stays, as long as the object lives. */
  leave(rooms: readonly string[], nowMs: number): void {
    this.#unwatch();
    this.#rooms = rooms;
    this.socket = undefined;
    this.isWaking = false;
    this.goneAtMs = nowMs;
    this.brokeAtMs = nowMs;
  }

  /** Notes what middlewares have done to the rooms of a socket that has come back. */
  reconcile(before: readonly string[], seq: number): void {
    const { rooms, history } = this;
    for (const room of before) if (!rooms.includes(room)) history.leave(room, seq);
    for (const room of rooms) if (!before.includes(room)) history.join(room, seq);
  }

  /** Whether the packet at a position was sent to it. */
  isAmong({ nsp, rooms, except }: Recipients, seq: number): boolean {
    const wasIn = (room: string): boolean => this.history.wasIn(room, seq);
    return nsp === this.nsp && (rooms.length === 0 || rooms.some(wasIn)) && !except.some(wasIn);
  }

  /** @param asleepOf given if the object sleeps while sockets are connected */
  toRecord(asleepOf?: (socket: StockSocket, data: unknown) => AsleepRecord): SocketRecord {
    const { sid, nsp, begun, life, rooms, data, goneAtMs, brokeAtMs, socket } = this;
    const history = this.history.toRecord();
    return {
      sid,
      nsp,
      begun,
      life,
      rooms,
      history,
      data,
      ...(goneAtMs !== undefined && { goneAtMs }),
      ...(goneAtMs !== undefined && brokeAtMs < goneAtMs && { brokeAtMs }),
      ...(socket && asleepOf && { asleep: asleepOf(socket, data) }),
    };
  }
}

export function newcomer(nsp: string, { id, pid = "", rooms, data }: StockSocket, begun: Position): KnownSocket {
  const history = { joined: [...rooms].map(() => begun.seq), left: [] };
  return new KnownSocket(pid, { sid: id, nsp, begun, life: begun.life, rooms: [...rooms], history, data });
}

/**
 * A socket that an earlier instance of the object knew. If that one crashed, the time of its client begins now.
 * @param last the last packet that was stored
 */
export function returned(
  known: KnownSocket,
  nowMs: number,
  last: { readonly atMs: number; readonly life: string | undefined },
): KnownSocket {
  if (known.goneAtMs !== undefined) return known;
  // Several instances may have crashed since.
  known.brokeAtMs = known.life === last.life ? last.atMs : 0;
  known.goneAtMs = nowMs;
  return known;
}
