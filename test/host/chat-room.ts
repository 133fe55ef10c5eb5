// A chat room for tests: the chat core over a log in memory, with tokens that need no keys.
import { Chat } from "../../src/chat/chat.ts";
import type { ChatDependencies } from "../../src/chat/features.ts";
import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "../../src/chat/people/recently-left.ts";
import { SearchAllowance } from "../../src/chat/search/search-allowance.ts";
import type { Retention } from "../../src/chat/log/segments.ts";
import { decodeBatch, encodeBatch } from "../../src/chat/log/batch-format.ts";
import { emptied, withChange, type Change, type Kept } from "../../src/chat/log/change.ts";
import { UNNAMED_LIFE } from "../../src/socketio/recovery/lives.ts";
import { placeOf } from "../../src/chat/log/message-id.ts";
import type { ChangedMessage, MessageLog, Page, PageQuery } from "../../src/chat/log/message-log.ts";
import type { RoomState } from "../../src/storage/room-state.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import type { Meter } from "../../src/metrics/meter.ts";
import type { Answer, Message, Role } from "../../src/protocol/chat-events.ts";
import type { Authentication, Identity } from "../../src/protocol/identity.ts";
import { roomAllowed } from "../../src/protocol/room-name.ts";
import type { ServerPorts } from "../../src/socketio/server/server.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import type { ServerOptions } from "../../src/socketio/server/server.ts";
import type { AnyAnswer } from "./client.ts";
import { FakeShell, START_MS, type Client } from "./harness.ts";
import { MemoryIndex } from "./memory-index.ts";

export const ROOM = "plaza";
export const EPOCH = "e1";

export const SETTINGS: ChatSettings = {
  messageRate: { perSecond: 10, burst: 10 },
  maxContentLength: 1000,
  editWindowMs: 86_400_000,
  flushWindowMs: 50,
  durability: "strict",
  guestRatePerIp: 0,
  maxMembers: 5000,
  maxConnectionsPerUser: 0,
  recoveryWindowMs: 120_000,
};

/** For rooms in which the rate limit is not what the test is about. */
export const UNLIMITED = { perSecond: 10_000, burst: 10_000 };

/** A log that keeps exactly what its retention says. */
export class MemoryLog implements MessageLog {
  readonly epoch: string;
  life: string = UNNAMED_LIFE;
  readonly key = "a-key-that-nobody-guesses";
  readonly batches: Message[][] = [];
  /** All that was ever appended, as it was then. */
  readonly appended: Message[] = [];
  readonly changes = new Map<number, { readonly rev: number; readonly change: Change }>();
  retention: Retention = { messages: Infinity, ageMs: Infinity };
  /** While set, storing fails with it. */
  failure: Error | undefined;
  /** While set, reading fails with it. */
  unreadable: Error | undefined;
  /** Called when a batch was stored. */
  onAppend: ((batch: readonly Message[]) => void) | undefined;
  /** Called when places were reserved. */
  onReserve: ((seq: number) => void) | undefined;
  /** How often anything was written. */
  rowsWritten = 0;
  #reservedSeq = 0;
  #takenSeq = 0;

  constructor(epoch = EPOCH) {
    this.epoch = epoch;
  }

  /** All that is kept, as it stands now. */
  get messages(): Message[] {
    return this.batches.flat().map((message) => withChange(message, this.changes.get(message.seq)?.change));
  }

  /** What another object finds that opens this log. */
  reopen(): void {
    this.#takenSeq = Math.max(this.messages.at(-1)?.seq ?? 0, this.#reservedSeq);
  }

  get lastSeq(): number {
    return this.#takenSeq;
  }

  get firstSeq(): number {
    return this.batches.find((batch) => batch.length > 0)?.[0]!.seq ?? this.lastSeq + 1;
  }

  get lastId(): string | undefined {
    return this.messages.at(-1)?.id;
  }

