// The view of one room on the screen, from joining to leaving: the room's store, the composer's state, and its events in words for the
// reader. The chat store creates it, components draw it; it does not know the document.
import {
  type Attachment,
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
  type SendOptions,
  speaksTo,
  type Upload,
} from "parley-rooms/client";

import { Actions } from "./actions.ts";
import { describeModeration } from "./describe-moderation.ts";
import type { LastRead } from "./last-read.ts";
import { TokenNeeded, type TokenSource } from "./reader-identity.ts";
import { bare, named } from "./names.ts";
import { People } from "./people.ts";
import { fitPhoto, notePicture, previewOf } from "./pictures.ts";
import { Pinned } from "./pinned.ts";
import { Reported } from "./reported.ts";
import { describeFailure } from "./room-answers.ts";
import { isDirect } from "./room-items.ts";
import { ConnectionDisplay, type ShownConnection } from "./shown-connection.ts";
import { Writing } from "./writing.ts";

/** How long the line about a moderator's action stays. */
const NEWS_MS = 15_000;

const OUT = "You are not in this room any more.";
const CLOSED = "You cannot write here.";
const BLOCKED: Readonly<Record<Blocked, string>> = {
  READER: "You may read here, but not write.",
  ROOM_READ_ONLY: "Only moderators may write here just now.",
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
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Reads an event aloud, for readers who cannot see the page. */
  readonly announce: (announcement: Announcement) => void;
  /** A message speaks to the reader. */
  readonly spoken?: (message: Message) => void;
}

/** What the reader chose, dropped or pasted. */
export interface Given {
  readonly files: Iterable<File>;
  /** The names of folders, which browsers give as files that cannot be read. */
  readonly folders?: readonly string[];
}

export class RoomView {
  /** The chat's address. */
  readonly base: string;
  readonly room: string;
  /** What sentences call it. */
  readonly kind: "room" | "conversation";
  readonly store: RoomStore;
  readonly people = new People(() => this.state.names);
  readonly actions: Actions;
  readonly writing: Writing;
  readonly pinned: Pinned;
  readonly reported: Reported;
  /** Long messages that the reader has opened, by `id`. */
  readonly opened = new Set<string>();
  /** Chosen files that are made ready for their upload. */
  fitting: readonly File[] = [];
  /** Uploads that had failed before the last message was sent: the reader knows that it went without them. */
  readonly #leftOut = new WeakSet<Upload>();
  /** The newest notice or error of the room, until the reader dismisses it. */
  notice = "";
  /** Whether the list of messages is before the reader's eyes. */
  isLookedAt = false;
  /** Whether the room is closed for good: a message would not be kept any more. */
  isOver = false;
  readonly #token: TokenSource;
  readonly #hooks: RoomViewHooks;
  readonly #display: ConnectionDisplay;
  #problem: Problem | undefined;
  /** The order in which the reader chose the files: a later one may arrive first. */
  readonly #places = new Map<string, number>();

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
    const save = (id: string, text: string): Promise<string> => this.actions.edit(id, this.people.withIds(text));
    this.writing = new Writing({ base, room, changed, save });
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

  /** Why nothing can be written here at all; empty when it can. */
  get blocked(): string {
    const { blocked } = this.state.me;
    return blocked ? BLOCKED[blocked] : "";
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
    const message = this.store.quoted(id);
    return message?.deleted ? null : message;
  }

  /** The words of a message for people, or the names of its files; empty for a deleted one. */
  wordsOf(id: string): string {
    const message = this.messageOf(id);
    return message ? this.people.withNames(message.content) || fileNamesOf(message) : "";
  }

  post(content: string, options?: SendOptions): void {
    for (const upload of this.state.uploads) this.#leftOut.add(upload);
    void this.store.send(this.people.withIds(content), options);
  }

  /** Whether the reader may attach files to what they write now. */
  get mayAttach(): boolean {
    const { canAttach, blocked } = this.state.me;
    return canAttach && !blocked && !this.isOver && !this.writing.edit;
  }

  attach({ files, folders = [] }: Given): void {
    if (!this.mayAttach) return this.show("Files cannot be attached here.");
    void this.add(files);
    const names = folders.map((name) => `“${bare(name)}”`).join(", ");
    if (folders.length === 1) this.show(`${names} is a folder. Attach the files in it instead.`);
    if (folders.length > 1) this.show(`${names} are folders. Attach the files in them instead.`);
  }

