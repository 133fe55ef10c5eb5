// One member of a room in the bench: speaks Engine.IO and Socket.IO as text (or bare JSON with a server without them),
// keeps the received messages, and parses no more of a frame than it must.
import { Sequence } from "../accounting.ts";
import { eachMark, markedText } from "./mark.ts";
import { RawSocket, type Target } from "../../measuring/raw-socket.ts";

/** How a server is spoken to. */
export interface Wire {
  /** `plain` is a JSON array per message, without any protocol. */
  readonly protocol: "socketio" | "plain";
  /** Several packets to a frame, and heartbeats that the client volunteers (src/socketio/SPEC.md, EXT-1). */
  readonly extended: boolean;
  /** The path and query; `{room}` stands for the room's name. */
  readonly path: string;
}

export interface Seat {
  readonly target: Target;
  readonly wire: Wire;
  /** The payload of CONNECT, as JSON text without the braces: `"token":"…"`, or nothing. */
  readonly credentials: string;
  /** The sender's number in the marks. */
  readonly number: number;
}

/** The counters that all members of a generator share. */
export interface Observer {
  now(): number;
  delivered(sentAtUs: number, nowUs: number, member: Member): void;
  answered(sentAtUs: number, nowUs: number): void;
  pinged(): void;
  failed(reason: string): void;
}

const [ZERO, TWO, THREE, FOUR, SEPARATOR] = [0x30, 0x32, 0x33, 0x34, 0x1e];
const QUOTE = 0x22;
const REFUSAL_CODE = /"code":"([A-Z_]+)/;
const ACK_ID = /^\D*(\d+)/;
/** Enough of an ack to tell its id, and why it does not say ok. */
const ACK_HEAD_BYTES = 64;
/** An answer to a heartbeat: nothing to be done. */
const NOOP = 0x36;

export class Member {
  readonly sequence = new Sequence();
  readonly #seat: Seat;
  readonly #observer: Observer;
  readonly #pending = new Map<number, number>();
  #socket: RawSocket | undefined;
  #joined: { resolve: () => void; reject: (reason: Error) => void } | undefined;
  #isJoined = false;
  #nextCounter = 0;
  #heartbeat: NodeJS.Timeout | undefined;
  #pid: string | undefined;
  #offset: string | undefined;
  /** Whether offsets are read, which a recovery needs; costs a look at the end of every event. */
  tracksOffset = false;
  /** Whether the last CONNECT recovered the session. */
  recovered = false;
  /** The id of the Engine.IO session, where the server gives one. */
  sid = "";
  /** Called in place of a failure when its connection breaks. */
  onBroken: (() => void) | undefined;

  constructor(seat: Seat, observer: Observer) {
    this.#seat = seat;
    this.#observer = observer;
  }

