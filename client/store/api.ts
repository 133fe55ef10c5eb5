// The store of a room as applications use it. createRoomStore makes one for a connected room; the hooks of client/react share one
// among components.
import type {
  ActionPayload,
  ErrorAnswer,
  Message,
  ModerationAction,
  SearchAnswer,
  SearchPayload,
} from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { Draft, Room, SendFailure, SendOptions, SentAnswer } from "../core/api.ts";
import type { AnswerOf, FeatureEvents, PayloadOf, SentEvents } from "../core/feature-events.ts";
import type { Clock } from "../core/clock.ts";
import type { Replies } from "./replies.ts";
import type { Abilities, OwnThreads, Person, RoomState, ThreadState } from "./state.ts";

/** The result of an action, which never rejects. `error.code` is the room's, `NO_ANSWER` or `NO_CONNECTION`. */
export type Outcome<Good extends object = object> = ({ readonly ok: true } & Good) | { readonly error: SendFailure };

/** A message by its `seq` or `id`, or the first one since a time. */
export type MessagePlace = number | string | Date;

export interface RoomStoreOptions {
  /** The part of the history that is loaded first: the newest messages, or those from the first unread one on. Default: `newest`. */
  readonly openAt?: "newest" | "unread";
  /**
   * Messages of an earlier visit, ascending by `seq`: they are the state while the first connection cannot be made, and the room's own replace
   * them.
   */
  readonly kept?: readonly Message[];
  /** Makes the small picture that is uploaded with a file of `addFiles`; `undefined` for a file that needs none. */
  readonly previewOf?: ((file: File) => Promise<Blob | undefined>) | undefined;
  /** Default: the device's. */
  readonly clock?: Clock;
}

/** Threads. The store asks the room for what is read here once, and keeps it up to date by events; it notifies subscribers of each change. */
export interface ThreadsApi {
  /**
   * The replies to a message that is loaded, as far as they are loaded, too: all of them where the loaded part of the history ends at the newest
   * message. Nothing is asked for. A component that shows `isPartial` says "2 or more".
   */
  repliesTo(id: string): Replies | undefined;
  /** A thread by the `id` of its first message: `threadOf` tells that of a reply. */
  of(id: string): ThreadState;
  /** Loads earlier replies of a thread, or, with a `problem`, the thread itself again. */
  load(id: string): Promise<void>;
  /** The user has seen the newest reply of a thread. */
  markRead(id: string): void;
  /** Whether the user wants to know what is new in a thread. Who writes in one does. */
  follow(id: string, on: boolean): Promise<Outcome>;
  /** The threads in which the user takes part, or which they follow. */
  readonly own: OwnThreads;
  /** Asks for them again, after a `problem`. */
  refresh(): Promise<void>;
}

/**
 * The state of one room, and everything that a user can do there.
 * @typeParam Own the events of features that the room has besides those of the chat
 */
export interface RoomStore<Own extends FeatureEvents = FeatureEvents> {
  /** The connected room, for everything that the store does not wrap. */
  readonly room: Room<Own>;

  // ---- the state ----

  /** Calls the listener after changes, once for several in the same turn. @returns a function that ends it */
  readonly subscribe: (listener: () => void) => () => void;
  /** The state as it is now; the same object until it changes. */
  readonly getSnapshot: () => RoomState<Own>;
  /** The time of the room in milliseconds since 1970, to which its timestamps and `Hold.untilMs` refer. */
  now(): number;

  // ---- messages ----

