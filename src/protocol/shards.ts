// The calls between a room and its shards: objects that hold a part of a big room's sockets. The room stays the only one that orders,
// stores and decides. Used by src/shards, src/chat/shards and src/rpc.
import type { Answer, Message, Notice, Role, Welcome } from "./chat-events.ts";
import type { Identity } from "./identity.ts";
import { fileCharsOf } from "./message.ts";

/** The name of a shard's object. No room has a slash in its name. */
export const shardName = (room: string, shard: number): string => `${room}/${shard}`;

/** @throws Error for the name of no shard */
export function parseShardName(name: string): { readonly room: string; readonly shard: number } {
  const [room, shard] = name.split("/");
  if (!room || !/^\d+$/.test(shard ?? "")) throw new Error(`${name}: a shard is named ROOM/NUMBER`);
  return { room, shard: Number(shard) };
}

/** Session ids of a shard begin with its number, so that the Worker finds the shard again. */
export const shardSession = (shard: number, id: string): string => `${shard}~${id}`;

/** @returns the shard that has the session; `undefined` where the room itself has it */
export function shardOfSession(sid: string): number | undefined {
  const [, shard] = /^(\d+)~/.exec(sid) ?? [];
  return shard === undefined ? undefined : Number(shard);
}

const USER = "user ";

/** The channel of all connections of a user in a shard. */
export const userChannel = (user: string): string => `${USER}${user}`;

/** The channel of connections in a shard whose users are moderators, or the backend. */
export const STAFF_CHANNEL = "staff";

/** Whether a channel is one of those in shards. The others are sockets of the room itself. */
export const isShardChannel = (channel: string): boolean => channel === STAFF_CHANNEL || channel.startsWith(USER);

/** SHD-4: characters of the messages that a shard keeps, and gets after a gap. `MISSED_MESSAGES_MAX` bounds their number. */
export const MISSED_CHARS_MAX = 500_000;

/** What a message adds to these. */
export const missedCharsOf = (message: Message): number => message.content.length + fileCharsOf(message);

/** A position in the log of a room: after its newest message, and its latest change. */
export interface LogPosition {
  readonly epoch: string;
  /** The incarnation of the log in which `seq` was taken. */
  readonly life: string;
  readonly seq: number;
  /** No change after the position has a lower one. Changes are ordered by the clock, so it is a time, too. */
  readonly rev: number;
  /** The run of the room: another one after it crashed, the same after sleep. */
  readonly by: string;
  /** The number of the latest action of a moderator. */
  readonly ruling: number;
}

export const isSamePosition = (a: LogPosition, b: LogPosition): boolean =>
  a.epoch === b.epoch && a.seq === b.seq && a.rev === b.rev && a.by === b.by && a.ruling === b.ruling;

/** A selection of sockets, as in Socket.IO: all, those in some channels, or those outside of some. */
export interface ShardAudience {
  readonly channels?: readonly string[];
  readonly except?: readonly string[];
  readonly isVolatile?: boolean;
}

/** A member's connection in a shard: as on a connection of the room itself, and the owner for recovery. */
export interface ShardMember {
  readonly user: string;
  readonly name: string;
  /** The role by token. */
  readonly role: Role;
  /** Beginning of the connection, in milliseconds since 1970. */
  readonly sinceMs: number;
  readonly owner: string;
  /** The identity of the newest token, where it was refreshed in the shard: features of the room have not seen it. */
  readonly refreshed?: Identity;
}

/** The decision of the room on a CONNECT. */
export type JoinDecision =
  | {
      readonly accepted: true;
      readonly member: ShardMember;
      readonly welcome: Welcome;
      /** Signs the private ids of connections. */
      readonly key: string;
    }
  | { readonly accepted: false; readonly message: string; readonly data?: unknown; readonly passesInMs?: number };

