// Group commit: posts that arrive while a batch is open share one append, one fan-out and their place in
// line. The order is the order of truth (CHAT-2): stored, then seen, then acked.
import type { Message, PostAnswer } from "../protocol/chat-events.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { refuse } from "./answers.ts";
import { messageId } from "./message-id.ts";
import type { MessageLog } from "./message-log.ts";
import { Pacer } from "./pacer.ts";
import { PostedIds } from "./posted-ids.ts";

/** Posts in one batch at most: nobody waits for company, and no burst grows a row without bound. */
export const BATCH_POSTS_MAX = 64;
/** Characters of content in one batch at most: in JSON and UTF-8 a row stays below the platform's 2 MB. */
export const BATCH_CHARS_MAX = 250_000;

/** A post that passed every rule, before it has its place in the log. */
export type Draft = Pick<Message, "sender" | "name" | "content" | "clientMsgId" | "replyTo">;

interface Pending {
  readonly draft: Draft;
  /** Everyone who waits for this post to be stored: its sender, and the same sender trying again. */
  readonly replies: Array<(answer: PostAnswer) => void>;
}

export interface PostsContext {
  readonly room: string;
  readonly log: MessageLog;
  readonly windowMs: number;
  readonly deadline: Deadline;
  readonly now: () => number;
  /** Shows stored messages to everyone. */
  readonly broadcast: (messages: readonly Message[]) => void;
  readonly report: (problem: string, error: unknown) => void;
}

export class Posts {
  readonly #context: PostsContext;
  readonly #posted: PostedIds;
  readonly #pacer: Pacer;
  #batch: Pending[] = [];
  #batchChars = 0;

  constructor(context: PostsContext) {
    this.#context = context;
    this.#posted = new PostedIds(context.log);
    this.#pacer = new Pacer(context.windowMs, context.deadline, () => this.#commit());
  }

  /** The `seq` that the next post will get, if everything open is stored. */
  get nextSeq(): number {
    return this.#context.log.lastSeq + this.#batch.length + 1;
  }

  post(draft: Draft, reply: (answer: PostAnswer) => void): void {
    const nowMs = this.#context.now();
    if (draft.clientMsgId !== undefined) {
      const earlier = this.#findEarlier(draft.sender, draft.clientMsgId, nowMs);
      if (earlier) return reply(earlier);
      const pending = this.#batch.find((other) => isSamePost(other.draft, draft));
      if (pending) return void pending.replies.push(reply);
    }
    if (this.#batchChars + draft.content.length > BATCH_CHARS_MAX) this.#pacer.flush(nowMs);
    this.#batch.push({ draft, replies: [reply] });
    this.#batchChars += draft.content.length;
    const isFull = this.#batch.length >= BATCH_POSTS_MAX;
    if (isFull) this.#pacer.flush(nowMs);
    else this.#pacer.request(nowMs);
  }

  /** The answer to a post that was stored before, or that cannot be told apart from one for want of the log. */
  #findEarlier(sender: string, clientMsgId: string, nowMs: number): PostAnswer | undefined {
    try {
      const posted = this.#posted.find(sender, clientMsgId, nowMs);
      return posted && { ok: true, ...posted, duplicate: true };
    } catch (error) {
      this.#context.report("earlier posts could not be read", error);
      return refuse("INTERNAL", "The message could not be stored; try again.");
    }
  }

  /** Commits what is open; for the deadline that the pacer set. */
  flush(nowMs: number): void {
    this.#pacer.flush(nowMs);
  }

  #commit(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    this.#batchChars = 0;
    const messages = batch.map(({ draft }, index) => this.#toMessage(draft, index));
    try {
      this.#context.log.append(messages);
    } catch (error) {
      this.#context.report("messages could not be stored", error);
      for (const { replies } of batch)
        for (const reply of replies) reply(refuse("INTERNAL", "The message could not be stored; try again."));
      return;
    }
    this.#context.broadcast(messages);
    messages.forEach((message, index) => this.#settle(message, batch[index]!));
  }

  #toMessage(draft: Draft, index: number): Message {
    const { log, room, now } = this.#context;
    const seq = log.lastSeq + 1 + index;
    return { id: messageId(log.epoch, seq), seq, room, timestamp: now(), ...draft };
  }

  #settle(message: Message, { replies }: Pending): void {
    this.#posted.note(message, message.timestamp);
    const { id, seq, timestamp } = message;
    replies.forEach((reply, tries) =>
      reply(tries === 0 ? { ok: true, id, seq, timestamp } : { ok: true, id, seq, timestamp, duplicate: true }),
    );
  }
}

function isSamePost(a: Draft, b: Draft): boolean {
  return a.clientMsgId === b.clientMsgId && a.sender === b.sender;
}
