// Decides on a CONNECT: by its token, by middleware and by the namespace; synchronously if all of them are. Called by connects.ts.
import type { Identity } from "../engine/session.ts";
import { STEPS, type ConnectRequest, type Namespace, type AuthorizeResult, type Refusal } from "./namespace.ts";
import type { TokenLife } from "./token-life.ts";

/** The verdict of the application, or its error. */
export interface Decision {
  readonly verdict?: AuthorizeResult<unknown>;
  readonly error?: unknown;
  /** The identity of the token, or the one that the front server vouches for. */
  readonly identity?: Identity;
}

/**
 * Asks a namespace for its verdict. Asynchronous only if it, its middleware, or the check of the token is; never throws.
 * @param tokens verifies tokens; without it, tokens are ignored
 */
export function decide(
  namespace: Namespace,
  request: ConnectRequest,
  tokens: TokenLife | undefined,
): Decision | Promise<Decision> {
  try {
    const decision = identifyAndAsk(namespace, request, namespace.authenticate === "anybody" ? undefined : tokens);
    return decision instanceof Promise ? decision.catch((error: unknown): Decision => ({ error })) : decision;
  } catch (error) {
    return { error };
  }
}

/** TOK-4: the token comes before middleware and namespace, which may rely on its user. */
function identifyAndAsk(
  namespace: Namespace,
  request: ConnectRequest,
  tokens?: TokenLife,
): Decision | Promise<Decision> {
  return andThen(tokens?.identify(request) ?? {}, ({ identity, refusal }) => {
    if (refusal) return { verdict: refusal };
    const known = identity && { identity };
    return andThen(ask(namespace, { ...request, ...known }), (verdict) => ({ verdict, ...known }));
  });
}

/** Middleware first, in order, then the namespace itself. */
function ask(
  namespace: Namespace,
  request: ConnectRequest,
  from = 0,
): AuthorizeResult<unknown> | Promise<AuthorizeResult<unknown>> {
  const middleware = namespace[STEPS].connects[from];
  if (!middleware)
    return namespace.authorize ? andThen(namespace.authorize(request), checked) : { accepted: true, data: {} };
  return andThen(middleware(request), (given) => refusalIn(given, "middleware") ?? ask(namespace, request, from + 1));
}

/**
 * Reads what middleware or `admit` returned. Anything but `accepted: false` or an error refuses nothing: it may be any value, such as the
 * result of the last call in an arrow function.
 * @throws Error for a refusal without a message
 */
export function refusalIn(given: unknown, from: string): Refusal | undefined {
  const { accepted, message, data } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (given instanceof Error) return { accepted: false, message: given.message, data };
  if (accepted !== false) return undefined;
  if (typeof message === "string") return given as Refusal;
  throw new Error(`${from} returned a refusal without a message`);
}

/**
 * Checks a verdict, so that a mistake lets no client in and no refusal lacks a reason.
 * @throws Error for a value that is no verdict
 */
function checked(verdict: AuthorizeResult<unknown>): AuthorizeResult<unknown> {
  const { accepted, message } = (verdict ?? {}) as { readonly accepted?: unknown; readonly message?: unknown };
  if (accepted === true || (accepted === false && typeof message === "string")) return verdict;
  throw new Error("authorize returned no verdict");
}

/** Goes on synchronously with a value that is no promise: a CONNECT that waits for nothing is answered in its own turn. */
export function andThen<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(value) ? Promise.resolve(value).then(goOn) : goOn(value);
}

/** Tells a promise of any kind, which the language tells by its method `then`; a field of that name makes no promise of a value. */
export function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  // The promise of a call to another Worker is a function.
  if ((typeof value !== "object" || value === null) && typeof value !== "function") return false;
  return typeof (value as Partial<PromiseLike<Value>>).then === "function";
}
