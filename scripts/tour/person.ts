// A person in a room, with the stock socket.io-client and nothing else. The tour's chapters use it.
import { io, type Socket } from "socket.io-client";

import type { ClientToServerEvents, ServerToClientEvents } from "../../src/protocol/chat-events.ts";

/** How long the tour waits for anything. */
const PATIENCE_MS = 15_000;

type ClientEvent = keyof ClientToServerEvents;
type ServerEvent = keyof ServerToClientEvents;
type PayloadOf<Event extends ClientEvent> = Parameters<ClientToServerEvents[Event]>[0];
type AnswerTo<Event extends ClientEvent> = Parameters<NonNullable<Parameters<ClientToServerEvents[Event]>[1]>>[0];
type Told<Event extends ServerEvent> = Parameters<ServerToClientEvents[Event]>[0];

export interface PersonOptions {
  readonly url: string;
  readonly room: string;
  readonly user: string;
  readonly token: string;
}

export class Person {
  readonly user: string;
  readonly socket: Socket;
  /** Received events that no step has read yet, in order. */
  readonly #heard: Array<{ readonly event: string; readonly payload: unknown }> = [];
  #arrived = (): void => {};

  constructor({ url, room, user, token }: PersonOptions) {
    this.user = user;
    this.socket = io(url, { path: `/rooms/${room}/socket.io`, auth: { token }, forceNew: true });
    this.socket.onAny((event: string, payload: unknown) => this.#note(event, payload));
    this.socket.on("connect_error", (error) => this.#note("connect_error", { ...error, message: error.message }));
    this.socket.on("disconnect", (reason) => this.#note("disconnect", reason));
  }

  #note(event: string, payload: unknown): void {
    this.#heard.push({ event, payload });
    this.#arrived();
  }

  /** Sends an event, and waits for its ack. */
  async ask<Event extends ClientEvent>(event: Event, payload: PayloadOf<Event>): Promise<AnswerTo<Event>> {
    return (await this.socket.timeout(PATIENCE_MS).emitWithAck(event, payload)) as AnswerTo<Event>;
  }

  /** Waits for the next such event; drops the events before it. */
  hears<Event extends ServerEvent>(event: Event, passes: (told: Told<Event>) => boolean = () => true) {
    return this.#next(event, passes as (payload: unknown) => boolean) as Promise<Told<Event>>;
  }

  /** Why the room refused CONNECT. */
  isRefused(): Promise<unknown> {
    return this.#next("connect_error", () => true);
  }

  /** The reason for the end of the connection, as the stock client names it. */
  isDisconnected(): Promise<unknown> {
    return this.#next("disconnect", () => true);
  }

  async #next(event: string, passes: (payload: unknown) => boolean): Promise<unknown> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const at = this.#heard.findIndex((heard) => heard.event === event && passes(heard.payload));
      if (at !== -1) return this.#heard.splice(0, at + 1).at(-1)!.payload;
      await this.#change(event, deadlineMs - Date.now());
    }
  }

  #change(event: string, withinMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = new Error(`${this.user} waited in vain for ${event}`);
      const timer = setTimeout(() => reject(late), Math.max(0, withinMs));
      this.#arrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  leave(): void {
    this.socket.disconnect();
  }
}
