// Handles CONNECTs: finds the namespace, decides by the token, by middleware and by the namespace, and answers with a socket, new or recovered, or with a refusal. Called by
// server.ts.
import { asksForBundles } from "../wire/bundles.ts";
import { CLOSINGS } from "../wire/closings.ts";
import { encodeConnect, encodeConnectError } from "../wire/socket-io.ts";
import type { Meter } from "../engine/backpressure.ts";
import { CONNECTS_PER_NAMESPACE, type SessionFlood } from "../engine/session-flood.ts";
import { MISSED_BYTES_MAX, type Claim, type Recovery, type Resumed, type ResumeOptions } from "../recovery/recovery.ts";
import { type ConnectRequest, type Refusal, type AuthorizeResult, STEPS, type Namespace } from "./namespace.ts";
import { isPromise, type Failures } from "./failures.ts";
import type { NamespaceEntry, Namespaces } from "./namespaces.ts";
import type { SocketRecord, TokenRecord } from "./records.ts";
import type { SocketSession } from "./socket-session.ts";
import type { Sockets } from "./sockets.ts";
import type { TokenLife } from "./token-life.ts";
import type { UnjoinedSessions } from "./unjoined-sessions.ts";
import type { Identity } from "../engine/session.ts";

export interface ConnectsContext {
  readonly sockets: Sockets;
  readonly namespaces: Namespaces;
  readonly unjoined: UnjoinedSessions;
  readonly tokens: TokenLife | undefined;
  readonly flood: SessionFlood;
  readonly failures: Failures;
  readonly meter: Meter;
  readonly newId: () => string;
  readonly report: (problem: string, error: unknown) => void;
}

/** SIO-14. The error itself is for the log alone. */
const UNDECIDED = { message: "Internal server error", data: { code: "INTERNAL" } };

export class Connects {
  readonly #context: ConnectsContext;

  constructor(context: ConnectsContext) {
    this.#context = context;
  }

  /** @returns a promise while the decision, or the application's `onConnect`, goes on */
  receive(session: SocketSession, nsp: string, auth: ConnectRequest["auth"]): void | Promise<void> {
    const { sockets, namespaces, tokens } = this.#context;
    // SIO-5
    if (session.sockets.has(nsp) || session.connecting.includes(nsp))
      return sockets.close(session, CLOSINGS.protocolViolation);
    if (this.isFlood(session)) return;
    const { refusal } = session.handshake;
    if (refusal) return this.#refuse(session, nsp, refusal);
    const request = { nsp, auth, handshake: session.handshake };
    session.beginConnect(nsp);
    const fail = (error: unknown): void => sockets.effects.turn(() => this.#fail(session, nsp, error));
    const answer = (): unknown => {
      try {
        const deciding = andThen(namespaces.find(request, session), (entry) => {
          if (!entry) return this.#refuse(session, nsp, { message: "Invalid namespace" });
          // In one turn, also after an await.
          return andThen(decide(entry.namespace, request, tokens), (decision) =>
            sockets.effects.turn(() => this.#conclude(session, request, entry, decision)),
          );
        });
        return deciding instanceof Promise ? deciding.then(undefined, fail) : deciding;
      } catch (error) {
        return fail(error);
      }
    };
    return sockets.run({ nsp, session }, "CONNECT", answer, () => sockets.close(session, CLOSINGS.internal));
  }

  /**
   * SIO-14: an error before a socket is let in refuses this CONNECT alone.
   * @throws the error, if the socket was let in already
   */
  #fail(session: SocketSession, nsp: string, error: unknown): void {
    if (!session.connecting.includes(nsp)) throw error;
    this.#context.failures.report("a CONNECT could not be decided", error, session);
    this.#refuse(session, nsp, UNDECIDED);
  }

  /** SIO-11: counts a CONNECT, or a token to verify. @returns whether it was one too many, which closed the session */
  isFlood(session: SocketSession): boolean {
    const { sockets, flood } = this.#context;
    const isOver = flood.isOver(session, sockets.now(), CONNECTS_PER_NAMESPACE * session.mostNamespaces);
    if (isOver) sockets.close(session, CLOSINGS.connectFlood);
    return isOver;
  }

  #conclude(
    session: SocketSession,
    request: ConnectRequest,
    entry: NamespaceEntry,
    decision: Decision,
  ): void | Promise<void> {
    try {
      if (!decision.result) throw decision.error;
      return this.#answer(session, { ...request, ...decision }, entry, decision.result);
    } finally {
      // Not sooner: the stale socket may be the last one in a namespace made on demand, which must stay for the new one.
      this.#context.namespaces.giveUp(request.nsp, session);
    }
  }

