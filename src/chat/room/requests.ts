// Runs the requests of a room: parses the payload, finds repeats, takes tokens, asks the parts whether they refuse, and runs the
// operation, or has the moderation hook decide first. Called by src/chat/chat.ts for the events of members and for features of the room's class, by
// src/objects/asking.ts for callers without a connection, by shards/member-requests.ts for members in shards, and by room-calls.ts for custom
// events from outside and for uploads.
import { describeIssues } from "../../protocol/schemas/fields.ts";
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import { readAs } from "../../protocol/input.ts";
import { REQUEST_LIMIT } from "../../protocol/limits.ts";
import { isStaff } from "../../protocol/roles.ts";
import { TokenBuckets } from "../../clock/rates.ts";
import { refuse, refuseTooMany } from "../../protocol/refuse.ts";
import type { EventRules, Bearer, Caller, Operation, Reply } from "./operation.ts";
import type { Connection, Room } from "./room.ts";
import type { ModerationHook } from "./moderation-hook.ts";
import type { Hooks, RoomPart } from "./room-part.ts";

/** In a crowd: members who hear an event for one token of its sender. */
export const HEARERS_PER_TOKEN = 50;

/** Characters of an unknown event's name that its error repeats. */
const EVENT_NAME_SHOWN_MAX = 64;

export interface Request {
  /** As a client names it; an operation that is no event has a name of its own. */
  readonly event: string;
  readonly bearer: Bearer;
  /** The connection of the request; absent where it came from outside the room. */
  readonly client?: Connection;
  /** As it came: untrusted. */
  readonly given: unknown;
  readonly reply: Reply<Answer<object>>;
}

export interface RequestsPorts {
  readonly hooks: Hooks;
  /** Finds the role that counts in the room. */
  readonly callerOf: (bearer: Bearer, client?: Connection) => Caller;
  readonly moderationHook: ModerationHook;
}

export class Requests {
  readonly #room: Room;
  readonly #hooks: Hooks;
  readonly #callerOf: (bearer: Bearer, client?: Connection) => Caller;
  readonly #moderationHook: ModerationHook;
  /** By event, each with the series that counts it. */
  readonly #operations = new Map<string, { readonly operation: Operation; readonly series: string }>();
  /** In memory only, because a bucket is full again before a room falls asleep. */
  readonly #buckets = new TokenBuckets(REQUEST_LIMIT);

  constructor(room: Room, { hooks, callerOf, moderationHook }: RequestsPorts) {
    this.#room = room;
    this.#hooks = hooks;
    this.#callerOf = callerOf;
    this.#moderationHook = moderationHook;
  }

  /** Takes the operations of the parts. Called before the room is open: some parts make requests, and exist later than this. */
  add(parts: readonly RoomPart[]): void {
    for (const operation of parts.flatMap(({ operations = [] }) => operations))
      this.#operations.set(operation.event.name, { operation, series: `events:${operation.event.name}` });
  }

