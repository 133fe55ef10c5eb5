// Members that are client libraries: socket.io-client as applications use it, and this project's own client on top of it. They
// take fifty times the memory and time of a light member, and prove that those did not make it easy for the server.
import { io, type Socket } from "socket.io-client";

import { connectRoom } from "../../client/core/client.ts";
import { findMark } from "./mark.ts";
import {
  JoinError,
  pathOf,
  type Member,
  type Observer,
  type Post,
  type ClientSlot,
  type Where,
} from "./client-slot.ts";

interface Heard {
  readonly seq: number;
  readonly content: string;
}

type Answer = { readonly ok: true; readonly seq: number } | { readonly ok?: never; readonly error: { code: string } };

/** The stock client, whose reconnecting and recovering are its own. */
export class StockMember implements Member {
  readonly slot: ClientSlot;
  readonly #socket: Socket;
  readonly #run: string;
  readonly #observer: Observer;
  #unanswered = 0;
  /** Over the line that there is now, and not answered. */
  readonly #open = new Set<Post>();
  #wasIn = false;

  constructor(where: Where, slot: ClientSlot, run: string, observer: Observer) {
    this.slot = slot;
    this.#run = run;
    this.#observer = observer;
    const [path, query] = pathOf(where, slot).split("?");
    this.#socket = io(where.origin, {
      path: path!,
      ...(query && { query: Object.fromEntries(new URLSearchParams(query)) }),
      transports: [slot.transport],
      forceNew: true,
      autoConnect: false,
      ...(slot.token && { auth: { token: slot.token } }),
      ...(slot.localAddress && { localAddress: slot.localAddress }),
    });
    this.#listen();
  }

  get isIn(): boolean {
    return this.#socket.connected;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get ignored(): number {
    return this.#open.size;
  }

  join(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once("connect", resolve);
      this.#socket.once("connect_error", (error: Error & { data?: { code?: string } }) => {
        this.#socket.off("connect", resolve);
        this.#socket.disconnect();
        reject(new JoinError(error.data?.code ?? "CONNECT_ERROR", error.message));
      });
      this.#observer.requested();
      this.#socket.connect();
    });
  }

  post(post: Post): boolean {
    if (!this.#socket.connected) return false;
    this.#unanswered++;
    this.#open.add(post);
    this.#socket.emit("chat-message", { content: post.content }, (answer: Answer) => this.#answered(answer, post));
    return true;
  }

  leave(): void {
    this.#socket.off();
    this.#socket.disconnect();
  }

  #listen(): void {
    const observer = this.#observer;
    this.#socket.on("welcome", ({ lastSeq }: { lastSeq: number }) => observer.entered(this, lastSeq));
    this.#socket.on("chat-message", (message: Heard) => hear(this, message, this.#run, observer));
    this.#socket.on("disconnect", (reason: string) => {
      this.#open.clear();
      observer.dropped(this, reason);
    });
    this.#socket.on("connect", () => {
      if (this.#wasIn) observer.returned(this, this.#socket.recovered);
      this.#wasIn = true;
      if (this.slot.transport === "polling") return;
      this.#socket.io.engine.on("packetCreate", ({ type }: { type: string }) => {
        if (type === "pong") observer.beat();
        else observer.sent(1);
      });
    });
    // The one CONNECT, which went out before the client could listen.
    this.#socket.io.on("open", () => observer.sent(this.slot.transport === "websocket" ? 1 : 0));
  }

  #answered(answer: Answer, post: Post): void {
    this.#unanswered--;
    this.#open.delete(post);
    if (answer.ok) this.#observer.acked(this, answer.seq, post);
    else this.#observer.refused(this, answer.error.code);
    post.onAnswer?.();
  }
}

/** This project's client: it queues, repeats, and fetches missed messages. */
export class ShimMember implements Member {
  readonly slot: ClientSlot;
  readonly #where: Where;
  readonly #run: string;
  readonly #observer: Observer;
  #room: ReturnType<typeof connectRoom> | undefined;
  #unanswered = 0;
  /** Over the line that there is now, and not answered. */
  readonly #open = new Set<Post>();
  #wasIn = false;

  constructor(where: Where, slot: ClientSlot, run: string, observer: Observer) {
    this.#where = where;
    this.slot = slot;
    this.#run = run;
    this.#observer = observer;
  }

  get isIn(): boolean {
    return this.#room?.connection.state === "connected";
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  get ignored(): number {
    return this.#open.size;
  }

  join(): Promise<void> {
    const { room, token = "" } = this.slot;
    this.#observer.requested();
    const joined = connectRoom(this.#where.origin, room, { token, storage: null });
    this.#room = joined;
    joined.on("chat-message", (message) => hear(this, message, this.#run, this.#observer));
    // A message that the room postponed waits here, and all later ones behind it.
    joined.on("message-state", (state) => state.state === "pending" && state.error && this.#open.clear());
    return new Promise((resolve, reject) => {
      joined.on("welcome", ({ lastSeq }) => this.#welcomed(lastSeq, resolve));
      joined.on("connection", (connection) => {
        if (connection.state === "stopped") reject(new JoinError(connection.code, connection.message));
        if (connection.state === "waiting") this.#lost(connection.message);
      });
    });
  }

  #lost(reason: string): void {
    this.#open.clear();
    if (this.#wasIn) this.#observer.dropped(this, reason);
  }

  /** Later welcomes change nothing: missed messages are replayed. */
  #welcomed(lastSeq: number, resolve: () => void): void {
    if (this.#wasIn) return this.#observer.returned(this, true);
    this.#wasIn = true;
    // CONNECT and the first heartbeat.
    this.#observer.sent(1);
    this.#observer.entered(this, lastSeq);
    resolve();
  }

  post(post: Post): boolean {
    if (!this.#room) return false;
    this.#unanswered++;
    if (this.isIn) this.#open.add(post);
    this.#observer.sent(1);
    this.#room
      .send(post.content)
      .then(
        ({ seq }) => this.#observer.acked(this, seq, post),
        ({ code }: { code: string }) => this.#observer.refused(this, code),
      )
      .finally(() => {
        this.#unanswered--;
        this.#open.delete(post);
        post.onAnswer?.();
      });
    return true;
  }

  leave(): void {
    this.#room?.close();
  }
}

function hear(member: Member, { seq, content }: Heard, run: string, observer: Observer): void {
  const bytes = Buffer.from(content, "latin1");
  observer.delivered(member, seq, findMark(run, bytes, 0, bytes.length));
}