  #refuse(session: SocketSession, nsp: string, refusal: Omit<Refusal, "accepted">): void {
    const { sockets, unjoined, meter } = this.#context;
    session.endConnect(nsp);
    countRefusal(meter, refusal);
    if (session.closed) return;
    // SIO-13: stock clients come back after a closing, but never after a CONNECT_ERROR. A session in another namespace stays.
    if (unjoined.defer(session, refusal.passesInMs)) return;
    sockets.effects.send([session], encodeConnectError(nsp, refusal));
  }

  /** @returns a promise while the `onConnect` of the namespace goes on */
  #answer(
    session: SocketSession,
    { nsp, auth, identity }: ConnectRequest,
    entry: NamespaceEntry,
    result: AuthorizeResult<unknown>,
  ): void | Promise<void> {
    if (session.closed) return;
    if (!result.accepted) return this.#refuse(session, nsp, result);
    const { sockets, namespaces, tokens, meter, newId } = this.#context;
    namespaces.activate(entry);
    const { namespace, hub, recovery } = entry;
    const owner = recovery && session.handshake.canRecover ? namespace.ownerOf(result.data, identity?.user) : undefined;
    const claim = owner === undefined ? undefined : recovery?.claim(auth, { nsp, owner });
    // REC-4: the server may not have noticed that the client's former connection is dead. It is closed first, because events sent to it,
    // and those that its end causes, are among the missed ones.
    const stale = claim && hub.sockets.get(claim.id);
    if (stale) sockets.close(stale.session, CLOSINGS.superseded);
    // Only now, so that a client that comes back to a full room takes the place that it had.
    const refusal = refusalIn(namespace.admit?.(result.data), "admit");
    if (refusal) return this.#refuse(session, nsp, refusal);
    session.endConnect(nsp);
    if (session.closed) return;
    const bytesMax = MISSED_BYTES_MAX - (session.polling?.bytes ?? 0);
    const wasThere = stale !== undefined;
    const resumed = recovery && claim && this.#resume(recovery, claim, { nowMs: sockets.now(), bytesMax, wasThere });
    countAccepted(meter, { asksForMore: typeof auth["pid"] === "string", claim, resumed });
    const id = resumed?.id ?? newId();
    const pid = owner === undefined ? undefined : (resumed?.pid ?? recovery?.pid(nsp, id, owner));
    const token = identity && tokens?.recordOf(identity);
    const bundles = asksForBundles(auth, session.handshake.query);
    const begun = { id, pid, data: result.data, resumed, token, bundles };
    const socket = sockets.make(session, entry, firstRecord(entry, begun));
    sockets.effects.save(session);
    sockets.effects.send([session], encodeConnect(nsp, id, pid));
    socket.replay(resumed?.missed ?? []);
    sockets.activate(socket, entry);
    socket.remember();
    // A stock client stays away then, as after a refusal.
    return sockets.run(
      socket,
      "onConnect",
      () => namespace.onConnect?.(socket),
      () => socket.disconnect(),
    );
  }

  /** A log that cannot be read recovers nothing; otherwise the CONNECTs of this client would fail again and again. */
  #resume(recovery: Recovery, claim: Claim, options: ResumeOptions): Resumed | undefined {
    try {
      return recovery.resume(claim, options);
    } catch (error) {
      this.#context.report("missed events could not be read", error);
      return undefined;
    }
  }
}

