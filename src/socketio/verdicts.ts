// What becomes of a CONNECT: middleware and namespace decide, at once where they can.
import type { ConnectRequest, Namespace, Verdict } from "./namespace.ts";

/** A verdict, or why there is none. */
export interface Judged {
  readonly verdict?: Verdict<unknown>;
  readonly error?: unknown;
}

/** What a namespace says of a CONNECT. Asynchronous only where it, or its middleware, is; never throws. */
export function judge(namespace: Namespace, request: ConnectRequest): Judged | Promise<Judged> {
  try {
    const verdict = ask(namespace, request);
    if (!isPromise(verdict)) return { verdict };
    return verdict.then(
      (decided): Judged => ({ verdict: decided }),
      (error: unknown): Judged => ({ error }),
    );
  } catch (error) {
    return { error };
  }
}

/** Middleware first, in order, then the namespace itself. */
function ask(namespace: Namespace, request: ConnectRequest, from = 0): Verdict<unknown> | Promise<Verdict<unknown>> {
  const middleware = namespace.connectMiddleware[from];
  if (!middleware) return namespace.authorize?.(request) ?? { accepted: true, data: {} };
  return andThen(middleware(request), (refusal) => refusal ?? ask(namespace, request, from + 1));
}

/** Goes on at once where nothing has to be waited for: a CONNECT that needs no key is answered in its own turn. */
export function andThen<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(value) ? value.then(goOn) : goOn(value);
}

export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value;
}
