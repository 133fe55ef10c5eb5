// Decides on a CONNECT: by its token, by middleware and by the namespace; synchronously if all of them are. Called by connects.ts.
import type { Identity } from "../engine/session.ts";
import { STEPS, type ConnectRequest, type Namespace, type AuthorizeResult } from "./namespace.ts";
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
    return isPromise(decision) ? decision.catch((error: unknown): Decision => ({ error })) : decision;
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
  return andThen(tokens?.identify(request), (identity) => {
    if (identity && "accepted" in identity) return { verdict: identity };
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
  return andThen(middleware(request), (refusal) => refusal ?? ask(namespace, request, from + 1));
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
  return isPromise(value) ? value.then(goOn) : goOn(value);
}

export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  // The promise of a call to another Worker is a function.
  return ((typeof value === "object" && value !== null) || typeof value === "function") && "then" in value;
}
