// The limits that socket.io does not have: what a client sends is counted here before a packet reaches the package. Called by layer.ts.
import { SessionFlood } from "../socketio/engine/session-flood.ts";
import type { Session } from "../socketio/engine/session.ts";
import { CLOSINGS, type Closing } from "../socketio/wire/closings.ts";
import type { Frame } from "../socketio/wire/engine-io.ts";

/** 0 is no limit. */
export interface PacketLimitOptions {
  /** CONNECTs of one connection in 10 seconds. */
  readonly maxConnects: number;
  /** Messages of one connection in 10 seconds. */
  readonly maxPackets: number;
  /** Namespaces of the server, beyond which a client makes no further one by a pattern. */
  readonly maxNamespaces: number;
  /** Bytes of binary packets that have not come whole, of all connections of the object together. */
  readonly maxPartialBytes: number;
}

/** The namespaces of the server. */
export type KnownNamespaces = Pick<ReadonlyMap<string, unknown>, "has" | "size">;

/** What becomes of a message: it passes, it is answered in place of the server, or it ends connections; perhaps another one, and it passes. */
export type Verdict = "passes" | { readonly answer: string } | { readonly ends: Session; readonly closing: Closing };

/** Of a namespace that a client makes by a pattern: the server keeps it. */
const NAME_CHARS_MAX = 256;

/** What an attachment takes besides its bytes. */
const ATTACHMENT_BYTES = 128;

interface HalfSent {
  /** Attachments that have not come. */
  missing: number;
  bytes: number;
}

export class PacketLimits {
  readonly #options: PacketLimitOptions;
  readonly #namespaces: () => KnownNamespaces;
  readonly #connects: SessionFlood;
  readonly #packets: SessionFlood;
  readonly #partials = new Map<Session, HalfSent>();
  #partialBytes = 0;

  constructor(options: PacketLimitOptions, namespaces: () => KnownNamespaces) {
    this.#options = options;
    this.#namespaces = namespaces;
    this.#connects = new SessionFlood(options.maxConnects || Infinity);
    this.#packets = new SessionFlood(options.maxPackets || Infinity);
  }

  look(session: Session, data: Frame, nowMs: number): Verdict {
    if (this.#packets.isOver(session, nowMs)) return { ends: session, closing: CLOSINGS.idleFlood };
    if (typeof data !== "string") return this.#attachment(session, data.byteLength);
    // As the package reads it: a space is 0 for it, and so is an empty text.
    switch (Number(data.charAt(0))) {
      // Types of Socket.IO packets: CONNECT, BINARY_EVENT, BINARY_ACK.
      case 0:
        return this.#connect(session, data, nowMs);
      case 5:
      case 6:
        return this.#header(session, data);
      default:
        return "passes";
    }
  }

  /** Each CONNECT runs middlewares, and tells others of a socket that comes and goes. */
  #connect(session: Session, data: string, nowMs: number): Verdict {
    if (this.#connects.isOver(session, nowMs)) return { ends: session, closing: CLOSINGS.connectFlood };
    const name = /^.(\/[^,]*)/s.exec(data)?.[1] ?? "/";
    const namespaces = this.#namespaces();
    if (namespaces.has(name)) return "passes";
    if (name.length > NAME_CHARS_MAX) return refusing(name.slice(0, NAME_CHARS_MAX), "Invalid namespace");
    const { maxNamespaces } = this.#options;
    if (maxNamespaces > 0 && namespaces.size >= maxNamespaces) return refusing(name, "Too many namespaces");
    return "passes";
  }

  #header(session: Session, data: string): Verdict {
    // As the package reads it: `2e0` is a number for it.
    const missing = Number(data.slice(1, data.indexOf("-")));
    // It refuses what is none.
    if (!(missing > 0)) return "passes";
    this.forget(session);
    this.#partials.set(session, { missing, bytes: 0 });
    return this.#add(session, data.length);
  }

  #attachment(session: Session, bytes: number): Verdict {
    const partial = this.#partials.get(session);
    if (!partial) return "passes";
    if (--partial.missing > 0) return this.#add(session, bytes + ATTACHMENT_BYTES);
    this.forget(session);
    return "passes";
  }

  #add(session: Session, bytes: number): Verdict {
    this.#partials.get(session)!.bytes += bytes;
    this.#partialBytes += bytes;
    const { maxPartialBytes } = this.#options;
    if (maxPartialBytes === 0 || this.#partialBytes <= maxPartialBytes) return "passes";
    // The one that holds most, so that none can take the others' share.
    const [ends] = [...this.#partials].reduce((most, one) => (one[1].bytes > most[1].bytes ? one : most));
    this.forget(ends);
    return { ends, closing: CLOSINGS.payloadTooLarge };
  }

  /** Called when the session is over. */
  forget(session: Session): void {
    this.#partialBytes -= this.#partials.get(session)?.bytes ?? 0;
    this.#partials.delete(session);
  }
}

/** The data of a CONNECT_ERROR. */
const refusing = (name: string, message: string): Verdict => ({ answer: `4${name},${JSON.stringify({ message })}` });
