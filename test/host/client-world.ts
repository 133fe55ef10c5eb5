// A room, and the pages of one browser that talk to it over lines that a test cuts, delays and mends. The room is a model of
// the promises of the server (CHAT-2, CHAT-4, REC-4); the pages run the client's cores, put together as client/core/room.ts does.
import type { Gap, Inheritance, MessageState } from "../../client/core/api.ts";
import { lookUpPosted } from "../../client/core/posted-lookup.ts";
import { OrderedMessages, type FetchDone, type HistoryPage } from "../../client/core/ordered-messages.ts";
import { OutboxStorage } from "../../client/core/outbox-storage.ts";
import { Outbox } from "../../client/core/outbox.ts";
import { DEDUPE_WINDOW_MS } from "../../src/chat/log/posted-ids.ts";
import type { ErrorAnswer, Message, PostAnswer, PostPayload } from "../../src/protocol/chat-events.ts";
import type { FakeLocalStorage } from "./fake-local-storage.ts";
import { VirtualClock } from "./virtual-clock.ts";

export const ACK_TIMEOUT_MS = 10_000;

export class ModelRoom {
  readonly log: Message[] = [];
  /** The error that answers the next posts. */
  readonly refusals: Array<ErrorAnswer["error"]> = [];
  readonly pages = new Set<Page>();
  /** `relaxed`: a message may be shown that a crash takes. */
  durability: "strict" | "relaxed" = "strict";
  /** Messages before this `seq` are forgotten. */
  firstSeq = 1;
  readonly #clock: VirtualClock;
  #seq = 0;
  #epoch = 1;
  #life = "";

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get lastSeq(): number {
    return this.#seq;
  }

  /** Names the log: another one once everything was deleted. */
  get epoch(): string {
    return `epoch ${this.#epoch}`;
  }

  post(sender: string, { content, clientMsgId }: PostPayload): PostAnswer {
    const error = this.refusals.shift();
    if (error) return { error };
    const earlier = this.log.findLast((message) => message.sender === sender && message.clientMsgId === clientMsgId);
    if (earlier && clientMsgId !== undefined && this.#clock.now() - earlier.timestamp <= DEDUPE_WINDOW_MS) {
      const { id, seq, timestamp } = earlier;
      return { ok: true, id, seq, timestamp, duplicate: true };
    }
    const { id, seq, timestamp } = this.say(sender, content, clientMsgId);
    return { ok: true, id, seq, timestamp };
  }

  /** Stores a message and shows it to all members. */
  say(sender: string, content: string, clientMsgId?: string): Message {
    const seq = ++this.#seq;
    const id = `${this.#epoch}${this.#life}-${seq}`;
    const stored = { id, seq, room: "model", sender, name: sender, content, timestamp: this.#clock.now() };
    const message: Message = clientMsgId === undefined ? stored : { ...stored, clientMsgId };
    this.log.push(message);
    for (const page of this.pages) page.show(message);
    return message;
  }

  /** Takes places in the room's order that no message will ever have. */
  skip(count: number): void {
    this.#seq += count;
  }

  /** The process dies: messages that were shown and not stored are lost, and their seqs stay empty. */
  crash(): void {
    this.log.pop();
  }

  /** A backup is restored in which nothing behind that place was said yet; the same places go to other messages from now on. */
  restore(seq: number): void {
    this.log.splice(this.log.findIndex((message) => message.seq > seq));
    this.#seq = seq;
    this.#life += "b";
  }

  /** Everything is deleted. */
  restart(): void {
    this.log.length = 0;
    this.#seq = 0;
    this.#epoch += 1;
  }

  page(after: number, limit: number): HistoryPage {
    const messages = this.log.filter(({ seq }) => seq > after && seq >= this.firstSeq);
    return { messages: messages.slice(0, limit), hasMore: messages.length > limit };
  }
}

interface PageOptions {
  readonly room: ModelRoom;
  readonly clock: VirtualClock;
  readonly storage?: FakeLocalStorage;
  readonly user?: string;
  readonly inherit?: (user: string) => Inheritance;
  readonly queueLimit?: number;
}

/** One visit to a page, from load to reload. */
export class Page {
  readonly states: MessageState[] = [];
  readonly delivered: Message[] = [];
  readonly gaps: Gap[] = [];
  restarts = 0;
  /** Answers that get lost on the way, one after the other, although the line stands. */
  answersToLose = 0;
  /** Requests for history that are not answered well. */
  fetchesToFail = 0;
  /** The error that answers the next requests for history. */
  readonly fetchRefusals: Array<ErrorAnswer["error"]> = [];
  fetches = 0;
  /** Events that have not reached the page yet, and requests that have not reached the room. */
  toRoom: Array<() => void> = [];
  toPage: Array<() => void> = [];
  isConnected = false;
  readonly outbox: Outbox;
  readonly messages: OrderedMessages;
  readonly #options: PageOptions;
  /** The last message that came over the wire, where recovery starts. */
  #offset: number | undefined;
  /** Requests without an answer. */
  readonly #asked = new Set<() => void>();

