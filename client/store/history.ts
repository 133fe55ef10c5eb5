// Fetches history for the timeline: the newest page, neighbouring pages, jumps, and changes that the user missed. room-parts.ts owns
// it.
import type {
  ChangesAnswer,
  ErrorAnswer,
  HistoryAnswer,
  HistoryPayload,
  Message,
} from "../../src/protocol/chat-events.ts";
import type { Room, SendFailure } from "../core/api.ts";
import type { Clock } from "../core/clock.ts";
import { settled, settledNow } from "./answers.ts";
import type { MessagePlace, Outcome } from "./api.ts";
import type { Names } from "./names.ts";
import type { Timeline } from "./timeline.ts";

const NEWEST: HistoryPayload = { limit: 50 };
const PAGE_LIMIT = 100;
/** The wait after a failure: scrolling does not ask again before. */
const REST_MS = 3000;

type Page = Exclude<HistoryAnswer, ErrorAnswer>;

const notFound = (message: string) => ({ error: { code: "NOT_FOUND", message } });
const GONE = notFound("That message is not there any more.");
const NOTHING_SINCE = notFound("Nothing has been written since then.");

interface HistoryPorts {
  readonly room: Room;
  readonly clock: Clock;
  readonly timeline: Timeline;
  /** Learns the names of authors. */
  readonly names: Names;
  readonly self: () => string;
  readonly changed: () => void;
  /** A request failed, although there is a connection. */
  readonly failed: (error: SendFailure) => void;
}

