// Several objects as one server of socket.io: knows which siblings of an object have clients, passes messages to those alone, and gives the
// namespaces what comes from them. A sibling without clients sleeps, and is no server of the group. Made by
// sibling-adapter.ts, which publishes with it, and called by durable/engine-object.ts.
import type { After } from "./in-time.ts";
import { pack, unpack, type Packed } from "./packed.ts";
import { SiblingLink, type CallSibling, type Presence, type SiblingCall } from "./sibling-link.ts";

/** A message of socket.io's ClusterAdapter. */
export interface ClusterMessage {
  readonly type: number;
  readonly nsp: string;
  readonly uid: string;
  readonly data?: { readonly requestId?: string };
}

/** The adapter of a namespace. */
export interface Receiver {
  receive(message: ClusterMessage): void;
}

export interface SiblingsPorts {
  now(): number;
  /** A fresh text that cannot be guessed. */
  newId(): string;
  /** The ways to the siblings, by their ids; that of the object itself may be among them. */
  siblings(): ReadonlyMap<string, CallSibling>;
  report(problem: string, error: unknown): void;
  readonly after: After;
}

export class Siblings {
  /** The id of the object. */
  readonly own: string;
  /** By the names of their namespaces. */
  readonly receivers = new Map<string, Receiver>();
  readonly #ports: SiblingsPorts;
  readonly #mark: string;
  #links: ReadonlyMap<string, SiblingLink> | undefined;
  #presence: Presence;
  /** Done when each sibling has said whether it has clients, or failed. */
  #asking: Promise<void> | undefined;
  /** What is to be published then. */
  #waiting: Packed[] = [];

  constructor(own: string, ports: SiblingsPorts) {
    this.own = own;
    this.#ports = ports;
    this.#mark = ports.newId();
    this.#presence = { hasClients: false, atMs: ports.now() };
  }

  /** Called before a client is let in, and again when it is there. @returns done when the siblings know that there are clients here, or failed */
  async enter(): Promise<void> {
    if (!this.#presence.hasClients) {
      this.#change(true);
      this.#ask([...this.#all().values()]);
    }
    await this.#asking;
  }

  /** Called when the last client is gone. */
  leave(): void {
    if (!this.#presence.hasClients) return;
    this.#change(false);
    for (const link of this.#all().values()) link.leave();
  }

  #change(hasClients: boolean): void {
    this.#presence = { hasClients, atMs: Math.max(this.#ports.now(), this.#presence.atMs + 1) };
  }

  /** @returns how many servers the group has: this one, and the siblings that have clients */
  async count(): Promise<number> {
    this.#askUnknown();
    await this.#asking;
    return 1 + this.#targets().length;
  }

  /** Sends a message to all siblings that have clients. */
  publish(message: ClusterMessage): void {
    // At once: the adapter changes the packet before it sends it to the clients here.
    const packed = this.#pack(message);
    if (!packed) return;
    this.#askUnknown();
    if (this.#asking) this.#waiting.push(packed);
    else for (const link of this.#targets()) link.send(packed);
  }

  /** Sends an answer to one sibling. */
  respond(uid: string, message: ClusterMessage): void {
    const packed = this.#pack(message);
    if (packed) this.#all().get(uid)?.send(packed);
  }

  /** Takes the call of a sibling. @throws Error if it is none */
  receive({ from, presence, messages }: SiblingCall): Presence {
    const link = this.#all().get(from);
    if (!link) throw new Error(`${from} is no sibling of ${this.own}: their lists differ`);
    link.heard(presence);
    for (const packed of messages) {
      try {
        const message = unpack(packed) as ClusterMessage;
        const receiver = this.receivers.get(message.nsp);
        if (receiver) receiver.receive(message);
        else this.#answerWithout(message);
      } catch (error) {
        this.#ports.report("a message of a sibling failed", error);
      }
    }
    return this.#presence;
  }

  /** Answers for a namespace that is not here: it was made on demand, and nobody here has asked for it. */
  #answerWithout({ type, nsp, uid, data: { requestId } = {} }: ClusterMessage): void {
    const answer = requestId === undefined ? undefined : answerWithout(type, requestId);
    if (answer) this.respond(uid, { ...answer, nsp, uid: this.own });
  }

  #pack(message: ClusterMessage): Packed | undefined {
    try {
      return pack(message, this.#mark);
    } catch (error) {
      this.#ports.report("a message cannot be sent to siblings", error);
      return undefined;
    }
  }

  #askUnknown(): void {
    const unknown = [...this.#all().values()].filter(({ isKnown }) => !isKnown);
    if (unknown.length > 0 && !this.#asking) this.#ask(unknown);
  }

  #ask(links: readonly SiblingLink[]): void {
    const asking: Promise<void> = Promise.all(links.map((link) => link.tell())).then(() => this.#answered(asking));
    this.#asking = asking;
  }

  #answered(asking: Promise<void>): void {
    // Asked again meanwhile.
    if (this.#asking !== asking) return;
    this.#asking = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const link of this.#targets()) for (const message of waiting) link.send(message);
  }

  #targets(): SiblingLink[] {
    return [...this.#all().values()].filter(({ mayHaveClients }) => mayHaveClients);
  }

  /** Made late, because the list may need what the constructor of the object sets. */
  #all(): ReadonlyMap<string, SiblingLink> {
    this.#links ??= this.#connect();
    return this.#links;
  }

  #connect(): ReadonlyMap<string, SiblingLink> {
    const context = {
      own: this.own,
      presence: () => this.#presence,
      wayTo: (uid: string) => this.#newWayTo(uid),
      report: (problem: string, error: unknown) => this.#ports.report(problem, error),
      after: this.#ports.after,
    };
    const others = [...this.#ports.siblings()].filter(([uid]) => uid !== this.own);
    return new Map(others.map(([uid, way]) => [uid, new SiblingLink(uid, way, context)]));
  }

  /** The list is the application's, and its failure must not end the calls of a link. */
  #newWayTo(uid: string): CallSibling | undefined {
    try {
      return this.#ports.siblings().get(uid);
    } catch (error) {
      this.#ports.report("the list of siblings failed", error);
      return undefined;
    }
  }
}

/** Types of messages of socket.io's ClusterAdapter. */
const BROADCAST = 3;
const FETCH_SOCKETS = 7;
const FETCH_SOCKETS_RESPONSE = 8;
const SERVER_SIDE_EMIT = 9;
const BROADCAST_CLIENT_COUNT = 11;

/** A type of this project: the sibling has no such namespace, and the request is not to wait for it. */
export const ABSENT = 100;

function answerWithout(type: number, requestId: string): Pick<ClusterMessage, "type" | "data"> | undefined {
  switch (type) {
    case BROADCAST:
      return { type: BROADCAST_CLIENT_COUNT, data: { requestId, clientCount: 0 } as { requestId: string } };
    case FETCH_SOCKETS:
      return { type: FETCH_SOCKETS_RESPONSE, data: { requestId, sockets: [] } as { requestId: string } };
    case SERVER_SIDE_EMIT:
      return { type: ABSENT, data: { requestId } };
    default:
      return undefined;
  }
}
