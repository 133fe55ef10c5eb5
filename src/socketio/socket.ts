// One session in one namespace, as the application sees it. What it holds in `data` and the channels it
// joined survive sleep; nothing else that an application hangs on this object does.
import { CLOSINGS } from "../protocol/closings.ts";
import { encodeDisconnect, encodeEvent } from "../protocol/socket-io.ts";
import { BroadcastOperator } from "./broadcast.ts";
import type { EventArgs, EventName, EventsMap } from "./events.ts";
import type { Hub } from "./hub.ts";
import type { Outbox } from "./outbox.ts";
import type { Handshake, Session, SocketRecord } from "./session.ts";

/** What a socket asks of its server. */
export interface SocketHost {
  readonly outbox: Outbox;
  closeSession(session: Session, closing: typeof CLOSINGS.forcedByServer): void;
  removeSocket(socket: Socket, reason: "server namespace disconnect"): void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the default of an untyped application, as in Socket.IO
export class Socket<Outgoing extends EventsMap = EventsMap, Data = any> {
  readonly id: string;
  readonly session: Session;
  readonly channels: Set<string>;
  connected = true;
  readonly #hub: Hub;
  readonly #host: SocketHost;
  #data: Data;

  constructor(record: SocketRecord, session: Session, hub: Hub, host: SocketHost) {
    this.id = record.id;
    this.session = session;
    this.channels = new Set(record.channels);
    this.#data = record.data as Data;
    this.#hub = hub;
    this.#host = host;
  }

  get nsp(): string {
    return this.#hub.nsp;
  }

  get handshake(): Handshake {
    return this.session.handshake;
  }

  /** Plain data (structured clone) that stays with the socket through sleep. Reading it counts as changing it. */
  get data(): Data {
    this.#host.outbox.save(this.session);
    return this.#data;
  }

  set data(data: Data) {
    this.#data = data;
    this.#host.outbox.save(this.session);
  }

  /** The same data for a look only: what is changed through it is not kept. */
  peek(): Readonly<Data> {
    return this.#data;
  }

  /** The channels that reach this socket: its own id, and those it joined. */
  get rooms(): ReadonlySet<string> {
    return new Set([this.id, ...this.channels]);
  }

  join(channel: string | readonly string[]): void {
    for (const name of typeof channel === "string" ? [channel] : channel) this.#hub.join(this, name);
  }

  leave(channel: string): void {
    this.#hub.leave(this, channel);
  }

  emit<Event extends EventName<Outgoing>>(event: Event, ...args: EventArgs<Outgoing, Event>): true {
    if (this.connected) this.#host.outbox.send([this.session], encodeEvent(this.nsp, event, args));
    return true;
  }

  /** Everyone else in the namespace. */
  get broadcast(): BroadcastOperator<Outgoing> {
    return new BroadcastOperator<Outgoing>(this.#hub, { except: [this.id] });
  }

  /** Everyone else in the channel. */
  to(channel: string | readonly string[]): BroadcastOperator<Outgoing> {
    return this.broadcast.to(channel);
  }

  /** @param close ends the whole session rather than this namespace only */
  disconnect(close = false): void {
    if (!this.connected) return;
    if (close) return this.#host.closeSession(this.session, CLOSINGS.forcedByServer);
    this.#host.outbox.send([this.session], encodeDisconnect(this.nsp));
    this.#host.removeSocket(this, "server namespace disconnect");
  }

  toRecord(): SocketRecord {
    return { nsp: this.nsp, id: this.id, data: this.#data, channels: [...this.channels] };
  }
}
