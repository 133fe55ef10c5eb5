// The page's view of one room, from joining to leaving: keeps the shown state up to date with the room and carries out the
// reader's actions. The session creates it, components draw it; it does not know the document.
import type {
  Attachment,
  Message,
  ModerationChange,
  RefusalCode,
  Role,
  RoomModes,
  Welcome,
} from "../../../src/protocol/chat-events.ts";
import type { Connection as RoomConnection, Gap, MessageState, Room, SendOptions, SentAnswer } from "../../core/api.ts";
import { claimsOf } from "../../core/claims.ts";
import { draftOf } from "../../core/outbox-storage.ts";
import { connectRoom } from "../../core/room.ts";
import { Presence } from "./presence.ts";
import { Actions } from "./actions.ts";
import { describeModeration } from "./describe-moderation.ts";
import { History } from "./history.ts";
import { Cooldown, RoomClock } from "./cooldown.ts";
import { inheritanceOf, TokenNeeded } from "./identity.ts";
import { withIds, withNames } from "./mentions.ts";
import { named } from "./names.ts";
import { People } from "./people.ts";
import { Reading } from "./reading.ts";
import { describeFailure } from "./room-answers.ts";
import { Signals } from "./signals.ts";
import { ConnectionState } from "./connection-state.ts";
import { endOf } from "./connection-text.ts";
import { Timeline, type Outgoing } from "./timeline.ts";
import type { Connection, TokenSource, RoomViewHooks } from "./room-view-ports.ts";
import { Uploads } from "./uploads.ts";
import { Writing } from "./writing.ts";

