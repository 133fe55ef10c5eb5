// Threads: those that somebody opened with their replies, the list of those in which the user takes part, and the replies to messages of the
// stream. Each is asked for when it is drawn first, and follows the room's events from then on. room-parts.ts owns it.
import type {
  ErrorAnswer,
  Message,
  MessageDeleted,
  Thread,
  ThreadAnswer,
  ThreadSeen,
} from "../../src/protocol/chat-events.ts";
import { threadOf } from "../../src/protocol/message-id.ts";
import type { Room, SendFailure } from "../core/api.ts";
import type { Clock } from "../core/clock.ts";
import { settled } from "./answers.ts";
import type { Outcome, ThreadsApi } from "./api.ts";
import type { Names } from "./names.ts";
import { remembering, steady } from "./remembering.ts";
import { repliesIn, withPerson, type Replies } from "./replies.ts";
import type { OwnThreads, ThreadState } from "./state.ts";
import { Timeline } from "./timeline.ts";

/** The list has so many, those with the newest replies. */
const LIST_LIMIT = 50;
/** The wait before the list is asked for again: what comes meanwhile goes with it. */
const GATHER_MS = 2000;

interface ThreadsPorts {
  readonly room: Room;
  readonly clock: Clock;
  readonly timeline: Timeline;
  /** Learns the names of authors. */
  readonly names: Names;
  /** Keeps messages that were given, so that `quoted` need not ask for them. */
  readonly know: (messages: readonly Message[]) => void;
  readonly self: () => string;
  /** Whether the room answers questions about threads. */
  readonly isOn: () => boolean;
  readonly changed: () => void;
}

export class Threads implements ThreadsApi {
  readonly #ports: ThreadsPorts;
  readonly #opened = new Map<string, Opened>();
  /** The list; `undefined` until it was asked for. */
  #own: readonly Thread[] | undefined;
  #ownProblem: SendFailure | undefined;
  readonly #ownState = steady<OwnThreads>();
  #isRefreshing = false;
  readonly #counted = remembering(repliesIn);

  constructor(ports: ThreadsPorts) {
    this.#ports = ports;
  }

  // ---- one thread ------------------------------------------------------------------------------------------

  /** @param id of its first message */
  of(id: string): ThreadState {
    return this.#open(id).state;
  }

