// The sockets of one namespace and their channels: selects the recipients of broadcasts and encodes once for all of them. In memory only;
// after sleep it is built again from the sessions' records. Called by socket.ts, broadcast.ts and sockets.ts.
import { checkEvent, encodeEvent } from "../wire/socket-io.ts";
import type { Frame } from "../wire/engine-io.ts";
import type { Effects } from "../engine/effects.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { Session } from "../engine/session.ts";
import { INTERVALS, type Namespace } from "./namespace.ts";
import type { Socket } from "./socket.ts";

/** A selection of sockets; without `channels` all sockets in the namespace. */
export interface Audience {
  readonly channels?: readonly string[];
  readonly except?: readonly string[];
  readonly isVolatile?: boolean;
}

/** The hooks of a namespace that its hub calls. */
type HubHooks = Pick<
  Namespace,
  typeof INTERVALS | "onChannelCreated" | "onChannelDeleted" | "onChannelJoined" | "onChannelLeft" | "onAnyOutgoing"
>;

export class Hub {
  readonly nsp: string;
  readonly sockets: Map<string, Socket> = new Map();
  readonly #channels = new Map<string, Set<Socket>>();
  readonly #effects: Effects;
  readonly #now: () => number;
  readonly #hooks: HubHooks;
  readonly recovery: Recovery | undefined;
  /** Its namespace is no longer in service. Another one may write the recovery log by now. */
  isOver = false;
  /** The sessions of all sockets. Replaced and never changed, because effects refer to it. */
  #everyone: Recipients | undefined;

  constructor(
    nsp: string,
    { effects, now }: { readonly effects: Effects; readonly now: () => number },
    recovery: Recovery | undefined,
    hooks: HubHooks,
  ) {
    this.nsp = nsp;
    this.#effects = effects;
    this.#now = now;
    this.recovery = recovery;
    this.#hooks = hooks;
  }

  /** The channels that are not empty. */
  get channels(): ReadonlyMap<string, ReadonlySet<Socket>> {
    return this.#channels;
  }

  add(socket: Socket): void {
    this.#list(socket);
    for (const channel of socket.channels) this.#enter(socket, channel);
  }

  /** Takes back a socket that slept. It was in its channels before, so no hook is called. */
  restore(socket: Socket): void {
    this.#list(socket);
    for (const channel of socket.channels) this.#put(socket, channel);
  }

  #list(socket: Socket): void {
    this.sockets.set(socket.id, socket);
    if (this.sockets.size === 1) for (const interval of this.#hooks[INTERVALS]) interval.begin(this.#now());
    this.#everyone = undefined;
  }

  remove(socket: Socket): void {
    this.sockets.delete(socket.id);
    if (this.sockets.size === 0) for (const interval of this.#hooks[INTERVALS]) interval.end();
    this.#everyone = undefined;
    for (const channel of socket.channels) this.#exit(socket, channel);
  }

  join(socket: Socket, channel: string): void {
    if (!socket.connected || socket.channels.has(channel)) return;
    socket.channelHistory?.join(channel, this.#seq);
    socket.enter(channel);
    this.#enter(socket, channel);
    this.#effects.save(socket.session);
  }

  leave(socket: Socket, channel: string): void {
    if (!socket.channels.has(channel)) return;
    socket.channelHistory?.leave(channel, this.#seq);
    socket.exit(channel);
    this.#exit(socket, channel);
    this.#effects.save(socket.session);
  }

  /** The newest place in the recovery log of the namespace. */
  get #seq(): number {
    return this.recovery?.log.lastSeq ?? 0;
  }

  #enter(socket: Socket, channel: string): void {
    const isNew = !this.#channels.has(channel);
    this.#put(socket, channel);
    if (isNew) this.#hooks.onChannelCreated?.(channel);
    this.#hooks.onChannelJoined?.(channel, socket);
  }

  #put(socket: Socket, channel: string): void {
    const members = this.#channels.get(channel);
    if (members) members.add(socket);
    else this.#channels.set(channel, new Set([socket]));
  }