/** How long news of moderators stay. */
const NEWS_MS = 15_000;

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
  readonly #room: Room;
  readonly #token: TokenSource;
  readonly #hooks: RoomViewHooks;
  readonly #connectionState: ConnectionState;
  #tokenNow = "";
  #left = false;

  constructor(origin: string, room: string, token: TokenSource, hooks: RoomViewHooks) {
    this.room = room;
    this.#token = token;
    this.#hooks = hooks;
    const changed = (): void => hooks.changed();
    this.#connectionState = new ConnectionState(changed);
    const save = (id: string, text: string): Promise<string> => this.actions.edit(id, this.withIds(text));
    this.writing = new Writing({ origin, room, changed, save });
    this.#room = connectRoom(origin, room, { token: (refused) => this.#findToken(refused), inherit: inheritanceOf });
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

  get connection(): Connection {
    return this.#connectionState.connection;
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

  /** The known name of a user. */
  nameOf(user: string): string {
    return this.people.nameOf(user);
  }

  /** What is written here as the room reads it, and the other way round: people are called by their names here. */
  withIds = (text: string): string => withIds(text, this.people.labels);
  withNames = (content: string): string => withNames(content, (user) => this.people.labelOf(user));

  /** Whether the room is closed for good: nothing that is said any more would be kept. */
  get isOver(): boolean {
    return this.#left;
  }

  async post(content: string, options: SendOptions = {}): Promise<void> {
    this.signals.typing(false);
    // First of all: from here on it is kept.
    void this.#room.send(this.withIds(content), options);
    await this.reading.wrote();
  }

  /** Also where so much has failed since that the room has forgotten it. */
  retry({ clientMsgId, content, replyTo, attachment }: Outgoing): void {
    const options = { ...(replyTo !== undefined && { replyTo }), ...(attachment && { attachment }) };
    void this.#room.send(content, { clientMsgId, ...options });
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
    this.#stop();
  }

  #stop(): void {
    this.#left = true;
    this.signals.close();
    this.#room.close();
  }

  #listen(room: Room): void {
    const changing =
      <Args extends unknown[]>(act: (...args: Args) => void) =>
      (...args: Args): void => {
        act(...args);
        this.#hooks.changed();
      };
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => this.#onWelcome(welcome));
    room.on("chat-message", (message) => this.#onMessage(message));
    room.on("message-state", (state) => this.#onMessageState(state));
    room.on(
      "message-edited",
      changing((edited) => this.#onChange(edited, () => this.timeline.edit(edited))),
    );
    room.on(
      "message-deleted",
      changing((deleted) => this.#onChange(deleted, () => this.timeline.remove(deleted))),
    );
    room.on(
      "reaction",
      changing((reaction) => this.#onChange(reaction, () => this.timeline.react(reaction))),
    );
    room.on("moderation", (change) => this.#onModeration(change));
    room.on(
      "gap",
      changing((gap: Gap) => this.reading.leaveOut(gap)),
    );
    room.on(
      "restart",
      changing(() => this.#restart()),
    );
    room.on("notice", ({ code, message, retryAfterMs }) => {
      // Not for the reader: once it has expired, a fresh one is fetched. The others tell why the connection ends.
      if (code === "SERVER_SHUTDOWN")
        this.show(describeFailure({ code, message, ...(retryAfterMs && { retryAfterMs }) }));
    });
    room.on("error", (error) => this.show(describeFailure(error)));
  }

  /** A refused token is replaced; who has no other is asked for one. */
  async #findToken(refused: RefusalCode | undefined): Promise<string> {
    try {
      if (refused !== undefined) await this.#token.renew();
      const token = this.#token.current();
      this.#tokenNow = typeof token === "string" ? token : await token;
      const claims = claimsOf(this.#tokenNow);
      if (claims) this.writing.ownedBy(claims);
      return this.#tokenNow;
    } catch (error) {
      // While it is being made, the room cannot be closed yet.
      await Promise.resolve();
      if (error instanceof TokenNeeded) this.#end(refused ?? "TOKEN_NEEDED", error.message);
      throw error;
    }
  }

  /** Only the reader can go on from here. What is unsent is kept. */
  #end(code: string, message: string): void {
    if (this.#left) return;
    this.#stop();
    this.#connectionState.end(code, message);
    this.#hooks.changed();
  }

  #onConnection(connection: RoomConnection): void {
    if (this.#left) return;
    this.#connectionState.follow(connection);
    if (connection.state === "connected") this.notice = "";
    else this.presence.lost();
    // What waits for a way back that people have closed could go out days later.
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
    this.writing.ownedBy(welcome);
    this.people.note(welcome);
    this.signals.welcome(welcome.readSeq ?? 0);
    this.uploads.welcome();
    this.#hooks.changed();
    this.presence.welcome(welcome);
    void this.reading.welcome(welcome, isFirst);
  }

  #restart(): void {
    this.reading.restart();
    this.presence.restart();
  }

  #onMessage(message: Message): void {
    this.people.note({ user: message.sender, name: message.name });
    this.timeline.add(message, this.self);
    const isOwn = message.sender === this.self;
    this.reading.arrived(isOwn);
    // A message repeated after a break may have been deleted meanwhile: do not announce it.
    const said = this.withNames(message.content) || message.attachment?.name;
    if (!isOwn && said) this.#hooks.announce(`${named(message.name)}: ${said}`);
    this.#hooks.changed();
  }

  #onChange({ id, rev }: { readonly id: string; readonly rev: number }, change: () => void): void {
    change();
    this.history.heard(rev);
    this.history.forgetQuoted(id);
  }

  #onModeration(change: ModerationChange): void {
    const { action, user, until, seconds, on, role } = change;
    if (action === "slow-mode") this.modes = { ...this.modes, slowModeSeconds: seconds ?? 0 };
    if (action === "read-only") this.modes = { ...this.modes, readOnly: on === true };
    if (user === this.self) {
      if (action === "mute") this.cooldown.mute(until);
      if (action === "unmute") this.cooldown.lift();
      if (action === "grant" && role) this.role = role;
      // What the token says counts again (MOD-9).
      if (action === "revoke") this.role = (claimsOf(this.#tokenNow)?.role ?? "member") as Role;
    }
    if (action === "grant" || action === "revoke") this.presence.refresh();
    // The notice that ends the connection says it.
    if (user === this.self && (action === "kick" || action === "ban")) return;
    const text = describeModeration(change, (id) => (id === this.self ? "you" : named(this.nameOf(id))));
    this.#hooks.announce(text);
    this.show(text);
    setTimeout(() => this.notice === text && this.show(""), NEWS_MS);
  }

  #onMessageState(state: MessageState): void {
    if (this.#left) return;
    const draft = draftOf(state);
    if (state.state === "pending") {
      this.timeline.setOutgoing({ ...draft, failure: null });
      if (state.error) this.cooldown.refused(state.error);
    } else if (state.state === "sent") this.#onSent(draft, state.answer);
    else if (state.state === "failed") {
      const isForeign = state.error.code === "OTHER_USER";
      this.timeline.setOutgoing({ ...draft, failure: describeFailure(state.error), isForeign });
      this.cooldown.refused(state.error);
      this.#hooks.announce(`Message not sent. ${describeFailure(state.error)}`);
    } else this.timeline.discard(draft.clientMsgId);
    this.#hooks.changed();
  }

  #onSent(
    draft: { readonly clientMsgId: string; readonly content: string; readonly attachment?: Attachment },
    { id, seq, timestamp }: SentAnswer,
  ): void {
    this.cooldown.sent(timestamp, this.isModerator ? 0 : this.modes.slowModeSeconds);
    const name = this.welcome?.name ?? this.self;
    this.timeline.confirm({ id, seq, timestamp, room: this.room, sender: this.self, name, ...draft }, this.self);
  }
}