  lifeAt(seq: number): string | undefined {
    if (seq > this.#takenSeq) return this.life;
    const message = this.messages.findLast((one) => one.seq <= seq);
    return message && placeOf(this.epoch, message.id)!.life;
  }

  append(batch: readonly Message[]): void {
    if (this.failure) throw this.failure;
    batch.forEach(({ seq }, index) => {
      if (seq !== this.lastSeq + 1 + index) throw new Error(`seq ${seq} does not follow on ${this.lastSeq}`);
    });
    const place = { room: batch[0]!.room, epoch: this.epoch, firstSeq: batch[0]!.seq, lastSeq: batch.at(-1)!.seq };
    this.batches.push(decodeBatch(encodeBatch(batch, this.life), place));
    this.appended.push(...structuredClone([...batch]));
    this.#takenSeq = batch.at(-1)!.seq;
    this.rowsWritten++;
    this.onAppend?.(batch);
  }

  reserve(seq: number): void {
    if (this.failure) throw this.failure;
    this.#reservedSeq = seq;
    this.rowsWritten++;
    this.onReserve?.(seq);
  }

  skip(seq: number): void {
    this.#takenSeq = seq;
  }

  has(seq: number): boolean {
    return this.#read().some((message) => message.seq === seq);
  }

  find(seq: number): Kept | undefined {
    const posted = this.#read() && this.batches.flat().find((message) => message.seq === seq);
    return posted && { posted, change: this.changes.get(seq)?.change };
  }

  keep(seq: number, rev: number, change: Change): void {
    if (this.failure) throw this.failure;
    this.changes.set(seq, structuredClone({ rev, change }));
    this.rowsWritten++;
    if (change.deletedBy === undefined) return;
    const erase = (message: Message): Message => (message.seq === seq ? emptied(message) : message);
    this.batches.splice(0, Infinity, ...this.batches.map((batch) => batch.map(erase)));
  }

  changedAfter(rev: number, limit: number): ChangedMessage[] {
    this.#read();
    return [...this.changes]
      .map(([seq, changed]) => ({ seq, rev: changed.rev }))
      .filter((changed) => changed.rev > rev)
      .sort((a, b) => a.rev - b.rev)
      .slice(0, limit);
  }

  #read(): Message[] {
    if (this.unreadable) throw this.unreadable;
    return this.messages;
  }

  page({ before, after, limit }: PageQuery): Page {
    if (after !== undefined) {
      const found = [...this.ascending(after)];
      return { messages: found.slice(0, limit), hasMore: found.length > limit };
    }
    const found = this.#read().filter(({ seq }) => before === undefined || seq < before);
    return { messages: found.slice(-limit), hasMore: found.length > limit };
  }

  *ascending(after: number): Iterable<Message> {
    if (this.unreadable) throw this.unreadable;
    for (const batch of this.batches) {
      if (batch.length === 0 || batch.at(-1)!.seq <= after) continue;
      for (const message of batch)
        if (message.seq > after) yield withChange(message, this.changes.get(message.seq)?.change);
    }
  }

  *newest(sinceMs: number): Iterable<Message> {
    for (const message of this.#read().reverse()) {
      if (message.timestamp < sinceMs) return;
      yield message;
    }
  }

  get trimDueMs(): number | undefined {
    const [oldest] = this.messages;
    return oldest && this.retention.ageMs < Infinity ? oldest.timestamp + this.retention.ageMs : undefined;
  }

