// Reads what comes from outside: untrusted values by a schema (events, requests, tokens, cursors), and the arguments of a member's event.
// Called by rooms, shards, the Worker and settings.
import type * as z from "zod/mini";
import en from "zod/v4/locales/en.js";
import { JSON_LEVELS_MAX } from "./nesting.ts";
import type { Answer, ErrorAnswer } from "./chat-events.ts";

const { localeError: error } = en();

/**
 * The result of `safeParse`; never throws. Zod's English texts are given with each value, because zod's own setting belongs to the
 * application that this code runs in.
 */
export const readAs = <Schema extends z.ZodMiniType>(
  schema: Schema,
  given: unknown,
): z.core.util.SafeParseResult<z.output<Schema>> => checkedBy((value) => schema.safeParse(value, { error }), given);

/**
 * The result of a check by zod. It (4.6, core/checks.ts) compares the length of any value with a limit before it finds
 * that it is no string, and a length that is an object with a `toString` of its own cannot be compared: then a copy is
 * checked.
 */
export function checkedBy<Result>(check: (given: unknown) => Result, given: unknown): Result {
  try {
    return check(given);
  } catch {
    return check(comparable(given, JSON_LEVELS_MAX));
  }
}

/** A copy down to so many levels, in which every length and size is one. */
function comparable(given: unknown, levels: number): unknown {
  if (typeof given !== "object" || given === null || ArrayBuffer.isView(given)) return given;
  if (levels === 0) return null;
  if (Array.isArray(given)) return given.map((item) => comparable(item, levels - 1));
  const fields = Object.entries(given).filter(
    ([name, value]) => !((name === "length" || name === "size") && typeof value === "object"),
  );
  return Object.fromEntries(fields.map(([name, value]) => [name, comparable(value, levels - 1)]));
}

/** An event of a member as Socket.IO gives its arguments: the payload, and the callback for the answer. */
export interface MemberEvent {
  /** Untrusted. */
  readonly given: unknown;
  readonly reply: (answer: Answer<object>) => void;
}

/** @param sendError sends the event `error`: without an ack callback only an error is worth sending */
export function memberEvent(args: readonly unknown[], sendError: (error: ErrorAnswer["error"]) => void): MemberEvent {
  const ack = args.at(-1);
  if (typeof ack !== "function") {
    const reply: MemberEvent["reply"] = (answer) => {
      if ("error" in answer) sendError(answer.error);
    };
    return { given: args[0], reply };
  }
  return { given: args.length === 1 ? undefined : args[0], reply: ack as MemberEvent["reply"] };
}
