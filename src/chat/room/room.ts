// What the features of a chat room share: the room they are in, as far as they may touch it, and what each of
// them may take part in. The room itself (chat.ts) puts them together.
import type {
  Answer,
  ErrorAnswer,
  Message,
  RefreshAnswer,
  Role,
  ServerToClientEvents,
  Welcome,
} from "../../protocol/chat-events.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Meter } from "../../metrics/meter.ts";
import type { BroadcastOperator } from "../../socketio/server/broadcast.ts";
import type { Deadline, DeadlineOptions } from "../../clock/deadlines.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Socket } from "../../socketio/server/socket.ts";
import type { Change } from "../log/change.ts";
import type { ChangedMessage, MessageLog } from "../log/message-log.ts";
import type { Caller, Operations, Reply } from "./operation.ts";
import type { Durability } from "../posting/posts.ts";
import type { RateLimit } from "../../clock/token-bucket.ts";
import type { Sanctions } from "./sanctions.ts";
import type { RoomState } from "../../storage/room-state.ts";

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

export interface Room {
  readonly name: string;
  readonly settings: ChatSettings;
  readonly log: MessageLog;
  /** What outlives the room's sleep besides messages and connections. */
  readonly state: RoomState;
  readonly sanctions: Sanctions;
  readonly meter: Meter;
  /** All connections, by socket id. */
  readonly clients: ReadonlyMap<string, Client>;
  readonly everyone: BroadcastOperator<ServerToClientEvents, Membership>;
  /** Milliseconds since 1970, as of the current input. */
  readonly now: () => number;
  /** Runs `work` as a turn: for what happens after an await. */
  readonly turn: <Result>(work: () => Result) => Result;
  /** A failure that the room survived but the operator should hear of. */
  readonly report: (problem: string, error: unknown) => void;
  /** @param name stands in the record of why a room woke */
  readonly deadline: (name: string, run: (nowMs: number) => void, options?: DeadlineOptions) => Deadline;
  /** Stores what was seen before it was stored: for whoever reads the log next. */
  readonly catchUp: () => void;
  /** The newest place that anybody can have seen a message at: in a relaxed room it may not be stored yet. */
  readonly seenSeq: () => number;
  /** Reads the log. Trouble in it is an answer to the one who asked, and costs no connection. @returns `undefined` then */
  readonly read: <Result>(read: (log: MessageLog) => Result) => Result | undefined;
  /** Shows stored messages to everyone, in one go. */
  readonly show: (messages: readonly Message[]) => void;
  /** Stores and shows what has been said so far: for what must not overtake it. */
  readonly commit: () => void;
  /** TOK-3: takes another token of the client's user. A client that went meanwhile gets no answer. */
  readonly refreshToken: (client: Client, token: string, reply: (answer: RefreshAnswer) => void) => Promise<void>;
  /** Tells the features that the log may have forgotten its oldest messages. @throws whatever they throw */
  readonly trimmed: () => void;
}

/** What became of a message, and the change's place among all changes. */
export interface KeptChange extends ChangedMessage {
  readonly change: Change;
  /** Whether its text becomes another one, or goes. */
  readonly isRewrite: boolean;
}

/** What it stores is stored with the erasing of a room, or neither is done. @throws what storing throws */
export type Leave = () => void;

/** One thing that a chat room can do. Hooks are called for all features in the order of their list. */
export interface Feature {
  readonly operations?: Partial<Operations>;
  /** The room starts or wakes, before any connection is there: the place to add deadlines. */
  start?(): void;
  /** Whether somebody may come in; asked in the turn that lets them in, and once before. */
  admit?(membership: Membership): Refusal | undefined;
  /** Asked before anything is done: an answer that says no ends the matter. */
  refuse?(event: string, caller: Caller): ErrorAnswer | undefined;
  /** Called when something is about to be done; what is returned hears the answer before the caller does. */
  follow?(event: string, caller: Caller): Reply<Answer<object>> | undefined;
  /** A connection came, before its welcome. */
  onConnect?(client: Client): void;
  /** What the feature has to say in the welcome. */
  welcome?(client: Client): Partial<Welcome>;
  /** A connection came and has heard its welcome. */
  onWelcomed?(client: Client): void;
  /** A token counts for a connection from now on: its first, or a fresh one. The place to fill slots from it. */
  onToken?(membership: Membership, identity: Identity): void;
  /** A connection has another token of its user. */
  onRefresh?(client: Client, identity: Identity): void;
  /** A connection is still there after sleep. */
  onRestore?(client: Client): void;
  /** Messages were stored, and everyone has seen them. */
  onPosted?(messages: readonly Message[]): void;
  /** What becomes of a message is about to be stored. What throws here keeps the message from changing. */
  onChanging?(changing: KeptChange): void;
  /** A connection is gone. */
  onDisconnect?(client: Client): void;
  /** The log may have forgotten its oldest messages. Often called, so quick where it has not. */
  onTrimmed?(): void;
  /** Everybody is about to be sent away: who waits for something is answered. */
  onFarewell?(): void;
  /**
   * Nobody is there any more, and all that is stored is about to be erased.
   * @returns where something is left to the room's next life: stores it, in the turn that erases all else
   */
  onErase?(): Leave | undefined;
}
