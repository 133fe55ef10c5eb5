// Asks `beforePost` of the room's class about posts and edits (RULE-1 to RULE-8). Mutes, modes and roles are checked
// again after its decision. A sender's requests go on in the order in which they came; those of others do not wait for
// them. Called by requests.ts; in memory only, so the room stays awake while a decision is awaited.
import type { Meter } from "../../metrics/meter.ts";
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import { isPromise } from "../../socketio/server/failures.ts";
import { postKey } from "../log/posted-ids.ts";
import { attachmentsOf, withFiles } from "../../protocol/message.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { RoomPart } from "./room-part.ts";
import { type ForeignCall, ForeignCalls } from "./foreign-calls.ts";
import { RecentDecisions } from "./recent-decisions.ts";
import type { Caller, Operation, Reply, HookedSteps } from "./operation.ts";
import type { Room } from "./room.ts";
import { readDecision, DECISION_MS_MAX, type PostDraft, type PostRules, type PostDecision } from "./post-decision.ts";

/** A request to deliver a text to others. */
export interface Saying {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly steps: HookedSteps;
  readonly payload: unknown;
}

/** Carries the request out, once it is accepted. */
export type GoOn = (caller: Caller, payload: unknown, reply: Reply<Answer<object>>) => void;

/** A request that waits: for its decision, or for those of its sender's earlier ones. */
interface Ask extends ForeignCall {
  /** The sender. */
  readonly user: string;
  readonly saying: Saying;
  /** Names the post over all its tries; absent without a client message id. */
  readonly key: string | undefined;
  readonly goOn: GoOn;
  /** Made the last try: a retry may come over another connection. */
  caller: Caller;
  /** Ends with every kick and ban of the sender. */
  readonly stay: string;
  /** To the first try and to retries. */
  readonly replies: Array<Reply<Answer<object>>>;
  readonly rules: PostRules;
  readonly sinceMs: number;
  decision: PostDecision | undefined;
  /** Called once it is answered, or given to the open batch. */
  end: () => void;
}

export interface ModerationHookPorts {
  /** The rules of the room; absent where it has none. */
  readonly rules: () => PostRules | undefined;
  /** The caller with the role that counts now. */
  readonly callerNow: (caller: Caller) => Caller;
  /** Names a user's stay, which a kick or a ban ends. */
  readonly stayOf: (user: string) => string;
}

export class ModerationHook implements RoomPart {
  readonly #room: Room;
  readonly #ports: ModerationHookPorts;
  /** The asks of each sender, in the order in which they came. */
  readonly #queues = new Map<string, Ask[]>();
  /** Asks by sender and client message id. */
  readonly #asked = new Map<string, Ask>();
  readonly #kept = new RecentDecisions();
  readonly #calls: ForeignCalls;

  constructor(room: Room, ports: ModerationHookPorts) {
    this.#room = room;
    this.#ports = ports;
    this.#calls = new ForeignCalls(room, "before-post", "Rate limit exceeded: too many messages wait to be checked.");
  }

  start(): void {
    this.#calls.start();
  }

  /** RULE-8: decisions that come later are dropped. */
  onErase(): undefined {
    this.#queues.clear();
    this.#asked.clear();
    this.#kept.clear();
    this.#calls.stop();
  }

  /** Whether the same request waits already. */
  isAsked({ user }: Caller, payload: unknown): boolean {
    return this.#asked.has(keyOf(user, payload) ?? "");
  }

