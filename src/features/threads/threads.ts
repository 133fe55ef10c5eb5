// Threads (THR-1 to THR-6): a message with its replies, and how many of them each user has not seen. Made by index.ts.
import type { PayloadOf } from "../../protocol/event.ts";
import { FOLLOW_THREAD, READ_THREAD, THREAD, THREADS, type Thread } from "../../protocol/events/threads.ts";
import type { Answer, ErrorAnswer, Message } from "../../protocol/chat-events.ts";
import { THREAD_PEOPLE_MAX } from "../../protocol/limits.ts";
import { parseMessageId, threadOf } from "../../protocol/message.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { ThrottledRun } from "../../clock/rates.ts";
import { withChange } from "../../chat/log/change.ts";
import type { MessageLog } from "../../chat/log/message-log.ts";
import type { ChatBase } from "../../chat/parts.ts";
import { fitFirst, fitLast } from "../../chat/room/fitting.ts";
import { payerOf } from "../../chat/room/guests.ts";
import type { MadeChange, RoomPart } from "../../chat/room/room-part.ts";
import { waitingHandler, type Caller, type Reply } from "../../chat/room/operation.ts";
import type { Room } from "../../chat/room/room.ts";
import { SlicedWork, type Job } from "../../chat/room/sliced-work.ts";
import { ThreadIndex, type ThreadReplies } from "./thread-index.ts";
import { ThreadMarks } from "./thread-marks.ts";

/** Messages that are read in one slice of the first question: some 3 ms. */
export const SLICE_MESSAGES = 512;
/** Questions that may wait for that at once, and of them those of one user (CHAT-10). */
export const WAITING_MAX = 32;
export const WAITING_PER_USER_MAX = 4;
/** To find the user's among so many threads of a room takes as long as to look at a message. */
const THREADS_PER_MESSAGE = 4;
/** `retryAfterMs` if there are more. */
const BUSY_RETRY_MS = 1000;

/** Marks are stored at most this often (THR-3). */
export const MARKS_STORE_INTERVAL_MS = 5000;

interface Question extends Job {
  readonly refused: (answer: ErrorAnswer) => void;
}

export class Threads implements RoomPart {
  readonly #room: Room;
  readonly #chat: Pick<ChatBase, "changes" | "readAllowance">;
  readonly #index: ThreadIndex;
  readonly #marks: ThreadMarks;
  readonly #questions: SlicedWork<Question>;
  #store!: ThrottledRun;
  readonly operations = [
    waitingHandler(THREADS, (caller, payload, reply) =>
      this.#ask(caller, reply, (log) => this.#list(log, caller, payload), true),
    ),
    waitingHandler(THREAD, (caller, payload, reply) =>
      this.#ask(caller, reply, (log) => this.#page(log, caller, payload)),
    ),
    waitingHandler(READ_THREAD, (caller, payload, reply) =>
      this.#ask(caller, reply, () => this.#read(caller, payload)),
    ),
    waitingHandler(FOLLOW_THREAD, (caller, payload, reply) =>
      this.#ask(caller, reply, () => this.#follow(caller, payload)),
    ),
  ];

