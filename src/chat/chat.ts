// A chat room: the first application of the Socket.IO core. It says who may come in and what each event
// means; storing, sending and the clock are the shell's.
import type { z } from "zod";

import type {
  Answer,
  ClientToServerEvents,
  ErrorAnswer,
  HistoryAnswer,
  Message,
  PostAnswer,
  PresenceAnswer,
  RefreshAnswer,
  RefusalCode,
  Role,
  ServerToClientEvents,
} from "../protocol/chat-events.ts";
import type { Authentication, Identity } from "../protocol/identity.ts";
import { roomAllowed } from "../protocol/room-name.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { Namespace, type ConnectRequest, type Handlers, type Refusal, type Verdict } from "../socketio/namespace.ts";
import type { Socket } from "../socketio/socket.ts";
import { refuse } from "./answers.ts";
import { ChatRecoveryLog } from "./chat-recovery.ts";
import { Members } from "./members.ts";
import { seqOf } from "./message-id.ts";
import type { MessageLog } from "./message-log.ts";
import { Pacer } from "./pacer.ts";
import { describeIssues, historySchema, postSchema, presenceSchema, refreshTokenSchema } from "./payloads.ts";
import { Posts, type Durability } from "./posts.ts";
import { RetentionClock } from "./retention-clock.ts";
import { Buckets, type Bucket, type RateLimit } from "./rate-limit.ts";

/** Changes of presence are told at once in a quiet room, and at most this often in a busy one. */
export const PRESENCE_WINDOW_MS = 250;

/**
 * What a user may ask of a room besides posting: every event takes one token, a page of history one for each
 * `HISTORY_PER_TOKEN` messages. In memory only, because a bucket is full again before a room falls asleep.
 */
export const REQUEST_LIMIT: RateLimit = { perSecond: 50, burst: 200 };
export const HISTORY_PER_TOKEN = 20;

export interface ChatSettings {
  readonly messageRate: RateLimit;
  /** Characters (Unicode code points) of a message's content. */
  readonly maxContentLength: number;
  readonly flushWindowMs: number;
  readonly durability: Durability;
  /** Sockets that one room holds. */
  readonly maxMembers: number;
  /** How long after a broken connection a client may recover it, in ms; 0 turns recovery off. */
  readonly recoveryWindowMs: number;
}

/** A member's connection, as it survives sleep. */
export interface Membership {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
  /** When this connection joined, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** When its token ends, in seconds since 1970. */
  readonly exp?: number;
  /** The user's rate limit as of their last post on this connection. */
  readonly bucket: Bucket;
}

type Client = Socket<ServerToClientEvents, Membership>;
type Reply<Good extends object> = (answer: Answer<Good>) => void;

export interface ChatDependencies {
  readonly room: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly authenticate: (token: string) => Promise<Authentication>;
}

export class Chat extends Namespace<ClientToServerEvents, ServerToClientEvents, Membership> {
  readonly #room: string;
  readonly #settings: ChatSettings;
  readonly #log: MessageLog;
  readonly #authenticate: ChatDependencies["authenticate"];
  readonly #members = new Members();
  readonly #buckets: Buckets;
  readonly #requests = new Buckets(REQUEST_LIMIT);
  override readonly recovery;
  #posts!: Posts;
  #presencePacer!: Pacer;
  #expiryDeadline!: Deadline;