export class History {
  /** Whether a first page of history has arrived. */
  isLoaded = false;
  /** Whether the first request for it is under way: messages that arrive before it have no place yet. */
  isOpening = true;
  loading: "earlier" | "later" | undefined;
  /** Messages of an earlier visit, in place of the room's own: none until the first connection fails, and none after a page has arrived. */
  kept: readonly Message[] = [];
  readonly #ports: HistoryPorts;
  #restUntil = 0;
  /** The timeline has all changes of messages up to this revision (MSG-6). */
  #rev: number | undefined;
  #isCatchingUp = false;
  /** Messages that are quoted and not loaded themselves; `null` for dropped ones, `undefined` while they are asked for. */
  readonly #quotes = new Map<string, Message | null | undefined>();

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
  }

  /** The first connection could not be made. */
  showKept(kept: readonly Message[]): void {
    if (this.isLoaded || this.#rev !== undefined) return;
    this.kept = kept;
    this.#ports.names.noteAuthors(kept.toReversed());
  }

  get rev(): number | undefined {
    return this.#rev;
  }

  /** @param around the part of the history that is loaded first, if not the newest */
  async welcome(rev: number, around?: number): Promise<void> {
    // Undefined at the first welcome, and after a restart of the room.
    this.#rev ??= rev;
    if (this.isLoaded) return this.catchUp();
    const range = around === undefined ? NEWEST : { around, limit: PAGE_LIMIT };
    await this.#loadFrom(range);
    this.isOpening = false;
    this.#ports.changed();
  }

  /** An event reported a change of a message, which other messages may quote. */
  changed({ id, rev }: { readonly id: string; readonly rev: number }): void {
    if (!this.#isCatchingUp) this.#rev = Math.max(rev, this.#rev ?? 0);
    this.#quotes.delete(id);
  }

  loadNewest(): Promise<boolean> {
    return this.#loadFrom(NEWEST);
  }

  async #loadFrom(range: HistoryPayload): Promise<boolean> {
    const page = await this.#fetch(range);
    if (!page) return false;
    this.isLoaded = true;
    this.kept = [];
    this.#show(page);
    return true;
  }

  #show({ messages, hasMore, hasMoreAfter = false }: Page): void {
    const { timeline, self, changed } = this.#ports;
    timeline.replace(messages, { earlier: hasMore, later: hasMoreAfter }, self());
    changed();
  }

  async loadEarlier(): Promise<void> {
    const { timeline, self } = this.#ports;
    const [oldest] = timeline.messages;
    if (!this.#mayLoad || this.isOpening) return;
    if (!this.isLoaded) {
      // The newest messages could not be loaded when the room was entered.
      this.loading = "earlier";
      await this.loadNewest();
      this.loading = undefined;
      return this.#ports.changed();
    }
    if (!timeline.hasEarlier) return;
    const range = oldest ? { before: oldest.seq } : {};
    const page = await this.#load("earlier", range);
    // The timeline may show another part of the history by now.
    if (!page || timeline.messages[0]?.id !== oldest?.id) return;
    timeline.merge(page.messages, self());
    timeline.hasEarlier = page.hasMore;
    this.#ports.changed();
  }

  async loadLater(): Promise<void> {
    const { timeline, self } = this.#ports;
    const newest = timeline.messages.at(-1);
    if (!this.#mayLoad || !timeline.hasLater || !newest) return;
    const page = await this.#load("later", { after: newest.seq });
    if (!page || timeline.messages.at(-1)?.id !== newest.id) return;
    timeline.mergeLater(page.messages, page.hasMore, self());
    this.#ports.changed();
  }

  async loadNotShown(from: number): Promise<void> {
    const { timeline, self, changed } = this.#ports;
    const range = timeline.notShown.find((range) => range.from === from);
    if (!range || !this.#mayLoad) return;
    const to = Math.min(range.to, from + PAGE_LIMIT - 1);
    const page = await this.#fetch({ after: from - 1, limit: to - from + 1 });
    if (!page) return;
    timeline.fill(
      page.messages.filter(({ seq }) => seq <= to),
      { from, to },
      self(),
    );
    changed();
  }

  /**
   * Shows the part of the history around a message.
   * @returns the message, if it exists and is shown now
   */
  async showAround(place: MessagePlace): Promise<Outcome<{ readonly message: Message }>> {
    const { room, timeline } = this.#ports;
    const at = await this.#seqOf(place);
    if (typeof at === "object") return at;
    const seq = at;
    const shownIn = (messages: readonly Message[]) => {
      const message = messages.find((one) => one.seq === seq);
      return message && { ok: true as const, message };
    };
    const shown = shownIn(timeline.messages);
    if (shown) return shown;
    const page = await settledNow(room, () => room.history({ around: seq, limit: PAGE_LIMIT }));
    if ("error" in page) return page;
    this.#noteAuthors(page);
    const found = shownIn(page.messages);
    if (found) this.#show(page);
    return found ?? GONE;
  }

  async #seqOf(place: MessagePlace): Promise<number | { readonly error: SendFailure }> {
    const { room, timeline } = this.#ports;
    if (typeof place === "number") return place;
    if (typeof place === "string") {
      const loaded = timeline.find(place);
      if (loaded) return loaded.seq;
      const answer = await settledNow(room, () => room.ask("get-message", { id: place }));
      if ("ok" in answer) return answer.message.seq;
      return answer.error.code === "NOT_FOUND" ? GONE : answer;
    }
    const since = Math.max(place.getTime() - 1, 0);
    const answer = await settledNow(room, () => room.history({ afterTime: since, limit: 1 }));
    return "error" in answer ? answer : (answer.messages[0]?.seq ?? NOTHING_SINCE);
  }

  /** Keeps messages that the room has just given, so that `quoted` need not ask for them; changes replace them as they do quotes. */
  know(messages: readonly Message[]): void {
    for (const message of messages) this.#quotes.set(message.id, message);
  }

  /** A quoted message: `null` if it is deleted, `undefined` until it is known. */
  quoted(id: string): Message | null | undefined {
    const loaded = this.#ports.timeline.find(id) ?? this.kept.find((message) => message.id === id);
    if (!loaded && !this.#quotes.has(id)) void this.#fetchQuoted(id);
    const message = loaded ?? this.#quotes.get(id);
    return message?.deleted ? null : message;
  }

  async #fetchQuoted(id: string): Promise<void> {
    this.#quotes.set(id, undefined);
    const answer = await settled(this.#ports.room.ask("get-message", { id }));
    if ("ok" in answer) {
      this.#quotes.set(id, answer.message);
      this.#ports.names.noteAuthors([answer.message]);
    } else if (answer.error.code === "NOT_FOUND") this.#quotes.set(id, null);
    // After the wait, a caller that still wants it asks again.
    else return void this.#ports.clock.after(REST_MS, () => this.#quotes.delete(id));
    this.#ports.changed();
  }

  restart(): void {
    this.#quotes.clear();
    this.kept = [];
    this.#rev = undefined;
    this.#ports.timeline.restart();
  }

  /** Asks for changes of messages that were missed. */
  async catchUp(from = this.#rev): Promise<void> {
    if (from === undefined || this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    const { room, timeline, names, changed } = this.#ports;
    let after = from;
    for (let hasMore = true; hasMore;) {
      const answer = await settled<ChangesAnswer>(room.ask("changes", { after }));
      // The next welcome goes on from here.
      if ("error" in answer) break;
      timeline.update(answer.messages);
      names.noteAuthors(answer.messages);
      for (const { id } of answer.messages) this.#quotes.delete(id);
      ({ hasMore, rev: after } = answer);
      this.#rev = after;
      changed();
    }
    this.#isCatchingUp = false;
  }

  get #mayLoad(): boolean {
    const isConnected = this.#ports.room.connection.state === "connected";
    return isConnected && this.loading === undefined && this.#ports.clock.now() >= this.#restUntil;
  }

  async #load(direction: "earlier" | "later", range: HistoryPayload): Promise<Page | undefined> {
    this.loading = direction;
    this.#ports.changed();
    const page = await this.#fetch({ ...range, limit: PAGE_LIMIT });
    this.loading = undefined;
    this.#ports.changed();
    return page;
  }

  /** `undefined` on failure. After a lost connection the next welcome asks again, so the user need not know. */
  async #fetch(range: HistoryPayload): Promise<Page | undefined> {
    const { room, clock, failed } = this.#ports;
    const answer = await settled(room.history(range));
    if ("ok" in answer) {
      this.#noteAuthors(answer);
      return answer;
    }
    this.#restUntil = clock.now() + REST_MS;
    if (room.connection.state === "connected") failed(answer.error);
    return undefined;
  }

  /** From the newest to the oldest, because the newest name counts. */
  #noteAuthors({ messages }: Page): void {
    this.#ports.names.noteAuthors(messages.toReversed());
  }
}
