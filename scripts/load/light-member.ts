// A member in few lines: speaks Engine.IO and Socket.IO as a client does (handshake, CONNECT, pongs, acks, recovery) and reads
// no more of a packet than it must, so that one process can be ten thousand of them.
import { findMark } from "./mark.ts";
import { WebSocketLine, type Line } from "./line.ts";
import { PollingLine } from "./polling-line.ts";
import {
  endpointOf,
  JoinError,
  targetOf,
  type Member,
  type Observer,
  type Post,
  type ClientSlot,
  type Where,
} from "./client-slot.ts";

const [ZERO, ONE, TWO, FOUR, SIX] = [0x30, 0x31, 0x32, 0x34, 0x36];
const THREE = 0x33;
const QUOTE = 0x22;
const CHAT_MESSAGE = Buffer.from('42["chat-message",');
const WELCOME = Buffer.from('42["welcome",');
const SEQ_KEY = '"seq":';
const RETURN_MS_MIN = 500;
const RETURN_MS_MAX = 1500;
const JOIN_MS_MAX = 30_000;

export class LightMember implements Member {
  readonly slot: ClientSlot;
  isIn = false;
  readonly #where: Where;
  readonly #run: string;
  readonly #observer: Observer;
  readonly #pending = new Map<number, Post>();
  #line: Line | undefined;
  #joining: { resolve: () => void; reject: (error: JoinError) => void } | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #returning: NodeJS.Timeout | undefined;
  #isOver = false;
  #wasIn = false;
  #nextAckId = 0;
  /** Belongs to messages that were first sent over the present connection. */
  #firstAckId = 0;
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #pid: string | undefined;
  #offset: string | undefined;

  /** @param run its id in marks */
  constructor(where: Where, slot: ClientSlot, run: string, observer: Observer) {
    this.#where = where;
    this.slot = slot;
    this.#run = run;
    this.#observer = observer;
  }

  get unanswered(): number {
    return this.#pending.size;
  }

