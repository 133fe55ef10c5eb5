// One stay in one room, from joining to leaving: keeps what the page shows up to date with the room.
// The page starts it and draws it after each change; it knows nothing of the document.
import type {
  ErrorAnswer,
  HistoryAnswer,
  HistoryPayload,
  Message,
  PresenceChange,
  RefusalCode,
  Welcome,
} from "../../src/protocol/chat-events.ts";
import type { Attachment } from "../../src/protocol/files-events.ts";
import type { Connection as RoomConnection, MessageState, Room, SentAnswer } from "../api.ts";
import { connectRoom } from "../room.ts";
import { TokenNeeded } from "./identity.ts";
import { Roster } from "./roster.ts";
import { Timeline, type Outgoing } from "./timeline.ts";

/** Messages per history request. */
const HISTORY_LIMIT = 50;
/** Messages on the page while the reader follows the newest; older ones make room. */
const MESSAGES_KEPT_MAX = 1_000;

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "connected" }
  | { readonly kind: "offline" }
  /** `code` as in CONNECT_ERROR, empty where the server gave none. */
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** The room ended the connection, and trying again would not help. */
  | { readonly kind: "ended" };

interface TokenSource {
  readonly current: () => Promise<string> | string;
  /** Replaces a refused token; rejects with `TokenNeeded` when only the reader can. */
  readonly renew: () => Promise<unknown>;
}

/** What a browser takes at most to begin a download; until then the bytes have to be there. */
const SAVING_MS = 60_000;

interface Hooks {
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Something happened that a reader who cannot see the page should hear of. */
  readonly announce: (text: string) => void;
  /** The room refuses the token, and the server gives no other. */
  readonly tokenNeeded: () => void;
}

export class Visit {
  readonly room: string;
  readonly timeline = new Timeline();
  readonly roster = new Roster();
  connection: Connection = { kind: "connecting" };
  welcome: Welcome | undefined;
  /** The newest notice or error of the room, until the reader dismisses it. */
  notice = "";
  /** Whether the newest history has come. */
  loaded = false;
  loadingEarlier = false;
  /** Whether the reader looks at the newest messages; if not, nothing is taken away under their eyes. */
  following = true;
  readonly #connection: Room;
  readonly #token: TokenSource;
  readonly #hooks: Hooks;
  #left = false;

