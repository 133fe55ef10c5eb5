// The room as a custom feature sees it: its connections, messages, storage and deadlines. Implemented by src/chat/custom.
import type { AnswerTo, ClientToServerEvents, ErrorAnswer, Message, Role } from "../protocol/chat-events.ts";
import type { Party } from "../protocol/shares.ts";

/** An interface `{ "event-name": (…args) => void }`, as in Socket.IO. */
export type EventName<Sent> = keyof Sent & string;
export type EventArgs<Sent, Event extends EventName<Sent>> = Sent[Event] extends (...args: infer Args) => void
  ? Args
  : never;

/** Connections that an event goes to. */
export interface Audience<Sent> {
  /** @throws Error for an event that the feature's `sends` does not name */
  emit<Event extends EventName<Sent>>(event: Event, ...args: EventArgs<Sent, Event>): void;
  /** Leaves a user out. */
  except(user: string): Audience<Sent>;
  /** Leaves out connections that cannot take the event at once. */
  readonly volatile: Audience<Sent>;
}

/** One connection of a user: a tab, or a device. */
export interface FeatureConnection {
  /** Socket.IO's id of it; empty in `welcome` for a connection in a shard. */
  readonly id: string;
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room: by token or by grant. */
  readonly role: Role;
  readonly isModerator: boolean;
  /** When it was made, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** The value that the feature keeps on it. */
  readonly kept: unknown;
  /**
   * Keeps a value on the connection: it outlives the room's sleep, costs no row, and ends with the connection (in a shard, with the call).
   * @param value plain data, 1000 characters of JSON at most; `undefined` for none
   * @throws RangeError for more
   */
  keep(value: unknown): void;
}

/** A user whose CONNECT the room is deciding about. */
export type Newcomer = Pick<FeatureConnection, "user" | "name" | "role" | "isModerator">;

/** Values in the room's storage, under keys of the feature's own. They outlive sleep and crashes, and go with the room. */
export interface FeatureState {
  get(key: string): unknown;
  /**
   * Writes a row, which is billed.
   * @param value plain data (structured clone)
   * @throws Error where the storage fails, or takes no such value
   */
  put(key: string, value: unknown): void;
  /** Writes a row, if there is one. */
  delete(key: string): void;
  /** In the order of the keys. */
  list(options?: {
    readonly prefix?: string;
    /** Only keys behind this one. */
    readonly startAfter?: string;
    readonly limit?: number;
  }): Iterable<[key: string, value: unknown]>;
  /**
   * A map that shares rows: 256 entries to a row. Reads all of it; changes are stored by `save`.
   * @param name its keys begin with it
   * @param pagesMax one more row takes the place of the oldest one, whose entries are lost; default: no limit
   */
  pages<Value>(name: string, pagesMax?: number): StoredPages<Value>;
}

/** A map of which each row holds 256 entries. */
export interface StoredPages<Value> {
  readonly size: number;
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
  entries(): Iterable<[key: string, value: Value]>;
  /** Writes one row for each that changed. @throws Error where the storage fails; the next call writes what this one could not */
  save(): void;
}

/** A moment that wakes the room. After sleep it is not set: set it again in `start`. Times are in milliseconds since 1970. */
export interface FeatureDeadline {
  /** `undefined` while nothing is due. */
  readonly atMs: number | undefined;
  set(atMs: number): void;
  /** Moves it forward, if that is sooner than the present one. */
  pull(atMs: number): void;
  clear(): void;
}

export interface FeatureDeadlineOptions {
  /** The room must not sleep until then, because the work is in memory only. Being awake is billed. */
  readonly keepsAwake?: boolean;
  /**
   * An alarm is set as soon as the deadline is, and costs a row each time. Without it a room that dies within a second of that, in a crash or a
   * deploy, is not woken for it.
   */
  readonly survivesCrash?: boolean;
  /** It never wakes the room: once its moment has come, it runs with the next deadline that is due, of any kind. */
  readonly piggybacks?: boolean;
}

export interface MessagePage {
  /** Ascending by `seq`. */
  readonly messages: readonly Message[];
  /** Whether there are more in the direction of the question. */
  readonly hasMore: boolean;
}

/** A change of a message that everyone has heard of. */
export interface FeatureChange {
  readonly kind: "edited" | "deleted" | "reacted";
  /** As it stands now. */
  readonly message: Message;
}

/** A user in whose name a feature acts: a caller, or `tokenRole: "service"` for the backend. */
export type Actor = Pick<FeatureCaller, "user" | "name" | "tokenRole">;

/** @typeParam Sent the events that the feature sends */
export interface FeatureRoom<Sent = object> {
  readonly name: string;
  /** Whether it is a room between two people, which has no moderators. */
  readonly isDirect: boolean;
  /** Milliseconds since 1970, as of the current input. */
  now(): number;

  // ---- people

  readonly everyone: Audience<Sent>;
  readonly moderators: Audience<Sent>;
  /** All connections of a user. */
  user(user: string): Audience<Sent>;
  /** All that are open. */
  connections(): Iterable<FeatureConnection>;
  /** Whether a user is in the room, a moment of absence allowed. */
  isHere(user: string): boolean;

  // ---- messages

  /** The oldest message that is kept has it; `lastSeq + 1` while there is none. */
  readonly firstSeq: number;
  /** The newest message has it; 0 while there is none. */
  readonly lastSeq: number;
  /** A message as it stands now, a deleted one, too. @returns `NOT_FOUND`, or `INTERNAL` where it cannot be read */
  findMessage(id: string): Message | ErrorAnswer;
  /** @param query exclusive bounds, at most one of them: without any, the newest. `limit`: 1 to 200 */
  history(query: {
    readonly before?: number;
    readonly after?: number;
    readonly limit: number;
  }): MessagePage | ErrorAnswer;
  /** Stores and shows the posts that wait for their batch: the next events come behind them. */
  finishPosts(): void;

  // ---- acting

  /**
   * Carries out the event of that name, by all rules of the room, as if this user had sent it over HTTP.
   * @returns the answer that the user would get
   */
  perform<Event extends keyof ClientToServerEvents>(
    event: Event,
    payload: Parameters<ClientToServerEvents[Event]>[0],
    as: Actor,
  ): Promise<AnswerTo<Event>>;

  // ---- keeping and waiting

  readonly state: FeatureState;
  /** To be called in `start`. @param name unique in the feature; it stands in the record of why a room woke */
  deadline(name: string, run: (nowMs: number) => void, options?: FeatureDeadlineOptions): FeatureDeadline;
  /** Has the room report to the lobby: the result of `facts` has changed. */
  factsChanged(): void;
  /** Writes to the operator's log. */
  report(problem: string, error: unknown): void;
}

/** Makes the room of a feature. `features` of a room's class gets it, and hands it to the constructors of the features. */
export interface RoomHandle {
  /** Called by the constructor of `RoomFeature`. */
  roomOf(feature: object): FeatureRoom<never>;
}

/** The user who sent an event, over a connection or over HTTP. */
export interface FeatureCaller {
  readonly user: string;
  readonly name: string;
  /** The role that counts in this room: by token or by grant. */
  readonly role: Role;
  /** The role of the token, by which the room ranks the user's decisions. */
  readonly tokenRole: Role;
  readonly isModerator: boolean;
  /** The one for whom a bounded list counts the user: the guests of one network are one. Ask `isFullFor` before you add an entry. */
  readonly party: Party;
  /** Absent where the event came over HTTP. */
  readonly connection?: FeatureConnection;
}
