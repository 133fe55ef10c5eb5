// CONNECTs: finds the namespace, asks it for its decision, and answers with a socket, new or recovered, or with a refusal. Called by
// server.ts.
import { CLOSINGS } from "../wire/closings.ts";
import { encodeConnect, encodeConnectError } from "../wire/socket-io.ts";
import type { Meter } from "../engine/meter.ts";
import type { SessionFlood } from "../engine/session-flood.ts";
import { MISSED_BYTES_MAX, type Resumed } from "../recovery/recovery.ts";
import { andThen, decide, type Decision } from "./connect-decision.ts";
import type { ConnectRequest, Namespace, Refusal, Verdict } from "./namespace.ts";
import type { NamespaceEntry, Namespaces } from "./namespaces.ts";
import type { SocketRecord, TokenRecord } from "./records.ts";
import type { SocketSession } from "./socket-session.ts";
import type { Sockets } from "./sockets.ts";
import type { TokenLife } from "./token-life.ts";
import type { UnjoinedSessions } from "./unjoined-sessions.ts";

export interface ConnectsContext {
  readonly sockets: Sockets;
  readonly namespaces: Namespaces;
  readonly unjoined: UnjoinedSessions;
  readonly tokens: TokenLife | undefined;
  readonly flood: SessionFlood;
  readonly meter: Meter;
  readonly newId: () => string;
  readonly report: (problem: string, error: unknown) => void;
}

export class Connects {
  readonly #context: ConnectsContext;

  constructor(context: ConnectsContext) {
    this.#context = context;
  }

  /** @returns a promise while the decision, or the application's `onConnect`, goes on */
  receive(session: SocketSession, nsp: string, auth: ConnectRequest["auth"]): void | Promise<void> {
    const { sockets, namespaces, tokens } = this.#context;
    // SIO-5: a second CONNECT to a namespace, joined or being joined, ends the session.
    if (session.sockets.has(nsp) || session.connecting.includes(nsp))
      return sockets.close(session, CLOSINGS.protocolViolation);
    if (this.isFlood(session)) return;
    const request = { nsp, auth, handshake: session.handshake };
    session.beginConnect(nsp);
    return sockets.run(session, () =>
      andThen(namespaces.find(request, session), (entry) => {
        if (!entry) return this.#refuse(session, nsp, { message: "Invalid namespace" });
        // One turn, also where it comes after an await.
        return andThen(decide(entry.namespace, request, tokens), (decision) =>
          sockets.outbox.turn(() => this.#conclude(session, request, entry, decision)),
        );
      }),
    );
  }

  /** SIO-11: counts a token or CONNECT that has to be decided. @returns whether it is one too many, and the session is closed */
  isFlood(session: SocketSession): boolean {
    const { sockets, flood } = this.#context;
    const isOver = flood.isOver(session, sockets.now());
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
      if (!decision.verdict) throw decision.error;
      return this.#answer(session, { ...request, ...decision }, entry, decision.verdict);
    } finally {
      // Not before: the socket may take the place of the stale one, which was the last one in the namespace.
      this.#context.namespaces.giveUp(request.nsp, session);
    }
  }

