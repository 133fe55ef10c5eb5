// Search (SRCH-1 to SRCH-8): an operation of the room that takes slices of work until it is answered.
import type { PayloadOf } from "../../protocol/event.ts";
import { SEARCH } from "../../protocol/events/search.ts";
import { QUERY_WORDS_MAX } from "../../protocol/limits.ts";
import type { ErrorAnswer, FoundMessage, SearchAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Party } from "../../protocol/shares.ts";
import { fitFirst } from "../../chat/room/fitting.ts";
import { payerOf } from "../../chat/room/guests.ts";
import { seqAtTime } from "../../chat/log/seq-at-time.ts";
import { waitingHandler, type Caller, type Reply } from "../../chat/room/operation.ts";
import type { RoomPart, KeptChange } from "../../chat/room/room-part.ts";
import type { Room } from "../../chat/room/room.ts";
import type { ReadAllowance } from "../../chat/room/read-allowance.ts";
import type { SearchIndex } from "./search-index.ts";
import { parsePhrases, withoutRepeats, type Phrase, type Query } from "./search-query.ts";
import { SearchRun } from "./search-run.ts";
import { SlicedWork, type Job } from "../../chat/room/sliced-work.ts";
import { wordsIn } from "./words.ts";

/** Messages that one search reads or indexes in all; the client continues with the next search (SRCH-5). */
export const SEARCH_MESSAGES_MAX = 250_000;
/** Searches that may be under way at once. */
export const SEARCHES_MAX = 32;
/** Of them, those of one user, or of the guests of one network (CHAT-10). */
export const SEARCHES_PER_USER_MAX = 4;
/** `retryAfterMs` where there are more. */
const BUSY_RETRY_MS = 1000;
/** Slices that it takes to read as much as a part of the index holds. */
const SLICES_PER_PART = 4;

interface Search extends Job {
  readonly run: SearchRun;
  readonly reply: Reply<SearchAnswer>;
}

type Payload = PayloadOf<typeof SEARCH>;

export class Searching implements RoomPart {
  readonly #room: Room;
  readonly #index: SearchIndex;
  readonly #allowance: ReadAllowance;
  /** Searches under way. */
  readonly #searches: SlicedWork<Search>;
  readonly operations = [waitingHandler(SEARCH, (caller, payload, reply) => this.#search(caller, payload, reply))];

  constructor(room: Room, index: SearchIndex, allowance: ReadAllowance) {
    this.#room = room;
    this.#index = index;
    this.#allowance = allowance;
    this.#searches = new SlicedWork(room, {
      name: "search",
      max: SEARCHES_MAX,
      perParty: SEARCHES_PER_USER_MAX,
      allowance,
      sliceMessages: () => this.#sliceMessages,
    });
  }

  /** Messages that a search reads in one slice: some 3 ms. */
  get #sliceMessages(): number {
    return Math.ceil(this.#index.shape.partMessages / SLICES_PER_PART);
  }

  start(): void {
    this.#searches.start();
  }

  /** SRCH-7: erases the part of an edited or deleted message, whose old text must be nowhere. */
  onChanging({ seq, isRewrite }: KeptChange): void {
    if (!isRewrite) return;
    const part = this.#index.parts.find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
    if (part) this.#index.erase(part);
  }

  /** SRCH-7. */
  onTrimmed(firstSeq: number): void {
    for (const part of this.#index.parts.filter((one) => one.firstSeq < firstSeq)) this.#index.drop(part);
  }

  /** Answers each search under way with the messages found so far, and `hasMore`. */
  onShutdown(): void {
    for (const search of this.#searches.stop()) this.#answer(search, this.#foundStill(search));
  }

  #search(caller: Caller, payload: Payload, reply: Reply<SearchAnswer>): void {
    const query = queryOf(payload);
    if ("error" in query) return reply(query);
    const party = this.#room.partyOf(caller);
    const refusal = this.#refuse(caller, party);
    if (refusal) return reply(refusal);
    this.#room.catchUp();
    const { before = Infinity, beforeTime, afterTime, limit } = payload;
    const { read, reportProblem } = this.#room;
    const run = read((log) => {
      const bounds = {
        before: Math.min(before, beforeTime === undefined ? Infinity : seqAtTime(log, beforeTime)),
        sinceSeq: afterTime === undefined ? 0 : seqAtTime(log, afterTime + 1),
      };
      return new SearchRun({ log, index: this.#index, query, ...bounds, limit, report: reportProblem });
    });
    if (!run) return reply(unreadable());
    let slices = 0;
    const search: Search = {
      party,
      caller,
      run,
      reply,
      looked: () => run.work,
      go: () => this.#runSlice(search, ++slices),
    };
    this.#searches.begin(search);
  }

  #refuse(caller: Caller, party: Party): ErrorAnswer | undefined {
    if (this.#searches.isFullFor(party))
      return refuse("RATE_LIMITED", "Rate limit exceeded: too many searches are under way.", BUSY_RETRY_MS);
    const taking = this.#allowance.ask(payerOf(caller), this.#room.now());
    if (taking.ok) return undefined;
    const problem = "Rate limit exceeded: your searches have looked at too many messages.";
    return refuse("RATE_LIMITED", problem, taking.retryAfterMs);
  }

  /** @returns whether the search needs another slice; otherwise it is answered */
  #runSlice(search: Search, slices: number): boolean {
    const { run, reply } = search;
    // A slice exceeds this by one message or one part of the index at most.
    if (!this.#room.read(() => (run.go(this.#sliceMessages), true))) {
      reply(unreadable());
      return false;
    }
    if (!run.isDone && run.work < SEARCH_MESSAGES_MAX) return true;
    this.#answer(search, slices === 1 ? run.found : this.#foundStill(search));
    return false;
  }

  #answer({ run, reply }: Search, messages: readonly FoundMessage[] | undefined): void {
    if (!messages) return reply(unreadable());
    const kept = fitFirst(messages);
    // The next search finds the others again.
    if (kept.length < messages.length)
      return reply({ ok: true, messages: kept, hasMore: true, before: kept.at(-1)!.seq });
    const { hasMore, before } = run;
    reply({ ok: true, messages, hasMore, before });
  }

  /** SRCH-6: found messages may have changed between the slices of a search. */
  #foundStill({ run }: Search): FoundMessage[] | undefined {
    return this.#room.read(() => run.found.flatMap((message) => run.again(message) ?? []));
  }
}

/** SRCH-1, SRCH-2. */
export function queryOf({ query = "", from, mentions }: Omit<Payload, "limit">): Query | ErrorAnswer {
  const phrases = parsePhrases(query);
  const words = phrases.reduce((sum, phrase) => sum + phrase.words.length, 0);
  if (words > QUERY_WORDS_MAX) return refuse("INVALID_PAYLOAD", `query: at most ${QUERY_WORDS_MAX} words`);
  const isWordless = words === 0 && query.trim() !== "";
  if (!isWordless && (words > 0 || (from ?? mentions) !== undefined))
    return { phrases: withoutRepeats([...phrases, ...phraseOf(mentions)]), from, mentions };
  return refuse("INVALID_PAYLOAD", "query: must have a letter, a digit or an emoji to look for");
}

/** A mention has the words of the id, by which the index finds it. */
function phraseOf(user = ""): Phrase[] {
  const words = wordsIn(user).slice(0, QUERY_WORDS_MAX);
  return words.length > 0 ? [{ words, isPrefix: false }] : [];
}

const unreadable = (): ErrorAnswer => refuse("INTERNAL", "The messages could not be read.");
