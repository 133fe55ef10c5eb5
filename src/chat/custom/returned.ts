// Reads the results of the code of a custom feature (OWN-4, OWN-6). Called by custom-event.ts, custom-hooks.ts and facts.ts.
import type { Answer, ErrorAnswer } from "../../protocol/chat-events.ts";
import { ANSWERS } from "../../protocol/failures.ts";
import { isPromise } from "../../socketio/server/failures.ts";
import { encodeValue } from "../../socketio/wire/value-text.ts";

/** @throws Error for a promise: the room cannot wait here */
export function atOnce<Value>(given: Value | Promise<Value>, what = "it"): Value {
  if (!isPromise(given)) return given;
  void Promise.resolve(given).catch(() => {});
  throw new Error(`${what} answered with a promise, where the room cannot wait`);
}

/** @throws Error for a value that is no answer, or cannot be sent */
export function readAnswer(given: unknown): Answer<object> {
  if (given === undefined) return { ok: true };
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new Error(`it returned ${describe(given)}: return an object, nothing, or refuse(…)`);
  encodeValue(given);
  return "error" in given ? readError(given.error) : { ...given, ok: true };
}

function describe(given: unknown): string {
  if (given === null) return "null";
  return Array.isArray(given) ? "a list" : `a ${typeof given}`;
}

/** @returns nothing where nothing is refused. @throws Error for a value that is no refusal */
export function readRefusal(given: unknown): ErrorAnswer | undefined {
  if (given === undefined || given === null) return undefined;
  return readError((given as { readonly error?: unknown }).error);
}

function readError(error: unknown): ErrorAnswer {
  const { code, message, retryAfterMs } = (error ?? {}) as Partial<Record<keyof ErrorAnswer["error"], unknown>>;
  if (typeof code === "string" && !Object.hasOwn(ANSWERS, code))
    throw new Error(`it refused with ${code.slice(0, 40)}, which is no code of a room (AnswerCode)`);
  if (
    typeof code !== "string" ||
    typeof message !== "string" ||
    !(retryAfterMs === undefined || Number.isFinite(retryAfterMs))
  )
    throw new Error("it returned an error that is none of a room: use refuse(…)");
  return { error } as ErrorAnswer;
}
