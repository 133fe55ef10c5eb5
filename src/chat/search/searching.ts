// Searching what was said: SRCH-1 to SRCH-8. Each search gets a short turn at once, and further ones behind the others until it is
// answered. Between two turns the rooms of the isolate have time for what else is said. What waits is in memory only, so the room
// stays awake for it.
import type { z } from "zod";

import { searchSchema } from "../../protocol/schemas/search.ts";
import { QUERY_WORDS_MAX } from "../../protocol/limits.ts";
import type { ErrorAnswer, FoundMessage, SearchAnswer } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { refuse } from "../room/answers.ts";
import { fitFirst } from "../room/fitting.ts";
import { seqAtTime } from "../log/seq-at-time.ts";
import { operation, type Caller, type Reply } from "../room/operation.ts";
import type { Feature, KeptChange, Room } from "../room/room.ts";
import type { SearchAllowance } from "./search-allowance.ts";
import type { SearchIndex } from "./search-index.ts";
import { parsePhrases, withoutRepeats, type Query } from "./search-query.ts";
import { SearchWalk } from "./search-walk.ts";

/** What a search takes from the bucket of requests. */
export const SEARCH_COST = 20;
/** Messages that one search reads or indexes in all; the rest is left to the next question (SRCH-5). */
export const SEARCH_MESSAGES_MAX = 250_000;
/** Searches that may be under way at once. */
export const SEARCHES_MAX = 32;
/** And so many of one user. */
export const SEARCHES_PER_USER_MAX = 4;
/** When to try again where there are more. */
const BUSY_RETRY_MS = 1000;
/** Turns in which as much is read as a part of the index holds. */
const TURNS_PER_PART = 4;

interface Search {
  readonly walk: SearchWalk;
  readonly reply: Reply<SearchAnswer>;
  readonly caller: Caller;
}

type Payload = z.output<typeof searchSchema>;

export class Searching implements Feature {
  readonly #room: Room;
  readonly #index: SearchIndex;
  readonly #allowance: SearchAllowance;
  /** Those that are not done, in the order of their turns. */
  #searches: Search[] = [];
  #deadline!: Deadline;
  /** Whether a turn was given out and has not come yet. */
  #isNext = false;
  readonly operations = {
    search: operation(
      searchSchema,
      (caller, payload, reply: Reply<SearchAnswer>) => this.#search(caller, payload, reply),
      () => SEARCH_COST,
    ),
  };

  constructor(room: Room, index: SearchIndex, allowance: SearchAllowance) {
    this.#room = room;
    this.#index = index;
    this.#allowance = allowance;
  }

  /** Messages that a search looks at in one turn: some 3 ms. */
  get #turnMessages(): number {
    return Math.ceil(this.#index.shape.partMessages / TURNS_PER_PART);
  }

  start(): void {
    this.#deadline = this.#room.deadline("search", () => this.#goOn(), { keepsAwake: true });
  }

  /** SRCH-7: what a message said must be nowhere once it is deleted, and what was indexed of it is no longer what it says. */
  onChanging({ seq, isRewrite }: KeptChange): void {
    if (!isRewrite) return;
    const part = this.#index.parts.find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
    if (part) this.#index.erase(part);
  }

  /** SRCH-7. */
  onTrimmed(): void {
    const { firstSeq } = this.#room.log;
    for (const part of this.#index.parts.filter((one) => one.firstSeq < firstSeq)) this.#index.drop(part);
  }

  /** Nobody is left waiting by a room that goes: what was found so far is an answer, and says that there is more. */
  onFarewell(): void {
    const searches = this.#searches;
    this.#searches = [];
    this.#isNext = false;
    this.#deadline.clear();
    for (const search of searches) this.#answer(search, this.#foundStill(search));
  }

  #search(caller: Caller, payload: Payload, reply: Reply<SearchAnswer>): void {
    const query = queryOf(payload);
    if ("error" in query) return reply(query);
    const refusal = this.#refuse(caller);
    if (refusal) return reply(refusal);
    this.#room.catchUp();
    const walk = this.#room.read(() => this.#walkFor(query, payload));
    if (!walk) return reply(unreadable());
    const search = { walk, reply, caller };
    if (this.#hasEnded(search, 0)) this.#answer(search, walk.found);
    this.#schedule();
  }

  #refuse(caller: Caller): ErrorAnswer | undefined {
    if (this.#isBusy(caller))
      return refuse("RATE_LIMITED", "Rate limit exceeded: too many searches are under way.", BUSY_RETRY_MS);
    const taking = this.#allowance.ask(caller.user, this.#room.now());
    if (taking.ok) return undefined;
    const problem = "Rate limit exceeded: your searches have looked at too many messages.";
    return refuse("RATE_LIMITED", problem, taking.retryAfterMs);
  }

  #isBusy({ user }: Caller): boolean {
    const own = this.#searches.filter(({ caller }) => caller.user === user);
    return this.#searches.length >= SEARCHES_MAX || own.length >= SEARCHES_PER_USER_MAX;
  }