  #refuse(session: SocketSession, nsp: string, refusal: Omit<Refusal, "accepted">): void {
    const { sockets, unjoined, meter } = this.#context;
    session.endConnect(nsp);
    countRefusal(meter, refusal);
    if (session.closed) return;
    // SIO-13: stock clients come back from a closing, and from a CONNECT_ERROR never. A session that is in another namespace stays.
    if (unjoined.defer(session, refusal.passesInMs)) return;
    sockets.outbox.send([session], encodeConnectError(nsp, refusal));
  }

  /** @returns a promise while the application is busy with the socket that it let in */
  #answer(
    session: SocketSession,
    { nsp, auth, identity }: ConnectRequest,
    entry: NamespaceEntry,
    verdict: Verdict<unknown>,
  ): void | Promise<void> {
    if (session.closed) return;
    if (!verdict.accepted) return this.#refuse(session, nsp, verdict);
    const { sockets, namespaces, tokens, meter, newId } = this.#context;
    namespaces.activate(entry);
    const { namespace, recovery } = entry;
    const owner =
      recovery && session.handshake.canRecover ? namespace.ownerOf(verdict.data, identity?.user) : undefined;
    const claim = owner === undefined ? undefined : recovery?.claim(auth, { nsp, owner });
    // First of all: events sent to the stale socket, and those that its going causes, are among the missed ones.
    const wasThere = claim !== undefined && this.#closeStale(entry, claim.id);
    // After that: a client that comes back to a full room takes the place it had.
    const refusal = namespace.admit?.(verdict.data);
    if (refusal) return this.#refuse(session, nsp, refusal);
    session.endConnect(nsp);
    if (session.closed) return;
    const bytesMax = MISSED_BYTES_MAX - (session.polling?.bytes ?? 0);
    const resumed = claim && this.#resume(() => recovery?.resume(claim, { nowMs: sockets.now(), bytesMax, wasThere }));
    countAccepted(meter, { asksForMore: typeof auth["pid"] === "string", claim, resumed });
    const id = resumed?.id ?? newId();
    const pid = owner === undefined ? undefined : (resumed?.pid ?? recovery?.pid(nsp, id, owner));
    const token = identity && tokens?.recordOf(identity);
    const socket = sockets.make(session, entry, firstRecord(entry, { id, pid, data: verdict.data, resumed, token }));
    sockets.outbox.save(session);
    sockets.outbox.send([session], encodeConnect(nsp, id, pid));
    socket.replay(resumed?.missed ?? []);
    sockets.activate(socket, entry);
    socket.remember();
    return sockets.run(session, () => namespace.onConnect?.(socket));
  }

  /**
   * REC-4: the connection that a recovering client left behind may not have noticed yet that it is dead.
   * @returns whether there was one
   */
  #closeStale({ hub }: NamespaceEntry, id: string): boolean {
    const stale = hub.sockets.get(id);
    if (stale) this.#context.sockets.close(stale.session, CLOSINGS.superseded);
    return stale !== undefined;
  }

  /** A log that cannot be read back recovers nothing: its owner would fail to connect again and again. */
  #resume(resume: () => Resumed | undefined): Resumed | undefined {
    try {
      return resume();
    } catch (error) {
      this.#context.report("what a socket missed could not be read", error);
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
}

/** The decision of the namespace, and what the recovery log remembers of a socket that comes back. */
function firstRecord({ namespace, hub, rule }: NamespaceEntry, begun: NewSocket): SocketRecord {
  const { id, pid, data, resumed, token } = begun;
  const remembered = resumed?.remembered;
  return {
    nsp: hub.nsp,
    id,
    data: remembered ? mergeData(namespace, remembered.data, data) : data,
    channels: remembered?.channels ?? [],
    ...(resumed && { recovered: true }),
    ...(pid !== undefined && { pid }),
    ...(rule !== undefined && { rule }),
    ...(token && { token }),
  };
}

/** The data that a socket had, and that of its new token: the namespace knows which of them counts. */
function mergeData(namespace: Namespace, remembered: unknown, fresh: unknown): unknown {
  return namespace.mergeData ? namespace.mergeData(remembered, fresh) : remembered;
}

/** @param claim the socket that the client proved to have been; `resumed` where all that it missed could be replayed */
function countAccepted(
  meter: Meter,
  { asksForMore, claim, resumed }: { asksForMore: boolean; claim: object | undefined; resumed: object | undefined },
): void {
  meter.count("connects:accepted");
  if (!asksForMore) return;
  if (resumed) meter.count("recoveries:recovered");
  else meter.count(claim ? "recoveries:gap" : "recoveries:unknown");
}

/** By the application's code, where it gives one. */
function countRefusal(meter: Meter, { message, data }: Pick<Refusal, "message" | "data">): void {
  const { code } = (data ?? {}) as { readonly code?: unknown };
  if (typeof code === "string") meter.count(`connects:${code}`);
  else meter.count(message === "Invalid namespace" ? "connects:INVALID_NAMESPACE" : "connects:REFUSED");
}
