// A chat room for applications: joins connection, outbox and ordered messages. Applications and the pages import it through
// client/entries/client.ts, or as /client.js (client.ts).
import type {
  Attachment,
  HistoryAnswer,
  HistoryPayload,
  PresenceAnswer,
  Role,
  SearchAnswer,
  SearchPayload,
} from "../../src/protocol/chat-events.ts";
import { attachmentsOf, withFiles } from "../../src/protocol/message.ts";
import type { LinkCard } from "../../src/protocol/schemas/link-card.ts";
import { isRoomName } from "../../src/protocol/room-name.ts";
import type {
  Connection,
  ConnectOptions,
  DownloadOptions,
  Draft,
  Room,
  RoomEvents,
  RoomPlace,
  SendError,
  SendFailure,
  SendOptions,
  SentAnswer,
  Unsent,
  UploadOptions,
} from "./api.ts";
import { SubscriptionLevel, type AttendTo } from "./subscription-level.ts";
import type { FeatureEvents } from "./feature-events.ts";
import { baseOf } from "./base.ts";
import { ask, fetchPage, post, type StockSocket } from "./requests.ts";
import { claimsOf } from "./claims.ts";
import { systemClock } from "./clock.ts";
import { RoomConnection } from "./connection.ts";
import { Files } from "./files.ts";
import { Listeners } from "./listeners.ts";
import { lookUpPosted } from "./posted-lookup.ts";
import { OrderedMessages, type FetchDone } from "./ordered-messages.ts";
import { defaultStorage, OutboxStorage } from "./outbox-storage.ts";
import { Outbox } from "./outbox.ts";
import { watchPage } from "./page-lifecycle.ts";
import { CLOSED, DISCARDED, ELSEWHERE } from "./send-failures.ts";
import { transfer } from "./transfer.ts";

export const QUEUE_LIMIT_DEFAULT = 50;

/** @throws RangeError for an address, a room name, an `authAt` or a `queueLimit` that is none */
export function connectRoom<Own extends FeatureEvents = FeatureEvents>(place: RoomPlace & ConnectOptions): Room<Own>;
/** @param url the chat's address, such as `https://chat.example`, or `https://example.com/chat` where it is mounted at a path */
export function connectRoom<Own extends FeatureEvents = FeatureEvents>(
  url: string,
  room: string,
  options?: ConnectOptions,
): Room<Own>;
export function connectRoom<Own extends FeatureEvents>(
  place: string | (RoomPlace & ConnectOptions),
  named?: string,
  given: ConnectOptions = {},
): Room<Own> {
  const { url, room, ...options } = typeof place === "string" ? { ...given, url: place, room: named } : place;
  const base = baseOf(url);
  if (room === undefined || !isRoomName(room)) throw new RangeError(`Not a room name: ${JSON.stringify(room)}`);
  const { queueLimit = QUEUE_LIMIT_DEFAULT, authAt = "connect" } = options;
  if (!["connect", "upgrade"].includes(authAt))
    throw new RangeError(`authAt must be connect or upgrade, not ${authAt}`);
  if (!Number.isInteger(queueLimit) || queueLimit < 0)
    throw new RangeError(`queueLimit must be a whole number, not ${queueLimit}`);
  // The room takes and sends more events than this module has types for.
  return new ConnectedRoom(base, room, options, queueLimit) as unknown as Room<Own>;
}

/** Events that are made here; all others are the socket's. */
type LocalEvents = Pick<RoomEvents, "chat-message" | "message-state" | "connection" | "gap" | "restart">;
const LOCAL_EVENTS = new Set<string>(["chat-message", "message-state", "connection", "gap", "restart"]);

interface Waiter {
  readonly resolve: (answer: SentAnswer) => void;
  readonly reject: (error: SendError) => void;
}