  constructor(origin: string, room: string, token: TokenSource, hooks: Hooks) {
    this.room = room;
    this.#token = token;
    this.#hooks = hooks;
    this.#connection = connectRoom(origin, room, { token: (refused) => this.#findToken(refused) });
    this.#listen(this.#connection);
    for (const unsent of this.#connection.unsent) this.#onMessageState(unsent);
  }

  post(content: string): void {
    void this.#connection.send(content);
  }

  retry(clientMsgId: string): void {
    void this.#connection.retry(clientMsgId);
  }

  discard(clientMsgId: string): void {
    this.#connection.discard(clientMsgId);
    this.timeline.discard(clientMsgId);
    this.#hooks.changed();
  }

  /** Gives a message's file to the reader, in their folder of downloads: no bytes of others are shown in this page. */
  async save({ key, name }: Attachment): Promise<void> {
    try {
      const url = URL.createObjectURL(await this.#connection.download({ key }));
      Object.assign(document.createElement("a"), { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), SAVING_MS);
    } catch (error) {
      this.#show(`The file could not be had: ${messageOf(error)}`);
    }
  }

  async loadEarlier(): Promise<void> {
    if (this.loadingEarlier) return;
    this.loadingEarlier = true;
    this.#hooks.changed();
    const oldest = this.timeline.messages[0];
    const page = await this.#fetchHistory(oldest ? { before: oldest.seq } : {});
    this.loadingEarlier = false;
    if (page) this.timeline.hasEarlier = page.hasMore;
    this.#hooks.changed();
  }

  dismissNotice(): void {
    this.notice = "";
    this.#hooks.changed();
  }

  /** After a refusal or an end that would otherwise be final. */
  reconnect(): void {
    this.#connection.connect();
  }

  leave(): void {
    this.#left = true;
    this.#connection.close();
  }

  #listen(room: Room): void {
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => this.#onWelcome(welcome));
    room.on("chat-message", (message) => this.#onMessage(message));
    room.on("message-state", (state) => this.#onMessageState(state));
    room.on("gap", () => void this.#catchUp());
    room.on("restart", () => this.#onRestart());
    room.on("presence", (change) => this.#onPresence(change));
    room.on("notice", ({ code, message, retryAfterMs }) => {
      // Not for the reader: once it has expired, a fresh one is fetched.
      if (code !== "TOKEN_EXPIRING") this.#show(describe(message, retryAfterMs));
    });
    room.on("error", ({ message, retryAfterMs }) => this.#show(describe(message, retryAfterMs)));
  }

  /** A refused token is replaced; who has no other is asked for one. */
  async #findToken(refused: RefusalCode | undefined): Promise<string> {
    try {
      if (refused !== undefined) await this.#token.renew();
    } catch (error) {
      if (error instanceof TokenNeeded && !this.#left) this.#hooks.tokenNeeded();
      throw error;
    }
    return this.#token.current();
  }

  #enter(connection: Connection): void {
    this.connection = connection;
    this.#hooks.changed();
  }

  #show(text: string): void {
    this.notice = text;
    this.#hooks.changed();
  }

  #onConnection(connection: RoomConnection): void {
    if (this.#left) return;
    switch (connection.state) {
      case "connecting":
        return this.#enter({ kind: "connecting" });
      case "connected":
        this.notice = "";
        return this.#enter({ kind: "connected" });
      case "waiting":
        return this.#enter({ kind: "offline" });
      case "stopped":
        if (connection.code === "ENDED") return this.#enter({ kind: "ended" });
        return this.#enter({ kind: "refused", code: connection.code, message: connection.message });
    }
  }

  #onWelcome(welcome: Welcome): void {
    this.welcome = welcome;
    this.roster.count = welcome.presence.count;
    this.#hooks.changed();
    void this.#refreshRoster();
    if (!this.loaded) void this.#loadNewest();
  }

  #onRestart(): void {
    this.timeline.restart();
    this.#hooks.changed();
  }

  #onMessage(message: Message): void {
    this.timeline.add(message, this.#self);
    if (this.following) this.timeline.keepNewest(MESSAGES_KEPT_MAX);
    // What comes again after a break may have been deleted meanwhile: then nothing is left to be told.
    const said = message.content || message.attachment?.name;
    if (message.sender !== this.#self && said) this.#hooks.announce(`${message.name}: ${said}`);
    this.#hooks.changed();
  }

  #onPresence(change: PresenceChange): void {
    if (!this.roster.change(change)) void this.#refreshRoster();
    this.#hooks.changed();
  }

  async #refreshRoster(): Promise<void> {
    const answer = await settled(this.#connection.presence());
    if ("error" in answer) return this.#showIfConnected("Members could not be loaded", answer);
    this.roster.replace(answer.members, answer.count);
    this.#hooks.changed();
  }

  async #loadNewest(): Promise<void> {
    const page = await this.#fetchHistory({});
    this.loaded = page !== undefined;
    // When it failed, "load earlier" is the way to ask again.
    this.timeline.hasEarlier = page?.hasMore ?? true;
    const newest = page?.messages.at(-1);
    if (newest) this.timeline.cover(newest.seq);
    this.#hooks.changed();
  }

  async #catchUp(): Promise<void> {
    let page: HistoryPage | undefined;
    do {
      page = await this.#fetchHistory({ after: this.timeline.through });
      const newest = page?.messages.at(-1);
      if (!newest) return;
      this.timeline.cover(newest.seq);
    } while (page?.hasMore);
  }

  /** Adds a page of history to the timeline; `undefined` when the room did not give it. */
  async #fetchHistory(range: HistoryPayload): Promise<HistoryPage | undefined> {
    const answer = await settled(this.#connection.history({ ...range, limit: HISTORY_LIMIT }));
    if ("error" in answer) {
      this.#showIfConnected("Messages could not be loaded", answer);
      return undefined;
    }
    for (const message of answer.messages) this.timeline.add(message, this.#self);
    this.#hooks.changed();
    return answer;
  }

  /** After a lost connection the next welcome asks again, so there is nothing to tell. */
  #showIfConnected(what: string, { error }: ErrorAnswer): void {
    if (this.#connection.socket.connected) this.#show(`${what}: ${describe(error.message, error.retryAfterMs)}`);
  }

  #onMessageState(state: MessageState): void {
    if (this.#left) return;
    const { clientMsgId, content } = state;
    switch (state.state) {
      case "pending":
        this.timeline.setOutgoing({ clientMsgId, content, failure: null });
        break;
      case "sent":
        this.#onSent(clientMsgId, content, state.answer);
        break;
      case "failed":
        this.#onSendFailure({ clientMsgId, content, failure: describe(state.error.message, state.error.retryAfterMs) });
        break;
      case "elsewhere":
        this.timeline.discard(clientMsgId);
    }
    this.#hooks.changed();
  }

  #onSent(clientMsgId: string, content: string, { id, seq, timestamp }: SentAnswer): void {
    const name = this.welcome?.name ?? this.#self;
    const message = { id, seq, timestamp, room: this.room, sender: this.#self, name, content, clientMsgId };
    this.timeline.confirm(message, this.#self);
  }

  #onSendFailure(outgoing: Outgoing): void {
    this.timeline.setOutgoing(outgoing);
    this.#hooks.announce(`Message not sent. ${outgoing.failure}`);
  }

  get #self(): string {
    return this.welcome?.user ?? "";
  }
}

type HistoryPage = Exclude<HistoryAnswer, ErrorAnswer>;

/** A lost connection or a timeout reads like an error answer, so that callers have one kind of failure. */
async function settled<Answer extends object>(answer: Promise<Answer>): Promise<Answer | ErrorAnswer> {
  try {
    return await answer;
  } catch (error) {
    return { error: { code: "INTERNAL", message: `No answer from the room (${messageOf(error)}).` } };
  }
}

function describe(message: string, retryAfterMs: number | undefined): string {
  if (retryAfterMs === undefined) return message;
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return `${sentence} Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} s.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
