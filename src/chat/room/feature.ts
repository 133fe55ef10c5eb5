// The interface of a feature of a chat room, its values on a connection (slots), and the features of a room by hook. Called by the features;
// room.ts, chat.ts, requests.ts and room-calls.ts call the hooks.
import type { Answer, ErrorAnswer, Message, Welcome } from "../../protocol/chat-events.ts";
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

/** One feature of a chat room. */
export interface Feature {
  readonly operations?: readonly Operation[];
  /** The room starts or wakes, before any connection is there: the place to add deadlines. */
  start?(): void;
  /** Refuses a connection. Called twice for each: when its token is checked, and again in the turn that lets it in. */
  admit?(membership: Membership): Refusal | undefined;
  /** Refuses a request before it runs. @param payload as its schema let it through */
  refuse?(event: EventRules, caller: Caller, payload: unknown): ErrorAnswer | undefined;
  /** Called when a request is about to run. @returns a function that gets the answer before the caller does */
  follow?(event: string, caller: Caller): Reply<Answer<object>> | undefined;
  /** The caller has the answer, or the error. */
  onAnswered?(caller: Caller, answer: Answer<object>): void;
  /** A connection came, before its welcome. */
  onConnect?(client: Client): void;
  /** The part of the welcome that the feature fills. */
  welcome?(client: Connection): Partial<Welcome>;
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
  /** An input, or the code after an await, has run. Called very often. */
  onTurnEnd?(): void;
  /** A connection is gone. */
  onDisconnect?(client: Client): void;
  /** The log may have forgotten its oldest messages. Often called, so quick where it has not. */
  onTrimmed?(): void;
  /** All connections are about to be closed: the place to answer open requests. */
  onShutdown?(): void;
  /**
   * All connections are closed, and the storage is about to be erased.
   * @returns stores the feature's data for the room's next log
   */
  onErase?(): StoreAfterErase | undefined;
}

type Hook = Exclude<keyof Feature, "operations">;
type Having<Name extends Hook> = Feature & Required<Pick<Feature, Name>>;

/** The features of a room by hook. Most features have few hooks, and every request calls several, so each list is made once. */
export class Hooks {
  /** In the order of features.ts. */
  readonly features: readonly Feature[];
  readonly #having = new Map<Hook, readonly Feature[]>();

  constructor(features: readonly Feature[]) {
    this.features = features;
  }

  /** @returns the features with that hook, in their order */
  with<Name extends Hook>(name: Name): ReadonlyArray<Having<Name>> {
    let having = this.#having.get(name);
    if (!having) {
      having = this.features.filter((feature) => feature[name] !== undefined);
      this.#having.set(name, having);
    }
    return having as ReadonlyArray<Having<Name>>;
  }

  /** Calls that hook of each feature that has it. */
  tell<Name extends Hook>(name: Name, ...args: Parameters<Required<Feature>[Name]>): void {
    for (const feature of this.with(name)) (feature[name] as (...given: typeof args) => unknown)(...args);
  }
}

/**
 * One value that a feature keeps on a member's connection, if it outlives the room's sleep. A feature declares its slots in its own folder; no
 * other feature reads them.
 */
export class Slot<Value> {
  readonly #name: string;

  /** @param name unique among the slots of all features; short, because each connection's record holds it */
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