  /** As `Room.send`: the message is in the state at once, and the promise may be ignored. */
  send(content: string, options?: SendOptions): Promise<SentAnswer>;
  /** Sends a failed message again, also one that the outbox has forgotten since. */
  retry(failed: Draft): Promise<SentAnswer>;
  /** Forgets a message that waits or failed. @returns `false` if it is in flight, or unknown */
  discard(clientMsgId: string): boolean;
  edit(id: string, content: string): Promise<Outcome>;
  remove(id: string): Promise<Outcome>;
  react(id: string, emoji: string, on: boolean): Promise<Outcome>;
  /** As `Room.search`, and never rejects. */
  search(query: string | SearchPayload): Promise<Outcome<Extract<SearchAnswer, { readonly ok: true }>>>;
  /**
   * A message by its `id` as it is now, such as a quoted or a found one: `null` if it is deleted, `undefined` until it is known. One that is
   * not loaded is asked for, and subscribers hear of the answer. Keep ids and look messages up: a copy does not follow edits and deletions.
   */
  quoted(id: string): Message | null | undefined;
  /**
   * What the page at an address says of itself: `null` if there is no card, or the server has none at all, `undefined` until it is known. It is
   * asked for once, and subscribers hear of the answer. `linkIn` finds the address in a message.
   */
  linkCard(url: string): LinkCard | null | undefined;
  /** Messages with their replies. */
  readonly threads: ThreadsApi;
  /** The actions that the user may take on a message now. */
  abilitiesOf(message: Message): Abilities;
  /** Whether the user, a moderator, ranks above another one, as far as the list of members tells. */
  mayModerate(user: string): boolean;

  // ---- the user's place ----

  /** Loads the page before the first message. Does nothing while another one is loading, or where there is none. */
  loadEarlier(): Promise<void>;
  /** Likewise after the last message, where `hasLater`. */
  loadLater(): Promise<void>;
  /** Loads messages that were not shown, 100 at most, from the first of one of `messages.notShown` on. */
  loadNotShown(from: number): Promise<void>;
  /** Loads the newest messages, if they are not, and follows them. */
  showNewest(): Promise<void>;
  /** Loads the messages around that one, if it is not loaded, and makes it the `target`. */
  jumpTo(place: MessagePlace): Promise<Outcome<{ readonly message: Message }>>;
  /**
   * Tells whether the user looks at the newest messages, as at first. Then at most 1,000 stay loaded, and a gap that is too long
   * leaves out what came before it. Otherwise nothing that is loaded goes away. `true` has no effect where `hasLater`.
   */
  follow(following: boolean): void;
  /**
   * Tells whether the user sees messages as they come, as at first: `false` while the page or the list is out of view. Messages of others that
   * come meanwhile, or while the connection is lost, do not count as seen, and the user comes back to the first of them: `unreadAfter`, `news`
   * and `target` are as in a room that was just entered.
   */
  look(on: boolean): void;
  /**
   * The user has read the room up to there; the store tells the room at most once a second. @param seq default: the newest loaded message
   */
  markRead(seq?: number): void;
  /**
   * Marks that message and all after it as unread, on all devices of the user: `keptUnread` of `reading`. The store marks messages as read
   * again after the user writes, calls `showNewest`, enters the room again, or reads on another device.
   */
  markUnread(seq: number): Promise<Outcome>;
  /** As `Room.attend`: tells whether anybody looks at the room. With `all` again, what was missed is loaded, changes among it. */
  attend(to: "all" | "counts"): Promise<void>;
  /** Tells the room at once how far the user has read, for instance before the page goes away. */
  flush(): void;
  /** For each key, and with `false` for an emptied field; the store tells the room every three seconds. Sending ends it. */
  typing(on: boolean): void;

  // ---- people ----

  /** Members by a part of their name, also in a room too large to be listed. */
  findMembers(name: string): Promise<Outcome<{ readonly members: readonly Person[] }>>;
  /** For moderators. */
  moderate<Action extends ModerationAction>(action: Action, payload: ActionPayload<Action>): Promise<Outcome>;

  // ---- anything else ----

  /** Any event that has an answer, such as one of a feature of the room's own; never rejects. */
  ask<Event extends keyof SentEvents<Own>>(
    event: Event,
    payload: PayloadOf<SentEvents<Own>, Event>,
  ): Promise<Exclude<AnswerOf<SentEvents<Own>, Event>, ErrorAnswer> | { readonly error: SendFailure }>;

  /** Uploads files; each is in `uploads` until it is removed. */
  addFiles(files: Iterable<File>): void;
  /** Uploads a file that failed once more. */
  retryUpload(id: number): void;
  /** Takes a file off the list, and cancels its upload if it is under way. */
  removeUpload(id: number): void;
  clearUploads(): void;
  dismissProblem(): void;
  /** Tries to connect now: after `stopped`, or instead of waiting. */
  connect(): void;
  /** Leaves for good, as `Room.close`. The last state stays. */
  close(): void;
}
