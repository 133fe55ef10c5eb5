// The sockets of one namespace and the channels they are in: who hears what. In memory only; after
// sleep it is built again from the sessions' records.
import { encodeEvent } from "../protocol/socket-io.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { Socket } from "./socket.ts";

/** A selection of sockets; without `channels` it is everyone in the namespace. */
export interface Audience {
  readonly channels?: readonly string[];
  readonly except?: readonly string[];
}

export class Hub {
  readonly nsp: string;
  readonly sockets = new Map<string, Socket>();
  readonly #channels = new Map<string, Set<Socket>>();
  readonly #outbox: Outbox;
  /** The sessions of all sockets. Replaced, never changed: effects hold on to it. */
  #everyone: readonly Session[] | undefined;

  constructor(nsp: string, outbox: Outbox) {
    this.nsp = nsp;
    this.#outbox = outbox;
  }

  add(socket: Socket): void {
    this.sockets.set(socket.id, socket);
    this.#everyone = undefined;
    for (const channel of socket.channels) this.#enter(socket, channel);
  }

  remove(socket: Socket): void {
    this.sockets.delete(socket.id);
    this.#everyone = undefined;
    for (const channel of socket.channels) this.#exit(socket, channel);
  }

  join(socket: Socket, channel: string): void {
    socket.channels.add(channel);
    this.#enter(socket, channel);
    this.#outbox.save(socket.session);
  }

  leave(socket: Socket, channel: string): void {
    if (!socket.channels.delete(channel)) return;
    this.#exit(socket, channel);
    this.#outbox.save(socket.session);
  }

  #enter(socket: Socket, channel: string): void {
    const members = this.#channels.get(channel);
    if (members) members.add(socket);
    else this.#channels.set(channel, new Set([socket]));
  }

  #exit(socket: Socket, channel: string): void {
    const members = this.#channels.get(channel);
    members?.delete(socket);
    if (members?.size === 0) this.#channels.delete(channel);
  }

  emit(audience: Audience, event: string, args: readonly unknown[]): void {
    this.emitAll(audience, event, [args]);
  }

  /** One event several times over, as one effect: each recipient gets all of it in one go. */
  emitAll(audience: Audience, event: string, argLists: ReadonlyArray<readonly unknown[]>): void {
    const sessions = this.#sessionsOf(audience);
    if (sessions.length === 0) return;
    const frames = argLists.flatMap((args) => encodeEvent(this.nsp, event, args));
    this.#outbox.send(sessions, frames);
  }

  #sessionsOf({ channels, except }: Audience): readonly Session[] {
    if (!channels && !except) return (this.#everyone ??= [...this.sockets.values()].map(({ session }) => session));
    const selected = channels ? this.#socketsIn(channels) : new Set(this.sockets.values());
    if (except) for (const socket of this.#socketsIn(except)) selected.delete(socket);
    return [...selected].map(({ session }) => session);
  }

  #socketsIn(channels: readonly string[]): Set<Socket> {
    const found = new Set<Socket>();
    for (const channel of channels) {
      const own = this.sockets.get(channel);
      if (own) found.add(own);
      for (const socket of this.#channels.get(channel) ?? []) found.add(socket);
    }
    return found;
  }
}
