// The state of one room on the screen, from joining to leaving: follows the room's events and carries out the reader's actions. The
// chat store creates it, components draw it; it does not know the document.
import type {
  Message,
  ModerationChange,
  RefusalCode,
  Role,
  RoomModes,
  Welcome,
} from "../../../src/protocol/chat-events.ts";
import type { Connection, Inheritance, MessageState, Room, SendOptions } from "../../core/api.ts";
import { claimsOf } from "../../core/claims.ts";
import { draftOf } from "../../core/outbox-storage.ts";
import { connectRoom } from "../../core/room.ts";
import { Presence } from "./presence.ts";
import { Actions } from "./actions.ts";
import { describeModeration } from "./describe-moderation.ts";
import { History } from "./history.ts";
import { Cooldown, RoomClock } from "./cooldown.ts";
import { TokenNeeded, type TokenSource } from "./reader-identity.ts";
import { named } from "./names.ts";
import { People } from "./people.ts";
import { Reading } from "./reading.ts";
import { describeFailure } from "./room-answers.ts";
import { Signals } from "./signals.ts";
import { ConnectionDisplay, endOf, type ShownConnection } from "./shown-connection.ts";
import { Timeline, type Outgoing } from "./timeline.ts";
import { Uploads } from "./uploads.ts";
import { Writing } from "./writing.ts";

/** How long the line about a moderator's action stays. */
const NEWS_MS = 15_000;

export interface RoomViewHooks {
  /** Decides on unsent messages that another user wrote in this browser. */
  readonly inherit: (user: string) => Inheritance;
  /** Something that is shown has changed. */
  readonly changed: () => void;
  /** Reads an event aloud, for readers who cannot see the page. */
  readonly announce: (text: string) => void;
}

export class RoomView {
  readonly room: string;
  readonly timeline = new Timeline();
  readonly people = new People();
  readonly presence: Presence;
  readonly history: History;
  readonly actions: Actions;
  readonly signals: Signals;
  readonly reading: Reading;
  readonly writing: Writing;
  readonly uploads: Uploads;
  readonly clock = new RoomClock();
  readonly cooldown = new Cooldown(this.clock);
  welcome: Welcome | undefined;
  role: Role = "member";
  modes: RoomModes = { slowModeSeconds: 0, readOnly: false };
  /** The newest notice or error of the room, until the reader dismisses it. */
  notice = "";
  /** Whether the room is closed for good: a message would not be kept any more. */
  isOver = false;
  readonly #room: Room;
  readonly #token: TokenSource;
  readonly #hooks: RoomViewHooks;
  readonly #display: ConnectionDisplay;
  #tokenNow = "";

