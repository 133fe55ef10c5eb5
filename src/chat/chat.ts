// A chat room: the first application of the Socket.IO core. It says who may come in, and puts together what can
// be done inside (the features); storing, sending and the clock are the shell's.
import type {
  Answer,
  ClientToServerEvents,
  ErrorAnswer,
  Message,
  RefusalCode,
  ServerToClientEvents,
  Welcome,
} from "../protocol/chat-events.ts";
import type { Identity } from "../protocol/identity.ts";
import { roomAllowed } from "../protocol/room-name.ts";
import { Namespace, type ConnectRequest, type Handlers, type Refusal, type Verdict } from "../socketio/namespace.ts";
import { refuse } from "./answers.ts";
import { Changes } from "./changes.ts";
import { ChatRecoveryLog } from "./chat-recovery.ts";
import { Editing } from "./editing.ts";
import { History } from "./history.ts";
import { Members } from "./members.ts";
import { MessageChanges } from "./message-changes.ts";
import type { MessageLog } from "./message-log.ts";
import { perform, type Caller, type Operation, type Reply } from "./operation.ts";
import { Posting } from "./posting.ts";
import { Presence } from "./presence.ts";
import { Reacting } from "./reacting.ts";
import { Reading } from "./reading.ts";
import { Buckets, type RateLimit } from "./rate-limit.ts";
import type { RoomState } from "./room-state.ts";
import type { ChatSettings, Client, Feature, Membership, Room } from "./room.ts";
import { TokenLife, type Authenticate } from "./token-life.ts";
import { Typing } from "./typing.ts";

/**
 * What a user may ask of a room besides posting: every event takes one token, a page of history more. In memory
 * only, because a bucket is full again before a room falls asleep.
 */
export const REQUEST_LIMIT: RateLimit = { perSecond: 50, burst: 200 };

export interface ChatDependencies {
  readonly room: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly state: RoomState;
  readonly authenticate: Authenticate;
}

export class Chat extends Namespace<ClientToServerEvents, ServerToClientEvents, Membership> {
  readonly #room: Room;
  readonly #authenticate: Authenticate;
  readonly #requests = new Buckets(REQUEST_LIMIT);
  readonly #posting: Posting;
  readonly #features: readonly Feature[];
  readonly #operations: ReadonlyMap<string, Operation>;
  override readonly recovery;
  readonly handlers: Handlers<ClientToServerEvents, Client>;