  /** Lets a retry wait for the request that `isAsked` found: its decision is asked once (RULE-4). */
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
  check(saying: Saying, reply: Reply<Answer<object>>, goOn: GoOn): void | Promise<void> {
    const { caller, payload } = saying;
    const rules = this.#ports.rules()!;
    const { user } = caller;
    const party = this.#room.partyOf(caller);
    const busy = this.#calls.refuse(party);
    if (busy) return reply(busy);
    const key = keyOf(user, payload);
    const nowMs = this.#room.now();
    const kept = key === undefined ? undefined : this.#kept.find(key, nowMs);
    const given = kept ?? this.#ask(saying, rules);
    const ask: Ask = {
      saying,
      key,
      goOn,
      user,
      party,
      caller,
      rules,
      decision: undefined,
      end: () => {},
      giveUp: (why) => this.#giveUp(ask, why),
      replies: [reply],
      stay: this.#ports.stayOf(user),
      sinceMs: nowMs,
    };
    if (!isPromise(given)) {
      if (!kept) this.#note(ask, given);
      // In the same turn, as in a room without rules.
      if (!this.#queues.has(user)) return this.#finish(ask, given);
      ask.decision = given;
    }
    return this.#wait(ask, given);
  }

  #wait(ask: Ask, given: PostDecision | Promise<PostDecision>): Promise<void> {
    const { user, key, rules, sinceMs } = ask;
    const { promise, resolve } = Promise.withResolvers<void>();
    ask.end = resolve;
    const queue = this.#queues.get(user) ?? [];
    queue.push(ask);
    this.#queues.set(user, queue);
    if (key !== undefined) this.#asked.set(key, ask);
    this.#calls.begin(ask, isPromise(given) ? sinceMs + rules.timeoutMs : undefined);
    if (isPromise(given))
      void given.then((decision) => this.#calls.answered(ask) && this.#room.turn(() => this.#decide(ask, decision)));
    return promise;
  }

  /** Asks the rules of the room. Never throws, nor rejects: RULE-6. */
  #ask(
    { caller, operation, steps, payload }: Saying,
    { beforePost, timeoutMs }: PostRules,
  ): PostDecision | Promise<PostDecision> {
    const { user, name, role } = caller;
    const { schema } = operation.event;
    const { kind } = steps;
    const read = (given: unknown): PostDecision => readDecision(given, payload as object, { schema, kind });
    const failed = (error: unknown): PostDecision => ({ type: "failed", error });
    try {
      if (!(timeoutMs > 0 && timeoutMs <= DECISION_MS_MAX))
        throw new RangeError(`beforePostTimeoutMs: ${timeoutMs} is not between 1 and ${DECISION_MS_MAX}`);
      const given = beforePost(draftOf(payload), { kind, user, name, role, room: this.#room.name });
      return isPromise(given) ? Promise.resolve(given).then(read).catch(failed) : read(given);
    } catch (error) {
      return failed(error);
    }
  }

  #decide(ask: Ask, decision: PostDecision): void {
    ask.decision = decision;
    this.#note(ask, decision);
    this.#goOnWith(ask.user);
  }

  #giveUp(ask: Ask, why: "late" | "deleted"): void {
    if (why === "deleted")
      return this.#answer(ask, refuse("INTERNAL", "The room was deleted before the message was stored."));
    const error = new Error(`beforePost took longer than ${ask.rules.timeoutMs} ms`);
    this.#decide(ask, { type: "failed", error });
  }

  /** RULE-3: takes the decisions of a sender in the order of the requests. */
  #goOnWith(user: string): void {
    const queue = this.#queues.get(user);
    while (queue?.[0]?.decision) {
      const ask = queue.shift()!;
      this.#calls.end(ask);
      if (ask.key !== undefined) this.#asked.delete(ask.key);
      if (queue.length === 0) this.#queues.delete(user);
      this.#finish(ask, ask.decision!);
    }
  }

  #finish(ask: Ask, decision: PostDecision): void {
    try {
      this.#carryOut(ask, decision);
    } catch (error) {
      this.#room.reportProblem("a request could not be carried out after its verdict", error);
      this.#answer(ask, refuse("INTERNAL", "The message could not be stored; try again."));
    }
  }

  #carryOut(ask: Ask, decision: PostDecision): void {
    const { saying, key, rules, goOn } = ask;
    if (decision.type === "rejected") return this.#answer(ask, decision.answer);
    if (decision.type === "failed" && rules.onFailure === "refuse")
      return this.#answer(ask, refuse("INTERNAL", "The message could not be checked; try again."));
    const payload = decision.type === "failed" ? saying.payload : decision.payload;
    const refusal = this.#refuseSince(ask);
    if (refusal) return this.#answer(ask, refusal);
    const caller = this.#ports.callerNow(ask.caller);
    goOn(caller, payload, (answer) => {
      if ("ok" in answer && key !== undefined) this.#kept.forget(key);
      this.#answer(ask, answer);
    });
    ask.end();
  }

  /** RULE-5: a stay or a token may have ended while the decision was awaited. No other rule of the room looks at them. */
  #refuseSince({ stay, caller: { user, client } }: Ask): ErrorAnswer | undefined {
    if (this.#ports.stayOf(user) !== stay) return refuse("FORBIDDEN", "You were removed from this room.");
    const { exp = Infinity } = client?.token ?? {};
    return exp * 1000 <= this.#room.now() ? refuse("TOKEN_EXPIRED", "The token has expired.") : undefined;
  }

  #answer({ replies, end }: Ask, answer: Answer<object>): void {
    for (const reply of replies) reply(answer);
    end();
  }

  #note({ key, sinceMs }: Ask, decision: PostDecision): void {
    const { meter, now, reportProblem } = this.#room;
    countDecision(meter, decision.type, now() - sinceMs);
    if (decision.type === "failed") return reportProblem("beforePost failed", decision.error);
    if (key !== undefined) this.#kept.keep(key, decision, now());
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
  const { attachment: _first, attachments: _all, ...others } = payload as PostDraft;
  const copies = attachmentsOf(payload as PostDraft).map(({ preview, ...file }) => ({
    ...file,
    ...(preview && { preview: { ...preview } }),
  }));
  return { ...others, ...withFiles(copies) };
}

/** @param waitedMs from the request to the decision of the moderation hook */
function countDecision(meter: Meter, decision: PostDecision["type"], waitedMs: number): void {
  meter.count(`verdicts:${decision}`);
  meter.observe("verdict", Math.max(0, waitedMs) / 1000);
}