interface NewSocket {
  readonly id: string;
  readonly pid: string | undefined;
  readonly data: unknown;
  readonly resumed: Resumed | undefined;
  readonly token: TokenRecord | undefined;
  readonly bundles: boolean;
}

/** Combines the decision of the namespace with the remembered state of a recovered socket. */
function firstRecord({ namespace, hub, rule }: NamespaceEntry, begun: NewSocket): SocketRecord {
  const { id, pid, resumed, token, bundles } = begun;
  const remembered = resumed?.remembered;
  let { data } = begun;
  if (remembered) data = namespace.mergeData ? namespace.mergeData(remembered.data, data) : remembered.data;
  return {
    nsp: hub.nsp,
    id,
    data,
    channels: remembered?.channels ?? [],
    ...(resumed && { recovered: true }),
    ...(pid !== undefined && { pid }),
    ...(bundles && { bundles: true }),
    ...(rule !== undefined && { rule }),
    ...(token && { token }),
  };
}

/** @param claim the former socket of the client, if it proved that; `resumed` if all missed events can be replayed */
function countAccepted(
  meter: Meter,
  { asksForMore, claim, resumed }: { asksForMore: boolean; claim: object | undefined; resumed: object | undefined },
): void {
  meter.count("connects:accepted");
  if (!asksForMore) return;
  if (resumed) meter.count("recoveries:recovered");
  else meter.count(claim ? "recoveries:gap" : "recoveries:unknown");
}

/** Counts under the code of the application, if there is one. */
function countRefusal(meter: Meter, { message, data }: Pick<Refusal, "message" | "data">): void {
  const { code } = (data ?? {}) as { readonly code?: unknown };
  if (typeof code === "string") meter.count(`connects:${code}`);
  else meter.count(message === "Invalid namespace" ? "connects:INVALID_NAMESPACE" : "connects:REFUSED");
}

/** The decision of the application, or its error. */
interface Decision {
  readonly result?: AuthorizeResult<unknown>;
  readonly error?: unknown;
  /** The identity of the token, or the one that the front server vouches for. */
  readonly identity?: Identity;
}

/**
 * Asks a namespace for its decision. Asynchronous only if it, its middleware, or the check of the token is; never throws.
 * @param tokens verifies tokens; without it, tokens are ignored
 */
function decide(
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
    if (refusal) return { result: refusal };
    const known = identity && { identity };
    return andThen(ask(namespace, { ...request, ...known }), (result) => ({ result, ...known }));
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
function refusalIn(given: unknown, from: string): Refusal | undefined {
  const { accepted, message, data } = (given ?? {}) as Readonly<Record<string, unknown>>;
  if (given instanceof Error) return { accepted: false, message: given.message, data };
  if (accepted !== false) return undefined;
  if (typeof message === "string") return given as Refusal;
  throw new Error(`${from} returned a refusal without a message`);
}

/**
 * Checks a decision, so that a mistake lets no client in and no refusal lacks a reason.
 * @throws Error for a value that is no decision
 */
function checked(result: AuthorizeResult<unknown>): AuthorizeResult<unknown> {
  const { accepted, message } = (result ?? {}) as { readonly accepted?: unknown; readonly message?: unknown };
  if (accepted === true || (accepted === false && typeof message === "string")) return result;
  throw new Error("authorize returned no verdict");
}

/** Goes on synchronously with a value that is no promise: a CONNECT that waits for nothing is answered in its own turn. */
function andThen<Value, Result>(
  value: Value | Promise<Value>,
  goOn: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(value) ? Promise.resolve(value).then(goOn) : goOn(value);
}
