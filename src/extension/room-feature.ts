// The base class of custom features: events, fields of `welcome`, state and hooks, as the features of the chat have them.
// createParley and the room's class name them in `features`; src/chat/custom calls them. The room logs a hook that throws, and goes on.
import type { ErrorAnswer, Message } from "../protocol/chat-events.ts";
import type {
  EventName,
  FeatureCaller,
  FeatureChange,
  FeatureConnection,
  FeatureRoom,
  Newcomer,
  RoomHandle,
} from "./feature-room.ts";
import type { RoomEvent } from "./room-event.ts";

/** Registered for all copies of this module: a bundler may load one for the room and another for the features. */
const BRAND = Symbol.for("parley-rooms.RoomFeature");

/** A feature of any events. */
export type AnyFeature = RoomFeature<never>;

/** @typeParam Sent the events that it sends: `{ "event-name": (…args) => void }`; none by default */
export abstract class RoomFeature<Sent = object> {
  /** Unique among the features of a room: a lower-case letter, then up to 31 of `a-z 0-9 -`. Its stored data is found by it. */
  abstract readonly name: string;
  /** The events that clients may send, by name. */
  readonly events?: Readonly<Record<string, RoomEvent>>;
  /** All events that it sends. No other feature and no announcement may send events of these names. */
  readonly sends?: ReadonlyArray<EventName<Sent>>;
  protected readonly room: FeatureRoom<Sent>;

  /** @param room as `room` of the `Feature`, or `features` of the room's class, got it. The feature can send and wait from `start` on */
  constructor(room: RoomHandle) {
    Object.defineProperty(this, BRAND, { value: true });
    this.room = room.roomOf(this);
  }

  /** The room starts or wakes, before any connection is there: the place to make and set deadlines. */
  start?(): void;

  /**
   * Refuses a connection. Called when its token is checked, and again in the turn that lets it in, but for a shard only once.
   * @returns `refuse("FORBIDDEN" | "RATE_LIMITED" | "UNAVAILABLE", …)`, or nothing. If it throws, the connection is refused
   */
  admit?(newcomer: Newcomer): ErrorAnswer | undefined | void;

  /**
   * Refuses an event before it runs, any event of the chat and of features, except those that a shard answers itself (`typing`, `read`,
   * `attend`). `upload-file` stands for an upload. If it throws, the event is answered with `INTERNAL`.
   * @param payload what the caller sent, after its schema: `{ id, emoji, on }` of a `react`. In a room with `beforePost` a post or an edit
   * that it accepts is asked about again, with the content that it gave
   */
  refuse?(event: string, caller: FeatureCaller, payload: unknown): ErrorAnswer | undefined | void;

  /** A connection came, before its `welcome`. */
  onConnect?(connection: FeatureConnection): void | Promise<void>;

  /** Fields of the `welcome` of a connection, under names that no other feature uses. */
  welcome?(connection: FeatureConnection): object;

  /** A connection is still there after sleep: the place to rebuild state in memory. */
  onRestore?(connection: FeatureConnection): void | Promise<void>;

  /** A connection is gone. Its user may have others, or come back within seconds. After a crash it is not called. */
  onDisconnect?(connection: FeatureConnection): void | Promise<void>;

  /**
   * A user has left: `isHere` is false from now on. Called some seconds after the last connection closed, or at once if that was the last of the
   * room, or a ban or kick ended it; then `onDisconnect` may come later. After a crash it is not called: look in `start` what is left of users.
   */
  onLeave?(user: string): void | Promise<void>;

  /** Everyone has seen these messages. They are stored; in a busy room with durability `relaxed` they will be. */
  onPosted?(messages: readonly Message[]): void | Promise<void>;

  /** A change of a message is stored, and everyone has heard of it. */
  onChanged?(change: FeatureChange): void | Promise<void>;

  /** The room has dropped its oldest messages; also called once after a wake. @param firstSeq the oldest that is left */
  onTrimmed?(firstSeq: number): void | Promise<void>;

  /** The room is deleted, with all that the feature stored. */
  onErase?(): void;

  /**
   * Up to 8 numbers for the list of rooms that operators see, by name; those that are 0 are left out. Call `room.factsChanged()` when they
   * change. They are asked for with each report to the lobby, so that they cost nothing in between.
   */
  facts?(): Readonly<Record<string, number>>;
}

/** Whether something extends RoomFeature, of this copy of the module or another. */
export const isRoomFeature = (given: unknown): given is AnyFeature =>
  typeof given === "object" && given !== null && BRAND in given;