/** A step that a shard carries out. */
export type ShardItem =
  /** Emits an event once per list of arguments. `seqs` are the positions of messages in the log. */
  | {
      readonly type: "emit";
      readonly audience: ShardAudience;
      readonly event: string;
      readonly argLists: ReadonlyArray<readonly unknown[]>;
      readonly seqs?: readonly number[] | undefined;
    }
  /** Answers a request of a member. */
  | { readonly type: "answer"; readonly id: string; readonly answer: Answer<object> }
  /** Answers a CONNECT. */
  | { readonly type: "verdict"; readonly id: string; readonly verdict: JoinDecision }
  /** All messages from some seq on, for connections that recover. */
  | {
      readonly type: "earlier";
      readonly messages: readonly Message[];
      /** The incarnation of the log for the message before them. */
      readonly life: string;
    }
  /** Disconnects for good: one connection, or those of a user whose tokens give one of these roles. */
  | {
      readonly type: "dismiss";
      readonly socket?: string;
      readonly user?: string;
      readonly roles?: readonly Role[];
      readonly notice?: Notice;
    }
  /** Closes a connection whose client has come back to another object. */
  | { readonly type: "supersede"; readonly socket: string }
  /** Closes all connections, whose clients come back. */
  | {
      readonly type: "send-away";
      /** The shard missed something of which it cannot be notified any more; or the crowd is gone, and the room has space for all. */
      readonly cause: "gap" | "home";
    };

/** The items of one turn of the room, or some of them. */
export interface ShardChunk {
  /** The only shard that it is for; absent: all. */
  readonly to?: number;
  /** The log before and after it. */
  readonly before: LogPosition;
  readonly after: LogPosition;
  /** `ShardItem[]` as JSON, encoded once for all shards. An item with bytes is a string in this list: its text by `encodeValue`. */
  readonly items: string;
}

/** Chunks in their order. */
export interface StreamCall {
  /** Names the sequence: chunks that are numbered without a gap. */
  readonly life: string;
  /** Counts the calls of a sequence: one that arrives after a later one is void. */
  readonly call: number;
  /** The number of the first chunk in its sequence. */
  readonly first: number;
  readonly pieces: readonly ShardChunk[];
  /** Shards that get the chunks by way of this one. */
  readonly below: readonly number[];
  /** Chunks of an earlier sequence were dropped, answers among them. */
  readonly hasDropped?: true;
  /** At the last answer something waited here for shards below: an instance that does not have it has lost it. */
  readonly hasWaiting?: true;
}

export interface StreamAnswer {
  /** Chunks that were carried out, in this call or when they came before. */
  readonly taken: number;
  /** The shard has heard of another sequence since, and takes the chunks in a new one only. */
  readonly isVoid?: true;
  /** Characters that wait here for shards below, by shard; absent: nothing waits. */
  readonly waiting?: Readonly<Record<number, number>>;
  /** The position of the shard, where the next chunk does not follow on it: the shard is behind. */
  readonly behind?: LogPosition;
}

/** The former connection that a client names: it is not checked yet. */
export interface NamedFormer {
  readonly pid: string;
  readonly offset?: string;
}

/** A CONNECT in a shard. */
export interface ShardJoin {
  readonly id: string;
  readonly identity: Identity;
  /** The address of the client; absent from a shard of an earlier release. */
  readonly address?: string;
  /** The client wants to recover, and the shard lacks messages that it names. */
  readonly recovers?: NamedFormer;
}

/** An event of a member in a shard. */
export interface ShardRequest {
  readonly id: string;
  readonly socket: string;
  /** The address of the client. */
  readonly address: string;
  readonly member: ShardMember;
  /** The end of the token, in seconds since 1970; absent: never. */
  readonly exp?: number;
  /** The run of the room that owes an answer to an earlier request of the connection, where one does. */
  readonly owedBy?: string;
  readonly event: string;
  /** The payload as `socketio/wire/value-text.ts` encodes it, untrusted; absent where there was none. */
  readonly given?: string;
}

/** What a shard tells its room, and asks it. The answers are among the chunks. */
export interface ShardReport {
  readonly shard: number;
  /** Names the instance of the shard, and counts its reports: one that arrives after a later one is void. */
  readonly from: string;
  readonly number: number;
  /** Of the log that it knows, once it knows one: a room that was deleted since carries out no requests of before. */
  readonly epoch?: string;
  /** Its connections, and the users among them. */
  readonly sockets: number;
  readonly users: number;
  /** Those who type. */
  readonly typing: number;
  readonly joins: readonly ShardJoin[];
  readonly requests: readonly ShardRequest[];
  /** Connections that were recovered here since the last report: the former ones may still be in other objects. */
  readonly recovered: readonly string[];
  /** Counts since the last report, by series. */
  readonly counts?: Readonly<Record<string, number>>;
}
