// Asks `beforePost` of the room's class about posts and edits (RULE-1 to RULE-8). Mutes, modes and roles are checked again after its
// verdict. A sender's requests go on in the order in which they came; those of others do not wait for them. Called by requests.ts; in memory only, so
// the room stays awake while a verdict is awaited.
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { isPromise } from "../../socketio/server/connect-decision.ts";
import { DEDUPE_WINDOW_MS, postKey } from "../log/posted-ids.ts";
import { refuse } from "./answers.ts";
import type { Feature } from "./feature.ts";
import { countVerdict } from "./metering.ts";
import type { Caller, Operation, Reply, Speech } from "./operation.ts";
import type { Room } from "./room.ts";
import { readVerdict, VERDICT_MS_MAX, type PostDraft, type PostRules, type Verdict } from "./verdict.ts";

/** RULE-7: verdicts that may be awaited at once in a room. */
export const ASKS_MAX = 512;
/** Of them, those on requests of one user. */
export const ASKS_PER_USER_MAX = 32;
/** `retryAfterMs` where there are more. */
const BUSY_RETRY_MS = 1000;

/** Verdicts that are remembered for a retry, at most; of more, the oldest go. */
export const VERDICTS_KEPT_MAX = 100;

/** What is to be said. */
export interface Saying {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly speech: Speech;
  readonly payload: unknown;
}

/** Carries the request out, once it is accepted. */
export type GoOn = (caller: Caller, payload: unknown, reply: Reply<Answer<object>>) => void;

/** A request that waits: for its verdict, or for those of its sender's earlier ones. */
interface Ask {
  readonly saying: Saying;
  readonly goOn: GoOn;
  /** Who asked last: a retry may come over another connection. */
  caller: Caller;
  /** Ends with every kick and ban of the sender. */
  readonly stay: string;
  /** To the first try and to retries. */
  readonly replies: Array<Reply<Answer<object>>>;
  readonly rules: PostRules;
  readonly sinceMs: number;
  verdict: Verdict | undefined;
  /** Called once it is answered, or given to the open batch. */
  end: () => void;
}

interface KeptVerdict {
  readonly verdict: Verdict;
  readonly atMs: number;
}

export interface ScreeningPorts {
  /** The rules of the room; absent where it has none. */
  readonly rules: () => PostRules | undefined;
  /** The caller with the role that counts now. */
  readonly callerNow: (caller: Caller) => Caller;
  /** Names a user's stay, which a kick or a ban ends. */
  readonly stayOf: (user: string) => string;
}

export class Screening implements Feature {
  readonly #room: Room;
  readonly #ports: ScreeningPorts;
  /** The asks of each sender, in the order in which they came. */
  readonly #queues = new Map<string, Ask[]>();
  /** Asks by sender and client message id. */
  readonly #asked = new Map<string, Ask>();
  /** Verdicts on posts that are not stored, the oldest first. */
  readonly #verdicts = new Map<string, KeptVerdict>();
  #asks = 0;
  #deadline!: Deadline;
  /** Whether the room was deleted: what it waited for belongs to its former life. */
  #isOver = false;

  constructor(room: Room, ports: ScreeningPorts) {
    this.#room = room;
    this.#ports = ports;
  }

  start(): void {
    this.#deadline = this.#room.deadline("before-post", (nowMs) => this.#giveUpLate(nowMs), { keepsAwake: true });
  }

