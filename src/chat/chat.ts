// A chat room: the first application of the Socket.IO core. It says who may come in, and opens what can be done inside
// (features.ts) to those who ask; storing, sending and the clock are the shell's.
import type {
  Answer,
  ClientToServerEvents,
  ErrorAnswer,
  Message,
  Notice,
  RoomOverview,
  ServerToClientEvents,
  Welcome,
} from "../protocol/chat-events.ts";
import type { Identity } from "../protocol/identity.ts";
import { Meter } from "../metrics/meter.ts";
import type { RoomStats } from "../metrics/room-stats.ts";
import {
  Namespace,
  type ConnectRequest,
  type Handlers,
  type Refusal,
  type Verdict,
} from "../socketio/server/namespace.ts";
import type { Socket } from "../socketio/server/socket.ts";
import type { Announced } from "./announce/announced.ts";
import { refuse } from "./room/answers.ts";
import { ChatRecoveryLog } from "./log/chat-recovery.ts";
import type { Direct } from "./direct/direct.ts";
import { exportPiece, type ExportPiece, type ExportPlace } from "./log/export.ts";
import { makeFeatures, type ChatDependencies, type Features } from "./features.ts";
import { Guard } from "./room/guard.ts";
import type { Links } from "./links/links.ts";
import { Members } from "./room/members.ts";
import type { MessageLog } from "./log/message-log.ts";
import { perform, UPLOAD, type Bearer, type Caller, type Operation, type Reply } from "./room/operation.ts";
import { counted, countPosted, DeliverySampler } from "./room/metering.ts";
import { refusePlace } from "./room/places.ts";
import { refuseUnlessModerator } from "./room/roles.ts";
import { TokenBuckets, type RateLimit } from "../clock/token-bucket.ts";
import type { Relayed } from "./links/relayed.ts";
import type { Client, Leave, Membership, Room } from "./room/room.ts";

/**
 * CHAT-6: what a user may ask of a room besides posting: every event takes one token, a page of history more. In memory
 * only, because a bucket is full again before a room falls asleep.
 */
export const REQUEST_LIMIT: RateLimit = { perSecond: 50, burst: 200 };

export class Chat extends Namespace<ClientToServerEvents, ServerToClientEvents, Membership> {
  readonly #room: Room;
  readonly #requests = new TokenBuckets(REQUEST_LIMIT);
  readonly #members = new Members();
  readonly #features: Features;
  readonly #guard: Guard;
  readonly #upload: Operation;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #delivery: DeliverySampler;
  override readonly recovery;
  readonly handlers: Handlers<ClientToServerEvents, Client>;

  constructor(dependencies: ChatDependencies) {
    super();
    const { room, settings, log, state, meter = new Meter() } = dependencies;
    this.#room = this.#makeRoom({ name: room, settings, log, state, meter });
    this.#delivery = new DeliverySampler(meter, () => this.context.now(), dependencies.durable);
    this.#features = makeFeatures(this.#room, this.#members, dependencies);
    const { all, changes, attachments } = this.#features;
    this.#guard = new Guard(all, (caller, cost) => this.#refuseRequest(caller, cost));
    this.#upload = attachments.upload;
    this.#operations = new Map(all.flatMap(({ operations = {} }) => Object.entries<Operation>(operations)));
    this.handlers = Object.fromEntries(
      [...this.#operations].map(([event, operation]) => [event, this.#handler(event, operation)]),
    ) as Handlers<ClientToServerEvents, Client>;
    const recoveryLog = new ChatRecoveryLog({
      log,
      seenSeq: () => this.#features.posting.seenSeq,
      catchUp: () => this.#features.posting.catchUp(),
      countChanges: () => changes.count,
      report: (problem, error) => this.context.report(problem, error),
    });
    this.recovery = { log: recoveryLog, windowMs: settings.recoveryWindowMs };
  }

  #makeRoom(parts: Pick<Room, "name" | "settings" | "log" | "state" | "meter">): Room {
    const clients = (): ReadonlyMap<string, Client> => this.sockets;
    const everyone = (): Room["everyone"] => this.everyone;
    const sanctions = (): Room["sanctions"] => this.#features.records;
    return {
      ...parts,
      get clients() {
        return clients();
      },
      get everyone() {
        return everyone();
      },
      get sanctions() {
        return sanctions();
      },
      now: () => this.context.now(),
      turn: (work) => this.context.turn(() => this.#withNote(work)),
      report: (problem, error) => this.context.report(problem, error),
      deadline: (deadline, run, options) => this.deadline(deadline, run, options),
      catchUp: () => this.#features.posting.catchUp(),
      seenSeq: () => this.#features.posting.seenSeq,
      read: (read) => this.#read(read),
      show: (messages) => this.#show(messages),
      commit: () => this.#features.posting.commit(),
      refreshToken: (client, token, reply) => this.#refreshToken(client, token, reply),
      trimmed: () => this.#features.all.forEach((feature) => feature.onTrimmed?.()),
    };
  }

  /** What follows an await is an input like others. */
  #withNote<Result>(work: () => Result): Result {
    try {
      return work();
    } finally {
      this.noteCounted();
    }
  }

