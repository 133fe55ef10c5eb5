// The parts of a room's state, kept up to date by the room's events. room-store.ts adds the user's actions.
import type { Message, ModerationChange, Role, RoomModes, Welcome } from "../../src/protocol/chat-events.ts";
import { isStaff } from "../../src/protocol/roles.ts";
import type { Connection, MessageState, Room, SendFailure } from "../core/api.ts";
import { systemClock } from "../core/clock.ts";
import { draftOf } from "../core/outbox-storage.ts";
import { blockedBy } from "./abilities.ts";
import { settled } from "./answers.ts";
import type { RoomStoreOptions } from "./api.ts";
import { History } from "./history.ts";
import { Holds, RoomClock } from "./hold.ts";
import { LinkCards } from "./link-cards.ts";
import { Names } from "./names.ts";
import { Presence } from "./presence.ts";
import { ReadMarks } from "./read-marks.ts";
import { Reading } from "./reading.ts";
import { remembering, steady } from "./remembering.ts";
import { Signals } from "./signals.ts";
import type { Hold, Me, MessagesState, Outgoing, Problem, RoomState } from "./state.ts";
import { Threads } from "./threads.ts";
import { Timeline } from "./timeline.ts";
import { Typing } from "./typing.ts";
import { Uploads } from "./uploads.ts";

export class RoomParts {
  readonly room: Room;
  protected readonly clock: RoomClock;
  protected readonly history: History;
  protected readonly presence: Presence;
  protected readonly reading: Reading;
  protected readonly signals: Signals;
  protected readonly timeline = new Timeline();
  protected readonly uploads: Uploads;
  protected readonly linkCards: LinkCards;
  protected readonly names = new Names();
  readonly threads: Threads;
  #problem: Problem | undefined;
  readonly #kept: readonly Message[];
  readonly #holds: Holds;
  readonly #marks = new ReadMarks();
  protected readonly typists = new Typing();
  #welcome: Welcome | undefined;
  #role: Role = "member";
  #modes: RoomModes = { slowModeSeconds: 0, readOnly: false };
  #moderation: ModerationChange | undefined;
  readonly #me = steady<Me>();
  readonly #outgoing = remembering(outgoingOf);
  readonly #messages = steady<MessagesState>();
  #state: RoomState | undefined;
  #isTelling = false;
  readonly #listeners = new Set<() => void>();

