// The state of a socket that survives the sleep of its object: its data, channels, questions and token, kept in the session's record and,
// where its namespace recovers, in the recovery log. Extended by socket.ts.
import type { Outbox } from "../engine/outbox.ts";
import type { Handshake } from "../engine/session.ts";
import { ChannelHistory } from "../recovery/channel-history.ts";
import type { Recovery } from "../recovery/recovery.ts";
import { fingerprint } from "./fingerprint.ts";
import type { AskRecord, SocketRecord, TokenRecord } from "./records.ts";
import { NOTHING, type SocketSession } from "./socket-session.ts";

/** One for all sockets that are in no channel. */
const NOWHERE: ReadonlySet<string> = new Set();

/** The namespace of a socket, as far as its state needs it. */
interface Home {
  readonly nsp: string;
  readonly recovery: Recovery | undefined;
}

export class SocketState<Data> {
  readonly id: string;
  readonly session: SocketSession;
  readonly pid: string | undefined;
  /** Whether this connection goes on where an earlier one broke off, with nothing missing. */
  readonly recovered: boolean;
  readonly #home: Home;
  readonly #outbox: Outbox;
  readonly #rule: number | undefined;
  #channels: Set<string> | undefined;
  /** The state that the log remembers, as text; `undefined` where it cannot be compared. */
  #remembered: string | undefined;
  #channelHistory: ChannelHistory | undefined;
  #asks: readonly AskRecord[];
  #data: Data;
  #token: TokenRecord | undefined;

  constructor(record: SocketRecord, session: SocketSession, home: Home, outbox: Outbox) {
    this.id = record.id;
    this.session = session;
    if (record.channels.length > 0) this.#channels = new Set(record.channels);
    this.pid = record.pid;
    this.recovered = record.recovered ?? false;
    this.#rule = record.rule;
    this.#asks = record.asks ?? NOTHING;
    this.#data = record.data as Data;
    this.#token = record.token;
    this.#home = home;
    this.#outbox = outbox;
    // A socket that slept was remembered as it was: its record and its memory are written together.
    if (record.pid !== undefined && home.recovery?.log.remember) this.#remembered = this.#memory();
  }

  /** As of now: the set may be replaced later. */
  get channels(): ReadonlySet<string> {
    return this.#channels ?? NOWHERE;
  }

  get nsp(): string {
    return this.#home.nsp;
  }

  get handshake(): Handshake {
    return this.session.handshake;
  }

  /** The user whom its token names; `undefined` where anybody may come in. */
  get user(): string | undefined {
    return this.#token?.user;
  }

  /** The token that it is in with, as far as it is kept. */
  get token(): TokenRecord | undefined {
    return this.#token;
  }

  /** For the server, which has verified it. */
  setToken(token: TokenRecord): void {
    this.#token = token;
    this.#outbox.save(this.session);
  }

  /** Plain data (structured clone) that stays with the socket through sleep. Reading it counts as changing it. */
  get data(): Data {
    this.#outbox.save(this.session);
    return this.#data;
  }

  set data(data: Data) {
    this.#data = data;
    this.#outbox.save(this.session);
  }

  /** The same data for reading only: changes through it are not kept. */
  peek(): Readonly<Data> {
    return this.#data;
  }

  /** For the hub, which knows who is in a channel. */
  enter(channel: string): void {
    (this.#channels ??= new Set()).add(channel);
  }

  /** For the hub. */
  exit(channel: string): void {
    this.#channels?.delete(channel);
  }

  /** For the server: it is gone, and in no channel any more. */
  exitAll(): void {
    this.#channels = undefined;
  }

  /**
   * For the hub: when it was in which channel, where a log remembers that. Only there, and read when first needed: the
   * session's record has no room for it.
   */
  get channelHistory(): ChannelHistory | undefined {
    const log = this.#home.recovery?.log;
    if (this.pid === undefined || !log?.remember) return undefined;
    return (this.#channelHistory ??= new ChannelHistory([...this.channels], log.recall?.(this.id)?.history));
  }

  /** Keeps the state that a recovering socket gets back, where the namespace's log remembers sockets. */
  remember(departure: { readonly goneAtMs?: number; readonly saidGoodbye?: boolean } = {}): void {
    const { channelHistory } = this;
    if (!channelHistory) return;
    this.#remembered = this.#memory();
    const memory = { channels: [...this.channels], history: channelHistory.toRecord(), data: this.#data, ...departure };
    this.#home.recovery?.log.remember?.(this.id, memory);
  }

  /** The same, but only where something changed since: the object may die without noticing. */
  rememberChange(): void {
    if (this.pid === undefined || !this.#home.recovery?.log.remember) return;
    const memory = this.#memory();
    if (memory === undefined || memory !== this.#remembered) this.remember();
  }

  /** The state to remember, as text to compare. */
  #memory(): string | undefined {
    // A history that was not read has not changed.
    return fingerprint([[...this.channels], this.#channelHistory?.toRecord(), this.#data]);
  }

  /** The questions that the client has not answered yet. */
  get asks(): readonly AskRecord[] {
    return this.#asks;
  }

  setAsks(asks: readonly AskRecord[]): void {
    this.#asks = asks;
    this.#outbox.save(this.session);
  }

  toRecord(): SocketRecord {
    return {
      nsp: this.nsp,
      id: this.id,
      data: this.#data,
      channels: [...this.channels],
      ...(this.recovered && { recovered: true }),
      ...(this.pid !== undefined && { pid: this.pid }),
      ...(this.#rule !== undefined && { rule: this.#rule }),
      ...(this.#asks.length > 0 && { asks: this.#asks }),
      ...(this.#token && { token: this.#token }),
    };
  }
}
