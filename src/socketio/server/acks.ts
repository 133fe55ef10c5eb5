// Acks, both ways: those that answer a client, and those that the server waits for. A short wait is a promise and holds the object
// awake; a long one is a continuation, plain data in the session's record, that is answered after any number of sleeps.
import { encodeAck } from "../wire/socket-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Outbox } from "../engine/outbox.ts";
import type { AskRecord } from "./records.ts";
import type { Socket } from "./socket.ts";

/** A promise waits this long at most, because it keeps the object awake; for longer there is `ask`. */
export const ACK_AWAIT_MS_MAX = 10_000;

/** @throws RangeError when a promise is not to wait that long */
export function checkAwaitMs(ms: number): void {
  if (ms > 0 && ms <= ACK_AWAIT_MS_MAX) return;
  throw new RangeError(`an ack is awaited for 1 to ${ACK_AWAIT_MS_MAX} ms, not ${ms}; use ask() for longer`);
}

/** An ask waits this long at most. */
export const ASK_MS_MAX = 365 * 24 * 3_600_000;

/**
 * How an ask ends, once: the client answered, the time was over, or the socket went first. `disconnected` comes in
 * the turn of the going, between `onDisconnecting` and `onDisconnect`: nothing can be sent to the socket any more, but
 * `socket.rooms` still names its channels, and what is noted in `socket.data` comes back should it recover.
 */
export type AskAnswer =
  | { readonly kind: "ack"; readonly args: readonly unknown[] }
  | { readonly kind: "timeout" }
  | { readonly kind: "disconnected" };

interface Awaited {
  readonly dueMs: number;
  resolve(args: readonly unknown[]): void;
  reject(error: Error): void;
}

export class Acks {
  /** By socket, then by ack id. */
  readonly #awaited = new Map<Socket, Map<number, Awaited>>();
  readonly #askers = new Set<Socket>();
  readonly #awaitDeadline: Deadline;
  readonly #askDeadline: Deadline;
  readonly #resume: (socket: Socket, ask: AskRecord, answer: AskAnswer) => void;

  /** @param resume goes on with a continuation */
  constructor(deadlines: Deadlines, resume: (socket: Socket, ask: AskRecord, answer: AskAnswer) => void) {
    this.#awaitDeadline = deadlines.add("ack", (atMs) => this.#expireAwaited(atMs), { keepsAwake: true });
    this.#askDeadline = deadlines.add("ask", (atMs) => this.#expireAsks(atMs));
    this.#resume = resume;
  }

  /** Waits for an ack. Rejects when the time is over or the socket goes. */
  wait(socket: Socket, id: number, dueMs: number): Promise<readonly unknown[]> {
    this.#awaitDeadline.pull(dueMs);
    return new Promise((resolve, reject) => {
      const awaited = this.#awaited.get(socket) ?? new Map<number, Awaited>();
      this.#awaited.set(socket, awaited.set(id, { dueMs, resolve, reject }));
    });
  }

  /** The socket has continuations: new ones, or ones that slept with it. */
  watch(socket: Socket): void {
    this.#askers.add(socket);
    for (const { dueMs } of socket.asks) this.#askDeadline.pull(dueMs);
  }

  /** An ack packet came. @returns whether it was waited for */
  receive(socket: Socket, id: number, args: readonly unknown[]): boolean {
    const awaited = this.#awaited.get(socket)?.get(id);
    if (awaited) {
      this.#stopAwaiting(socket, id);
      awaited.resolve(args);
      return true;
    }
    const ask = socket.asks.find((candidate) => candidate.id === id);
    if (ask) this.#end(socket, ask, { kind: "ack", args });
    return ask !== undefined;
  }

  /** The socket is gone: promises reject, and questions end in the order of asking. */
  abandon(socket: Socket): void {
    for (const [id, awaited] of this.#awaited.get(socket) ?? []) {
      this.#stopAwaiting(socket, id);
      awaited.reject(new Error("socket has been disconnected"));
    }
    for (const ask of socket.asks) this.#end(socket, ask, { kind: "disconnected" });
  }

  /** Goes on with the answer. The question is removed first, so that it ends once whatever happens next. */
  #end(socket: Socket, ask: AskRecord, answer: AskAnswer): void {
    socket.setAsks(socket.asks.filter((other) => other !== ask));
    if (socket.asks.length === 0) this.#askers.delete(socket);
    if (this.#askers.size === 0) this.#askDeadline.clear();
    this.#resume(socket, ask, answer);
  }

  #stopAwaiting(socket: Socket, id: number): void {
    const awaited = this.#awaited.get(socket);
    awaited?.delete(id);
    if (awaited?.size === 0) this.#awaited.delete(socket);
    if (this.#awaited.size === 0) this.#awaitDeadline.clear();
  }

  #expireAwaited(nowMs: number): void {
    for (const [socket, waits] of this.#awaited) {
      for (const [id, awaited] of waits) {
        if (awaited.dueMs > nowMs) {
          this.#awaitDeadline.pull(awaited.dueMs);
          continue;
        }
        this.#stopAwaiting(socket, id);
        awaited.reject(new Error("operation has timed out"));
      }
    }
  }

  #expireAsks(nowMs: number): void {
    for (const socket of this.#askers) {
      for (const ask of socket.asks) {
        // A continuation that ran just now may have ended this one.
        if (!socket.asks.includes(ask)) continue;
        if (ask.dueMs > nowMs) this.#askDeadline.pull(ask.dueMs);
        else this.#end(socket, ask, { kind: "timeout" });
      }
    }
  }
}

/** The callback that answers an event of a client; it answers once. */
export function answerTo(socket: Socket, id: number, outbox: Outbox): (...args: unknown[]) => void {
  let answered = false;
  return (...args) => {
    if (answered || !socket.connected) return;
    answered = true;
    outbox.send([socket.session], encodeAck(socket.nsp, id, args));
  };
}
