// Members that are client libraries: socket.io-client as applications use it, and Parley's own client. They take fifty times the memory and
// time of a light member, and prove that those did not make it easy for the server. Called by crowd.ts.
import { io, type Socket } from "socket.io-client";

import { connectRoom } from "../../client/core/client.ts";
import { markIn } from "./mark.ts";
import { JoinError, type Member, type Observer, type Post, type Seat } from "./member.ts";

type Answer = { readonly ok: true; readonly seq: number } | { readonly ok?: never; readonly error: { code: string } };

abstract class LibraryMember {
  abstract readonly isIn: boolean;
  readonly seat: Seat;
  unanswered = 0;
  protected readonly run: string;
  protected readonly observer: Observer;
  /** Posts over the connection that there is now, and not answered. */
  protected readonly open = new Set<Post>();
  protected wasIn = false;

  /** @param run its id in marks */
  constructor(seat: Seat, run: string, observer: Observer) {
    this.seat = seat;
    this.run = run;
    this.observer = observer;
  }

  get ignored(): number {
    return this.open.size;
  }

  protected posted(post: Post): void {
    this.unanswered++;
    if (this.isIn) this.open.add(post);
  }

  protected settled(post: Post): void {
    this.unanswered--;
    this.open.delete(post);
  }
}

/** The stock client, whose reconnecting and recovering are its own. */
export class StockMember extends LibraryMember implements Member {
  readonly #socket: Socket;

  constructor(seat: Seat, run: string, observer: Observer) {
    super(seat, run, observer);
    const { pathname, searchParams } = new URL(seat.path, seat.origin);
    this.#socket = io(seat.origin, {
      path: pathname,
      query: { ...Object.fromEntries(searchParams), recovery: "on" },
      transports: [seat.isPolling ? "polling" : "websocket"],
      forceNew: true,
      autoConnect: false,
      ...(seat.token && { auth: { token: seat.token } }),
    });
    this.#listen();
  }

  get isIn(): boolean {
    return this.#socket.connected;
  }

  join(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once("connect", resolve);
      this.#socket.once("connect_error", (error: Error & { data?: { code?: string } }) => {
        if (this.wasIn) return;
        this.#socket.off("connect", resolve);
        this.#socket.disconnect();
        reject(new JoinError(error.data?.code ?? "CONNECT_ERROR", error.message));
      });
      this.#socket.connect();
    });
  }

  post(post: Post): boolean {
    if (!this.#socket.connected) return false;
    this.posted(post);
    this.#socket.emit("chat-message", { content: post.content }, (answer: Answer) => {
      this.settled(post);
      if (answer.ok) this.observer.acked(this, answer.seq, post);
      else this.observer.refused(answer.error.code);
    });
    return true;
  }

  leave(): void {
    this.#socket.off();
    this.#socket.disconnect();
  }

  #listen(): void {
    const { observer, run } = this;
    this.#socket.on("welcome", ({ lastSeq }: { lastSeq: number }) => observer.entered(this, lastSeq));
    this.#socket.on("chat-message", ({ seq, content }: { seq: number; content: string }) =>
      observer.delivered(this, seq, markIn(run, content)),
    );
    this.#socket.on("disconnect", (reason: string) => {
      this.open.clear();
      observer.dropped(reason);
    });
    this.#socket.on("connect", () => {
      if (this.wasIn) observer.returned(this.#socket.recovered);
      this.wasIn = true;
    });
  }
}

/** Parley's own client: it queues, repeats, and fetches missed messages. */
export class OwnMember extends LibraryMember implements Member {
  #room: ReturnType<typeof connectRoom> | undefined;
  #isAway = true;
  #isOver = false;

  get isIn(): boolean {
    return this.#room?.connection.state === "connected";
  }

  join(): Promise<void> {
    const { origin, room, token = "" } = this.seat;
    const joined = connectRoom(origin, room, { token, storage: null });
    this.#room = joined;
    joined.on("chat-message", ({ seq, content }) => this.observer.delivered(this, seq, markIn(this.run, content)));
    // A message that the room postponed waits here, and all later ones behind it.
    joined.on("message-state", (state) => state.state === "pending" && state.error && this.open.clear());
    return new Promise((resolve, reject) => {
      joined.on("welcome", ({ lastSeq }) => this.#welcomed(lastSeq, resolve));
      joined.on("connection", (connection) => {
        if (connection.state === "stopped") {
          if (this.wasIn && !this.#isOver) this.observer.failed(`stopped: ${connection.code}`);
          reject(new JoinError(connection.code, connection.message));
        }
        if (connection.state === "waiting") this.#lost(connection.message);
      });
    });
  }

  #lost(reason: string): void {
    this.open.clear();
    // The connection reports the same loss at each try.
    if (!this.#isAway) this.observer.dropped(reason);
    this.#isAway = true;
  }

  /** Later welcomes change nothing: missed messages are replayed. */
  #welcomed(lastSeq: number, resolve: () => void): void {
    this.#isAway = false;
    if (this.wasIn) return this.observer.returned(this.#room!.socket.recovered);
    this.wasIn = true;
    this.observer.entered(this, lastSeq);
    resolve();
  }

  post(post: Post): boolean {
    if (!this.#room) return false;
    this.posted(post);
    this.#room
      .send(post.content)
      .then(
        ({ seq }) => this.observer.acked(this, seq, post),
        ({ code }: { code: string }) => this.observer.refused(code),
      )
      .finally(() => this.settled(post));
    return true;
  }

  leave(): void {
    this.#isOver = true;
    this.#room?.close();
  }
}
