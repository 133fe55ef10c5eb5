// The types of the client that applications see, besides those of src/protocol.
import type {
  Attachment,
  ErrorAnswer,
  HistoryAnswer,
  HistoryPayload,
  Message,
  PostAnswer,
  PresenceAnswer,
  RefusalCode,
  Role,
  SearchAnswer,
  SearchPayload,
  ServerToClientEvents,
  Welcome,
} from "../../src/protocol/chat-events.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import type { AnswerOf, FeatureEvents, PayloadOf, SentEvents } from "./feature-events.ts";

/**
 * A function is called again for each attempt to connect, with the room's reason for refusing its last token, if it did. When
 * it rejects, the client tries again later.
 */
export type Token = string | ((refused?: RefusalCode) => Promise<string> | string);

/** When the token is shown: `upgrade` is for servers with `AUTH_AT=upgrade`, whose refusals carry no reason. */
export type AuthAt = "connect" | "upgrade";

/** A room of a chat. */
export interface RoomPlace {
  /** The chat's address, such as `https://chat.example`, or `https://example.com/chat` where it is mounted at a path. */
  readonly url: string;
  readonly room: string;
}

export interface ConnectOptions {
  /** Default: none, for a server that knows its users by cookies, such as a Worker with an `authenticate` of its own. */
  readonly token?: Token;
  /** Default: `connect`. */
  readonly authAt?: AuthAt;
  /**
   * Where messages that are not sent yet outlive a reload. Default: `localStorage` in browsers, nothing elsewhere; `null`:
   * nothing.
   */
  readonly storage?: KeyValueStorage | null;
  /** Messages that wait while there is no connection, 50 by default; the oldest make room, and fail with `QUEUE_FULL`. */
  readonly queueLimit?: number;
  /** Decides on unsent messages that another user wrote in this browser. Default: they are left to that user. */
  readonly inherit?: (user: string) => Inheritance;
}

/**
 * `send`: they go out under the present user's name. `ask`: they come as `failed` with `OTHER_USER`, and go out with `retry`
 * only. `leave`: only their writer sees and sends them.
 */
export type Inheritance = "send" | "ask" | "leave";

/** The error of `connectDirect`: the server's own code, or `NO_ANSWER`. */
export interface DirectError extends Error {
  readonly code: string;
  readonly retryAfterMs?: number;
}

/** The part of the Web Storage API that the client uses, so that other stores can take its place. */
export interface KeyValueStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface SendOptions {
  /** The `id` of the message that this one answers. */
  readonly replyTo?: string;
  /** The same message under the same id is stored once. Default: a random one. */
  readonly clientMsgId?: string;
  /** A file that was uploaded; the content may be empty then. */
  readonly attachment?: Attachment;
  /** Several such files, in place of `attachment`; ten at most. */
  readonly attachments?: readonly Attachment[];
}

/** A `Blob` or `File`, in a project that has the types of neither browsers nor Node as far as one needs it. */
export type FileBytes = typeof globalThis extends { Blob: { prototype: infer Known } }
  ? Known
  : { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer>; text(): Promise<string> };

/** An `AbortSignal`, likewise. */
export type CallOff = typeof globalThis extends { AbortSignal: { prototype: infer Known } }
  ? Known
  : { readonly aborted: boolean };

export interface UploadProgress {
  /** Bytes. */
  readonly loaded: number;
  readonly total: number;
}

export interface UploadOptions {
  /** The name of the file. Default: that of a `File`. */
  readonly name?: string;
  /** A small picture of the file, for lists; uploaded before it, and left out if the server does not take it. */
  readonly preview?: FileBytes | undefined;
  /** Called while a browser sends bytes; once at the end where there is no `XMLHttpRequest`. */
  readonly onProgress?: (progress: UploadProgress) => void;
  /** Rejects with its reason. */
  readonly signal?: CallOff;
}

export interface DownloadOptions {
  readonly signal?: CallOff;
}

/** The error of `upload` and `download`. `code` as in the HTTP API, or `NO_ANSWER`, `UNREADABLE`, `CLOSED`. */
export interface FileError extends Error {
  readonly code: string;
  readonly retryAfterMs?: number;
}