  constructor(base: string, room: string, token: TokenSource, hooks: RoomViewHooks) {
    this.room = room;
    this.#token = token;
    this.#hooks = hooks;
    const changed = (): void => hooks.changed();
    this.#display = new ConnectionDisplay(changed);
    const save = (id: string, text: string): Promise<string> => this.actions.edit(id, this.people.withIds(text));
    this.writing = new Writing({ base, room, changed, save });
    this.#room = connectRoom(base, room, {
      token: (refused) => this.#findToken(refused),
      inherit: (user) => hooks.inherit(user),
    });
    const failed = (text: string): void => this.show(text);
    const { timeline, people } = this;
    const ports = { room: this.#room, timeline, people, self: () => this.self, changed, failed };
    this.presence = new Presence(ports);
    this.history = new History(ports);
    this.actions = new Actions(ports);
    this.signals = new Signals(this.#room);
    this.reading = new Reading({ ...ports, history: this.history, signals: this.signals });
    const upload: Room["upload"] = (file, options) => this.#room.upload(file, options);
    const rules = () => (this.welcome ? this.welcome.files : null);
    this.uploads = new Uploads({ upload, writing: this.writing, rules, changed });
    this.#listen(this.#room);
    for (const unsent of this.#room.unsent) this.#onMessageState(unsent);
  }

  get connection(): ShownConnection {
    return this.#display.connection;
  }

  get self(): string {
    return this.welcome?.user ?? "";
  }

  get isModerator(): boolean {
    return this.role === "moderator" || this.role === "service";
  }

  /** Why nothing can be written here at all; empty when it can. */
  get blocked(): string {
    const end = endOf(this.connection);
    if (end !== "") return end;
    if (this.role === "reader") return "You may read here, but not write.";
    if (this.modes.readOnly && !this.isModerator) return "Only moderators may write here just now.";
    return "";
  }

  async post(content: string, options: SendOptions = {}): Promise<void> {
    this.signals.typing(false);
    // First of all, so that the message is kept from here on.
    void this.#room.send(this.people.withIds(content), options);
    await this.reading.wrote();
  }

  /** Sends a failed message again, also one that the outbox has forgotten since. */
  retry(outgoing: Outgoing): void {
    const { content, ...options } = draftOf(outgoing);
    void this.#room.send(content, options);
  }

  discard(clientMsgId: string): void {
    this.#room.discard(clientMsgId);
    this.timeline.discard(clientMsgId);
    this.#hooks.changed();
  }

  download: Room["download"] = (attachment, options) => this.#room.download(attachment, options);
  search: Room["search"] = async (query) => {
    const answer = await this.#room.search(query);
    if ("ok" in answer) this.people.noteAuthors(answer.messages);
    return answer;
  };

  show(text: string): void {
    this.notice = text;
    this.#hooks.changed();
  }

  /** After a refusal or an end that would otherwise be final, or instead of waiting. */
  reconnect(): void {
    this.#room.connect();
  }

  leave(): void {
    this.writing.close();
    this.#close();
  }

  #close(): void {
    this.isOver = true;
    this.signals.close();
    this.#room.close();
  }

  #listen(room: Room): void {
    const onEdit = (change: { readonly id: string; readonly rev: number }, apply: () => void): void => {
      apply();
      this.history.changed(change);
      this.#hooks.changed();
    };
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => this.#onWelcome(welcome));
    room.on("chat-message", (message) => this.#onMessage(message));
    room.on("message-state", (state) => this.#onMessageState(state));
    room.on("message-edited", (edited) => onEdit(edited, () => this.timeline.edit(edited)));
    room.on("message-deleted", (deleted) => onEdit(deleted, () => this.timeline.remove(deleted)));
    room.on("reaction", (reaction) => onEdit(reaction, () => this.timeline.react(reaction)));
    room.on("moderation", (change) => this.#onModeration(change));
    room.on("gap", (gap) => {
      this.timeline.leaveOut(gap, this.reading.following);
      this.#hooks.changed();
    });
    room.on("restart", () => {
      this.reading.restart();
      this.presence.restart();
      this.#hooks.changed();
    });
    room.on("notice", (notice) => {
      // `TOKEN_EXPIRING` is not for the reader: the client fetches a fresh token. Other notices explain the end of the connection.
      if (notice.code === "SERVER_SHUTDOWN") this.show(describeFailure(notice));
    });
    room.on("error", (error) => this.show(describeFailure(error)));
  }

  /** Replaces a refused token, or asks the reader for another one. */
  async #findToken(refused: RefusalCode | undefined): Promise<string> {
    try {
      if (refused !== undefined) await this.#token.renew();
      const token = this.#token.current();
      this.#tokenNow = typeof token === "string" ? token : await token;
      const claims = claimsOf(this.#tokenNow);
      if (claims) this.writing.setWriter(claims);
      return this.#tokenNow;
    } catch (error) {
      // While it is being made, the room cannot be closed yet.
      await Promise.resolve();
      if (error instanceof TokenNeeded && !this.isOver) {
        // Unsent messages are kept until the reader comes back.
        this.#close();
        this.#display.end(refused ?? "TOKEN_NEEDED", error.message);
        this.#hooks.changed();
      }
      throw error;
    }
  }

  #onConnection(connection: Connection): void {
    if (this.isOver) return;
    this.#display.follow(connection);
    if (connection.state === "connected") this.notice = "";
    else this.presence.lost();
    // After an end that people decided, a waiting message could go out days later.
    if (connection.state === "stopped" && endOf(this.connection) !== "") this.#room.giveUp(connection);
    this.#hooks.changed();
  }

  #onWelcome(welcome: Welcome): void {
    const isFirst = this.welcome === undefined;
    this.welcome = welcome;
    this.role = welcome.role;
    this.modes = welcome.moderation ?? this.modes;
    this.clock.set(welcome.now);
    const { mutedUntil } = welcome.moderation ?? {};
    if (mutedUntil === undefined) this.cooldown.lift();
    else this.cooldown.mute(mutedUntil);
    this.writing.setWriter(welcome);
    this.people.note(welcome);
    this.signals.welcome(welcome.readSeq ?? 0);
    this.uploads.welcome();
    this.#hooks.changed();
    this.presence.welcome(welcome);
    void this.reading.welcome(welcome, isFirst);
  }

  #onMessage(message: Message): void {
    this.people.note({ user: message.sender, name: message.name });
    this.timeline.add(message, this.self);
    const isOwn = message.sender === this.self;
    this.reading.arrived(isOwn);
    // A message repeated after a break may have been deleted meanwhile: do not announce it.
    const said = this.people.withNames(message.content) || message.attachment?.name;
    if (!isOwn && said) this.#hooks.announce(`${named(message.name)}: ${said}`);
    this.#hooks.changed();
  }

  #onModeration(change: ModerationChange): void {
    const { action, user, until, seconds, on, role } = change;
    if (action === "slow-mode") this.modes = { ...this.modes, slowModeSeconds: seconds ?? 0 };
    if (action === "read-only") this.modes = { ...this.modes, readOnly: on === true };
    if (user === this.self) {
      if (action === "mute") this.cooldown.mute(until);
      if (action === "unmute") this.cooldown.lift();
      if (action === "grant" && role) this.role = role;
      // The role in the token counts again (MOD-9).
      if (action === "revoke") this.role = (claimsOf(this.#tokenNow)?.role ?? "member") as Role;
    }
    if (action === "grant" || action === "revoke") void this.presence.refreshRoster();
    // The notice before the end of the connection tells the reader.
    if (user === this.self && (action === "kick" || action === "ban")) return;
    const text = describeModeration(change, (id) => (id === this.self ? "you" : named(this.people.nameOf(id))));
    this.#hooks.announce(text);
    this.show(text);
    setTimeout(() => this.notice === text && this.show(""), NEWS_MS);
  }

  #onMessageState(state: MessageState): void {
    if (this.isOver) return;
    const draft = draftOf(state);
    switch (state.state) {
      case "pending":
        this.timeline.setOutgoing({ ...draft, failure: null });
        if (state.error) this.cooldown.refused(state.error);
        break;
      case "sent": {
        const { id, seq, timestamp } = state.answer;
        this.cooldown.sent(timestamp, this.isModerator ? 0 : this.modes.slowModeSeconds);
        const { self, room } = this;
        const name = this.welcome?.name ?? self;
        this.timeline.confirm({ id, seq, timestamp, room, sender: self, name, ...draft }, self);
        break;
      }
      case "failed": {
        const failure = describeFailure(state.error);
        this.timeline.setOutgoing({ ...draft, failure, isForeign: state.error.code === "OTHER_USER" });
        this.cooldown.refused(state.error);
        this.#hooks.announce(`Message not sent. ${failure}`);
        break;
      }
      case "elsewhere":
        this.timeline.discard(draft.clientMsgId);
    }
    this.#hooks.changed();
  }
}