  /** RULE-8: verdicts that come later find nothing to go on with. */
  onErase(): undefined {
    this.#isOver = true;
    const asks = [...this.#queues.values()].flat();
    this.#queues.clear();
    this.#asked.clear();
    this.#verdicts.clear();
    this.#deadline.clear();
    for (const ask of asks)
      this.#answer(ask, refuse("INTERNAL", "The room was deleted before the message was stored."));
  }

  /** Whether the same request waits already. */
  isAsked({ user }: Caller, payload: unknown): boolean {
    return this.#asked.has(keyOf(user, payload) ?? "");
  }

  /** Lets a retry wait for the request that `isAsked` found: its verdict is asked once (RULE-4). */
  join(caller: Caller, payload: unknown, reply: Reply<Answer<object>>): Promise<void> {
    const ask = this.#asked.get(keyOf(caller.user, payload)!)!;
    ask.caller = caller;
    const { promise, resolve } = Promise.withResolvers<void>();
    ask.replies.push((answer) => {
      const again: Answer<object> = "ok" in answer ? Object.assign({}, answer, { duplicate: true }) : answer;
      reply(again);
      resolve();
    });
    return promise;
  }

  /**
   * Asks the rules, if the room has some.
   * @returns a promise where the request has to wait
   */
  screen(saying: Saying, reply: Reply<Answer<object>>, goOn: GoOn): void | Promise<void> {
    const { caller, payload } = saying;
    const rules = this.#ports.rules()!;
    const { user } = caller;
    const queue = this.#queues.get(user);
    const kept = this.#keptVerdict(keyOf(user, payload));
    const isFull = this.#asks >= ASKS_MAX || (queue?.length ?? 0) >= ASKS_PER_USER_MAX;
    if (isFull)
      return reply(refuse("RATE_LIMITED", "Rate limit exceeded: too many messages wait to be checked.", BUSY_RETRY_MS));
    const given = kept ?? this.#ask(saying, rules);
    const ask: Ask = {
      saying,
      goOn,
      caller,
      rules,
      verdict: undefined,
      end: () => {},
      replies: [reply],
      stay: this.#ports.stayOf(user),
      sinceMs: this.#room.now(),
    };
    if (!isPromise(given)) {
      if (!kept) this.#note(ask, given);
      // In the same turn, as in a room without rules.
      if (!queue) return this.#finish(ask, given);
      ask.verdict = given;
    }
    return this.#wait(ask, given);
  }

  #wait(ask: Ask, given: Verdict | Promise<Verdict>): Promise<void> {
    const { user } = ask.caller;
    const { promise, resolve } = Promise.withResolvers<void>();
    ask.end = resolve;
    const queue = this.#queues.get(user) ?? [];
    queue.push(ask);
    this.#queues.set(user, queue);
    this.#asks++;
    const key = keyOf(user, ask.saying.payload);
    if (key !== undefined) this.#asked.set(key, ask);
    if (isPromise(given)) {
      this.#deadline.pull(ask.sinceMs + ask.rules.timeoutMs);
      void given.then((verdict) => this.#isOver || this.#room.turn(() => this.#decide(ask, verdict)));
    }
    return promise;
  }

  /** Asks the rules of the room. Never throws, nor rejects: RULE-6. */
  #ask(
    { caller, operation, speech, payload }: Saying,
    { beforePost, timeoutMs }: PostRules,
  ): Verdict | Promise<Verdict> {
    const { user, name, role } = caller;
    const { schema } = operation;
    const { kind } = speech;
    const read = (given: unknown): Verdict => readVerdict(given, payload as object, { schema, kind });
    const failed = (error: unknown): Verdict => ({ type: "failed", error });
    try {
      if (!(timeoutMs > 0 && timeoutMs <= VERDICT_MS_MAX))
        throw new RangeError(`beforePostTimeoutMs: ${timeoutMs} is not between 1 and ${VERDICT_MS_MAX}`);
      const given = beforePost(draftOf(payload), { kind, user, name, role, room: this.#room.name });
      return isPromise(given) ? Promise.resolve(given).then(read).catch(failed) : read(given);
    } catch (error) {
      return failed(error);
    }
  }

  #decide(ask: Ask, verdict: Verdict): void {
    // It came too late.
    if (ask.verdict) return;
    ask.verdict = verdict;
    this.#note(ask, verdict);
    this.#goOnWith(ask.saying.caller.user);
  }

  #giveUpLate(nowMs: number): void {
    let nextMs = Infinity;
    for (const ask of [...this.#queues.values()].flat()) {
      if (ask.verdict) continue;
      const dueMs = ask.sinceMs + ask.rules.timeoutMs;
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs);
      else
        this.#decide(ask, {
          type: "failed",
          error: new Error(`beforePost took longer than ${ask.rules.timeoutMs} ms`),
        });
    }
    if (nextMs < Infinity) this.#deadline.pull(nextMs);
  }

  /** RULE-3: takes the verdicts of a sender in the order of the requests. */
  #goOnWith(user: string): void {
    const queue = this.#queues.get(user);
    while (queue?.[0]?.verdict) {
      const ask = queue.shift()!;
      this.#asks--;
      const key = keyOf(user, ask.saying.payload);
      if (key !== undefined) this.#asked.delete(key);
      if (queue.length === 0) this.#queues.delete(user);
      this.#finish(ask, ask.verdict!);
    }
    if (this.#asks === 0) this.#deadline.clear();
  }

  #finish(ask: Ask, verdict: Verdict): void {
    try {
      this.#carryOut(ask, verdict);
    } catch (error) {
      this.#room.reportProblem("a request could not be carried out after its verdict", error);
      this.#answer(ask, refuse("INTERNAL", "The message could not be stored; try again."));
    }
  }

  #carryOut(ask: Ask, verdict: Verdict): void {
    const { saying, rules, goOn } = ask;
    if (verdict.type === "rejected") return this.#answer(ask, verdict.answer);
    if (verdict.type === "failed" && rules.onFailure === "refuse")
      return this.#answer(ask, refuse("INTERNAL", "The message could not be checked; try again."));
    const payload = verdict.type === "failed" ? saying.payload : verdict.payload;
    const refusal = this.#refuseSince(ask);
    if (refusal) return this.#answer(ask, refusal);
    const caller = this.#ports.callerNow(ask.caller);
    goOn(caller, payload, (answer) => {
      const key = keyOf(caller.user, payload);
      if ("ok" in answer && key !== undefined) this.#verdicts.delete(key);
      this.#answer(ask, answer);
    });
    ask.end();
  }

  /** RULE-5: what may have ended while the verdict was awaited, and no rule of the room looks at. */
  #refuseSince({ stay, caller: { user, client } }: Ask): ErrorAnswer | undefined {
    if (this.#ports.stayOf(user) !== stay) return refuse("FORBIDDEN", "You were removed from this room.");
    const { exp = Infinity } = client?.token ?? {};
    return exp * 1000 <= this.#room.now() ? refuse("TOKEN_EXPIRED", "The token has expired.") : undefined;
  }

  #answer({ replies, end }: Ask, answer: Answer<object>): void {
    for (const reply of replies) reply(answer);
    end();
  }

  // ---- verdicts --------------------------------------------------------------------------------------------

  #note({ saying: { caller, payload }, sinceMs }: Ask, verdict: Verdict): void {
    const { meter, now, reportProblem } = this.#room;
    countVerdict(meter, verdict.type, now() - sinceMs);
    if (verdict.type === "failed") return reportProblem("beforePost failed", verdict.error);
    const key = keyOf(caller.user, payload);
    if (key === undefined) return;
    this.#verdicts.set(key, { verdict, atMs: now() });
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= VERDICTS_KEPT_MAX) break;
      this.#verdicts.delete(oldest);
    }
  }

  /** The verdict on an earlier try of a post that was not stored. */
  #keptVerdict(key: string | undefined): Verdict | undefined {
    const kept = key === undefined ? undefined : this.#verdicts.get(key);
    return kept && Math.abs(this.#room.now() - kept.atMs) <= DEDUPE_WINDOW_MS ? kept.verdict : undefined;
  }

  /** Whether the room has rules of its own. */
  get isOn(): boolean {
    return this.#ports.rules() !== undefined;
  }
}

function keyOf(user: string, payload: unknown): string | undefined {
  const { clientMsgId } = payload as PostDraft;
  return clientMsgId === undefined ? undefined : postKey(user, clientMsgId);
}

function draftOf(payload: unknown): PostDraft {
  const { content, attachment, ...others } = payload as PostDraft;
  return { ...others, content: content.trim(), ...(attachment && { attachment: { ...attachment } }) };
}