/** The room's answer when it has stored a message. */
export type SentAnswer = Exclude<PostAnswer, ErrorAnswer>;

export interface SendFailure {
  /**
   * As in answers of the room, or one of the client's own: `QUEUE_FULL`, `EXPIRED`, `NO_ANSWER`, `UNCERTAIN`, `OTHER_USER`,
   * `ELSEWHERE`, `DISCARDED`, `CLOSED`.
   */
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** The error of `send`. */
export interface SendError extends Error {
  readonly code: string;
  readonly clientMsgId: string;
  readonly retryAfterMs?: number;
}

export interface Draft {
  readonly clientMsgId: string;
  readonly content: string;
  readonly replyTo?: string;
  /** Its file, or the first of several. */
  readonly attachment?: Attachment;
  /** All its files, if it has several. */
  readonly attachments?: readonly Attachment[];
}

export type MessageState = Draft &
  /** `error`: why the room put it off; it is tried again after `retryAfterMs`. */
  (
    | { readonly state: "pending"; readonly error?: SendFailure }
    | { readonly state: "sent"; readonly answer: SentAnswer }
    | { readonly state: "failed"; readonly error: SendFailure }
    /** Another tab of this browser has dealt with it, or another user wrote it. */
    | { readonly state: "elsewhere" }
  );

/** A message that is waiting, in flight or failed. */
export type Unsent = Extract<MessageState, { readonly state: "pending" | "failed" }>;

export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  /** The next attempt is due in `retryInMs`, or when the browser comes back online or into view. */
  | { readonly state: "waiting"; readonly retryInMs: number; readonly code?: string; readonly message: string }
  /** No further attempt without `connect()`. `code` as in CONNECT_ERROR or in the notice before the end. */
  | { readonly state: "stopped"; readonly code: string; readonly message: string };

/** Messages that are not handed on: `from` to `to`, both included. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  /**
   * `missing`: the server does not have them. `too many`: more than are fetched without being asked for, `history()` has
   * them. `not shown`: the room shows a crowd only so many in a second, `history()` has them. `unavailable`: the server did
   * not answer for them.
   */
  readonly reason: "missing" | "too many" | "not shown" | "unavailable";
}

/** Events of a `Room`. Any other event of the server comes as on the stock socket. */
export interface RoomEvents extends Omit<ServerToClientEvents, "announcement" | "not-shown"> {
  /** Each message exactly once, in the order of `seq`, beginning with the first one after the first connection. */
  "chat-message": (message: Message) => void;
  /** A message of this client changed its state. */
  "message-state": (state: MessageState) => void;
  connection: (connection: Connection) => void;
  gap: (gap: Gap) => void;
  /** The room was deleted and begun again, or a backup was restored: forget its messages, all that exist are delivered again. */
  restart: () => void;
  connect: () => void;
  connect_error: (error: Error & { readonly data?: unknown }) => void;
  disconnect: (reason: string) => void;
}

/** The stock `Socket` of socket.io-client, as far as it is described here; with its types at hand, cast it. */
export interface RoomSocket {
  readonly id?: string | undefined;
  readonly connected: boolean;
  readonly disconnected: boolean;
  readonly recovered: boolean;
  readonly active: boolean;
  on(event: string, listener: (...args: never[]) => void): unknown;
  once(event: string, listener: (...args: never[]) => void): unknown;
  off(event?: string, listener?: (...args: never[]) => void): unknown;
  onAny(listener: (event: string, ...args: unknown[]) => void): unknown;
  offAny(listener?: (event: string, ...args: unknown[]) => void): unknown;
  emit(event: string, ...args: unknown[]): unknown;
  emitWithAck(event: string, ...args: unknown[]): Promise<unknown>;
}