  get ignored(): number {
    if (!this.isIn) return 0;
    return [...this.#pending.keys()].filter((id) => id >= this.#firstAckId).length;
  }

  join(): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#refuse("TIMEOUT", `not in after ${JOIN_MS_MAX} ms`);
        this.#line?.drop();
      }, JOIN_MS_MAX);
      this.#joining = {
        resolve: () => (clearTimeout(late), resolve()),
        reject: (error) => (clearTimeout(late), reject(error)),
      };
      this.#line = this.#open();
    });
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

  leave(): void {
    this.#isOver = true;
    this.isIn = false;
    clearTimeout(this.#returning);
    clearInterval(this.#heartbeat);
    this.#line?.drop();
  }

  #open(): Line {
    const { transport, dialect } = this.slot;
    // A session can be recovered where the client says that it knows of it, as socket.io-client 4.6 and later do by its pid.
    const query = { transport, recovery: "on", ...(dialect === "shim" && { ext: "1" }) };
    const target = targetOf(this.#where, this.slot, endpointOf(this.#where, this.slot, query));
    const listener = {
      packet: (bytes: Buffer, start: number, end: number) => this.#packet(bytes, start, end),
      closed: (reason: string) => this.#closed(reason),
      requested: () => this.#observer.requested(),
    };
    if (transport === "polling") return new PollingLine(target, listener);
    this.#observer.requested();
    return new WebSocketLine(target, listener);
  }

  #send(packet: string): void {
    this.#observer.sent(this.slot.transport === "websocket" ? 1 : 0);
    this.#line?.send(packet);
  }

  #beat(): void {
    if (this.slot.transport === "websocket") this.#observer.beat();
    this.#line?.send("3");
  }

  /** The server asks the client to repeat the number behind a ping, as proof of reading (EIO-10). */
  #pinged(proof: string): void {
    if (proof === "") this.#beat();
    else this.#send(`3${proof}`);
  }

  #sendPost(id: number, { content, code }: Post): void {
    // Our own client gives each message an id, so that sending it again is safe.
    const clientMsgId = this.slot.dialect === "shim" ? `,"clientMsgId":"${this.#run}-${code}"` : "";
    this.#send(`42${id}["chat-message",{"content":"${content}"${clientMsgId}}]`);
  }

  // ---- incoming frames --------------------------------------------------------------------------------------

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
        this.#observer.failed(`an unexpected packet: ${bytes.toString("utf8", start, Math.min(end, start + 100))}`);
    }
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
        this.#observer.failed(`an unexpected packet: ${bytes.toString("utf8", start, Math.min(end, start + 100))}`);
    }
  }

  #opened(handshake: string): void {
    if (this.slot.dialect === "shim" && this.slot.transport === "websocket") {
      const { pingInterval } = JSON.parse(handshake) as { pingInterval: number };
      this.#heartbeat = setInterval(() => this.#beat(), pingInterval);
    }
    const auth = {
      ...(this.slot.token && { token: this.slot.token }),
      ...(this.#pid && { pid: this.#pid, offset: this.#offset }),
    };
    this.#send(Object.keys(auth).length === 0 ? "40" : `40${JSON.stringify(auth)}`);
  }

  #connected(answer: string): void {
    const { pid } = JSON.parse(answer) as { pid?: string };
    const recovered = pid !== undefined && pid === this.#pid;
    this.#pid = pid;
    this.isIn = true;
    this.#firstAckId = this.#nextAckId;
    if (this.#wasIn) this.#observer.returned(this, recovered);
    this.#wasIn = true;
    this.#joining?.resolve();
    this.#joining = undefined;
    if (this.slot.dialect === "shim") for (const [id, post] of this.#pending) this.#sendPost(id, post);
    else this.#forgetPending();
  }

  /** Unknown whether stored: a stock client does not retry. */
  #forgetPending(): void {
    for (const { onAnswer } of this.#pending.values()) {
      this.#observer.refused(this, "NO_ANSWER");
      onAnswer?.();
    }
    this.#pending.clear();
  }

  #connectRefused(answer: string): void {
    const { message, data } = JSON.parse(answer) as { message: string; data?: { code?: string } };
    this.#refuse(data?.code ?? "CONNECT_ERROR", message);
    this.#line?.drop();
  }

  #event(bytes: Buffer, start: number, end: number): void {
    if (startsWith(bytes, start, CHAT_MESSAGE)) {
      const seq = numberAfter(bytes, SEQ_KEY, start, end);
      this.#observer.delivered(this, seq, findMark(this.#run, bytes, start, end));
    } else if (startsWith(bytes, start, WELCOME)) {
      const [, welcome] = JSON.parse(bytes.toString("utf8", start + 2, end)) as [string, { lastSeq: number }];
      this.#observer.entered(this, welcome.lastSeq);
    }
    if (this.#pid !== undefined) this.#noteOffset(bytes, end);
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
    if (answer.error) this.#observer.refused(this, answer.error.code);
    else this.#observer.acked(this, answer.seq, post);
    post.onAnswer?.();
  }

  // ---- the end of a line -------------------------------------------------------------------------------------

  #refuse(code: string, message: string): void {
    const joining = this.#joining;
    this.#joining = undefined;
    joining?.reject(new JoinError(code, message));
    if (!joining) this.#observer.failed(code);
  }

  #hangUp(reason: string): void {
    this.#line?.drop();
    this.#closed(reason);
  }

  #closed(reason: string): void {
    clearInterval(this.#heartbeat);
    if (this.#isOver) return;
    if (this.#joining) return this.#refuse(codeOfFailure(reason), reason);
    if (!this.isIn && !this.#wasIn) return;
    if (this.isIn) this.#observer.dropped(this, reason);
    this.isIn = false;
    this.#return();
  }

  /** Comes back as a client does, after a moment of its own. */
  #return(): void {
    const delayMs = RETURN_MS_MIN + Math.random() * (RETURN_MS_MAX - RETURN_MS_MIN);
    this.#returning = setTimeout(() => {
      this.join().catch((error: JoinError) => {
        this.#observer.failed(`could not come back: ${error.code}`);
        if (!this.#isOver) this.#return();
      });
    }, delayMs);
  }
}

function startsWith(bytes: Buffer, start: number, head: Buffer): boolean {
  return bytes.compare(head, 0, head.length, start, start + head.length) === 0;
}

/** NaN where there is none. */
function numberAfter(bytes: Buffer, key: string, start: number, end: number): number {
  const at = bytes.indexOf(key, start, "latin1");
  if (at === -1 || at >= end) return NaN;
  return Number.parseInt(bytes.toString("latin1", at + key.length, Math.min(end, at + key.length + 16)), 10);
}

/** `HTTP/1.1 429 …` → `429`; `connect ECONNREFUSED …` → `ECONNREFUSED` */
export function codeOfFailure(reason: string): string {
  return /HTTP\/1\.1 (\d{3})/.exec(reason)?.[1] ?? /\b(E[A-Z]{3,})\b/.exec(reason)?.[1] ?? "CLOSED";
}