  constructor({ room, settings, log, state, authenticate }: ChatDependencies) {
    super();
    this.#authenticate = authenticate;
    this.#room = this.#makeRoom({ name: room, settings, log, state });
    const members = new Members();
    this.#posting = new Posting(this.#room, members);
    const changes = new MessageChanges(this.#room);
    this.#features = [
      new Presence(this.#room, members),
      this.#posting,
      new History(this.#room),
      new Editing(this.#room, changes),
      new Reacting(this.#room, changes),
      new Changes(changes),
      new Typing(this.#room, members),
      new Reading(this.#room, members),
      new TokenLife(this.#room, members, authenticate),
    ];
    this.#operations = new Map(this.#features.flatMap(({ operations = {} }) => Object.entries(operations)));
    this.handlers = Object.fromEntries(
      [...this.#operations].map(([event, operation]) => [event, this.#handler(operation)]),
    ) as Handlers<ClientToServerEvents, Client>;
    const recoveryLog = new ChatRecoveryLog({
      log,
      seenSeq: () => this.#posting.seenSeq,
      catchUp: () => this.#posting.catchUp(),
      report: (problem, error) => this.context.report(problem, error),
    });
    this.recovery = { log: recoveryLog, windowMs: settings.recoveryWindowMs };
  }

  #makeRoom(parts: Pick<Room, "name" | "settings" | "log" | "state">): Room {
    const clients = (): ReadonlyMap<string, Client> => this.sockets;
    const everyone = (): Room["everyone"] => this.everyone;
    return {
      ...parts,
      get clients() {
        return clients();
      },
      get everyone() {
        return everyone();
      },
      now: () => this.context.now(),
      turn: (work) => this.context.turn(work),
      report: (problem, error) => this.context.report(problem, error),
      deadline: (deadline, run, options) => this.deadline(deadline, run, options),
      catchUp: () => this.#posting.catchUp(),
      seenSeq: () => this.#posting.seenSeq,
      read: (read) => this.#read(read),
      show: (messages) => this.#show(messages),
    };
  }

  #read<Result>(read: (log: MessageLog) => Result): Result | undefined {
    try {
      return read(this.#room.log);
    } catch (error) {
      this.context.report("the log could not be read", error);
      return undefined;
    }
  }

  #show(messages: readonly Message[]): void {
    this.emitAll(
      "chat-message",
      messages.map((message) => [message]),
      messages.map(({ seq }) => seq),
    );
    for (const feature of this.#features) feature.onPosted?.(messages);
  }

  override onStart(): void {
    for (const feature of this.#features) feature.start?.();
  }

  // ---- coming and going ------------------------------------------------------------------------------------

  override authorize({ auth, handshake }: ConnectRequest): Verdict<Membership> | Promise<Verdict<Membership>> {
    const vouched = handshake.identity as Identity | undefined;
    if (vouched) return this.#admit(vouched);
    const { token } = auth;
    if (typeof token !== "string" || token === "") return deny("UNAUTHORIZED", "A token is required: auth.token");
    return this.#authenticate(token).then((result) =>
      result.ok ? this.#admit(result.identity) : deny(result.code, result.message),
    );
  }

  #admit({ user, name, role, rooms, exp }: Identity): Verdict<Membership> {
    const nowMs = this.context.now();
    // A token that the Worker saw may have ended since: the connection can be older than its CONNECT.
    if (exp !== undefined && exp * 1000 <= nowMs) return deny("TOKEN_EXPIRED", "The token has expired");
    if (!roomAllowed(rooms, this.#room.name))
      return deny("FORBIDDEN_ROOM", `The token does not open room ${this.#room.name}`);
    const bucket = this.#posting.buckets.of(user, nowMs);
    return { accepted: true, data: { user, name, role, sinceMs: nowMs, bucket, ...(exp !== undefined && { exp }) } };
  }

  override admit(): Refusal | undefined {
    const { maxMembers } = this.#room.settings;
    return this.sockets.size < maxMembers ? undefined : deny("ROOM_FULL", `Room ${this.#room.name} is full`);
  }

  override ownerOf({ user }: Membership): string {
    return user;
  }

  override onConnect(client: Client): void {
    // Whoever comes in reads the log from here on: what the others have seen has to be in it.
    this.#posting.catchUp();
    for (const feature of this.#features) feature.onConnect?.(client);
    client.emit("welcome", this.#welcome(client));
    for (const feature of this.#features) feature.onWelcomed?.(client);
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
        lastSeq: log.lastSeq,
        settings: {
          maxContentLength: settings.maxContentLength,
          messageRate: settings.messageRate.perSecond,
          messageBurst: settings.messageRate.burst,
          editWindowSeconds: settings.editWindowMs / 1000,
        },
      },
      ...this.#features.map((feature) => feature.welcome?.(client)),
    ) as Welcome;
  }

  override onRestore(client: Client): void {
    for (const feature of this.#features) feature.onRestore?.(client);
  }

  override onDisconnect(client: Client): void {
    for (const feature of this.#features) feature.onDisconnect?.(client);
  }

  // ---- what can be asked -----------------------------------------------------------------------------------

  /**
   * The door for callers from outside the room, whom somebody else has checked.
   * @param event as a client would name it
   */
  call(event: string, caller: Caller, given: unknown, reply: Reply<Answer<object>>): void | Promise<void> {
    const operation = this.#operations.get(event);
    if (!operation) return reply(noSuchEvent(event));
    return perform(operation, { caller, given }, reply, (user, cost) => this.#refuseRequest(user, cost));
  }

  #handler(operation: Operation): (client: Client, ...args: unknown[]) => void | Promise<void> {
    return (client, ...args) => {
      const { reply, payload } = replyTo(client, args);
      const { user, name, role } = client.peek();
      const caller = { user, name, role, client };
      return perform(operation, { caller, given: payload }, reply, (asker, cost) => this.#refuseRequest(asker, cost));
    };
  }

  override onUnknownEvent(client: Client, event: string, args: readonly unknown[]): void {
    const { reply } = replyTo(client, args);
    const { user, name, role } = client.peek();
    reply(this.#refuseRequest({ user, name, role }, 1) ?? noSuchEvent(event));
  }

  #refuseRequest({ user }: Caller, cost: number): ErrorAnswer | undefined {
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

function deny(code: RefusalCode, message: string): Refusal {
  return { accepted: false, message, data: { code } };
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