  trim(nowMs: number): void {
    const { messages, ageMs } = this.retention;
    const all = this.messages;
    const kept = all.slice(-messages).filter(({ timestamp }) => nowMs < timestamp + ageMs);
    if (kept.length === all.length) return;
    if (this.failure) throw this.failure;
    this.batches.splice(0, Infinity, kept);
    if (kept.length === 0) this.reserve(Math.max(this.lastSeq, this.#reservedSeq));
  }
}

/** Values by name, kept as the platform keeps them: what was put in later changes no more. */
export class MemoryState implements RoomState {
  readonly #values = new Map<string, unknown>();
  /** While set, storing fails with it. */
  failure: Error | undefined;
  /** Values that are stored before it fails. */
  storedBeforeFailure = 0;
  /** While set, listing fails with it. */
  unreadable: Error | undefined;
  /** While set, reading a value fails with it. */
  damage: Error | undefined;
  /** Rows written. */
  writes = 0;

  get(key: string): unknown {
    if (this.damage) throw this.damage;
    return structuredClone(this.#values.get(key));
  }

  put(key: string, value: unknown): void {
    if (this.failure && this.storedBeforeFailure-- <= 0) throw this.failure;
    this.writes++;
    this.#values.set(key, structuredClone(value));
  }

  delete(key: string): void {
    this.writes++;
    this.#values.delete(key);
  }

  *list({ prefix, startAfter = "", limit }: Parameters<RoomState["list"]>[0]): Iterable<[string, unknown]> {
    if (this.unreadable) throw this.unreadable;
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(prefix) && key > startAfter);
    for (const key of keys.toSorted().slice(0, limit)) yield [key, this.get(key)];
  }
}

export type Person = Partial<Identity> & Pick<Identity, "user">;

export const identityOf = (person: string | Person): Identity => {
  const given = typeof person === "string" ? { user: person } : person;
  return { name: given.user, role: "member", ...given };
};

/** `exp` of a token that ends so many seconds after the tests began. */
export const expiresIn = (seconds: number): number => START_MS / 1000 + seconds;

/** What a room has besides its storage, if it has. */
type Outside = Partial<
  Pick<ChatDependencies, "files" | "deliver" | "reportToLobby" | "relay" | "durable" | "searchAllowance">
> & {
  readonly name?: string;
  readonly epoch?: string;
};

export class ChatRoom {
  readonly log: MemoryLog;
  readonly state = new MemoryState();
  readonly index = new MemoryIndex();
  readonly shell: FakeShell;
  /** The chat that is awake. */
  chat!: Chat;
  /** Waited for before each verdict on a token. */
  authenticating: Promise<void> | undefined;
  /** While set, no token can be verified, for so long at least. */
  keysUnavailableMs: number | undefined;
  readonly #tokens = new Map<string, Identity>();

  constructor(
    settings: Partial<ChatSettings> = {},
    options: Partial<ServerOptions> = {},
    { name = ROOM, epoch, ...outside }: Outside = {},
  ) {
    this.log = new MemoryLog(epoch);
    const tokens: ServerPorts["tokens"] = {
      room: name,
      opens: ({ rooms }: Identity) => roomAllowed(rooms, name),
      authenticate: (token) => this.#authenticate(token),
    };
    const create = (meter: Meter): Chat => {
      this.log.reopen();
      this.chat = new Chat({
        room: name,
        log: this.log,
        state: this.state,
        index: this.index,
        searchAllowance: new SearchAllowance(),
        settings: { ...SETTINGS, ...settings },
        meter,
        ...outside,
      });
      return this.chat;
    };
    this.shell = new FakeShell((meter) => ({ "/": create(meter) }), { ...options, tokens });
    this.shell.afterTurn = () => this.chat.room.endTurn();
    this.log.onReserve = (seq) => this.shell.journal.push(`reserve ${seq}`);
    this.log.onAppend = (batch) => this.shell.journal.push(`append ${batch.map(({ seq }) => seq).join(",")}`);
  }

  /** A token that the room believes. */
  token(person: string | Person): string {
    const token = `token-${this.#tokens.size}`;
    this.#tokens.set(token, identityOf(person));
    return token;
  }

  async #authenticate(token: string): Promise<Authentication> {
    await this.authenticating;
    if (this.keysUnavailableMs !== undefined) {
      return { ok: false, code: "UNAVAILABLE", message: "No keys just now", retryAfterMs: this.keysUnavailableMs };
    }
    const identity = this.#tokens.get(token);
    if (!identity) return { ok: false, code: "UNAUTHORIZED", message: "The token is not valid" };
    if (identity.exp !== undefined && identity.exp * 1000 <= this.shell.nowMs) {
      return { ok: false, code: "TOKEN_EXPIRED", message: "The token has expired" };
    }
    return { ok: true, identity };
  }

  /** Connects somebody for whom the Worker vouches. */
  async join(person: string | Person, handshake: Partial<Handshake> = {}): Promise<Client> {
    const identity = identityOf(person);
    const client = this.shell.open({ identity, ...handshake });
    client.name = identity.user;
    return client.connect();
  }

  /** Asks by the door that is no socket. @returns where the answer will stand */
  ask(user: string, event: string, given: unknown, role: Role = "service"): { answer: Answer<object> | undefined } {
    const asked: { answer: Answer<object> | undefined } = { answer: undefined };
    this.shell.activeAtMs = this.shell.nowMs;
    void this.chat.calls.call(event, { user, name: user, role }, given, (answer) => (asked.answer = answer));
    return asked;
  }

  /** Connects with a token in the CONNECT packet. */
  joinWithToken(token: unknown): Promise<Client> {
    return this.shell.connect({}, { token });
  }

  /** Asks from outside the room, by no connection. */
  async call(event: string, person: string | Person, payload: unknown): Promise<AnyAnswer> {
    const { user, name, role } = identityOf(person);
    const answer = Promise.withResolvers<AnyAnswer>();
    await this.chat.calls.call(event, { user, name, role }, payload, answer.resolve);
    return answer.promise;
  }

  /** Lets every window close: whatever was gathered is out. */
  quiet(): void {
    this.shell.advance(1000);
  }

  /** Waits until whoever went and did not come back is known to have left. */
  afterGrace(): void {
    this.shell.advance(LEAVE_GRACE_MS + LEAVE_GATHER_MS + 1000);
  }
}

/** A room in which everyone was announced and nothing is pending. */
export async function roomWith(...users: Array<string | Person>): Promise<{ room: ChatRoom; people: Client[] }> {
  const room = new ChatRoom();
  const people: Client[] = [];
  for (const user of users) people.push(await room.join(user));
  room.quiet();
  for (const { packets } of people) packets.length = 0;
  return { room, people };
}
