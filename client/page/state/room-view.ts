// The view of one room on the screen, from joining to leaving: the room's store, the composer's state, and its events in words for the
// reader. The chat store creates it, components draw it; it does not know the document.
import {
  type Blocked,
  claimsOf,
  type Connection,
  connectRoom,
  createRoomStore,
  fileNamesOf,
  type Inheritance,
  type Message,
  type MessagePlace,
  type MessageState,
  type ModerationChange,
  type Problem,
  type RefusalCode,
  type Room,
  type RoomState,
  type RoomStore,
  speaksTo,
} from "parley-rooms/client";

import { Actions } from "./actions.ts";
import { Composing } from "./composing.ts";
import { describeModeration } from "./describe-moderation.ts";
import { phrase, t } from "./language.ts";
import type { LastRead } from "./last-read.ts";
import { TokenNeeded, type TokenSource } from "./reader-identity.ts";
import { named } from "./names.ts";
import { People } from "./people.ts";
import { previewOf } from "./pictures.ts";
import { Pinned } from "./pinned.ts";
import { Reported } from "./reported.ts";
import { describeFailure } from "./room-answers.ts";
import { isDirect } from "./room-items.ts";
import { ConnectionDisplay, type ShownConnection } from "./shown-connection.ts";
import type { Writing } from "./writing.ts";

/** How long the line about a moderator's action stays. */
const NEWS_MS = 15_000;

const OUT = phrase("You are not in this room any more.");
const CLOSED = phrase("You cannot write here.");
const BLOCKED: Readonly<Record<Blocked, string>> = {
  READER: phrase("You may read here, but not write."),
  ROOM_READ_ONLY: phrase("Only moderators may write here just now."),
  KICKED: OUT,
  ROOM_DELETED: OUT,
  BANNED: CLOSED,
  FORBIDDEN_ROOM: CLOSED,
};

/** A text, or a function that gives it as it is now; empty if there is nothing left to say. */
export type Announcement = string | (() => string);

export interface RoomViewHooks {
  /** Decides on unsent messages that another user wrote in this browser. */
  readonly inherit: (user: string) => Inheritance;
  /** The room has said who the reader is. An embedded chat does not keep that, with tokens of its own. */
  readonly welcomed?: (user: string) => void;
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Reads an event aloud, for readers who cannot see the page. */
  readonly announce: (announcement: Announcement) => void;
  /** Whether the page can show threads: an embedded chat does not. */
  readonly hasThreads: boolean;
  /** A message speaks to the reader. */
  readonly spoken?: (message: Message) => void;
}

/** Files by the thread in whose composer they were chosen; in the stream it is `undefined`. */
export type Unsent = ReadonlyArray<readonly [thread: string | undefined, files: readonly File[]]>;

export class RoomView {
  /** The chat's address. */
  readonly base: string;
  readonly room: string;
  /** What sentences call it. */
  readonly kind: "room" | "conversation";
  readonly store: RoomStore;
  readonly people = new People(() => this.state.names);
  readonly actions: Actions;
  /** What the reader writes in the stream. */
  readonly composing: Composing;
  readonly pinned: Pinned;
  readonly reported: Reported;
  /** Long messages that the reader has opened, by `id`. */
  readonly opened = new Set<string>();
  /** What they write in threads, by the `id` of the first message. */
  readonly #inThreads = new Map<string, Composing>();
  /** The newest notice or error of the room, until the reader dismisses it. */
  notice = "";
  /** Whether the list of messages is before the reader's eyes. */
  isLookedAt = false;
  /** A moment of the day that is before the reader's eyes; none where they follow the newest messages. */
  shownDay: number | undefined;
  /** Whether the room is closed for good: a message would not be kept any more. */
  isOver = false;
  readonly #token: TokenSource;
  readonly #hooks: RoomViewHooks;
  readonly #display: ConnectionDisplay;
  #problem: Problem | undefined;
  #noticeEnds: ReturnType<typeof setTimeout> | undefined;
  #writer: Parameters<Writing["setWriter"]> | undefined;
  /** The user as the last token says. */
  #claimed: string | undefined;
  readonly #newComposing: (thread?: string) => Composing;

  /** What the reader read here last, for a page that opens without a network. */
  readonly #last: LastRead | undefined;

