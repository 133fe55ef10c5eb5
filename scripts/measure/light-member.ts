// A member in few lines: speaks Engine.IO and Socket.IO over a WebSocket as a client does (handshake, CONNECT, pongs, acks, recovery) and
// reads no more of a packet than it must, so that one process can be ten thousand of them. Called by crowd.ts and history.ts. The client of
// `parley-rooms/testing` keeps every frame for tests to look at, which a load test has no room for.
import { findMark } from "./mark.ts";
import { JoinError, type Member, type Observer, type Post, type Seat } from "./member.ts";
import { RawSocket } from "./raw-socket.ts";

const [ZERO, ONE, TWO, THREE, FOUR, SIX] = [0x30, 0x31, 0x32, 0x33, 0x34, 0x36];
const QUOTE = 0x22;
const SEPARATOR = 0x1e;
const CHAT_MESSAGE = Buffer.from('42["chat-message",');
const WELCOME = Buffer.from('42["welcome",');
const BUNDLE = Buffer.from('42["bundle",[');
/** In no text of an event: JSON escapes the quotes there. */
const BUNDLED_MESSAGE = Buffer.from('["chat-message",');
const BUNDLED_WELCOME = Buffer.from('["welcome",');
const SEQ_KEY = '"seq":';
const SEQ_CHARS_MAX = 16;
const RETURN_MS_MIN = 500;
const RETURN_MS_MAX = 1500;
const JOIN_MS_MAX = 30_000;

export class LightMember implements Member {
  readonly seat: Seat;
  isIn = false;
  readonly #run: string;
  readonly #observer: Observer;
  readonly #pending = new Map<number, Post>();
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #socket: RawSocket | undefined;
  #joining: { resolve: () => void; reject: (error: JoinError) => void } | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #returning: NodeJS.Timeout | undefined;
  #isOver = false;
  #wasIn = false;
  #nextAckId = 0;
  /** Belongs to messages that were first sent over the present connection. */
  #firstAckId = 0;
  #pid: string | undefined;
  #offset: string | undefined;

  /** @param run its id in marks */
  constructor(seat: Seat, run: string, observer: Observer) {
    this.seat = seat;
    this.#run = run;
    this.#observer = observer;
  }

  get unanswered(): number {
    return this.#pending.size;
  }

