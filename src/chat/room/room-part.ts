// A part of a chat room: its operations and hooks. Also its values on a connection (slots), and the parts of a room by hook. The areas of
// src/chat and the features implement it; room.ts, chat.ts, requests.ts and room-calls.ts call the hooks.
import type { Answer, ErrorAnswer, Message, Welcome } from "../../protocol/chat-events.ts";
import type { DirectReport } from "../../protocol/direct-room.ts";
import type { Identity } from "../../protocol/identity.ts";
import type { Refusal } from "../../socketio/server/namespace.ts";
import type { Change } from "../log/change.ts";
import type { ChangedMessage } from "../log/message-log.ts";
import type { EventRules, Caller, Operation, Reply } from "./operation.ts";
import type { Client, Connection, Membership } from "./room.ts";

/** A change of a message, and its place among all changes. */
export interface KeptChange extends ChangedMessage {
  readonly change: Change;
  /** Whether its text becomes another one, or goes. */
  readonly isRewrite: boolean;
}

/** A change of a message that is stored, and that everyone has heard of. */
export interface MadeChange {
  readonly kind: "edited" | "deleted" | "reacted";
  readonly posted: Message;
  readonly change: Change;
}

/** Stores data for the room's next log, in the transaction that erases the room. @throws errors of the storage */
export type StoreAfterErase = () => void;

/** What one room has of an area of the chat or of a feature. */
export interface RoomPart {
  /** Further parts, whose hooks come after its own. */
  readonly parts?: readonly RoomPart[];
  readonly operations?: readonly Operation[];
  /** The room starts or wakes, before any connection is there: the place to add deadlines. */
  start?(): void;
  /** Refuses a connection. Called when its token is checked, and again in the turn that lets it in, but for a shard only once. */
  admit?(membership: Membership): Refusal | undefined;
  /** Refuses a request before it runs. @param payload as its schema let it through */
  refuse?(event: EventRules, caller: Caller, payload: unknown): ErrorAnswer | undefined;
  /** Called when a request is about to run. @returns a function that gets the answer before the caller does */
  follow?(event: string, caller: Caller): Reply<Answer<object>> | undefined;
  /** The caller has the answer, or the error. */
  onAnswered?(caller: Caller, answer: Answer<object>): void;
  /** A connection came, before its welcome. */
  onConnect?(client: Client): void;
  /** The fields of the welcome that this part fills. */
  welcome?(client: Connection): Partial<Welcome>;
  /** In a room between two people: its part of the report to the directory (DM-4). */
  directReport?(): DirectReport | undefined;
  /** A connection has its welcome. */
  onWelcomed?(client: Client): void;
  /** A token counts for a connection from now on: its first, or a fresh one. The place to fill slots from it. */
  onToken?(membership: Membership, identity: Identity, address: string): void;
  /** A connection has another token of its user. */
  onRefresh?(client: Client, identity: Identity): void;
  /** A connection is still there after sleep. */
  onRestore?(client: Client): void;
  /** Everyone has seen these messages. They are stored; in a busy room with durability `relaxed` they will be. */
  onPosted?(messages: readonly Message[]): void;
  /** The change of a message is about to be stored. An error thrown here keeps the message as it is. */
  onChanging?(changing: KeptChange): void;
  /** A change of a message is stored, and everyone has heard of it. */
  onChanged?(made: MadeChange): void;
  /** A user has read, or went back. @param before the lower one of their mark until then and the new one; absent where they say it again */
  onRead?(before: number | undefined): void;
  /** Something else has changed in what the room reports to a directory. */
  onReportChanged?(): void;
  /** The room reports its members to a directory from now on (ANN-7). */
  onPeopleWanted?(): void;
  /** An input, or the code after an await, has run. Called very often. */
  onTurnEnd?(): void;
  /** A connection is gone. */
  onDisconnect?(client: Client): void;
  /** The log has forgotten the messages before this one; after a wake the first look at the retention calls it in any case. */
  onTrimmed?(firstSeq: number): void;
  /** All connections are about to be closed: the place to answer open requests. */
  onShutdown?(): void;
  /**
   * All connections are closed, and the storage is about to be erased.
   * @returns stores data for the room's next log
   */
  onErase?(): StoreAfterErase | undefined;
}

type Hook = Exclude<keyof RoomPart, "operations" | "parts">;
type Having<Name extends Hook> = RoomPart & Required<Pick<RoomPart, Name>>;

/**
 * The parts of a room by hook. A part may hold it before all parts are in it. Most have few hooks, and every request calls several, so each
 * list is made once.
 */
export class Hooks {
  readonly #parts: RoomPart[] = [];
  readonly #having = new Map<Hook, readonly RoomPart[]>();

  get parts(): readonly RoomPart[] {
    return this.#parts;
  }

  /** @param parts in the order in which their hooks are called */
  add(parts: readonly RoomPart[]): void {
    this.#parts.push(...parts);
    this.#having.clear();
  }

  /** @returns the parts with that hook, in their order */
  with<Name extends Hook>(name: Name): ReadonlyArray<Having<Name>> {
    let having = this.#having.get(name);
    if (!having) {
      having = this.#parts.filter((part) => part[name] !== undefined);
      this.#having.set(name, having);
    }
    return having as ReadonlyArray<Having<Name>>;
  }

  /** Calls that hook of each part that has it. */
  tell<Name extends Hook>(name: Name, ...args: Parameters<Required<RoomPart>[Name]>): void {
    for (const part of this.with(name)) (part[name] as (...given: typeof args) => unknown)(...args);
  }
}

/**
 * One value that a part keeps on a member's connection, if it outlives the room's sleep. A part declares its slots in its own folder; no
 * other part reads them.
 */
export class Slot<Value> {
  readonly #name: string;

  /** @param name unique among the slots of all parts; short, because each connection's record holds it */
  constructor(name: string) {
    this.#name = name;
  }

  get(client: Pick<Client, "peek">): Value | undefined {
    return valuesOf(client.peek())[this.#name] as Value | undefined;
  }

  /** @param value plain data; `undefined` empties the slot */
  set(client: Pick<Client, "data">, value: Value | undefined): void {
    this.put(client.data, value);
  }

  /** The same for a connection that is about to be made. */
  put(membership: Membership, value: Value | undefined): void {
    const values = valuesOf(membership);
    if (value === undefined) delete values[this.#name];
    else values[this.#name] = value;
  }
}

const valuesOf = (membership: Membership): Record<string, unknown> => membership as unknown as Record<string, unknown>;