  constructor(base: string, room: string, token: TokenSource, hooks: RoomViewHooks, last?: LastRead) {
    this.#last = last;
    this.base = base;
    this.room = room;
    this.kind = isDirect(room) ? "conversation" : "room";
    this.#token = token;
    this.#hooks = hooks;
    const changed = (): void => hooks.changed();
    this.#display = new ConnectionDisplay(changed);
    // Before the connection asks for a token, which names the writer.
    const { people } = this;
    const save = (id: string, text: string): Promise<string> => this.actions.edit(id, people.withIds(text));
    const show = (text: string): void => this.show(text);
    const ports = { base, room, people, store: () => this.store, changed, show, save, isOver: () => this.isOver };
    this.#newComposing = (thread) => new Composing(ports, thread);
    this.composing = this.#newComposing();
    const connected = connectRoom(base, room, {
      token: (refused) => this.#findToken(refused),
      inherit: (user) => hooks.inherit(user),
    });
    this.store = createRoomStore(connected, { openAt: "unread", previewOf, ...(last && { kept: last.messages }) });
    this.actions = new Actions({ store: this.store, failed: (text) => this.show(text) });
    this.pinned = new Pinned(this, hooks);
    this.reported = new Reported(this, hooks);
    this.#listen(connected);
    for (const unsent of connected.unsent) this.#onMessageState(unsent);
  }

  /** As it is now. */
  get state(): RoomState {
    return this.store.getSnapshot();
  }

  get connection(): ShownConnection {
    return this.#display.connection;
  }