  #walkFor(query: Query, { before = Infinity, beforeTime, afterTime, limit }: Payload): SearchWalk {
    const { log, report } = this.#room;
    return new SearchWalk({
      log,
      index: this.#index,
      query,
      before: Math.min(before, beforeTime === undefined ? Infinity : seqAtTime(log, beforeTime)),
      since: afterTime === undefined ? 0 : seqAtTime(log, afterTime + 1),
      limit,
      report,
    });
  }

  #goOn(): void {
    const [search, ...others] = this.#searches;
    this.#searches = others;
    this.#isNext = false;
    // Nobody waits any more for what was asked over a connection that is gone.
    if (search && isWaitedFor(search, this.#room) && this.#hasEnded(search, this.#turnMessages))
      this.#answer(search, this.#foundStill(search));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#searches.length === 0 || this.#isNext) return;
    this.#isNext = true;
    this.#deadline.set(this.#allowance.takeTurn(this.#turnMessages, this.#room.now()));
  }

  /**
   * Gives a search one turn, and another one later unless it has ended.
   * @param reckoned messages for which the turn was given out
   */
  #hasEnded(search: Search, reckoned: number): boolean {
    const { walk, reply, caller } = search;
    const before = walk.work;
    // The same work for each search, and one message or one part of the index more at most.
    const isRead = this.#room.read(() => (walk.go(this.#turnMessages), true));
    this.#allowance.pay(caller.user, { looked: walk.work - before, reckoned }, this.#room.now());
    if (!isRead) {
      reply(unreadable());
      return false;
    }
    if (walk.isDone || walk.work >= SEARCH_MESSAGES_MAX) return true;
    this.#searches.push(search);
    return false;
  }

  #answer({ walk, reply }: Search, messages: readonly FoundMessage[] | undefined): void {
    if (!messages) return reply(unreadable());
    const kept = fitFirst(messages);
    // What does not fit is found again by who goes on.
    if (kept.length < messages.length)
      return reply({ ok: true, messages: kept, hasMore: true, before: kept.at(-1)!.seq });
    const { hasMore, before } = walk;
    reply({ ok: true, messages, hasMore, before });
  }

  /** SRCH-6: between its turns anything may have become of the messages that the search had found. */
  #foundStill({ walk }: Search): FoundMessage[] | undefined {
    return this.#room.read(() => walk.found.flatMap((message) => walk.again(message) ?? []));
  }
}

/** SRCH-1, SRCH-2. */
function queryOf({ query = "", from }: Payload): Query | ErrorAnswer {
  const phrases = parsePhrases(query);
  const words = phrases.reduce((sum, phrase) => sum + phrase.words.length, 0);
  if (words > QUERY_WORDS_MAX) return refuse("INVALID_PAYLOAD", `query: at most ${QUERY_WORDS_MAX} words`);
  const isWordless = words === 0 && query.trim() !== "";
  if (!isWordless && (words > 0 || from !== undefined)) return { phrases: withoutRepeats(phrases), from };
  return refuse("INVALID_PAYLOAD", "query: must have a letter, a digit or an emoji to look for");
}

function isWaitedFor({ caller: { client } }: Search, { clients }: Room): boolean {
  return client === undefined || clients.has(client.id);
}

const unreadable = (): ErrorAnswer => refuse("INTERNAL", "The messages could not be read.");