  /** Uploads files, large photos made smaller. If the room is over before they are ready, the next view of it goes on with them. */
  async add(files: Iterable<File>): Promise<void> {
    // At once: the list of an input is emptied.
    const chosen = Array.from(files);
    this.fitting = [...this.fitting, ...chosen];
    this.#hooks.changed();
    const fitted = await Promise.all(chosen.map(fitPhoto));
    if (this.isOver) return;
    this.fitting = this.fitting.filter((file) => !chosen.includes(file));
    this.store.addFiles(fitted);
    this.#hooks.changed();
  }

  /** Files of the message that is being written which the room has not got: it goes without them. */
  get refused(): readonly Upload[] {
    return this.state.uploads.filter((upload) => upload.error && !this.#leftOut.has(upload));
  }

  show(text: string): void {
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
    if ("ok" in outcome && outcome.message.deleted) this.show("That message was deleted.");
  }

  /** Shows all of a long message, from where the reader is in it. */
  open(id: string): void {
    this.opened.add(id);
    this.store.follow(false);
    this.#hooks.changed();
  }

  /** @returns the chosen files that the room has not got yet, for the next view of it */
  leave(): readonly File[] {
    const uploads = this.state.uploads.filter((upload) => !this.#leftOut.has(upload));
    const files = [...uploads.map(({ file }) => file), ...this.fitting];
    this.writing.close();
    this.#close();
    return files;
  }

  #close(): void {
    this.isOver = true;
    this.store.close();
  }

  #listen(room: Room): void {
    this.store.subscribe(() => this.#onChanged());
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => this.writing.setWriter(welcome));
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
      if (refused !== undefined) await this.#token.renew();
      const current = this.#token.current();
      const token = typeof current === "string" ? current : await current;
      const claims = claimsOf(token);
      if (claims) this.writing.setWriter(claims);
      return token;
    } catch (error) {
      // While it is being made, the room cannot be closed yet.
      await Promise.resolve();
      if (error instanceof TokenNeeded && !this.isOver) {
        // Unsent messages are kept until the reader comes back.
        this.#close();
        this.notice = "";
        this.#display.end(refused ?? "TOKEN_NEEDED", error.message);
        this.#hooks.changed();
      }
      throw error;
    }
  }

  #onChanged(): void {
    const { problem, uploads } = this.state;
    if (problem && problem !== this.#problem) this.notice = this.#describe(problem);
    this.#problem = problem;
    if (this.state.messages.isLoaded)
      this.writing.follow((id) => {
        const message = this.messageOf(id);
        return message && this.people.withNames(message.content);
      });
    for (const { id, attachment, preview } of uploads) {
      if (!attachment) continue;
      if (attachment.preview && preview) notePicture(attachment.preview, preview);
      this.#adopt(id, attachment);
    }
    this.#hooks.changed();
  }

  #describe(problem: Problem): string {
    const { what, code } = problem;
    const failure = describeFailure(problem);
    if (what === "room") return failure;
    if (what === "members") return `Members could not be loaded: ${failure}`;
    if (what === "jump" && code === "NOT_FOUND") return failure;
    if (what === "jump" && this.state.connection.state !== "connected")
      return "That message cannot be loaded without a connection.";
    return `Messages could not be loaded. ${failure}`;
  }

  /** @returns the id of the upload by which a file of the draft came; none if the draft had it when the page was loaded */
  uploadOf(key: string): number | undefined {
    return this.#places.get(key);
  }

  /** Takes the file of an upload out of the message: its button may be pressed after the upload has ended, and before that is drawn. */
  removeUpload(id: number): void {
    this.store.removeUpload(id);
    const ended = this.writing.files.find(({ key }) => this.uploadOf(key) === id);
    if (ended) this.writing.detach(ended.key);
  }

  /** An uploaded file becomes a part of the draft. */
  #adopt(id: number, attachment: Attachment): void {
    this.#places.set(attachment.key, id);
    this.store.removeUpload(id);
    const placeOf = ({ key }: Attachment): number => this.#places.get(key) ?? 0;
    this.writing.attach([...this.writing.files, attachment].sort((a, b) => placeOf(a) - placeOf(b)));
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
    if (state.state === "failed") this.#hooks.announce(`Message not sent. ${describeFailure(state.error)}`);
  }

  #onModeration(change: ModerationChange): void {
    const { action, user, by } = change;
    // They see it where they wrote it.
    if (action === "describe" && by === this.self) return;
    // The notice before the end of the connection tells the reader.
    if (user === this.self && (action === "kick" || action === "ban")) return;
    const text = describeModeration(change, (id) => (id === this.self ? "you" : named(this.people.nameOf(id))));
    this.#hooks.announce(text);
    this.show(text);
    setTimeout(() => this.notice === text && this.show(""), NEWS_MS);
  }
}
