// Acks in both directions: answers to clients, and answers that the server waits for. A short wait is a promise, which keeps the object
// awake. A long one is an ask: plain data in the session's record, which survives sleep and names the continuation to call. Called by
// sockets.ts, socket.ts, broadcast.ts and server.ts.
import { encodeAck } from "../wire/socket-io.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { Effects } from "../engine/effects.ts";
import type { AskRecord } from "./records.ts";
import type { Socket } from "./socket.ts";

/** A promise waits this long at most, because it keeps the object awake; `ask` waits longer. */
export const ACK_AWAIT_MS_MAX = 10_000;

/** @throws RangeError when a promise may not wait that long */
export function checkAwaitMs(ms: number): void {
  if (ms > 0 && ms <= ACK_AWAIT_MS_MAX) return;
  throw new RangeError(`an ack is awaited for 1 to ${ACK_AWAIT_MS_MAX} ms, not ${ms}; use ask() for longer`);
}

/** Why a promise rejects whose event was sent: the time was over, or the socket ended. */
export class Unanswered extends Error {}

/** An ask waits this long at most. */
export const ASK_MS_MAX = 365 * 24 * 3_600_000;

/**
 * The end of an ask: the client answered, the time was over, or the socket ended first. `disconnected` comes in the turn of that end,
 * between `onDisconnecting` and `onDisconnect`: no question to the socket is sent any more, but `socket.rooms` still names its channels,
 * and a recovered socket gets back the changes of `socket.data`.
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

  /** @param resume calls the continuation of an ask */
  constructor(deadlines: Deadlines, resume: (socket: Socket, ask: AskRecord, answer: AskAnswer) => void) {
    this.#awaitDeadline = deadlines.add("ack", (atMs) => this.#expireAwaited(atMs), { keepsAwake: true });
    this.#askDeadline = deadlines.add("ask", (atMs) => this.#expireAsks(atMs));
    this.#resume = resume;
  }

  /** Waits for an ack. Rejects when the time is over or the socket ends. */
  wait(socket: Socket, id: number, dueMs: number): Promise<readonly unknown[]> {
    this.#awaitDeadline.pull(dueMs);
    return new Promise((resolve, reject) => {
      const awaited = this.#awaited.get(socket) ?? new Map<number, Awaited>();
      this.#awaited.set(socket, awaited.set(id, { dueMs, resolve, reject }));
    });
  }

  /** Called for a socket with asks: new ones, or ones that slept with it. */
  watch(socket: Socket): void {
    this.#askers.add(socket);
    for (const { dueMs } of socket.asks) this.#askDeadline.pull(dueMs);
  }

  /** Receives an ack packet. @returns whether anything waited for it */
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

  /** Called at the end of a socket: promises reject, and asks end in their order. */
  abandon(socket: Socket): void {
    for (const [id, awaited] of this.#awaited.get(socket) ?? []) {
      this.#stopAwaiting(socket, id);
      awaited.reject(new Unanswered("socket has been disconnected"));
    }
    for (const ask of socket.asks) this.#end(socket, ask, { kind: "disconnected" });
  }

  /** Removes an ask and calls its continuation, in this order, so that it ends once, also if the continuation throws. */
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
        awaited.reject(new Unanswered("operation has timed out"));
      }
    }
  }

  #expireAsks(nowMs: number): void {
    for (const socket of this.#askers) {
      for (const ask of socket.asks) {
        // The continuation of another ask may have ended this one.
        if (!socket.asks.includes(ask)) continue;
        if (ask.dueMs > nowMs) this.#askDeadline.pull(ask.dueMs);
        else this.#end(socket, ask, { kind: "timeout" });
      }
    }
  }
}

/** Makes the callback that answers an event of a client; it answers once. */
export function answerTo(socket: Socket, id: number, effects: Effects): (...args: unknown[]) => void {
  let answered = false;
  return (...args) => {
    if (answered || !socket.connected) return;
    answered = true;
    effects.send([socket.session], encodeAck(socket.nsp, id, args));
  };
}