  /** Answers a request of a client or the HTTP API by the name of its event, and counts it (MET-1). */
  perform(request: Request): void | Promise<void> {
    const { meter } = this.#room;
    const { event, reply } = request;
    const caller = this.#callerOf(request.bearer, request.client);
    const { operation, series = "events:unknown" } = this.#operations.get(event) ?? {};
    meter.count(series);
    const counted: Reply<Answer<object>> = (answer) => {
      if ("error" in answer) meter.count(`rejects:${answer.error.code}`);
      else if ("duplicate" in answer) meter.count("duplicates");
      reply(answer);
      this.#hooks.tell("onAnswered", caller, answer);
    };
    if (operation) return this.run(operation, caller, request.given, counted);
    counted(this.#takeTokens(caller, 1) ?? noSuchEvent(event));
  }

  /** Runs an operation without counting it. Called by `perform`, and for uploads, which are no events. */
  run(operation: Operation, caller: Caller, given: unknown, reply: Reply<Answer<object>>): void | Promise<void> {
    const { event, steps } = operation;
    const parsed = readAs(event.schema, given ?? {});
    // LIM-3: to look at a wrong request costs the room as much as a right one.
    if (!parsed.success) {
      return reply(this.#takeTokens(caller, 1) ?? refuse("INVALID_PAYLOAD", describeIssues(parsed.error)));
    }
    const payload = parsed.data;
    const isAsked = steps !== undefined && this.#moderationHook.isAsked(caller, payload);
    const repeat = isAsked ? undefined : operation.repeated?.(caller, payload);
    const isRepeated = isAsked || repeat?.isSure === true;
    const cost = isRepeated ? 1 : costOf(event, payload);
    const limited = this.#takeTokens(caller, cost);
    if (limited) return reply(limited);
    const refusal = isRepeated ? undefined : this.#refuse(event, caller, payload);
    // LIM-3: a refused post has not reached the bucket of posts.
    if (refusal) return reply((cost === 0 ? this.#takeTokens(caller, 1) : undefined) ?? refusal);
    if (isAsked) return this.#moderationHook.join(caller, payload, reply);
    if (repeat) return repeat.answer(this.#followed(event, caller, reply));
    if (!steps || !this.#moderationHook.isOn)
      return this.#charged(caller, () => operation.run(caller, payload, this.#followed(event, caller, reply)));
    const answer = steps.admit(caller, payload);
    if (answer) return reply(answer);
    return this.#moderationHook.check(
      { caller, operation, steps, payload },
      reply,
      (callerNow, accepted, answerAll) => {
        // The decision may have taken a while: a mute of that time holds, and slow mode counts from now on.
        const refusalNow = this.#refuse(event, callerNow, accepted);
        if (refusalNow) return answerAll(refusalNow);
        this.#charged(callerNow, () => steps.say(callerNow, accepted, this.#followed(event, callerNow, answerAll)));
      },
    );
  }

  /** Tells the parts that follow requests that this one is about to run. @returns the reply that tells them the answer, too */
  #followed({ name }: EventRules, caller: Caller, reply: Reply<Answer<object>>): Reply<Answer<object>> {
    const followers = this.#hooks.with("follow").flatMap((part) => part.follow(name, caller) ?? []);
    if (followers.length === 0) return reply;
    return (answer) => {
      for (const follower of followers) follower(answer);
      reply(answer);
    };
  }

  /** Takes tokens from the caller's bucket. @returns the refusal where there are too few */
  #takeTokens({ user }: Caller, cost: number): ErrorAnswer | undefined {
    if (cost === 0) return undefined;
    const taking = this.#buckets.take(user, this.#room.now(), cost);
    return taking.ok ? undefined : refuseTooMany(taking.retryAfterMs);
  }

  /** CROWD-3: what all in a crowd hear costs its sender more, the more they are. It may leave a debt. */
  #charged<Result>({ user, role }: Caller, run: () => Result): Result {
    const { members, heard, now } = this.#room;
    const result = run();
    const events = this.#room.heard - heard;
    if (events === 0 || !members.isLarge || isStaff(role)) return result;
    const cost = Math.min(REQUEST_LIMIT.burst, events * Math.ceil(members.count / HEARERS_PER_TOKEN));
    this.#buckets.charge(user, now(), cost);
    return result;
  }

  /** Asks each part whether it refuses the request. Each rule, such as that of muted users, is in one of them. */
  #refuse(event: EventRules, caller: Caller, payload: unknown): ErrorAnswer | undefined {
    for (const part of this.#hooks.with("refuse")) {
      const refusal = part.refuse(event, caller, payload);
      if (refusal) return refusal;
    }
    return undefined;
  }
}

function costOf({ cost = 1 }: EventRules, payload: unknown): number {
  return typeof cost === "number" ? cost : cost(payload);
}

function noSuchEvent(event: string): ErrorAnswer {
  return refuse("UNKNOWN_EVENT", `No such event: ${event.slice(0, EVENT_NAME_SHOWN_MAX)}`);
}
