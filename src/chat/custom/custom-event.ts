// Makes an operation of the room of an event of a custom feature, and checks its schema, cost and answer, which are foreign code
// (OWN-3 to OWN-5). Called by custom-features.ts.
import * as z from "zod/mini";

import type { Answer } from "../../protocol/chat-events.ts";
import { checkedBy } from "../../protocol/input.ts";
import type { Callers, FeatureCaller, RoomEvent } from "../../extension/extension.ts";
import { isPromise } from "../../socketio/server/failures.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { Party } from "../../protocol/shares.ts";
import type { ForeignCall, ForeignCalls } from "../room/foreign-calls.ts";
import type { Caller, Operation, Reply } from "../room/operation.ts";
import { REQUEST_LIMIT } from "../../protocol/limits.ts";
import type { Room } from "../room/room.ts";
import { atOnce, readAnswer } from "./returned.ts";

/** The longest time that an event may take, in ms. */
export const RUN_MS_MAX = 30_000;

export interface EventPorts {
  readonly room: Pick<Room, "heard" | "now" | "partyOf" | "turn">;
  /** Whether the feature sends events. */
  readonly sends: boolean;
  /** Events that answer later. */
  readonly calls: ForeignCalls;
  readonly seen: (caller: Caller) => FeatureCaller;
  /** Logs a failure of the feature. */
  readonly failed: (what: string, error: unknown) => void;
}

type Schema = NonNullable<RoomEvent["schema"]>;

/** In the order from all to few. The compiler reports a missing one. */
const CALLERS: Readonly<Record<Callers, true>> = { everyone: true, members: true, speakers: true, moderators: true };

/** @returns what is wrong with an event, as far as that can be seen before it is used */
export function problemOf({ run, by = "speakers", schema, cost = 1 }: RoomEvent): string | undefined {
  if (typeof run !== "function") return "has no `run`";
  if (!Object.hasOwn(CALLERS, by))
    return `has \`by: ${JSON.stringify(by)}\`, which is none of ${Object.keys(CALLERS).join(", ")}`;
  if (schema !== undefined && typeof schema["~standard"]?.validate !== "function")
    return "has a `schema` that is none of the Standard Schema";
  return typeof cost === "function" || isCost(cost)
    ? undefined
    : `has a \`cost\` that is not 1 to ${REQUEST_LIMIT.burst}`;
}

const isCost = (cost: unknown): cost is number => typeof cost === "number" && cost >= 1 && cost <= REQUEST_LIMIT.burst;

/** The payload of an event without a schema: nothing, or the empty object that some clients send instead. */
const NO_PAYLOAD = z.pipe(
  z.optional(z.object({})),
  z.transform(() => undefined),
);

/** @param name of the event */
export function operationOf(name: string, event: RoomEvent, ports: EventPorts): Operation {
  const { room, calls, seen, failed } = ports;
  const fail = (error: unknown, reply: Reply<Answer<object>>): void => {
    failed(`event "${name}"`, error);
    reply(refuse("INTERNAL", `The event ${name} failed; try again.`));
  };
  const answer = (given: unknown, reply: Reply<Answer<object>>): void => {
    let read: Answer<object>;
    try {
      read = readAnswer(given);
    } catch (error) {
      return fail(error, reply);
    }
    reply(read);
  };
  const cost = (payload: unknown): number => {
    if (payload instanceof Unchecked) return 1;
    try {
      return costOf(event, payload);
    } catch (error) {
      failed(`the cost of event "${name}"`, error);
      return 1;
    }
  };
  const schema = event.schema === undefined ? NO_PAYLOAD : schemaOf(event.schema);
  return {
    // OWN-3.
    event: { name, schema, cost, by: event.by ?? "speakers" },
    run: (caller, payload, reply) => {
      if (payload instanceof Unchecked) {
        const { error, late } = payload;
        if (!late) return fail(error, reply);
        const failLater = (cause: unknown): void => room.turn(() => fail(cause, reply));
        return inTime(ports, room.partyOf(caller), late).then(() => failLater(error), failLater);
      }
      const party = room.partyOf(caller);
      const refusal = calls.refuse(party);
      if (refusal) return reply(refusal);
      let given: unknown;
      try {
        given = event.run(payload, seen(caller));
      } catch (error) {
        return fail(error, reply);
      }
      if (!isPromise(given)) return answer(given, reply);
      // All may hear of it later (CROWD-3).
      if (ports.sends) room.heard++;
      return inTime(ports, party, given).then(
        (later) => room.turn(() => answer(later, reply)),
        (error: unknown) => room.turn(() => fail(error, reply)),
      );
    },
  };
}

/** OWN-5. @returns the result; rejects once it takes too long, or the room is deleted */
async function inTime<Result>(
  { room, calls }: EventPorts,
  party: Party,
  running: PromiseLike<Result>,
): Promise<Result> {
  const givenUp = Promise.withResolvers<never>();
  const call: ForeignCall = { party, giveUp: (why) => givenUp.reject(new Error(GIVEN_UP[why])) };
  calls.begin(call, room.now() + RUN_MS_MAX);
  try {
    return await Promise.race([running, givenUp.promise]);
  } finally {
    calls.end(call);
  }
}

const GIVEN_UP = {
  late: `it took longer than ${RUN_MS_MAX / 1000} s`,
  deleted: "the room was deleted meanwhile",
} as const;

/** @throws an error of the feature's function, or one about its result */
function costOf({ cost = 1 }: RoomEvent, payload: unknown): number {
  const given: unknown = typeof cost === "function" ? cost(payload) : cost;
  if (isCost(given)) return given;
  throw new RangeError(`must be 1 to ${REQUEST_LIMIT.burst}, not ${String(given)}`);
}

/** The payload where the schema itself failed. */
class Unchecked {
  readonly error: unknown;
  /** The answer of the schema, if that is a promise: some libraries give one that rejects with what was thrown in the schema. */
  readonly late: PromiseLike<unknown> | undefined;

  constructor(error: unknown, late?: PromiseLike<unknown>) {
    this.error = error;
    this.late = late;
  }
}

/** A schema of the room that asks one of the Standard Schema. */
function schemaOf(schema: Schema): z.ZodMiniType {
  return z.transform((given, context) => {
    let result;
    let late: PromiseLike<unknown> | undefined;
    try {
      result = checkedBy((value) => {
        const answer = schema["~standard"].validate(value);
        if (isPromise(answer)) late = answer;
        return atOnce(answer, "its schema");
      }, given);
    } catch (error) {
      return new Unchecked(error, late);
    }
    if (!result.issues) return result.value;
    for (const { message, path = [] } of result.issues)
      context.issues.push({
        code: "custom",
        input: given,
        message,
        path: path.map((part) => (typeof part === "object" ? part.key : part)),
      });
    return z.NEVER;
  });
}