class ConnectedRoom implements Room {
  readonly room: string;
  readonly socket: StockSocket;
  readonly #connection: RoomConnection;
  readonly #outbox: Outbox;
  readonly #messages: OrderedMessages;
  readonly #files: Files;
  readonly #subscription: SubscriptionLevel;
  readonly #listeners = new Listeners<{ [Event in keyof LocalEvents]: Parameters<LocalEvents[Event]> }>();
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #unwatch: () => void;
  #tokenRole: Role = "member";
  /** Characters, from the welcome. */
  #maxContentLength: number | undefined;
  #isClosed = false;

  constructor(
    base: string,
    room: string,
    { token, authAt = "connect", storage = defaultStorage(), inherit = () => "leave" }: ConnectOptions,
    queueLimit: number,
  ) {
    this.room = room;
    this.#connection = new RoomConnection({
      base,
      room,
      token,
      authAt,
      changed: (connection) => this.#listeners.emit("connection", connection),
      // Until the welcome, new messages belong to the user of the token.
      dialling: (token) => {
        const claims = claimsOf(token);
        if (!claims) return;
        this.#tokenRole = claims.role as Role;
        this.#outbox.expect(claims.user);
      },
    });
    this.socket = this.#connection.socket;
    const shared = { clock: systemClock, random: Math.random };
    const fetch = (after: number, limit: number, done: FetchDone): void =>
      void fetchPage(this.socket, after, limit, done);
    this.#messages = new OrderedMessages({
      ...shared,
      fetch,
      deliver: (message) => this.#listeners.emit("chat-message", message),
      skipped: (gap) => this.#listeners.emit("gap", gap),
      restarted: () => this.#listeners.emit("restart"),
    });
    this.#subscription = new SubscriptionLevel({
      ask: (to) => ask(this.socket, "attend", { to }),
      isConnected: () => this.connection.state === "connected",
      reach: (lastSeq) => this.#messages.reach(lastSeq),
    });
    this.#outbox = new Outbox({
      ...shared,
      queueLimit,
      inherit,
      storage: new OutboxStorage(storage ?? undefined, base, room),
      post: (payload, done) => void post(this.socket, payload, this.#maxContentLength, done),
      lookUp: (user, message, done) => lookUpPosted(fetch, user, message, done),
      lastSeq: () => this.#messages.through,
      report: (state) => {
        const { clientMsgId } = state;
        if (state.state === "sent") for (const { resolve } of this.#takeWaiters(clientMsgId)) resolve(state.answer);
        if (state.state === "failed") this.#reject(clientMsgId, state.error);
        if (state.state === "elsewhere") this.#reject(clientMsgId, ELSEWHERE);
        this.#listeners.emit("message-state", state);
      },
    });
    this.#files = new Files({
      ...shared,
      base,
      room,
      token: async (refused) => (typeof token === "function" ? token(refused) : token),
      hasTokenFunction: typeof token === "function",
      transfer,
    });
    this.socket.on("welcome", ({ lastSeq, lastId, user, settings, epoch }) => {
      this.#maxContentLength = settings.maxContentLength;
      this.#messages.welcome(lastSeq, epoch, lastId);
      this.#outbox.open(user, settings.durability);
      this.#subscription.heard("all");
    });
    this.socket.on("counts", () => this.#subscription.heard("counts"));
    this.socket.on("not-shown", (messages) => this.#messages.notShown(messages));
    this.socket.on("chat-message", (message) => {
      this.#outbox.seen(message);
      this.#messages.receive(message);
    });
    this.socket.on("disconnect", () => this.#lost());
    this.#unwatch = watchPage(this.#connection);
    this.#connection.connect();
  }

  get connection(): Connection {
    return this.#connection.state;
  }

  get tokenRole(): Role {
    return this.#tokenRole;
  }

  get unsent(): readonly Unsent[] {
    return this.#outbox.unsent;
  }

  send(content: string, options: SendOptions = {}): Promise<SentAnswer> {
    const { replyTo, clientMsgId = newMessageId() } = options;
    if (typeof content !== "string") throw new TypeError(`content must be a string, not ${typeof content}`);
    return this.#post({
      clientMsgId,
      content,
      ...(replyTo !== undefined && { replyTo }),
      ...withFiles(attachmentsOf(options)),
    });
  }

  upload(file: Blob, options?: UploadOptions): Promise<Attachment> {
    return this.#files.upload(file, options);
  }

  download({ key }: Pick<Attachment, "key">, options?: DownloadOptions): Promise<Blob> {
    return this.#files.download(key, options);
  }

  linkCard(url: string): Promise<LinkCard | undefined> {
    return this.#files.linkCard(url);
  }

  linkPicture(url: string, options?: DownloadOptions): Promise<Blob> {
    return this.#files.linkPicture(url, options);
  }

  link({ key }: Pick<Attachment, "key">, options?: DownloadOptions): Promise<string> {
    return this.#files.link(key, options);
  }

  retry(clientMsgId: string): Promise<SentAnswer> {
    const failed = this.#outbox.failed(clientMsgId);
    if (!failed) throw new RangeError(`No failed message has the clientMsgId ${JSON.stringify(clientMsgId)}`);
    return this.#post(failed);
  }

  discard(clientMsgId: string): boolean {
    const isForgotten = this.#outbox.discard(clientMsgId);
    if (isForgotten) this.#reject(clientMsgId, DISCARDED);
    return isForgotten;
  }

  giveUp(failure: SendFailure): void {
    this.#outbox.giveUp(failure);
  }

  attend(to: AttendTo): Promise<boolean> {
    this.#messages.isAway = to === "counts";
    return this.#subscription.attend(to);
  }

  history(range: HistoryPayload = {}): Promise<HistoryAnswer> {
    return ask(this.socket, "history", range);
  }

  search(query: string | SearchPayload): Promise<SearchAnswer> {
    return ask(this.socket, "search", typeof query === "string" ? { query } : query);
  }

  presence(): Promise<PresenceAnswer> {
    return ask(this.socket, "presence", {});
  }

  ask: Room["ask"] = (event, payload) => ask(this.socket, event, payload as never) as Promise<never>;

  on<Event extends keyof RoomEvents>(event: Event, listener: RoomEvents[Event]): void {
    // The overloads of neither side can see that a generic event and its listener belong together.
    if (LOCAL_EVENTS.has(event)) this.#listeners.on(event as keyof LocalEvents, listener as never);
    else this.socket.on(event as "welcome", listener as never);
  }

  off<Event extends keyof RoomEvents>(event: Event, listener: RoomEvents[Event]): void {
    if (LOCAL_EVENTS.has(event)) this.#listeners.off(event as keyof LocalEvents, listener as never);
    else this.socket.off(event as "welcome", listener as never);
  }

  connect(): void {
    if (!this.#isClosed) this.#connection.connect();
  }

  close(): void {
    this.#isClosed = true;
    this.#unwatch();
    this.#connection.close();
    this.#files.close();
    this.#lost();
    for (const clientMsgId of this.#waiters.keys()) this.#reject(clientMsgId, CLOSED);
  }

  #lost(): void {
    this.#messages.lost();
    this.#outbox.lost();
  }

  #post(draft: Draft): Promise<SentAnswer> {
    const sent = new Promise<SentAnswer>((resolve, reject) => {
      const waiters = this.#waiters.get(draft.clientMsgId) ?? [];
      this.#waiters.set(draft.clientMsgId, [...waiters, { resolve, reject }]);
    });
    // An application that ignores the promise hears of a failure by `message-state`.
    sent.catch(() => {});
    if (this.#isClosed) this.#reject(draft.clientMsgId, CLOSED);
    else this.#outbox.add(draft);
    return sent;
  }

  #reject(clientMsgId: string, failure: SendFailure): void {
    for (const { reject } of this.#takeWaiters(clientMsgId))
      reject(Object.assign(new Error(failure.message), failure, { clientMsgId }));
  }

  #takeWaiters(clientMsgId: string): readonly Waiter[] {
    const waiters = this.#waiters.get(clientMsgId) ?? [];
    this.#waiters.delete(clientMsgId);
    return waiters;
  }
}

/** At most 64 characters, never the same twice. */
function newMessageId(): string {
  // Not `randomUUID`: outside secure contexts (http:// on a local network) browsers have none.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