  /** Connects or reconnects. Resolves once the server has accepted it. */
  join(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#joined = { resolve, reject };
      this.#socket = new RawSocket(this.#seat.target, {
        opened: () => this.#seat.wire.protocol === "plain" && this.#enter(),
        received: (bytes, start, end) => this.#receive(bytes, start, end),
        closed: (reason) => this.#closed(reason),
      });
    });
  }

  #closed(reason: string): void {
    clearInterval(this.#heartbeat);
    const isBroken = this.#isJoined;
    if (isBroken && this.onBroken) this.onBroken();
    else if (isBroken) this.#observer.failed(reason);
    else this.#joined?.reject(new Error(reason));
    this.#isJoined = false;
  }

  /** Cuts the connection without a close frame. */
  drop(): void {
    clearInterval(this.#heartbeat);
    this.#isJoined = false;
    this.#socket?.drop();
  }

  /** Posts the next message. @returns its counter */
  post(): number {
    const sentAtUs = this.#observer.now();
    const counter = this.#nextCounter++;
    const content = markedText(this.#seat.number, counter, sentAtUs);
    this.#pending.set(counter, sentAtUs);
    this.#socket?.send(
      this.#seat.wire.protocol === "plain" ? plainPost(counter, content) : this.#post(counter, content),
    );
    return counter;
  }

  #post(counter: number, content: string): string {
    // The shim gives each message an id of its own, so that sending it again is safe.
    const id = this.#seat.wire.extended ? `,"clientMsgId":"${this.#seat.number}-${counter}"` : "";
    return `42${counter}["chat-message",{"content":"${content}"${id}}]`;
  }

  get posted(): number {
    return this.#nextCounter;
  }

  get unanswered(): number {
    return this.#pending.size;
  }

  #receive(bytes: Buffer, start: number, end: number): void {
    // Only a member that waits for a private packet splits the frame into packets: all others look for marks.
    const isWatching = this.#pending.size > 0 || !this.#isJoined || this.tracksOffset;
    if (!this.#seat.wire.extended || !isWatching) return this.#packet(bytes, start, end);
    for (let from = start; from < end;) {
      const separator = bytes.indexOf(SEPARATOR, from);
      const to = separator === -1 || separator > end ? end : separator;
      this.#packet(bytes, from, to);
      from = to + 1;
    }
  }

  #packet(bytes: Buffer, start: number, end: number): void {
    const first = bytes[start]!;
    if (this.#seat.wire.protocol === "plain") {
      if (bytes[start + 2] === 0x61) this.#answered(bytes, start, end);
      else this.#events(bytes, start, end);
      return;
    }
    if (first === FOUR) {
      const type = bytes[start + 1]!;
      if (type === TWO) this.#events(bytes, start, end);
      else if (type === THREE) this.#answered(bytes, start + 2, end);
      else if (type === ZERO) this.#connected(bytes.toString("latin1", start + 2, end));
      else this.#joined?.reject(new Error(`refused: ${bytes.toString("utf8", start, end)}`));
    } else if (first === TWO) {
      this.#observer.pinged();
      // A ping that asks for something to be sent back stands alone in its frame (EIO-10).
      this.#socket?.send(`3${bytes.toString("latin1", start + 1, end)}`);
    } else if (first === ZERO) this.#opened(bytes.toString("latin1", start + 1, end));
    else if (first !== NOOP) this.#observer.failed(`an unexpected packet: ${bytes.toString("utf8", start, end)}`);
  }

  #opened(text: string): void {
    const { sid, pingInterval } = JSON.parse(text) as { sid: string; pingInterval: number };
    this.sid = sid;
    if (this.#seat.wire.extended) {
      this.#heartbeat = setInterval(() => this.#socket?.send("3"), pingInterval);
    }
    const recovery = this.#pid === undefined ? "" : `"pid":"${this.#pid}","offset":"${this.#offset}"`;
    const body = [this.#seat.credentials, recovery].filter(Boolean).join(",");
    this.#socket?.send(body === "" ? "40" : `40{${body}}`);
  }

  #connected(answer: string): void {
    const { pid } = JSON.parse(answer) as { pid?: string };
    this.recovered = pid !== undefined && pid === this.#pid;
    this.#pid = pid;
    this.#enter();
  }

  #enter(): void {
    this.#isJoined = true;
    this.#joined?.resolve();
  }

  #events(bytes: Buffer, start: number, end: number): void {
    const nowUs = this.#observer.now();
    eachMark(bytes, start, end, (code, sentAtUs) => {
      this.sequence.push(code);
      this.#observer.delivered(sentAtUs, nowUs, this);
    });
    if (this.tracksOffset && this.#pid !== undefined) this.#noteOffset(bytes, end);
  }

  /** The offset is an event's last argument, a string without quotes in it. */
  #noteOffset(bytes: Buffer, end: number): void {
    const closing = end - 2;
    if (bytes[closing] !== QUOTE) return;
    const opening = bytes.lastIndexOf(QUOTE, closing - 1);
    this.#offset = bytes.toString("latin1", opening + 1, closing);
  }

  #answered(bytes: Buffer, start: number, end: number): void {
    const head = bytes.toString("latin1", start, Math.min(end, start + ACK_HEAD_BYTES));
    const id = Number(ACK_ID.exec(head)?.[1]);
    const sentAtUs = this.#pending.get(id);
    if (sentAtUs === undefined) return this.#observer.failed(`an ack for nothing: ${head}`);
    this.#pending.delete(id);
    if (head.includes('"error"')) return this.#observer.failed(`a post was refused: ${REFUSAL_CODE.exec(head)?.[1]}`);
    this.#observer.answered(sentAtUs, this.#observer.now());
  }
}

/** The bare peer's wire: `["post",id,content]`, answered by `["ack",id,…]`. */
function plainPost(counter: number, content: string): string {
  return `["post",${counter},"${content}"]`;
}