  #refreshToken(...[client, token, reply]: Parameters<Room["refreshToken"]>): Promise<void> {
    return this.context.refreshToken(client as Socket, token, (answer) => this.#withNote(() => reply(answer)));
  }

  #read<Result>(read: (log: MessageLog) => Result): Result | undefined {
    try {
      return read(this.#room.log);
    } catch (error) {
      this.context.report("what is stored could not be read", error);
      return undefined;
    }
  }

  #show(messages: readonly Message[]): void {
    this.emitAll(
      "chat-message",
      messages.map((message) => [message]),
      messages.map(({ seq }) => seq),
    );
    countPosted(this.#room.meter, messages.length, this.sockets.size);
    this.#delivery.sample();
    for (const feature of this.#features.all) feature.onPosted?.(messages);
  }

  override onStart(): void {
    for (const feature of this.#features.all) feature.start?.();
  }

  // ---- coming and going ------------------------------------------------------------------------------------

  override authorize({ identity }: ConnectRequest): Verdict<Membership> {
    if (!identity) throw new Error("a chat room lets nobody in whose token was not verified");
    const { user, name, role } = identity;
    const data = { user, name, role: this.#features.direct.roleOf(role), sinceMs: this.context.now() };
    for (const feature of this.#features.all) feature.onToken?.(data, identity);
    // Asked here too, so that who is refused takes no older connection of theirs along.
    return this.#refuseEntry(data) ?? { accepted: true, data };
  }

  #refuseEntry(membership: Membership): Refusal | undefined {
    for (const feature of this.#features.all) {
      const refusal = feature.admit?.(membership);
      if (refusal) return refusal;
    }
    return undefined;
  }

  override admit(membership: Membership): Refusal | undefined {
    const taken = { inRoom: this.sockets.size, ofUser: this.#members.connectionsOf(membership.user) };
    return refusePlace(this.#room.name, taken, this.#room.settings) ?? this.#refuseEntry(membership);
  }

  /** Whether somebody need not even open a connection: for the shell, where it knows who asks for one. */
  refuseBearer(bearer: Pick<Identity, "user" | "role">): Refusal | undefined {
    return this.#features.direct.admit(bearer) ?? this.#features.bans.admit(bearer);
  }

  /** Why somebody may not look after this room from outside: API-1. */
  refuseStaff(bearer: Bearer): ErrorAnswer | undefined {
    const caller = this.#callerOf(bearer);
    return this.#features.bans.refuse("", caller) ?? refuseUnlessModerator(caller);
  }

  override ownerOf({ user }: Membership): string {
    return this.#features.bans.ownerOf(user);
  }

  /** CHAT-1. */
  override onConnect(client: Client): void {
    // Whoever comes in reads the log from here on: what the others have seen has to be in it.
    this.#features.posting.catchUp();
    for (const feature of this.#features.all) feature.onConnect?.(client);
    client.emit("welcome", this.#welcome(client));
    for (const feature of this.#features.all) feature.onWelcomed?.(client);
  }

  #welcome(client: Client): Welcome {
    const { user, name, role } = client.peek();
    const { settings, log } = this.#room;
    return Object.assign(
      {
        room: this.#room.name,
        user,
        name,
        role,
        epoch: log.epoch,
        lastSeq: log.lastSeq,
        ...(log.lastId !== undefined && { lastId: log.lastId }),
        now: this.#room.now(),
        settings: {
          maxContentLength: settings.maxContentLength,
          durability: settings.durability,
          messageRate: settings.messageRate.perSecond,
          messageBurst: settings.messageRate.burst,
          editWindowSeconds: settings.editWindowMs / 1000,
        },
      },
      ...this.#features.all.map((feature) => feature.welcome?.(client)),
    ) as Welcome;
  }

  override onRestore(client: Client): void {
    for (const feature of this.#features.all) feature.onRestore?.(client);
  }

  override onRefresh(client: Client, identity: Identity): void {
    for (const feature of this.#features.all) {
      feature.onToken?.(client.data, identity);
      feature.onRefresh?.(client, identity);
    }
  }

  override onDisconnect(client: Client): void {
    for (const feature of this.#features.all) feature.onDisconnect?.(client);
  }

  // ---- what can be asked -----------------------------------------------------------------------------------

  /**
   * The door for callers from outside the room, whom somebody else has checked.
   * @param event as a client would name it
   */
  call(event: string, bearer: Bearer, given: unknown, reply: Reply<Answer<object>>): void | Promise<void> {
    const operation = this.#operations.get(event);
    if (!operation) return reply(noSuchEvent(event));
    const caller = this.#callerOf(bearer);
    return perform(operation, { event, caller, given }, this.#guard, counted(this.#room.meter, event, reply));
  }

  /** FILE-1: whether somebody may upload a file, and what they may post then. For whoever stores it. */
  permitUpload(bearer: Bearer, given: unknown, reply: Reply<Answer<object>>): void | Promise<void> {
    const caller = this.#callerOf(bearer);
    return perform(this.#upload, { event: UPLOAD, caller, given }, this.#guard, reply);
  }

  /** FILE-4: whether somebody may read a file. One of an earlier life of the room, or of a deleted message, is none. */
  permitReading(
    { user, role }: Bearer,
    { key, epoch }: { readonly key: string; readonly epoch: string },
  ): Answer<object> {
    const isGone = epoch !== this.#room.log.epoch || this.#features.files.isDiscarded(key);
    if (isGone) return refuse("NOT_FOUND", "No such file");
    const refusal = this.refuseBearer({ user, role });
    const { retryAfterMs } = (refusal?.data ?? {}) as { readonly retryAfterMs?: number };
    return refusal ? refuse("FORBIDDEN", refusal.message, retryAfterMs) : { ok: true };
  }

  /** The room from outside, without waking more of it than the log's newest row (API-13). */
  overview(): RoomOverview {
    this.#features.posting.catchUp();
    const { name, log } = this.#room;
    const { count } = this.#members;
    const [newest] = log.page({ limit: 1 }).messages;
    return { room: name, members: count, lastSeq: log.lastSeq, lastActivity: newest?.timestamp ?? null };
  }

  get name(): string {
    return this.#room.name;
  }

  /** How the room is doing, without looking at anything stored. */
  get pulse(): { readonly members: number; readonly lastSeq: number } {
    return { members: this.#members.count, lastSeq: this.#room.seenSeq() };
  }

  /** @returns `undefined` if the log that `place` is in is gone */
  exportPiece(place?: ExportPlace): ExportPiece | undefined {
    this.#features.posting.catchUp();
    return exportPiece(this.#room.log, place);
  }

  /** What this room passes on, and where to. */
  get links(): Links {
    return this.#features.links;
  }

  /** What other rooms pass on to this one. */
  get relayed(): Relayed {
    return this.#features.relayed;
  }

  /** Between whom the room is, where it is between two people. */
  get direct(): Direct {
    return this.#features.direct;
  }

  /** What is said to many rooms at once, or to people wherever they are. */
  get announced(): Announced {
    return this.#features.announced;
  }

  /** Says how it is doing, without being asked: what it was is no more (API-9). */
  tellLobby(): void {
    this.#features.lobbyReport?.tell();
  }

  /** For the shell, after each input: what was counted is not to be forgotten in a sleep. */
  noteCounted(): void {
    this.#features.lobbyReport?.noteCounted();
  }

  /** What was counted and the lobby was not told of. */
  get unreported(): RoomStats["unreported"] {
    return this.#features.lobbyReport?.unreported ?? { told: [], counts: this.#room.meter.read() };
  }

  /** Everybody is about to be sent away: who waits for something is answered, and all are told why (API-9, API-10). */
  sayGoodbye(noticeFor: (client: Client) => Notice): void {
    this.#features.posting.commit();
    for (const feature of this.#features.all) feature.onFarewell?.();
    for (const client of this.sockets.values()) client.emit("notice", noticeFor(client));
  }

  /**
   * Everybody was sent away, and what is stored goes next (API-9).
   * @returns what features leave to the room's next life, if any does
   */
  prepareErase(): Leave | undefined {
    const left = this.#features.all.flatMap((feature) => feature.onErase?.() ?? []);
    return left.length === 0 ? undefined : () => left.forEach((leave) => leave());
  }

  #callerOf({ user, name, role: given }: Bearer, client?: Client): Caller {
    const role = this.#features.direct.roleOf(given);
    const effective = this.#room.sanctions.roleOf({ user, tokenRole: role });
    return { user, name, role: effective, tokenRole: role, ...(client && { client }) };
  }

  #handler(event: string, operation: Operation): (client: Client, ...args: unknown[]) => void | Promise<void> {
    return (client, ...args) => {
      const { reply: direct, payload } = replyTo(client, args);
      const reply = this.#features.flooding.counting(client, direct);
      const caller = this.#callerOf(client.peek(), client);
      const told = counted(this.#room.meter, event, reply);
      return perform(operation, { event, caller, given: payload }, this.#guard, told);
    };
  }

  override onUnknownEvent(client: Client, event: string, args: readonly unknown[]): void {
    const reply = this.#features.flooding.counting(client, replyTo(client, args).reply);
    counted(this.#room.meter, "unknown", reply)(this.#refuseRequest(client.peek(), 1) ?? noSuchEvent(event));
  }

  #refuseRequest({ user }: Pick<Caller, "user">, cost: number): ErrorAnswer | undefined {
    if (cost === 0) return undefined;
    const taking = this.#requests.take(user, this.context.now(), cost);
    return taking.ok
      ? undefined
      : refuse("RATE_LIMITED", "Rate limit exceeded: too many requests.", taking.retryAfterMs);
  }
}

/** Characters of an unknown event's name that its error repeats. */
const EVENT_NAME_SHOWN_MAX = 64;

function noSuchEvent(event: string): ErrorAnswer {
  return refuse("UNKNOWN_EVENT", `No such event: ${event.slice(0, EVENT_NAME_SHOWN_MAX)}`);
}

/** The answer goes to the ack callback; without one, only an error is worth telling, as event `error`. */
function replyTo(client: Client, args: readonly unknown[]): { reply: Reply<Answer<object>>; payload: unknown } {
  const ack = args.at(-1);
  if (typeof ack === "function") {
    return { reply: ack as Reply<Answer<object>>, payload: args.length > 1 ? args[0] : undefined };
  }
  return {
    reply: (answer) => {
      if ("error" in answer) client.emit("error", answer.error);
    },
    payload: args[0],
  };
}