  get self(): string {
    return this.state.me.user || (this.#last?.user ?? "");
  }

  /** When the messages on the screen were kept, if they are of an earlier visit. */
  get keptAt(): number | undefined {
    return this.#last && this.state.messages.stored === this.#last.messages ? this.#last.atMs : undefined;
  }

  /** The other one, in a room between two people. */
  get direct(): { readonly user: string; readonly name: string } | undefined {
    const { welcome, names } = this.state;
    const { direct } = welcome ?? {};
    // A name that came later than the welcome is newer.
    return direct && { user: direct.user, name: names.get(direct.user) ?? direct.name };
  }

  /** Whether the reader may set that text: moderators, and who makes a room (MOD-12). */
  mayDescribe(what: "name" | "topic"): boolean {
    const { me, modes, reading, welcome } = this.state;
    if (this.kind === "conversation" || !welcome) return false;
    return me.isModerator || (this.blocked === "" && reading.lastSeq === 0 && !modes[what]);
  }

  get writing(): Writing {
    return this.composing.writing;
  }

  /** What the reader writes in a thread. @param id of its first message */
  composingIn(id: string): Composing {
    const known = this.#inThreads.get(id);
    if (known) return known;
    const composing = this.#newComposing(id);
    this.#inThreads.set(id, composing);
    if (this.#writer) composing.writing.setWriter(...this.#writer);
    return composing;
  }

  get #composers(): readonly Composing[] {
    return [this.composing, ...this.#inThreads.values()];
  }

  #setWriter(...writer: Parameters<Writing["setWriter"]>): void {
    this.#writer = writer;
    for (const { writing } of this.#composers) writing.setWriter(...writer);
  }

  /** Whether the room answers questions about threads, and the page has a place for them. */
  get hasThreads(): boolean {
    return this.state.welcome?.threads === true && this.#hooks.hasThreads;
  }

  /** Why nothing can be written here at all; empty when it can. */
  get blocked(): string {
    const { blocked } = this.state.me;
    return blocked ? t(BLOCKED[blocked]) : "";
  }

  /** How many messages are on their way, failed ones not counted. */
  get pending(): number {
    return this.state.messages.outgoing.filter(({ state }) => state !== "failed").length;
  }

  /**
   * A message as it is now: `null` if it is deleted, `undefined` until it is known. The state of the page keeps ids of messages and looks them
   * up here each time, so that nothing that is open, announced or found keeps words that somebody edited or deleted.
   */
  messageOf(id: string): Message | null | undefined {
    return this.store.quoted(id);
  }

  /** The words of a message for people, or the names of its files; empty for a deleted one. */
  wordsOf(id: string): string {
    const message = this.messageOf(id);
    return message ? this.people.withNames(message.content) || fileNamesOf(message) : "";
  }

  /** @param forMs how long it stays, if nobody dismisses it */
  show(text: string, forMs?: number): void {
    // The same words may have been there a while ago.
    clearTimeout(this.#noticeEnds);
    if (forMs !== undefined) this.#noticeEnds = setTimeout(() => this.notice === text && this.show(""), forMs);
    this.notice = text;
    this.#hooks.changed();
  }

  /** @param on whether the reader sees messages as they come */
  look(on: boolean): void {
    this.store.look(on);
    if (on === this.isLookedAt) return;
    this.isLookedAt = on;
    this.#hooks.changed();
  }

  /** Shows a message of this room. */
  async jumpTo(place: MessagePlace): Promise<void> {
    const outcome = await this.store.jumpTo(place);
    if ("ok" in outcome && outcome.message.deleted) this.show(t("That message was deleted."));
  }

  /** Shows all of a long message, from where the reader is in it. */
  open(id: string): void {
    this.opened.add(id);
    this.store.follow(false);
    this.#hooks.changed();
  }

  /** @returns the chosen files that the room has not got yet, for the next view of it */
  leave(): Unsent {
    const unsent = this.#composers.map(({ thread, unsent }) => [thread, unsent] as const);
    for (const { writing } of this.#composers) writing.close();
    this.#close();
    return unsent;
  }

  /** Uploads what the view before it had not uploaded. */
  goOn(unsent: Unsent): void {
    for (const [thread, files] of unsent)
      void (thread === undefined ? this.composing : this.composingIn(thread)).add(files);
  }

  #close(): void {
    this.isOver = true;
    this.store.close();
  }

  #listen(room: Room): void {
    this.store.subscribe(() => this.#onChanged());
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => {
      this.#setWriter(welcome);
      this.#hooks.welcomed?.(welcome.user);
    });
    room.on("chat-message", (message) => this.#onMessage(message));
    room.on("message-state", (state) => this.#onMessageState(state));
    room.on("moderation", (change) => this.#onModeration(change));
    room.on("notice", (notice) => {
      // `TOKEN_EXPIRING` is not for the reader: the client fetches a fresh token. Other notices explain the end of the connection.
      if (notice.code === "SERVER_SHUTDOWN") this.show(describeFailure(notice));
    });
  }

  /** Replaces a refused token, or asks the reader for another one. */
  async #findToken(refused: RefusalCode | undefined): Promise<string> {
    try {
      if (refused !== undefined) await this.#token.renew(refused);
      const current = this.#token.current();
      const token = typeof current === "string" ? current : await current;
      const claims = claimsOf(token);
      // Of the same reader, the room may have said since who they are.
      if (claims && claims.user !== this.#claimed) this.#setWriter(claims, true);
      this.#claimed = claims?.user;
      return token;
    } catch (error) {
      // While it is being made, the room cannot be closed yet.
      await Promise.resolve();
      // What a connection began with keeps it until the room ends it, and then this is asked for again.
      const isConnected = this.state.connection.state === "connected";
      if (error instanceof TokenNeeded && !this.isOver && !isConnected) {
        // Unsent messages are kept until the reader comes back.
        this.#close();
        this.notice = "";
        this.#display.end(refused ?? "TOKEN_NEEDED", error.message, { isTokenNeeded: true });
        this.#hooks.changed();
      }
      throw error;
    }
  }

  #onChanged(): void {
    const { problem } = this.state;
    if (problem && problem !== this.#problem) this.notice = this.#describe(problem);
    this.#problem = problem;
    for (const composing of this.#composers) {
      if (this.state.messages.isLoaded)
        composing.writing.follow((id) => {
          const message = this.messageOf(id);
          return message && this.people.withNames(message.content);
        });
      composing.adopt();
    }
    this.#hooks.changed();
  }

  #describe(problem: Problem): string {
    const { what, code } = problem;
    const failure = describeFailure(problem);
    if (what === "room") return failure;
    if (what === "members") return t("Members could not be loaded: {reason}", { reason: failure });
    if (what === "jump" && code === "NOT_FOUND") return failure;
    if (what === "jump" && this.state.connection.state !== "connected")
      return t("That message cannot be loaded without a connection.");
    return `${t("Messages could not be loaded.")} ${failure}`;
  }

  #onConnection(connection: Connection): void {
    if (this.isOver) return;
    this.#display.follow(connection);
    // Past the end, the line about the connection has the reason.
    if (connection.state === "connected" || connection.state === "stopped") this.notice = "";
    this.#hooks.changed();
  }

  #onMessage(message: Message): void {
    // A message repeated after a break may have been deleted meanwhile.
    if (message.sender === this.self || message.deleted) return;
    this.#hooks.announce(() => {
      const said = this.wordsOf(message.id);
      return said && `${named(message.name)}: ${said}`;
    });
    if (speaksTo(this.state, message)) this.#hooks.spoken?.(message);
  }

  #onMessageState(state: MessageState): void {
    if (state.state === "failed") this.#hooks.announce(`${t("Message not sent.")} ${describeFailure(state.error)}`);
  }

  #onModeration(change: ModerationChange): void {
    const { action, user, by } = change;
    // They see it where they wrote it.
    if (action === "describe" && by === this.self) return;
    // The notice before the end of the connection tells the reader.
    if (user === this.self && (action === "kick" || action === "ban")) return;
    const text = describeModeration(change, (id) => named(this.people.nameOf(id)), this.self);
    this.#hooks.announce(text);
    this.show(text, NEWS_MS);
  }
}