  constructor(room: Room, chat: Pick<ChatBase, "changes" | "readAllowance">) {
    this.#room = room;
    this.#chat = chat;
    const authorOf = (id: string): string | undefined => {
      const found = chat.changes.find(id);
      return "posted" in found ? found.posted.sender : undefined;
    };
    this.#index = new ThreadIndex({ state: room.state, authorOf, report: room.reportProblem });
    this.#marks = new ThreadMarks(room.state);
    this.#questions = new SlicedWork(room, {
      name: "threads",
      max: WAITING_MAX,
      perParty: WAITING_PER_USER_MAX,
      allowance: chat.readAllowance,
      sliceMessages: () => SLICE_MESSAGES,
    });
  }

  start(): void {
    this.#questions.start();
    const rate = { windowMs: () => MARKS_STORE_INTERVAL_MS };
    // What waits is in memory only.
    this.#store = this.#room.throttled("thread-marks", rate, () => this.#save(), { keepsAwake: true });
  }

  welcome(): { readonly threads: true } {
    return { threads: true };
  }

  /** THR-4. */
  onChanged({ kind, posted }: MadeChange): void {
    const thread = kind === "deleted" ? threadOf(posted) : undefined;
    if (thread === undefined) return;
    try {
      this.#index.forget(thread, posted);
    } catch (error) {
      this.#room.reportProblem("a deleted reply could not be taken out of its thread", error);
    }
  }

  onTrimmed(firstSeq: number): void {
    this.#index.trim(firstSeq);
  }

  onShutdown(): void {
    for (const { refused } of this.#questions.stop())
      refused(refuse("UNAVAILABLE", "The room closes; ask again in a moment.", BUSY_RETRY_MS));
  }

  /**
   * Answers once the index has all messages of the log.
   * @param looksAtAll whether the answer looks at all threads of the room, which the user pays for as searches do (SRCH-9)
   */
  #ask<Given>(
    caller: Caller,
    reply: Reply<Given | ErrorAnswer>,
    answer: (log: MessageLog) => Given | ErrorAnswer,
    looksAtAll = false,
  ): void {
    const taking = looksAtAll ? this.#chat.readAllowance.ask(payerOf(caller), this.#room.now()) : undefined;
    if (taking?.ok === false)
      return reply(
        refuse("RATE_LIMITED", "Rate limit exceeded: you have asked for threads too often.", taking.retryAfterMs),
      );
    const party = this.#room.partyOf(caller);
    if (this.#questions.isFullFor(party))
      return reply(
        refuse("RATE_LIMITED", "Rate limit exceeded: too many questions about threads wait.", BUSY_RETRY_MS),
      );
    let looked = 0;
    const go = (): boolean => {
      this.#room.catchUp();
      const isKnown = this.#room.read((log) => {
        looked += this.#index.readOn(log, SLICE_MESSAGES);
        return this.#index.isComplete(log);
      });
      if (isKnown === false) return true;
      if (looksAtAll) looked += Math.ceil(this.#index.size / THREADS_PER_MESSAGE);
      reply((isKnown && this.#room.read(answer)) ?? refuse("INTERNAL", "The threads could not be read."));
      return false;
    };
    this.#questions.begin({ party, caller, refused: reply, looked: () => looked, go });
  }

  // ---- the events ------------------------------------------------------------------------------------------

  #list(
    log: MessageLog,
    { user }: Caller,
    { from, to, before = Infinity, limit }: PayloadOf<typeof THREADS>,
  ): Answer<{ threads: readonly Thread[]; unread: number; hasMore: boolean }> {
    const isRange = from !== undefined || to !== undefined;
    const all = [...this.#index.all].map((thread) => ({ thread, ...this.#placeOf(thread, user) }));
    const wanted = all
      .filter(({ seq, following }) => (isRange ? seq >= (from ?? 0) && seq <= (to ?? Infinity) : following))
      .filter(({ thread }) => lastSeqOf(thread) < before)
      .sort((a, b) => lastSeqOf(b.thread) - lastSeqOf(a.thread));
    const threads = fitFirst(wanted.slice(0, limit).map(({ thread }) => this.#shown(log, thread, user)));
    const unread = all.filter((one) => one.unread > 0).length;
    return { ok: true, threads, unread, hasMore: threads.length < wanted.length };
  }

  #page(
    log: MessageLog,
    { user }: Caller,
    { id, before = Infinity, limit }: PayloadOf<typeof THREAD>,
  ): Answer<{ thread: Thread; messages: readonly Message[]; hasMore: boolean }> {
    const thread = this.#find(id);
    if ("error" in thread) return thread;
    const seqs = thread.replies.map(([seq]) => seq).filter((seq) => seq < before);
    const messages = fitLast(seqs.slice(-limit).flatMap((seq) => messageAt(log, seq) ?? []));
    return { ok: true, thread: this.#shown(log, thread, user), messages, hasMore: messages.length < seqs.length };
  }

  #read({ user }: Caller, { id, seq }: PayloadOf<typeof READ_THREAD>): Answer<object> {
    const seenSeq = this.#room.seenSeq();
    if (seq > seenSeq) return refuse("INVALID_PAYLOAD", `seq: the newest message is ${seenSeq}`);
    const thread = this.#find(id);
    if ("error" in thread) return thread;
    const { following, seenSeq: before } = this.#placeOf(thread, user);
    // A mark further than the thread would be a row for nothing.
    const seen = Math.min(seq, lastSeqOf(thread));
    if (following && seen > before) this.#mark(thread, user, { seen, isLeft: false });
    return { ok: true };
  }

  #follow({ user }: Caller, { id, on }: PayloadOf<typeof FOLLOW_THREAD>): Answer<object> {
    const thread = this.#find(id);
    if ("error" in thread) return thread;
    const { following, seenSeq } = this.#placeOf(thread, user);
    // Who begins to follow it has seen what is there.
    const seen = Math.max(seenSeq, lastSeqOf(thread));
    if (following !== on) this.#mark(thread, user, { seen, isLeft: !on });
    return { ok: true };
  }

  #mark(
    thread: ThreadReplies,
    user: string,
    { seen, isLeft }: { readonly seen: number; readonly isLeft: boolean },
  ): void {
    this.#marks.set(user, this.#seqOf(thread), { seen, isLeft });
    this.#store.request(this.#room.now());
    const { everyone, channelsOf } = this.#room;
    everyone.to(channelsOf(user)).emit("thread-seen", { id: thread.id, seenSeq: seen, following: !isLeft });
  }

  #save(): void {
    try {
      this.#marks.save();
    } catch (error) {
      this.#room.reportProblem("marks of threads could not be stored", error);
    }
  }

  // ---- threads ---------------------------------------------------------------------------------------------

  /** @param id of any message of the thread */
  #find(id: string): ThreadReplies | ErrorAnswer {
    const known = this.#index.get(id);
    if (known) return known;
    const found = this.#chat.changes.find(id);
    if ("error" in found) return found;
    const { posted } = found;
    const thread = this.#index.get(threadOf(posted) ?? id);
    return thread ?? { id, by: posted.sender, replies: [] };
  }

  #seqOf({ id }: ThreadReplies): number {
    return parseMessageId(this.#room.log.epoch, id)?.seq ?? 0;
  }

  /** THR-3: where a user is in a thread. */
  #placeOf(thread: ThreadReplies, user: string): Pick<Thread, "seq" | "following" | "unread" | "seenSeq"> {
    const seq = this.#seqOf(thread);
    const isFirst = thread.by === user && seq >= this.#room.log.firstSeq;
    const wrote = thread.replies.findLast(([, sender]) => sender === user)?.[0] ?? (isFirst ? seq : 0);
    const mark = this.#marks.get(user, seq);
    const following = mark ? !mark.isLeft || wrote > mark.seen : wrote > 0;
    const seenSeq = Math.max(mark?.seen ?? this.#marks.forgotten(user), wrote);
    const isNew = ([at, sender]: ThreadReplies["replies"][number]): boolean => at > seenSeq && sender !== user;
    return { seq, following, unread: following ? thread.replies.filter(isNew).length : 0, seenSeq };
  }

  #shown(log: MessageLog, thread: ThreadReplies, user: string): Thread {
    const { id, replies } = thread;
    const place = this.#placeOf(thread, user);
    const first = messageAt(log, place.seq);
    const last = messageAt(log, lastSeqOf(thread));
    const senders = new Set(replies.toReversed().map(([, sender]) => sender));
    return {
      id,
      ...place,
      ...(first?.id === id && { first }),
      ...(last && { last }),
      replies: replies.length,
      people: [...senders].slice(0, THREAD_PEOPLE_MAX),
    };
  }
}

const lastSeqOf = ({ replies }: ThreadReplies): number => replies.at(-1)?.[0] ?? 0;

function messageAt(log: MessageLog, seq: number): Message | undefined {
  const kept = log.find(seq);
  return kept && withChange(kept.posted, kept.change);
}