  constructor(options: PageOptions) {
    this.#options = options;
    const { clock, storage, queueLimit = 50, inherit = () => "leave" } = options;
    const shared = { clock, random: () => 0.5 };
    const fetch = (after: number, limit: number, done: FetchDone): void => this.#fetch(after, limit, done);
    this.messages = new OrderedMessages({
      ...shared,
      fetch,
      deliver: (message) => this.delivered.push(message),
      skipped: (gap) => this.gaps.push(gap),
      restarted: () => void this.restarts++,
    });
    this.outbox = new Outbox({
      ...shared,
      queueLimit,
      inherit,
      storage: new OutboxStorage(storage, "https://chat.example", "model"),
      post: (payload, done) => this.#post(payload, done),
      lookUp: (user, message, done) => lookUpPosted(fetch, user, message, done),
      lastSeq: () => this.messages.through,
      report: (state) => this.states.push(state),
    });
  }

  /** The states of its messages, as `CLIENTMSGID STATE`. */
  get fates(): string[] {
    return this.states.map(({ clientMsgId, state }) => `${clientMsgId} ${state}`);
  }

  /** Those that failed, as `CLIENTMSGID CODE`. */
  get failures(): string[] {
    return this.states.flatMap((is) => (is.state === "failed" ? [`${is.clientMsgId} ${is.error.code}`] : []));
  }

  get user(): string {
    return this.#options.user ?? "ada";
  }

  say(content: string, clientMsgId: string = content): void {
    this.outbox.add({ content, clientMsgId });
  }

  connect({ recovers = false } = {}): void {
    if (this.isConnected) return;
    const { room } = this.#options;
    this.isConnected = true;
    room.pages.add(this);
    if (recovers && this.#offset !== undefined)
      for (const message of room.page(this.#offset, Infinity).messages) this.show(message);
    const { lastSeq, epoch, durability } = room;
    const lastId = room.log.at(-1)?.id;
    this.toPage.push(() => {
      this.#offset ??= lastSeq;
      this.messages.welcome(lastSeq, epoch, lastId);
      this.outbox.open(this.user, durability);
    });
  }

  /** Connects, and everything that sets going arrives. */
  enter(): void {
    this.connect();
    this.settle();
  }

  /** Lets time pass as long as something is due, and delivers the frames of that time. */
  passTime(): void {
    const { clock } = this.#options;
    for (let turns = 0; turns < 100 && clock.quietMs < Infinity; turns++) {
      clock.advance(clock.quietMs);
      this.settle();
    }
  }

  /** @returns the frames on their way to the room: they may still arrive, or not */
  cut(): Array<() => void> {
    const late = this.toRoom;
    this.isConnected = false;
    this.#options.room.pages.delete(this);
    this.toRoom = [];
    this.toPage = [];
    this.messages.lost();
    this.outbox.lost();
    // As the stock client does it: after the disconnect, callers without an answer get an error.
    for (const giveUp of this.#asked) giveUp();
    return late;
  }

  show(message: Message): void {
    this.toPage.push(() => {
      this.#offset = message.seq;
      this.outbox.seen(message);
      this.messages.receive(message);
    });
  }

  deliver(direction: "toRoom" | "toPage"): void {
    this[direction].shift()?.();
  }

  /** Delivers everything, and all that follows from it. */
  settle(): void {
    while (this.toRoom.length + this.toPage.length > 0) {
      this.deliver("toRoom");
      this.deliver("toPage");
    }
  }

  #post(payload: PostPayload, done: (answer: PostAnswer | undefined) => void): void {
    const answer = this.#expect(done);
    this.toRoom.push(() => {
      const posted = this.#options.room.post(this.user, payload);
      if (this.answersToLose > 0) this.answersToLose -= 1;
      else this.toPage.push(() => answer(posted));
    });
  }

  #fetch(after: number, limit: number, done: FetchDone): void {
    this.fetches += 1;
    const answer = this.#expect((page: HistoryPage | ErrorAnswer | undefined) => {
      if (page && "error" in page) done(undefined, page.error);
      else done(page);
    });
    this.toRoom.push(() => {
      const page = this.#answerFetch(after, limit);
      this.toPage.push(() => answer(page));
    });
  }

  #answerFetch(after: number, limit: number): HistoryPage | ErrorAnswer | undefined {
    const error = this.fetchRefusals.shift();
    if (error) return { error };
    if (this.fetchesToFail === 0) return this.#options.room.page(after, limit);
    this.fetchesToFail -= 1;
    return undefined;
  }

  /** One answer, or none in time, or none because the line broke: whichever is first. */
  #expect<Answer>(done: (answer: Answer | undefined) => void): (answer: Answer | undefined) => void {
    const settle = (answer: Answer | undefined): void => {
      if (!this.#asked.delete(giveUp)) return;
      cancel();
      done(answer);
    };
    const giveUp = (): void => settle(undefined);
    const cancel = this.#options.clock.after(ACK_TIMEOUT_MS, giveUp);
    this.#asked.add(giveUp);
    return settle;
  }
}