  readonly handlers: Handlers<ClientToServerEvents, Client> = {
    "chat-message": answering(postSchema, (client, payload, reply) => this.#post(client, payload, reply)),
    history: answering(historySchema, (client, query, reply) =>
      reply(this.#refuseRequest(client, Math.ceil(query.limit / HISTORY_PER_TOKEN)) ?? this.#history(query)),
    ),
    presence: answering(presenceSchema, (client, _payload, reply) =>
      reply(this.#refuseRequest(client) ?? this.#presence()),
    ),
    "refresh-token": answering(refreshTokenSchema, (client, { token }, reply) => {
      const refusal = this.#refuseRequest(client);
      return refusal ? reply(refusal) : this.#refresh(client, token, reply);
    }),
  };

  constructor({ room, settings, log, authenticate }: ChatDependencies) {
    super();
    this.#room = room;
    this.#settings = settings;
    this.#log = log;
    this.#authenticate = authenticate;
    this.#buckets = new Buckets(settings.messageRate);
    const recoveryLog = new ChatRecoveryLog({
      log,
      seenSeq: () => this.#posts.seenSeq,
      catchUp: () => this.#posts.catchUp(),
      report: (problem, error) => this.context.report(problem, error),
    });
    this.recovery = { log: recoveryLog, windowMs: settings.recoveryWindowMs };
  }

  override onStart(): void {
    const { now, report } = this.context;
    const retentionDeadline = this.deadline("retention", (nowMs) => retention.run(nowMs));
    const retention = new RetentionClock(this.#log, retentionDeadline, report);
    this.#posts = new Posts({
      room: this.#room,
      log: this.#log,
      durability: this.#settings.durability,
      windowMs: this.#settings.flushWindowMs,
      flushDeadline: this.deadline("flush", (nowMs) => this.#posts.flush(nowMs), { keepsAwake: true }),
      commitDeadline: this.deadline("commit", () => this.#posts.commit(), { keepsAwake: true }),
      now,
      report,
      onStored: () => retention.run(now()),
      broadcast: (messages) =>
        this.emitAll(
          "chat-message",
          messages.map((message): [Message] => [message]),
          messages.map(({ seq }) => seq),
        ),
    });
    const presenceDeadline = this.deadline("presence", (nowMs) => this.#presencePacer.flush(nowMs));
    this.#presencePacer = new Pacer(PRESENCE_WINDOW_MS, presenceDeadline, () => this.#tellPresence());
    this.#expiryDeadline = this.deadline("token-expiry", (nowMs) => this.#expireTokens(nowMs));
  }

  override admit(): Refusal | undefined {
    return this.sockets.size < this.#settings.maxMembers ? undefined : deny("ROOM_FULL", `Room ${this.#room} is full`);
  }

  override ownerOf({ user }: Membership): string {
    return user;
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
    if (!roomAllowed(rooms, this.#room)) return deny("FORBIDDEN_ROOM", `The token does not open room ${this.#room}`);
    const bucket = this.#buckets.of(user, nowMs);
    return { accepted: true, data: { user, name, role, sinceMs: nowMs, bucket, ...(exp !== undefined && { exp }) } };
  }

  override onConnect(client: Client): void {
    const { user, name, role, sinceMs } = client.peek();
    this.#watch(client);
    // Whoever comes in reads the log from here on: what the others have seen has to be in it.
    this.#posts.catchUp();
    const isNew = this.#members.add(user, { socketId: client.id, name, sinceMs });
    client.emit("welcome", {
      room: this.#room,
      user,
      name,
      role,
      lastSeq: this.#log.lastSeq,
      presence: { count: this.#members.count },
      settings: {
        maxContentLength: this.#settings.maxContentLength,
        messageRate: this.#settings.messageRate.perSecond,
        messageBurst: this.#settings.messageRate.burst,
      },
    });
    if (isNew) this.#presencePacer.request(this.context.now());
  }

  override onRestore(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#watch(client);
    this.#members.note(user, { socketId: client.id, name, sinceMs });
  }

  override onDisconnect(client: Client): void {
    const { user } = client.peek();
    if (this.sockets.size === 0) this.#expiryDeadline.clear();
    // Not at once: who comes back within the window, or over another connection, has not left for the others.
    if (this.#members.remove(user, client.id)) return this.#presencePacer.requestLater(this.context.now());
    this.#passBucketOn(user);
  }

  /** A user's rate limit sleeps with the connection that posted last; when that goes, another one takes it. */
  #passBucketOn(user: string): void {
    const [heir] = this.#members.socketsOf(user);
    const client = heir === undefined ? undefined : this.sockets.get(heir);
    if (client) client.data = { ...client.data, bucket: this.#buckets.of(user, this.context.now()) };
  }

  #watch(client: Client): void {
    const { user, bucket, exp } = client.peek();
    this.#buckets.restore(user, bucket, this.context.now());
    if (exp !== undefined) this.#expiryDeadline.pull(exp * 1000);
  }

  #tellPresence(): void {
    const change = this.#members.takeChange();
    if (change) this.emit("presence", change);
  }

  // ---- events ----------------------------------------------------------------------------------------------

  #post(client: Client, payload: z.infer<typeof postSchema>, reply: (answer: PostAnswer) => void): void {
    const { user, name, role } = client.peek();
    const nowMs = this.context.now();
    if (role === "reader") return reply(refuse("FORBIDDEN", "A reader may not post."));
    const taking = this.#takeToken(client, nowMs);
    if (taking) return reply(taking);
    const content = payload.content.trim();
    const problem = this.#contentProblem(content) ?? this.#replyProblem(payload.replyTo);
    if (problem) return reply(problem);
    const { clientMsgId, replyTo } = payload;
    this.#posts.post(
      {
        sender: user,
        name,
        content,
        ...(clientMsgId !== undefined && { clientMsgId }),
        ...(replyTo !== undefined && { replyTo }),
      },
      reply,
    );
  }

  #takeToken(client: Client, nowMs: number): ErrorAnswer | undefined {
    const membership = client.data;
    const taking = this.#buckets.take(membership.user, nowMs);
    if (!taking.ok) {
      const limit = `at most ${this.#settings.messageRate.perSecond} messages per second`;
      return refuse("RATE_LIMITED", `Rate limit exceeded: ${limit}.`, taking.retryAfterMs);
    }
    client.data = { ...membership, bucket: taking.bucket };
    return undefined;
  }

  #refuseRequest(client: Client, cost = 1): ErrorAnswer | undefined {
    const taking = this.#requests.take(client.peek().user, this.context.now(), cost);
    return taking.ok
      ? undefined
      : refuse("RATE_LIMITED", "Rate limit exceeded: too many requests.", taking.retryAfterMs);
  }

  #contentProblem(content: string): ErrorAnswer | undefined {
    const { maxContentLength } = this.#settings;
    if (content === "") return refuse("INVALID_PAYLOAD", "content: must not be empty");
    // Code points, counted only where UTF-16 units leave a doubt.
    if (content.length <= maxContentLength || Array.from(content).length <= maxContentLength) return undefined;
    return refuse("TOO_LONG", `content: at most ${maxContentLength} characters`);
  }

  #replyProblem(replyTo: string | undefined): ErrorAnswer | undefined {
    if (replyTo === undefined) return undefined;
    const seq = seqOf(this.#log.epoch, replyTo);
    const exists = seq !== undefined && this.#read(() => this.#posts.has(seq));
    if (exists === undefined) return refuse("INTERNAL", "replyTo: the message could not be looked up; try again.");
    return exists ? undefined : refuse("NOT_FOUND", "replyTo: no such message in this room");
  }

  #history({ before, after, limit }: z.infer<typeof historySchema>): HistoryAnswer {
    this.#posts.catchUp();
    const query = { limit, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
    const page = this.#read(() => this.#log.page(query));
    return page ? { ok: true, ...page } : refuse("INTERNAL", "The history could not be read.");
  }

  /** Trouble in the log is an answer to the one who asked, and costs no connection. @returns `undefined` then */
  #read<Result>(read: () => Result): Result | undefined {
    try {
      return read();
    } catch (error) {
      this.context.report("the log could not be read", error);
      return undefined;
    }
  }

  #presence(): PresenceAnswer {
    return { ok: true, count: this.#members.count, members: this.#members.list() };
  }

  async #refresh(client: Client, token: string, reply: (answer: RefreshAnswer) => void): Promise<void> {
    const result = await this.#authenticate(token);
    this.context.turn(() => {
      const { user } = client.peek();
      if (!result.ok) return reply(refuse(result.code, result.message));
      const { identity } = result;
      if (identity.user !== user) return reply(refuse("FORBIDDEN", "The token names another user."));
      if (!roomAllowed(identity.rooms, this.#room))
        return reply(refuse("FORBIDDEN", "The token does not open this room."));
      const { name, role, exp } = identity;
      const { exp: _ended, ...membership } = client.data;
      client.data = { ...membership, name, role, ...(exp !== undefined && { exp }) };
      if (exp !== undefined) this.#expiryDeadline.pull(exp * 1000);
      this.#members.note(user, { socketId: client.id, name, sinceMs: membership.sinceMs });
      reply({ ok: true, exp: exp ?? null });
    });
  }

  override onUnknownEvent(client: Client, event: string, args: readonly unknown[]): void {
    const { reply } = replyTo(client, args);
    reply(
      this.#refuseRequest(client) ?? refuse("UNKNOWN_EVENT", `No such event: ${event.slice(0, EVENT_NAME_SHOWN_MAX)}`),
    );
  }

  #expireTokens(nowMs: number): void {
    for (const client of this.sockets.values()) {
      const { exp } = client.peek();
      if (exp === undefined) continue;
      if (exp * 1000 > nowMs) {
        this.#expiryDeadline.pull(exp * 1000);
        continue;
      }
      client.emit("notice", { code: "TOKEN_EXPIRED", message: "The token has expired; connect with a fresh one." });
      client.disconnect();
    }
  }
}

/** Characters of an unknown event's name that its error repeats. */
const EVENT_NAME_SHOWN_MAX = 64;

function deny(code: RefusalCode, message: string): Refusal {
  return { accepted: false, message, data: { code } };
}

/**
 * A handler that checks its payload first. The answer goes to the ack callback; without one, only an
 * error is worth telling, as event `error`.
 */
function answering<Schema extends z.ZodType, Good extends object>(
  schema: Schema,
  run: (client: Client, payload: z.infer<Schema>, reply: Reply<Good>) => void | Promise<void>,
): (client: Client, ...args: unknown[]) => void | Promise<void> {
  return (client, ...args) => {
    const { reply, payload } = replyTo<Good>(client, args);
    const parsed = schema.safeParse(payload ?? {});
    if (!parsed.success) return reply(refuse("INVALID_PAYLOAD", describeIssues(parsed.error)));
    return run(client, parsed.data, reply);
  };
}

function replyTo<Good extends object>(
  client: Client,
  args: readonly unknown[],
): { reply: Reply<Good>; payload: unknown } {
  const ack = args.at(-1);
  if (typeof ack === "function") return { reply: ack as Reply<Good>, payload: args.length > 1 ? args[0] : undefined };
  return {
    reply: (answer) => {
      if ("error" in answer) client.emit("error", answer.error);
    },
    payload: args[0],
  };
}