  constructor(room: Room, { openAt, kept = [], previewOf, clock = systemClock }: RoomStoreOptions) {
    this.room = room;
    this.#kept = kept;
    this.clock = new RoomClock(clock);
    const { timeline, names } = this;
    const changed = (): void => this.changed();
    const failing =
      (what: Problem["what"]) =>
      (error: SendFailure): void =>
        this.setProblem({ what, ...error });
    const shared = { room, clock: this.clock, timeline, names, self: (): string => this.#self, changed };
    this.#holds = new Holds(this.clock, changed);
    this.signals = new Signals(room, this.clock);
    this.presence = new Presence({ ...shared, failed: failing("members") });
    this.history = new History({ ...shared, failed: failing("history") });
    const { signals, history } = this;
    const opensAtUnread = openAt === "unread";
    this.reading = new Reading({ ...shared, signals, history, opensAtUnread, failed: failing("jump") });
    const rules = (): Welcome["files"] | null => (this.#welcome ? this.#welcome.files : null);
    this.uploads = new Uploads({ upload: (file, options) => room.upload(file, options), previewOf, rules, changed });
    this.linkCards = new LinkCards({ ...shared, isOn: () => this.#welcome && this.#welcome.linkCards === true });
    const know = (messages: readonly Message[]): void => history.know(messages);
    this.threads = new Threads({ ...shared, know, isOn: () => this.#welcome?.threads === true });
    this.#listen(room, failing("room"));
    for (const unsent of room.unsent) this.#onMessageState(unsent);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    // One function may subscribe twice.
    const one = (): void => listener();
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  };

  readonly getSnapshot = (): RoomState => (this.#state ??= this.#made());

  #made(): RoomState {
    const { room, timeline, history } = this;
    const { connection } = room;
    const { hasEarlier, hasLater, notShown } = timeline;
    const { isLoaded, loading, kept } = history;
    const showsKept = kept.length > 0 && (history.isOpening || timeline.messages.length === 0);
    const stored = showsKept ? kept : timeline.messages;
    const isOpening = history.isOpening && !showsKept;
    const { state: hold } = this.#holds;
    const outgoing = this.#outgoing(timeline.outgoing, connection.state === "connected" && !hold);
    return {
      connection,
      welcome: this.#welcome,
      me: this.#me(meOf(this.#welcome, connection, this.#role, this.#modes, hold)),
      modes: this.#modes,
      messages: this.#messages({ stored, outgoing, hasEarlier, hasLater, notShown, isLoaded, isOpening, loading }),
      presence: this.presence.roster.state,
      typing: this.typists.state,
      typingCount: this.typists.count,
      reading: this.reading.state,
      readMarks: this.#marks.state,
      names: this.names.state,
      uploads: this.uploads.state,
      moderation: this.#moderation,
      problem: this.#problem,
    };
  }

  /** Subscribers hear of several changes at once. */
  protected changed(): void {
    this.#state = undefined;
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      for (const listener of this.#listeners) listener();
    });
  }

  protected setProblem(problem: Problem | undefined): void {
    this.#problem = problem;
    this.changed();
  }

  protected end(): void {
    this.signals.flush();
    this.#holds.lift();
    this.room.close();
  }

  get #self(): string {
    return this.#welcome?.user ?? "";
  }

  #listen(room: Room, failed: (error: SendFailure) => void): void {
    const { timeline, history, threads } = this;
    const changed = (): void => this.changed();
    const inAll = (apply: (timeline: Timeline) => void): void => {
      apply(timeline);
      threads.changedBy(apply);
    };
    const onEdit = (change: { readonly id: string; readonly rev: number }, apply: () => void): void => {
      apply();
      history.changed(change);
      changed();
    };
    room.on("connection", (connection) => this.#onConnection(connection));
    room.on("welcome", (welcome) => this.#onWelcome(welcome));
    room.on("chat-message", (message) => this.#onMessage(message));
    room.on("message-state", (state) => this.#onMessageState(state));
    room.on("message-edited", (edited) => onEdit(edited, () => inAll((one) => one.edit(edited))));
    room.on("message-deleted", (deleted) =>
      onEdit(deleted, () => {
        const known = timeline.find(deleted.id);
        if (known && !known.deleted && known.sender !== this.#self) this.reading.removed(known.seq);
        threads.deleted(deleted);
        timeline.remove(deleted);
      }),
    );
    room.on("reaction", (reaction) => onEdit(reaction, () => inAll((one) => one.react(reaction, this.#self))));
    room.on("thread-seen", (seen) => threads.seen(seen));
    room.on("moderation", (change) => this.#onModeration(change));
    room.on("typing", (change) => {
      this.typists.change(change);
      changed();
    });
    room.on("typing-count", ({ count }) => {
      this.typists.count = count - (this.signals.isTyping ? 1 : 0);
      changed();
    });
    room.on("counts", ({ lastSeq }) => {
      this.reading.counted(lastSeq);
      changed();
    });
    room.on("read", (mark) => {
      this.#marks.set(mark);
      if (mark.user === this.#self) {
        if (mark.back) this.reading.markedUnread(mark.seq);
        else this.signals.heard(mark.seq);
        this.reading.readElsewhere();
      }
      changed();
    });
    room.on("gap", (gap) => {
      timeline.leaveOut(gap, this.reading.following);
      if (gap.reason !== "not shown") threads.welcome();
      changed();
    });
    room.on("restart", () => {
      // The room may end before the messages that people have read.
      this.#marks.clear();
      void this.#loadReadMarks();
      this.reading.restart();
      threads.restart();
      changed();
    });
    room.on("error", failed);
  }

  #onConnection(connection: Connection): void {
    if (connection.state === "waiting") this.history.showKept(this.#kept);
    // The room lets the user in no more, and so it shows them nothing.
    if (connection.state === "stopped") this.history.showKept([]);
    if (connection.state !== "connected") {
      this.typists.replace([]);
      this.reading.cutOff();
    }
    if (connection.state === "stopped" && connection.code === blockedBy(connection, this.#role, this.#modes))
      this.room.giveUp(connection);
    this.changed();
  }

  #onWelcome(welcome: Welcome): void {
    const isFirst = this.#welcome === undefined;
    this.#welcome = welcome;
    this.#role = welcome.role;
    this.#modes = welcome.moderation ?? this.#modes;
    this.clock.set(welcome.now);
    const { mutedUntil } = welcome.moderation ?? {};
    if (mutedUntil === undefined) this.#holds.lift();
    else this.#holds.mute(mutedUntil);
    this.names.note(welcome);
    this.typists.replace(welcome.typing ?? [], welcome.typingCount);
    this.uploads.welcome();
    this.changed();
    this.presence.welcome(welcome.presence.count);
    void this.#loadReadMarks();
    this.threads.welcome();
    void this.reading.welcome(welcome, isFirst);
  }

  async #loadReadMarks(): Promise<void> {
    const answer = await settled(this.room.ask("read-marks", {}));
    if ("error" in answer) return;
    for (const mark of answer.marks) this.#marks.set(mark);
    this.changed();
  }

  #onMessage(message: Message): void {
    const isOwn = message.sender === this.#self;
    this.names.note({ user: message.sender, name: message.name });
    this.timeline.add(message, this.#self);
    this.reading.arrived(message, isOwn);
    this.threads.posted(message);
    this.changed();
  }

  #onModeration(change: ModerationChange): void {
    const { action, user, until, seconds, on, role, name, topic } = change;
    this.#moderation = change;
    if (action === "slow-mode") this.#modes = { ...this.#modes, slowModeSeconds: seconds ?? 0 };
    if (action === "read-only") this.#modes = { ...this.#modes, readOnly: on === true };
    if (action === "describe")
      this.#modes = { ...this.#modes, ...(name !== undefined && { name }), ...(topic !== undefined && { topic }) };
    if (user === this.#self) {
      if (action === "mute") this.#holds.mute(until);
      if (action === "unmute") this.#holds.lift();
      if (action === "grant" && role) this.#role = role;
      // The role in the token counts again (MOD-9).
      if (action === "revoke") this.#role = this.room.tokenRole;
    }
    if (action === "grant" || action === "revoke") void this.presence.refresh();
    this.changed();
  }

  #onMessageState(state: MessageState): void {
    const draft = draftOf(state);
    const { timeline } = this;
    const known = timeline.outgoing.find(({ clientMsgId }) => clientMsgId === draft.clientMsgId);
    const timestamp = known?.timestamp ?? this.clock.now();
    switch (state.state) {
      case "pending":
      case "failed": {
        const { error } = state;
        const shown = state.state === "failed" ? "failed" : "queued";
        timeline.setOutgoing({ ...draft, state: shown, timestamp, ...(error && { error }) });
        if (error) this.#holds.refused(error);
        break;
      }
      case "sent": {
        const { id, seq, timestamp } = state.answer;
        this.#holds.sent(timestamp, isStaff(this.#role) ? 0 : this.#modes.slowModeSeconds);
        const name = this.#welcome?.name ?? this.#self;
        const sender = this.#self;
        const { room } = this.room;
        const sent = { id, seq, timestamp, room, sender, name, ...draft, ...this.threads.placeOf(draft) };
        timeline.confirm(sent, sender);
        this.threads.sent(sent);
        break;
      }
      case "elsewhere":
        timeline.discard(draft.clientMsgId);
    }
    this.changed();
  }
}

function meOf(
  welcome: Welcome | undefined,
  connection: Connection,
  role: Role,
  modes: RoomModes,
  hold: Hold | undefined,
): Me {
  return {
    user: welcome?.user ?? "",
    name: welcome?.name ?? "",
    role,
    isModerator: isStaff(role),
    blocked: blockedBy(connection, role, modes),
    hold,
    canAttach: !welcome || welcome.files !== undefined,
  };
}

/** One message is in flight at a time. */
function outgoingOf(outgoing: readonly Outgoing[], isSending: boolean): readonly Outgoing[] {
  const next = isSending ? outgoing.findIndex(({ state }) => state === "queued") : -1;
  return next < 0 ? outgoing : outgoing.with(next, { ...outgoing[next]!, state: "sending" });
}