  get ignored(): number {
    return this.isIn ? [...this.#pending.keys()].filter((id) => id >= this.#firstAckId).length : 0;
  }

  join(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#refuse("TIMEOUT", `not in after ${JOIN_MS_MAX} ms`);
        this.#socket?.drop();
      }, JOIN_MS_MAX);
      this.#joining = {
        resolve: () => (clearTimeout(late), resolve()),
        reject: (error) => (clearTimeout(late), reject(error)),
      };
      this.#socket = new RawSocket(this.#endpoint(), {
        received: (bytes, start, end) => this.#frame(bytes, start, end),
        closed: (reason) => this.#closed(reason),
      });
    });
  }

  #endpoint(): URL {
    const url = new URL(this.seat.path, this.seat.origin);
    // A session can be recovered if the client says that it knows of it, as socket.io-client 4.6 and later do by its pid.
    const query = {
      EIO: "4",
      transport: "websocket",
      recovery: "on",
      ...(this.seat.isOwn && { ext: "1" }),
      ...(this.seat.isBundling && { bundle: "1" }),
    };
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  post(post: Post): boolean {
    if (!this.isIn) return false;
    const id = this.#nextAckId++;
    this.#pending.set(id, post);
    this.#sendPost(id, post);
    return true;
  }

  /** Emits an event and waits for its ack. */
  ask(event: string, payload: object): Promise<unknown> {
    const id = this.#nextAckId++;
    this.#send(`42${id}${JSON.stringify([event, payload])}`);
    return new Promise((resolve) => this.#asked.set(id, resolve));
  }

  /** Cuts the connection as a broken line does, and comes back after so long. */
  cut(awayMs: number): void {
    this.#socket?.drop();
    this.#closed("cut", awayMs);
  }

  leave(): void {
    this.#isOver = true;
    this.isIn = false;
    clearTimeout(this.#returning);
    clearInterval(this.#heartbeat);
    this.#socket?.drop();
  }

  #send(packet: string): void {
    this.#socket?.send(packet);
  }

  /** @param proof a number that the server asks the client to repeat, as proof of reading (EIO-10) */
  #pinged(proof: string): void {
    if (proof === "") this.#observer.pinged();
    this.#send(`3${proof}`);
  }

  #sendPost(id: number, { content, code }: Post): void {
    // Parley's own client gives each message an id, so that sending it again is safe.
    const clientMsgId = this.seat.isOwn ? `,"clientMsgId":"${this.#run}-${code}"` : "";
    this.#send(`42${id}["chat-message",{"content":"${content}"${clientMsgId}}]`);
  }

  // ---- incoming frames --------------------------------------------------------------------------------------

  /** The separator cannot occur inside a packet: JSON escapes it. */
  #frame(bytes: Buffer, start: number, end: number): void {
    if (!this.seat.isOwn) return this.#packet(bytes, start, end);
    for (let from = start; from < end;) {
      const separator = bytes.indexOf(SEPARATOR, from);
      const to = separator === -1 || separator > end ? end : separator;
      this.#packet(bytes, from, to);
      from = to + 1;
    }
  }

  #packet(bytes: Buffer, start: number, end: number): void {
    switch (bytes[start]) {
      case FOUR:
        return this.#message(bytes, start, end);
      case TWO:
        return this.#pinged(bytes.toString("latin1", start + 1, end));
      case ZERO:
        return this.#opened(bytes.toString("utf8", start + 1, end));
      case ONE:
        return this.#hangUp("closed by the server");
      case SIX:
        return;
      default:
        this.#unexpected(bytes, start, end);
    }
  }

  #unexpected(bytes: Buffer, start: number, end: number): void {
    this.#observer.failed(`an unexpected packet: ${bytes.toString("utf8", start, Math.min(end, start + 100))}`);
  }

  #message(bytes: Buffer, start: number, end: number): void {
    switch (bytes[start + 1]) {
      case TWO:
        return this.#event(bytes, start, end);
      case THREE:
        return this.#answered(bytes.toString("utf8", start + 2, end));
      case ZERO:
        return this.#connected(bytes.toString("utf8", start + 2, end));
      case FOUR:
        return this.#connectRefused(bytes.toString("utf8", start + 2, end));
      case ONE:
        return this.#hangUp("disconnected by the server");
      default:
        this.#unexpected(bytes, start, end);
    }
  }

  #opened(handshake: string): void {
    if (this.seat.isOwn) {
      const { pingInterval } = JSON.parse(handshake) as { pingInterval: number };
      this.#heartbeat = setInterval(() => this.#send("3"), pingInterval);
    }
    const auth = {
      ...(this.seat.token && { token: this.seat.token }),
      ...(this.#pid && { pid: this.#pid, offset: this.#offset }),
    };
    this.#send(Object.keys(auth).length === 0 ? "40" : `40${JSON.stringify(auth)}`);
  }

  #connected(answer: string): void {
    const { pid } = JSON.parse(answer) as { pid?: string };
    const isRecovered = pid !== undefined && pid === this.#pid;
    this.#pid = pid;
    this.isIn = true;
    this.#firstAckId = this.#nextAckId;
    if (this.#wasIn) this.#observer.returned(isRecovered);
    this.#wasIn = true;
    this.#joining?.resolve();
    this.#joining = undefined;
    if (this.seat.isOwn) for (const [id, post] of this.#pending) this.#sendPost(id, post);
    else this.#forgetPending();
  }

  /** Unknown whether stored: a stock client does not repeat them. */
  #forgetPending(): void {
    for (let left = this.#pending.size; left > 0; left--) this.#observer.refused("NO_ANSWER");
    this.#pending.clear();
  }

  #connectRefused(answer: string): void {
    const { message, data } = JSON.parse(answer) as { message: string; data?: { code?: string } };
    this.#refuse(data?.code ?? "CONNECT_ERROR", message);
    this.#socket?.drop();
  }

  #event(bytes: Buffer, start: number, end: number): void {
    if (startsWith(bytes, start, CHAT_MESSAGE)) this.#delivered(bytes, start, end);
    else if (startsWith(bytes, start, BUNDLE)) this.#bundle(bytes, start + BUNDLE.length, end);
    else if (startsWith(bytes, start, WELCOME)) {
      const [, welcome] = JSON.parse(bytes.toString("utf8", start + 2, end)) as [string, { lastSeq: number }];
      this.#observer.entered(this, welcome.lastSeq);
    }
    if (this.#pid !== undefined) this.#noteOffset(bytes, end);
  }

  #delivered(bytes: Buffer, start: number, end: number): void {
    const seq = numberAfter(bytes, SEQ_KEY, start, end);
    this.#observer.delivered(this, seq, findMark(this.#run, bytes, start, end));
  }

  #bundle(bytes: Buffer, start: number, end: number): void {
    // The buffer holds more bytes after the frame: a search through them would take most of the time.
    const frame = bytes.subarray(start, end);
    if (frame.includes(BUNDLED_WELCOME)) {
      const [events] = JSON.parse(`[[${frame.toString()}`) as [unknown[][]];
      const welcome = events.find(([event]) => event === "welcome")![1] as { lastSeq: number };
      this.#observer.entered(this, welcome.lastSeq);
    }
    for (let at = frame.indexOf(BUNDLED_MESSAGE); at !== -1;) {
      const next = frame.indexOf(BUNDLED_MESSAGE, at + 1);
      this.#delivered(frame, at, next === -1 ? frame.length : next);
      at = next;
    }
  }

  /** The offset is an event's last argument, a string without quotes in it. */
  #noteOffset(bytes: Buffer, end: number): void {
    const closing = end - 2;
    if (bytes[closing] !== QUOTE) return;
    this.#offset = bytes.toString("latin1", bytes.lastIndexOf(QUOTE, closing - 1) + 1, closing);
  }

  #answered(text: string): void {
    const bracket = text.indexOf("[");
    const id = Number(text.slice(0, bracket));
    const [answer] = JSON.parse(text.slice(bracket)) as [{ ok?: true; seq: number; error?: { code: string } }];
    const asked = this.#asked.get(id);
    if (asked) {
      this.#asked.delete(id);
      return asked(answer);
    }
    const post = this.#pending.get(id);
    if (!post) return this.#observer.failed("an ack for nothing");
    this.#pending.delete(id);
    if (answer.error) this.#observer.refused(answer.error.code);
    else this.#observer.acked(this, answer.seq, post);
  }

  // ---- the end of a connection -------------------------------------------------------------------------------

  #refuse(code: string, message: string): void {
    const joining = this.#joining;
    this.#joining = undefined;
    joining?.reject(new JoinError(code, message));
    if (!joining) this.#observer.failed(code);
  }

  #hangUp(reason: string): void {
    this.#socket?.drop();
    this.#closed(reason);
  }

  /** @param awayMs until it comes back; a moment of its own if absent, as a client does */
  #closed(reason: string, awayMs = RETURN_MS_MIN + Math.random() * (RETURN_MS_MAX - RETURN_MS_MIN)): void {
    clearInterval(this.#heartbeat);
    if (this.#isOver) return;
    if (this.#joining) return this.#refuse(codeOfFailure(reason), reason);
    if (!this.#wasIn) return;
    if (this.isIn) this.#observer.dropped(reason);
    this.isIn = false;
    this.#returning = setTimeout(() => {
      this.join().catch(({ code }: JoinError) => {
        this.#observer.failed(`could not come back: ${code}`);
        this.#closed(code);
      });
    }, awayMs);
  }
}

function startsWith(bytes: Buffer, start: number, head: Buffer): boolean {
  return bytes.compare(head, 0, head.length, start, start + head.length) === 0;
}

/** NaN if there is none. */
function numberAfter(bytes: Buffer, key: string, start: number, end: number): number {
  const at = bytes.indexOf(key, start, "latin1");
  if (at === -1 || at >= end) return NaN;
  const from = at + key.length;
  return Number.parseInt(bytes.toString("latin1", from, Math.min(end, from + SEQ_CHARS_MAX)), 10);
}

/** `HTTP/1.1 429 …` → `429`; `connect ECONNREFUSED …` → `ECONNREFUSED` */
export function codeOfFailure(reason: string): string {
  return /HTTP\/1\.1 (\d{3})/.exec(reason)?.[1] ?? /\b(E[A-Z]{3,})\b/.exec(reason)?.[1] ?? "CLOSED";
}