  #open(id: string): Opened {
    const known = this.#opened.get(id);
    if (known) return known;
    const opened = new Opened(id);
    this.#opened.set(id, opened);
    void this.#load(opened);
    return opened;
  }

  /** Loads earlier replies, or one again that could not be loaded. */
  load(id: string): Promise<void> {
    const opened = this.#open(id);
    return this.#load(opened, opened.problem ? undefined : opened.replies[0]?.seq);
  }

  async #load(opened: Opened, before?: number): Promise<void> {
    if (opened.isLoading) return;
    const { room, changed, names, know, self } = this.#ports;
    opened.isLoading = true;
    const answer = await settled(room.ask("thread", { id: opened.id, before }));
    opened.isLoading = false;
    if ("error" in answer) opened.problem = answer.error;
    else {
      const { thread, messages } = answer;
      opened.loaded(answer, before !== undefined, self());
      names.noteAuthors(messages.toReversed());
      know(thread.first ? [thread.first, ...messages] : messages);
    }
    changed();
  }

  /** The user has seen its newest reply. */
  markRead(id: string): void {
    const { thread } = this.of(id);
    if (!thread?.last || thread.unread === 0) return;
    const { seq } = thread.last;
    this.#change(id, (one) => ({ ...one, unread: 0, seenSeq: seq }));
    this.#ports.changed();
    void settled(this.#ports.room.ask("read-thread", { id, seq }));
  }

  follow(id: string, on: boolean): Promise<Outcome> {
    return settled(this.#ports.room.ask("follow-thread", { id, on }));
  }

  // ---- the list --------------------------------------------------------------------------------------------

  get own(): OwnThreads {
    if (this.#own === undefined) {
      this.#own = [];
      void this.refresh();
    }
    const threads = this.#own;
    const unread = threads.filter((thread) => thread.unread > 0).length;
    return this.#ownState({ threads, unread, problem: this.#ownProblem });
  }

  /** Asks for the list again, if anybody has it. */
  async refresh(): Promise<void> {
    const { room, changed, isOn } = this.#ports;
    if (!this.#own || !isOn()) return;
    const answer = await settled(room.ask("threads", { limit: LIST_LIMIT }));
    if ("ok" in answer) this.#own = answer.threads;
    this.#ownProblem = "error" in answer ? answer.error : undefined;
    changed();
  }

  /** Once for all that asks for it within a moment. */
  #refreshSoon(): void {
    if (this.#own === undefined || this.#isRefreshing) return;
    this.#isRefreshing = true;
    this.#ports.clock.after(GATHER_MS, () => {
      this.#isRefreshing = false;
      void this.refresh();
    });
  }

  // ---- the stream ------------------------------------------------------------------------------------------

  /** The replies to a message of the loaded part of the history. */
  repliesTo(id: string): Replies | undefined {
    const { messages, hasLater, notShown } = this.#ports.timeline;
    // Otherwise all of them are loaded, since they come after their message.
    return this.#counted(messages, hasLater || notShown.length > 0).get(id);
  }

  // ---- the room's events -----------------------------------------------------------------------------------

  /** What was missed is loaded again. */
  welcome(): void {
    if (!this.#ports.isOn()) return;
    void this.refresh();
    for (const opened of this.#opened.values()) void this.#load(opened);
  }

  restart(): void {
    this.#opened.clear();
    this.#own &&= [];
  }

  posted(message: Message): void {
    const id = threadOf(message);
    if (id === undefined || message.deleted) return;
    const { timeline, self } = this.#ports;
    const isOwn = message.sender === self();
    this.#opened.get(id)?.timeline.add(message, self());
    this.#change(id, (thread) => withReply(thread, message, isOwn));
    const known = this.#own?.some((thread) => thread.id === id);
    if (known) this.#own = this.#own!.toSorted((a, b) => (b.last?.seq ?? 0) - (a.last?.seq ?? 0));
    const first = timeline.find(id);
    // The first reply to a message of the user, and their own first reply. Of a message that is not loaded the room knows the author.
    if (!known && (isOwn || !first || first.sender === self())) this.#refreshSoon();
  }

  deleted({ id, by }: Pick<MessageDeleted, "id" | "by">): void {
    for (const { id: thread, timeline } of this.#opened.values()) {
      if (!timeline.find(id)) continue;
      timeline.remove({ id, by });
      if (id !== thread) this.#change(thread, (one) => ({ ...one, replies: one.replies - 1 }));
    }
    if (this.#own?.some(({ last, unread }) => last?.id === id || unread > 0)) this.#refreshSoon();
  }

  /** A message was edited, or has other reactions. */
  changedBy(apply: (timeline: Timeline) => void): void {
    for (const { timeline } of this.#opened.values()) apply(timeline);
  }

  seen({ id, seenSeq, following }: ThreadSeen): void {
    this.#change(id, (thread) => {
      const isAll = !following || seenSeq >= (thread.last?.seq ?? 0);
      return { ...thread, seenSeq, following, ...(isAll && { unread: 0 }) };
    });
    if (!following) this.#own = this.#own?.filter((thread) => thread.id !== id);
    else if (!this.#own?.some((thread) => thread.id === id)) this.#refreshSoon();
    this.#ports.changed();
  }

  /** Changes a thread in the list, and the opened one. */
  #change(id: string, change: (thread: Thread) => Thread): void {
    const opened = this.#opened.get(id);
    if (opened?.thread) opened.thread = change(opened.thread);
    this.#own = this.#own?.map((thread) => (thread.id === id ? change(thread) : thread));
  }
}

type Loaded = Exclude<ThreadAnswer, ErrorAnswer>;

/** A thread that somebody looks at: its first message and its replies. */
class Opened {
  readonly id: string;
  readonly timeline = new Timeline();
  thread: Thread | undefined;
  isLoading = false;
  problem: SendFailure | undefined;
  readonly #state = steady<ThreadState>();
  readonly #replies = remembering((messages: readonly Message[]) =>
    messages.filter(({ id, deleted }) => id !== this.id && !deleted),
  );

  constructor(id: string) {
    this.id = id;
  }

  get replies(): readonly Message[] {
    return this.#replies(this.timeline.messages);
  }

  get state(): ThreadState {
    const { thread, isLoading, problem, timeline, replies } = this;
    return this.#state({
      thread,
      first: timeline.find(this.id),
      replies,
      hasEarlier: timeline.hasEarlier,
      isLoading,
      problem,
    });
  }

  /** @param isEarlier a page before those that are loaded */
  loaded({ thread, messages, hasMore }: Loaded, isEarlier: boolean, self: string): void {
    const { timeline } = this;
    const has = { earlier: hasMore, later: false };
    if (isEarlier) timeline.merge(messages, self);
    else timeline.replace(thread.first ? [thread.first, ...messages] : messages, has, self);
    timeline.hasEarlier = hasMore;
    this.thread = thread;
    this.problem = undefined;
  }
}

function withReply(thread: Thread, message: Message, isOwn: boolean): Thread {
  const { seq, sender } = message;
  // It may be repeated after a break.
  if (seq <= (thread.last?.seq ?? 0)) return thread;
  return {
    ...thread,
    last: message,
    replies: thread.replies + 1,
    people: withPerson(thread.people, sender),
    ...(isOwn ? { following: true, unread: 0, seenSeq: seq } : thread.following && { unread: thread.unread + 1 }),
  };
}