  #exit(socket: Socket, channel: string): void {
    const members = this.#channels.get(channel);
    members?.delete(socket);
    this.#hooks.onChannelLeft?.(channel, socket);
    if (members?.size !== 0) return;
    this.#channels.delete(channel);
    this.#hooks.onChannelDeleted?.(channel);
  }

  emit(audience: Audience, event: string, args: readonly unknown[]): void {
    this.emitAll(audience, event, [args]);
  }

  /**
   * Emits an event once per list of arguments, as one effect.
   * @param seqs their places in the recovery log, if the application stores its events itself
   */
  emitAll(
    audience: Audience,
    event: string,
    argLists: ReadonlyArray<readonly unknown[]>,
    seqs?: readonly number[],
  ): void {
    // Before it is stored, because an event with a reserved name must not be replayed either.
    for (const args of argLists) checkEvent(event, args);
    if (this.isOver) return;
    // Before it gets a place: events that the hook emits come first, in the log and on the wire.
    if (this.#hooks.onAnyOutgoing) {
      for (const socket of this.select(audience)) {
        for (const args of argLists) this.#hooks.onAnyOutgoing(socket, event, args);
      }
    }
    const offsets = this.#offsetsOf(audience, event, argLists, seqs);
    const { plain, recoverable } = this.#recipientsOf(audience);
    if (plain.length + recoverable.length === 0) return;
    const encode = (withOffset: boolean): Frame[] =>
      argLists.flatMap((args, at) => encodeEvent(this.nsp, event, withOffset ? [...args, offsets[at]] : args));
    // Encodes once per kind of client.
    if (plain.length > 0) this.#effects.send(plain, encode(false));
    if (recoverable.length > 0) this.#effects.send(recoverable, encode(true));
  }

  /** Stores events that may have to be replayed, even if no recipient is connected now. @returns their offsets */
  #offsetsOf(
    { channels, except, isVolatile }: Audience,
    event: string,
    argLists: ReadonlyArray<readonly unknown[]>,
    seqs: readonly number[] | undefined,
  ): string[] {
    const { recovery } = this;
    if (!recovery) return [];
    const { log } = recovery;
    return argLists.map((args, at) => {
      const broadcast = { event, args, ...(channels && { channels }), ...(except && { except }) };
      const kept = isVolatile ? undefined : log.append?.(broadcast);
      return recovery.offset(seqs?.[at] ?? kept ?? log.lastSeq);
    });
  }

  /** Calls the namespace's `onAnyOutgoing`, if it has one. */
  callOutgoing(socket: Socket, event: string, args: readonly unknown[]): void {
    this.#hooks.onAnyOutgoing?.(socket, event, args);
  }

  #recipientsOf(audience: Audience): Recipients {
    const { channels, except, isVolatile } = audience;
    if (!channels && !except && !isVolatile) return (this.#everyone ??= divide(this.sockets.values()));
    const selected = this.select(audience);
    return divide(isVolatile ? [...selected].filter(({ session }) => isReady(session)) : selected);
  }

  select({ channels, except }: Audience): Set<Socket> {
    const selected = channels ? this.#socketsIn(channels) : new Set(this.sockets.values());
    if (except) for (const socket of this.#socketsIn(except)) selected.delete(socket);
    return selected;
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

/** Clients that know recovery get an offset at the end of each event; others must not get one (REC-1). */
interface Recipients {
  readonly plain: readonly Session[];
  readonly recoverable: readonly Session[];
}

function divide(sockets: Iterable<Socket>): Recipients {
  const plain: Session[] = [];
  const recoverable: Session[] = [];
  for (const { pid, session } of sockets) (pid === undefined ? plain : recoverable).push(session);
  return { plain, recoverable };
}

/** Whether a session can receive at once: over long-polling only while a poll waits. */
export function isReady({ polling }: Session): boolean {
  return !polling || polling.waitingSinceMs !== undefined;
}
