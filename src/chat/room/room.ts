// What the features of a chat room share: its log and state, who is connected, and the clock. Made by chat.ts.
import type { Message, RefreshAnswer, Role, ServerToClientEvents } from "../../protocol/chat-events.ts";
import type { Meter } from "../../metrics/meter.ts";
import { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { Deadline, DeadlineOptions } from "../../clock/deadlines.ts";
import type { NamespaceContext } from "../../socketio/server/namespace.ts";
import type { Socket } from "../../socketio/server/socket.ts";
import type { Draft } from "../log/draft.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { Feature, KeptChange } from "./feature.ts";
import { Members } from "./members.ts";
import { countPosted, DeliverySampler } from "./metering.ts";
import type { RateLimit } from "../../clock/token-bucket.ts";
import type { Sanctions } from "./sanctions.ts";
import type { RoomState } from "../../storage/room-state.ts";

export type { Feature, KeptChange, Leave } from "./feature.ts";

/** `strict`: stored, then seen. `relaxed`: a busy room shows messages first. Acked is always what is stored. */
export type Durability = "strict" | "relaxed";

export interface ChatSettings {
  readonly messageRate: RateLimit;
  /** Characters (Unicode code points) of a message's content. */
  readonly maxContentLength: number;
  /** How long one's own messages may be edited, in ms; 0 is never. */
  readonly editWindowMs: number;
  readonly flushWindowMs: number;
  readonly durability: Durability;
  /** Messages per second of all guests of one address together; 0 is no limit. */
  readonly guestRatePerIp: number;
  /** Sockets that one room holds. */
  readonly maxMembers: number;
  /** Of them, those of one user; 0 is no limit. */
  readonly maxConnectionsPerUser: number;
  /** How long after a broken connection a client may recover it, in ms; 0 turns recovery off. */
  readonly recoveryWindowMs: number;
}

/** A member's connection, as it survives sleep. What a feature keeps on it is in slots of its own (slot.ts). */
export interface Membership {
  readonly user: string;
  readonly name: string;
  /** What the token says. */
  readonly role: Role;
  /** When this connection joined, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export type Client = Socket<ServerToClientEvents, Membership>;

/** What a room is made from. */
export interface RoomParts {
  readonly name: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly state: RoomState;
  readonly meter: Meter;
  /** Resolves when all that was stored is durable: what is seen of it leaves the room then. */
  readonly durable?: (() => Promise<void>) | undefined;
}

/** Stores what people say: the feature that posts (posting.ts). */
export interface Writer {
  /** The newest place that anybody can have seen a message at: in a relaxed room it may not be stored yet. */
  readonly seenSeq: number;
  /** Stores what was seen before it was stored. */
  catchUp(): void;
  /** Stores and shows what has been said so far. */
  commit(): void;
  /** Stores and shows what no user asked for, behind all that was said before. @returns `undefined` if that failed */
  take(drafts: readonly Draft[]): readonly Message[] | undefined;
}

export interface RoomFeatures {
  /** In the order in which their hooks are called. */
  readonly all: readonly Feature[];
  readonly writer: Writer;
  readonly sanctions: Sanctions;
}

/** Functions rather than methods, so that features take those that they need out of the room. */
export class Room {
  readonly name: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  /** What outlives the room's sleep besides messages and connections. */
  readonly state: RoomState;
  readonly meter: Meter;
  /** The people in it. */
  readonly members = new Members();
  readonly #delivery: DeliverySampler;
  #context!: NamespaceContext;
  #features: readonly Feature[] = [];
  #writer!: Writer;
  #sanctions!: Sanctions;

  constructor({ name, settings, log, state, meter, durable }: RoomParts) {
    this.name = name;
    this.settings = settings;
    this.log = log;
    this.state = state;
    this.meter = meter;
    this.#delivery = new DeliverySampler(meter, this.now, durable);
  }

  /** Called by the chat when its server takes it in, before any connection is there. */
  open(context: NamespaceContext, { all, writer, sanctions }: RoomFeatures): void {
    this.#context = context;
    this.#features = all;
    this.#writer = writer;
    this.#sanctions = sanctions;
    for (const feature of all) feature.start?.();
  }

  get sanctions(): Sanctions {
    return this.#sanctions;
  }

  /** All connections, by socket id. */
  get clients(): ReadonlyMap<string, Client> {
    return this.#context.hub.sockets as ReadonlyMap<string, Client>;
  }

  get everyone(): BroadcastOperator<ServerToClientEvents, Membership> {
    return new BroadcastOperator(this.#context.hub, {});
  }

  /** Milliseconds since 1970, as of the current input. */
  readonly now = (): number => this.#context.now();

  /** Runs `work` as a turn, for what happens after an await: it is an input like others. */
  readonly turn = <Result>(work: () => Result): Result => this.#context.turn(() => this.#endTurnAfter(work));

  #endTurnAfter<Result>(work: () => Result): Result {
    try {
      return work();
    } finally {
      this.endTurn();
    }
  }

  /** Tells the features that an input was dealt with. */
  readonly endTurn = (): void => {
    for (const feature of this.#features) feature.onTurnEnd?.();
  };

  /** A failure that the room survived but the operator should hear of. */
  readonly report = (problem: string, error: unknown): void => this.#context.report(problem, error);

  /** @param name stands in the record of why a room woke */
  readonly deadline = (name: string, run: (nowMs: number) => void, options?: DeadlineOptions): Deadline =>
    this.#context.deadlines.add(name, run, options);

  /** TOK-3: takes another token of the client's user. A client that went meanwhile gets no answer. */
  readonly refreshToken = (client: Client, token: string, reply: (answer: RefreshAnswer) => void): Promise<void> =>
    this.#context.refreshToken(client as Socket, token, (answer) => this.#endTurnAfter(() => reply(answer)));

  // ---- the log ---------------------------------------------------------------------------------------------

  /** The newest place that anybody can have seen a message at: in a relaxed room it may not be stored yet. */
  readonly seenSeq = (): number => this.#writer.seenSeq;

  /** Stores what was seen before it was stored: for callers that read the log next. */
  readonly catchUp = (): void => this.#writer.catchUp();

  /** Stores and shows what has been said so far: for what must not overtake it. */
  readonly commit = (): void => this.#writer.commit();

  /** RLY-7: stores and shows messages of other rooms, in one piece. @returns `undefined` if that failed */
  readonly take = (drafts: readonly Draft[]): readonly Message[] | undefined => this.#writer.take(drafts);

  /** Reads the log. A read error becomes an answer; the connection stays open. @returns `undefined` then */
  readonly read = <Result>(read: (log: MessageLog) => Result): Result | undefined => {
    try {
      return read(this.log);
    } catch (error) {
      this.report("what is stored could not be read", error);
      return undefined;
    }
  };

  /** Shows stored messages to everyone, in one go. */
  readonly show = (messages: readonly Message[]): void => {
    const { hub } = this.#context;
    hub.emitAll(
      {},
      "chat-message",
      messages.map((message) => [message]),
      messages.map(({ seq }) => seq),
    );
    countPosted(this.meter, messages.length, hub.sockets.size);
    this.#delivery.sample();
    for (const feature of this.#features) feature.onPosted?.(messages);
  };

  /** Tells the features that a message is about to change. @throws whatever they throw */
  readonly changing = (changing: KeptChange): void => {
    for (const feature of this.#features) feature.onChanging?.(changing);
  };

  /** Tells the features that the log may have forgotten its oldest messages. @throws whatever they throw */
  readonly trimmed = (): void => {
    for (const feature of this.#features) feature.onTrimmed?.();
  };
}
