// The room that its parts share: its log and state, its connections, and the clock. Made by src/chat/chat.ts, which hands it to every
// part.
import type {
  Counts,
  ErrorAnswer,
  Message,
  RefreshAnswer,
  Role,
  ServerToClientEvents,
} from "../../protocol/chat-events.ts";
import type { Meter } from "../../metrics/meter.ts";
import { userChannel } from "../../protocol/shards.ts";
import { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { Deadline, DeadlineOptions } from "../../clock/deadlines.ts";
import { SubscriptionLevels } from "../../crowd/crowd.ts";
import { ThrottledRun, type Rate, type RateLimit } from "../../clock/rates.ts";
import type { Hub } from "../../socketio/server/hub.ts";
import type { NamespaceContext } from "../../socketio/server/namespace.ts";
import type { Closing } from "../../socketio/wire/closings.ts";
import type { Socket } from "../../socketio/server/socket.ts";
import type { MessageLog } from "../log/message-log.ts";
import type { RemoteMembers } from "./remote-members.ts";
import { Hooks, type KeptChange, type MadeChange } from "./room-part.ts";
import { Members } from "./members.ts";
import { DeliverySampler, Delivery } from "./delivery.ts";
import type { Sanctions } from "./sanctions.ts";
import type { Caller } from "./operation.ts";
import type { Party } from "../../protocol/shares.ts";
import { type ChangeMaker, type DeliverableChange, ChangeDelivery } from "./change-delivery.ts";
import { partyOf } from "./shares.ts";
import type { RoomState } from "../../storage/room-state.ts";

/** `strict`: stored, then seen. `relaxed`: a busy room delivers messages first. An ack always means stored. */
export type Durability = "strict" | "relaxed";

export interface ChatSettings {
  readonly messageRate: RateLimit;
  /** Characters (Unicode code points) of a message's content. */
  readonly maxContentLength: number;
  /** Milliseconds in which authors may edit their messages; 0 is never. */
  readonly editWindowMs: number;
  /** Milliseconds for which messages are retained. */
  readonly historyMs: number;
  readonly flushWindowMs: number;
  /** Batches that a small room may commit ahead of their windows after quiet; 1 makes each wait. */
  readonly flushBurst: number;
  readonly durability: Durability;
  /** Messages per second of all guests of one address together; 0 is no limit. */
  readonly guestRatePerIp: number;
  /** Sockets that one room holds. */
  readonly maxMembers: number;
  /** Members up to which a room tells who comes, goes and types; half of them see each other's read marks. */
  readonly crowdMembers: number;
  /** Messages per second that a room with more members delivers; 0 is all. */
  readonly crowdShownRate: number;
  /** Sockets of one user; 0 is no limit. */
  readonly maxConnectionsPerUser: number;
  /** Rooms that a user is in at a time, and begins in an hour (LIM-8); 0 is no limit. */
  readonly maxRoomsPerUser: number;
  readonly newRoomsPerUser: number;
  /** Milliseconds in which a client may recover a broken connection; 0 turns recovery off. */
  readonly recoveryWindowMs: number;
}

/** A member's connection, as it survives sleep. Parts keep their values on it in slots (room-part.ts). */
export interface Membership {
  readonly user: string;
  readonly name: string;
  /** The role by token. */
  readonly role: Role;
  /** Beginning of the connection, in milliseconds since 1970. */
  readonly sinceMs: number;
}

export type Client = Socket<ServerToClientEvents, Membership>;

/** A connection of the room, or of one of its shards, as far as requests need it. */
export type Connection = Pick<
  Client,
  "id" | "handshake" | "token" | "connected" | "data" | "peek" | "emit" | "disconnect"
>;

export interface RoomParts {
  readonly name: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  readonly state: RoomState;
  readonly meter: Meter;
  /** Resolves once everything stored is durable. */
  readonly durable?: (() => Promise<void>) | undefined;
}

/** A message that passed every rule and has no seq yet. Made by posting and relayed.ts. */
export interface Draft extends Pick<
  Message,
  "sender" | "name" | "content" | "clientMsgId" | "replyTo" | "thread" | "attachment" | "attachments" | "origin"
> {
  /** The author's role by token; not part of the message that others see. */
  readonly role?: Role;
}

/** Stores messages. Implemented by posting/posts.ts. */
export interface Writer {
  /** The newest seq that a client can have seen: in a relaxed room its message may not be stored yet. */
  readonly seenSeq: number;
  /** Stores messages that were delivered before they were stored. */
  catchUp(): void;
  /** Stores and delivers the posts so far. */
  finishPosts(): void;
  /** Stores and delivers messages that no member posted, behind all posts so far. @returns `undefined` if that failed */
  postAll(drafts: readonly Draft[]): readonly Message[] | undefined;
}

export interface OpenRoom {
  readonly hooks: Hooks;
  readonly writer: Writer;
  readonly sanctions: Sanctions;
}

/** Functions rather than methods, so that parts take those that they need out of the room. */
export class Room {
  readonly name: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  /** Values that outlive sleep, besides messages and connections. */
  readonly state: RoomState;
  readonly meter: Meter;
  /** The people in it. */
  readonly members: Members;
  /** Connections that asked for counts only. */
  subscriptions!: SubscriptionLevels;
  /** The audience in other objects, if there is any. */
  remote: RemoteMembers | undefined;
  readonly #deliverySampler: DeliverySampler;
  #context!: NamespaceContext;
  #hooks = new Hooks();
  #writer!: Writer;
  #sanctions!: Sanctions;
  #delivery!: Delivery;
  #changes!: ChangeDelivery;
  /** The oldest message of which the parts know that it is there. */
  #trimmedSeq: number | undefined;
  /** Events that members had sent to all, as they asked for it. requests.ts reads it, to charge them (CROWD-3). */
  heard = 0;

  constructor({ name, settings, log, state, meter, durable }: RoomParts) {
    this.name = name;
    this.settings = settings;
    this.members = new Members(settings.crowdMembers);
    this.log = log;
    this.state = state;
    this.meter = meter;
    this.#deliverySampler = new DeliverySampler(meter, this.now, durable);
  }

  /** Called by the chat when its server takes it in, before any connection is there. */
  open(context: NamespaceContext, { hooks, writer, sanctions }: OpenRoom): void {
    this.#context = context;
    this.#hooks = hooks;
    this.#writer = writer;
    this.#sanctions = sanctions;
    const counts = (): Counts => ({ lastSeq: this.seenSeq() });
    this.subscriptions = new SubscriptionLevels({ hub: context.hub, counts, deadline: this.deadline });
    this.#delivery = new Delivery({ room: this, emit: (messages) => this.#emitMessages(messages) });
    this.#changes = new ChangeDelivery({ room: this, delivery: this.#delivery });
    hooks.tell("start");
  }

  get sanctions(): Sanctions {
    return this.#sanctions;
  }

  /** All connections, by socket id. */
  get clients(): ReadonlyMap<string, Client> {
    return this.#context.hub.sockets as ReadonlyMap<string, Client>;
  }

  /** A user's connections. */
  readonly clientsOf = (user: string): Client[] =>
    this.members.socketsOf(user).flatMap((id) => this.clients.get(id) ?? []);

  /** Here, and in other objects. */
  get connectionCount(): number {
    return this.clients.size + (this.remote?.connections ?? 0);
  }

  /** The connections of this object. */
  get here(): BroadcastOperator<ServerToClientEvents, Membership> {
    return new BroadcastOperator(this.#hubWith(undefined), {});
  }

  get everyone(): BroadcastOperator<ServerToClientEvents, Membership> {
    return new BroadcastOperator(this.#hubWith(this.remote), {});
  }

  #hubWith(remote: RemoteMembers | undefined): Pick<Hub, "emit" | "select"> {
    const { hub } = this.#context;
    return {
      emit: (audience, event, args) => {
        // First, because it refuses more: then nobody gets the event.
        remote?.emit(audience, event, [args]);
        hub.emit(this.subscriptions.audienceOf(event, audience), event, args);
      },
      select: (audience) => hub.select(audience),
    };
  }

  /** The channels that reach a user wherever the connections are. */
  readonly channelsOf = (user: string): string[] => {
    const here = this.members.socketsOf(user);
    return this.remote ? [...here, userChannel(user)] : here;
  };

  /** The one whom bounded lists count a caller as. */
  readonly partyOf = (caller: Pick<Caller, "user" | "client" | "guests">): Party => partyOf(caller, this.log);

  /** Milliseconds since 1970, as of the current input. */
  readonly now = (): number => this.#context.now();

  /** Runs `work` as a turn. Use it after an await. */
  readonly turn = <Result>(work: () => Result): Result => this.#context.turn(() => this.#endTurnAfter(work));

  #endTurnAfter<Result>(work: () => Result): Result {
    try {
      return work();
    } finally {
      this.endTurn();
    }
  }

  /** Tells the parts that an input was dealt with. */
  readonly endTurn = (): void => {
    this.#hooks.tell("onTurnEnd");
  };

  /** Reports a failure to the operator's log. */
  readonly reportProblem = (problem: string, error: unknown): void => this.#context.report(problem, error);

  /** @param name stands in the record of why a room woke */
  readonly deadline = (name: string, run: (nowMs: number) => void, options?: DeadlineOptions): Deadline =>
    this.#context.deadlines.add(name, run, options);

  /** Makes a run that is limited to a rate, with a deadline of that name. */
  readonly throttled = (name: string, rate: Rate, run: () => void, options?: DeadlineOptions): ThrottledRun =>
    new ThrottledRun(rate, run, (due) => this.deadline(name, due, options));

  /** Closes the session of a connection, and with it the session's sockets in other namespaces. */
  readonly close = ({ session }: Client, closing: Closing): void => this.#context.closeSession(session, closing);

  /** TOK-3: takes another token of the client's user. A client that went meanwhile gets no answer. */
  readonly refreshToken = (client: Connection, token: string, reply: (answer: RefreshAnswer) => void): Promise<void> =>
    this.#context.refreshToken(client as Socket, token, (answer) => this.#endTurnAfter(() => reply(answer)));

  // ---- the log ---------------------------------------------------------------------------------------------

  /** The newest seq that a client can have seen: in a relaxed room its message may not be stored yet. */
  readonly seenSeq = (): number => this.#writer.seenSeq;

  /** The newest seq of which all members have heard: a crowd may not have been notified yet of messages that it does not get (CROWD-1). */
  readonly notifiedSeq = (): number => this.#delivery.notifiedSeq ?? this.seenSeq();

  /** Stores messages that were delivered before they were stored. Call it before reading the log. */
  readonly catchUp = (): void => this.#writer.catchUp();

  /** Stores and delivers the posts so far, so that an event cannot overtake them. */
  readonly finishPosts = (): void => this.#writer.finishPosts();

  /** RLY-7: stores and delivers messages of other rooms, in one piece. @returns `undefined` if that failed */
  readonly postAll = (drafts: readonly Draft[]): readonly Message[] | undefined => this.#writer.postAll(drafts);

  /** Reads the log. A read error becomes an answer; the connection stays open. @returns `undefined` then */
  readonly read = <Result>(read: (log: MessageLog) => Result): Result | undefined => {
    try {
      return read(this.log);
    } catch (error) {
      this.reportProblem("stored messages could not be read", error);
      return undefined;
    }
  };

  /** Shows messages to everyone, in one go. They are stored; in a busy room with durability `relaxed` they will be. */
  readonly deliver = (messages: readonly Message[]): void => {
    this.#delivery.deliver(messages);
    this.meter.count("posted", messages.length);
    this.#deliverySampler.sample();
    this.subscriptions.moved(this.now());
    this.#hooks.tell("onPosted", messages);
  };

  #emitMessages(messages: readonly Message[]): void {
    const argLists = messages.map((message) => [message]);
    const seqs = messages.map(({ seq }) => seq);
    this.#context.hub.emitAll(this.subscriptions.audienceOf("chat-message", {}), "chat-message", argLists, seqs);
    this.remote?.emit({}, "chat-message", argLists, seqs);
    this.meter.count("delivered", messages.length * this.connectionCount);
  }

  /** Tells the parts that a message is about to change. @throws errors of the parts */
  readonly changing = (changing: KeptChange): void => {
    this.#hooks.tell("onChanging", changing);
  };

  /** Tells everyone of a change, which is stored. In a crowd that may take a while. @param rev its place among all changes */
  readonly deliverChange = (change: DeliverableChange, maker: ChangeMaker, rev: number): void =>
    this.#changes.deliver(change, maker, rev);

  /** Refuses a change of a member of whom enough changes wait to be delivered. */
  readonly refuseChange = (event: string, caller: Caller): ErrorAnswer | undefined =>
    this.#changes.refuse(event, caller);

  /** The place up to which all have heard of all changes; `undefined`: up to the last one. */
  readonly notifiedRev = (): number | undefined => this.#changes.notifiedRev;

  /** All connections are about to be closed: forgets whom it wanted to tell of changes. */
  readonly endDelivery = (): void => this.#changes.forgetAll();

  /** Tells the parts that a change is made, once everyone has heard of it. */
  readonly changed = (made: MadeChange): void => {
    this.#hooks.tell("onChanged", made);
  };

  /** Tells the parts if the log has forgotten messages, and with the first call after a wake. @throws errors of the parts */
  readonly trimmed = (): void => {
    const { firstSeq } = this.log;
    if (firstSeq === this.#trimmedSeq) return;
    this.#hooks.tell("onTrimmed", firstSeq);
    this.#trimmedSeq = firstSeq;
  };
}