/** @typeParam Own the events of features that the room has besides those of the chat */
export interface Room<Own extends FeatureEvents = FeatureEvents> {
  readonly room: string;
  /** For everything that this interface does not wrap. Whether it connects is the room's business: see `connect` and `close`. */
  readonly socket: RoomSocket;
  readonly connection: Connection;
  /** The role in the newest token, unverified: a room may grant another one. `member` without a token. */
  readonly tokenRole: Role;
  /** Messages that are waiting, in flight or failed, those of an earlier page included. */
  readonly unsent: readonly Unsent[];
  /**
   * Posts a message as soon as there is a connection, behind those that wait already. Resolves when it is stored, rejects
   * with a `SendError` when it finally failed. The promise may be ignored: `message-state` reports all but `DISCARDED` and `CLOSED`.
   */
  send(content: string, options?: SendOptions): Promise<SentAnswer>;
  /**
   * Uploads a file, to be sent as `attachment` by the same user within an hour. Needs the network: nothing is queued.
   * Temporary failures are tried again, five times in all.
   */
  upload(file: FileBytes, options?: UploadOptions): Promise<Attachment>;
  /** A file of this room: for an image, make a URL of it with `URL.createObjectURL`. */
  download(attachment: Pick<Attachment, "key">, options?: DownloadOptions): Promise<FileBytes>;
  /**
   * What the page at an address says of itself, fetched by the server, while `welcome` has `linkCards`. Rejects with a `FileError`.
   * @returns nothing for an address without a card
   */
  linkCard(url: string): Promise<LinkCard | undefined>;
  /** The bytes at `picture` of a link card. */
  linkPicture(url: string, options?: DownloadOptions): Promise<FileBytes>;
  /**
   * Asks the room for an address that opens one file for an hour without a token, for players such as `<video src>`. Everyone who has the address
   * can read the file while this user may read it.
   */
  link(attachment: Pick<Attachment, "key">, options?: DownloadOptions): Promise<string>;
  /** Sends a failed message again, with the same `clientMsgId`. */
  retry(clientMsgId: string): Promise<SentAnswer>;
  /** Forgets a message that is waiting or failed. @returns false when it is in flight, or unknown */
  discard(clientMsgId: string): boolean;
  /** Fails all waiting messages, for instance after a kick, so that they are not sent days later. */
  giveUp(failure: SendFailure): void;
  /**
   * With `counts` the room sends `counts` every two seconds in place of messages and of what happens to them: for a page that nobody looks at, in a
   * large room. With `all` again, the messages that were missed are fetched (`too many` of them are a `gap`); `changes` has what happened to older
   * ones. Resolves once the room has answered, with `true` where messages may have been missed.
   */
  attend(to: "all" | "counts"): Promise<boolean>;
  /** Messages ascending by `seq`, without bounds the newest. Rejects after 10 s, or when the connection breaks. */
  history(range?: HistoryPayload): Promise<HistoryAnswer>;
  /**
   * Messages with all these words, the newest first; an object asks for more than words. While the answer `hasMore`, its
   * `before` goes on. Rejects after 10 s, or when the connection breaks.
   */
  search(query: string | SearchPayload): Promise<SearchAnswer>;
  presence(): Promise<PresenceAnswer>;
  /** Any event that has an answer. Rejects after 10 s, or when the connection breaks; without one it waits for the next, so long at most. */
  ask<Event extends keyof SentEvents<Own>>(
    event: Event,
    payload: PayloadOf<SentEvents<Own>, Event>,
  ): Promise<AnswerOf<SentEvents<Own>, Event>>;
  on<Event extends keyof HeardEvents<Own>>(event: Event, listener: HeardEvents<Own>[Event]): void;
  off<Event extends keyof HeardEvents<Own>>(event: Event, listener: HeardEvents<Own>[Event]): void;
  /** Tries to connect now: after `stopped`, or instead of waiting. */
  connect(): void;
  /**
   * Leaves for good. Promises of `send` reject with `CLOSED`, later ones too; stored messages are sent at the next
   * `connectRoom`.
   */
  close(): void;
}

/** All events that a client hears from a room with such features. */
export type HeardEvents<Own extends FeatureEvents> = Omit<RoomEvents, "welcome"> & {
  readonly welcome: (welcome: Welcome & Own["welcome"]) => void;
} & Own["heard"];
