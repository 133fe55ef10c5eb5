// The state of a socket that survives sleep: data, channels, asks and token. It stands in the session's record and, if the namespace has
// recovery, in the recovery log. Extended by socket.ts.
import type { Effects } from "../engine/effects.ts";
import type { Handshake } from "../engine/session.ts";
import type { ChannelHistory } from "../../storage/channel-history.ts";
import type { Recovery } from "../recovery/recovery.ts";
import type { AskRecord, SocketRecord, TokenRecord } from "./records.ts";
import { NOTHING, type SocketSession } from "./socket-session.ts";

/** One for all sockets that are in no channel. */
const NOWHERE: ReadonlySet<string> = new Set();

/** The parts of the namespace that the state of a socket needs. */
interface Home {
  readonly nsp: string;
  readonly recovery: Recovery | undefined;
}

export class SocketState<Data> {
  readonly id: string;
  readonly session: SocketSession;
  readonly pid: string | undefined;
  /** Whether the connection was recovered: nothing is missing since an earlier one broke off. */
  readonly recovered: boolean;
  /** Whether its client takes the events of a turn as one event `bundle` (BUN-1). */
  readonly bundles: boolean;
  readonly #home: Home;
  readonly #effects: Effects;
  readonly #rule: number | undefined;
  #channels: Set<string> | undefined;
  /** The fingerprint of the state in the log; `undefined` if there is none. */
  #remembered: string | undefined;
  #channelHistory: ChannelHistory | undefined;
  #asks: readonly AskRecord[];
  #data: Data;
  #token: TokenRecord | undefined;

  constructor(record: SocketRecord, session: SocketSession, home: Home, effects: Effects) {
    this.id = record.id;
    this.session = session;
    if (record.channels.length > 0) this.#channels = new Set(record.channels);
    this.pid = record.pid;
    this.recovered = record.recovered ?? false;
    this.bundles = record.bundles ?? false;
    this.#rule = record.rule;
    this.#asks = record.asks ?? NOTHING;
    this.#data = record.data as Data;
    this.#token = record.token;
    this.#home = home;
    this.#effects = effects;
    // The state in the log is that of the record, because both are written together.
    if (record.pid !== undefined && home.recovery?.log.remember) this.#remembered = this.#memory();
  }

  /** The set may be replaced later. */
  get channels(): ReadonlySet<string> {
    return this.#channels ?? NOWHERE;
  }

  get nsp(): string {
    return this.#home.nsp;
  }

  get handshake(): Handshake {
    return this.session.handshake;
  }

  /** The user of its token; `undefined` in namespaces with `authenticate = "anybody"`. */
  get user(): string | undefined {
    return this.#token?.user;
  }

  /** The stored part of its token. */
  get token(): TokenRecord | undefined {
    return this.#token;
  }

  /** Called by token-life.ts, which has verified the token. */
  setToken(token: TokenRecord): void {
    this.#token = token;
    this.#effects.save(this.session);
  }

  /** Plain data (structured clone) that survives sleep. A read counts as a change, because it gives out the object itself. */
  get data(): Data {
    this.#effects.save(this.session);
    return this.#data;
  }

  set data(data: Data) {
    this.#data = data;
    this.#effects.save(this.session);
  }

  /** The same data for reading only: changes through it are not saved. */
  peek(): Readonly<Data> {
    return this.#data;
  }

  /** Called by hub.ts, which knows the sockets of each channel. */
  enter(channel: string): void {
    (this.#channels ??= new Set()).add(channel);
  }

  /** Called by hub.ts. */
  exit(channel: string): void {
    this.#channels?.delete(channel);
  }

  /** Called by sockets.ts at its end. */
  exitAll(): void {
    this.#channels = undefined;
  }

  /** Its times in each channel, if the log stores them. Read when first needed, because the session's record has no room for them. */
  get channelHistory(): ChannelHistory | undefined {
    const { recovery } = this.#home;
    if (this.pid === undefined || !recovery?.log.remember) return undefined;
    return (this.#channelHistory ??= recovery.historyOf(this.id, [...this.channels]));
  }

  /** Stores the state that a recovered socket gets back, if the log of the namespace stores states. */
  remember(departure: { readonly goneAtMs?: number; readonly leftOnPurpose?: boolean } = {}): void {
    const { channelHistory } = this;
    if (!channelHistory) return;
    this.#remembered = this.#memory();
    const memory = { channels: [...this.channels], history: channelHistory.toRecord(), data: this.#data, ...departure };
    this.#home.recovery?.log.remember?.(this.id, memory);
  }

  /** Stores it if it has changed. Called after each turn that touched the session, because an object may die at any time. */
  rememberChange(): void {
    if (this.pid === undefined || !this.#home.recovery?.log.remember) return;
    const memory = this.#memory();
    if (memory === undefined || memory !== this.#remembered) this.remember();
  }

  /** @returns the fingerprint of the state to store */
  #memory(): string | undefined {
    // If the history was not read, it has not changed.
    return this.#home.recovery?.fingerprint([[...this.channels], this.#channelHistory?.toRecord(), this.#data]);
  }

  /** Asks that the client has not answered yet. */
  get asks(): readonly AskRecord[] {
    return this.#asks;
  }

  setAsks(asks: readonly AskRecord[]): void {
    this.#asks = asks;
    this.#effects.save(this.session);
  }

  toRecord(): SocketRecord {
    return {
      nsp: this.nsp,
      id: this.id,
      data: this.#data,
      channels: [...this.channels],
      ...(this.recovered && { recovered: true }),
      ...(this.pid !== undefined && { pid: this.pid }),
      ...(this.bundles && { bundles: true }),
      ...(this.#rule !== undefined && { rule: this.#rule }),
      ...(this.#asks.length > 0 && { asks: this.#asks }),
      ...(this.#token && { token: this.#token }),
    };
  }
}
