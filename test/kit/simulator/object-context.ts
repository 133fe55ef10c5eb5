// The context of one incarnation of an object, `this.ctx` of its class. Made by object-host.ts.
import { createHash } from "node:crypto";

import { PLANNED } from "./planned.ts";
import type { ObjectHost } from "./object-host.ts";
import type { ServerSocket } from "./server-socket.ts";
import type { Zone } from "./world.ts";

/** The functions of its host that an object needs. */
export interface ContextPorts {
  /** Lets nothing in until it is done. A failure resets the object. */
  readonly block: <Result>(run: () => Promise<Result>) => Promise<Result>;
  /** Keeps the object awake. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly abort: (reason?: string) => void;
  /** `ctx.exports`: the namespaces of all objects, by class. */
  readonly exports: object;
}

/** `DurableObjectId` */
export interface ObjectId {
  readonly name?: string;
  toString(): string;
  equals(other: ObjectId): boolean;
}

/** Digits of an id that prove its kind. */
const PROOF_DIGITS = 16;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const proofOf = (kind: string, digits: string): string => hash(`${kind} ${digits}`).slice(0, PROOF_DIGITS);

/** @throws TypeError for an id of objects of another kind */
export function checkKind(kind: string, hex: string): void {
  if (hex.slice(-PROOF_DIGITS) !== proofOf(kind, hex.slice(0, -PROOF_DIGITS)))
    throw new TypeError("Durable Object ID is not valid for this namespace.");
}

/** The id of an object, of its class and its name. */
export function objectIdOf(kind: string, name: string): ObjectId {
  let hex: string | undefined;
  const toString = (): string => {
    const digits = hash(`${kind}/${name}`).slice(0, -PROOF_DIGITS);
    return (hex ??= digits + proofOf(kind, digits));
  };
  return { name, toString, equals: (other) => other.toString() === toString() };
}

/** @param zone that of the incarnation: once it is over, everything throws */
export function contextOf(host: ObjectHost, zone: Zone, ports: ContextPorts): object {
  const alive = (): ObjectHost => {
    if (zone.isOver) throw new Error(PLANNED.gone);
    return host;
  };
  return {
    id: objectIdOf(host.kind, host.name),
    exports: ports.exports,
    props: {},
    get storage() {
      return alive().storage;
    },
    acceptWebSocket(socket: ServerSocket, tags: readonly string[] = []): void {
      socket.tags = tags;
      socket.connection.host = alive();
      host.sockets.add(socket);
    },
    getTags: (socket: ServerSocket) => [...socket.tags],
    getWebSockets: (tag?: string) =>
      [...alive().sockets].filter(
        ({ connection, tags }) => !connection.isClosing && (tag === undefined || tags.includes(tag)),
      ),
    setWebSocketAutoResponse: (pair?: { request: string; response: string }) => void (alive().autoResponse = pair),
    getWebSocketAutoResponse: () => alive().autoResponse ?? null,
    getWebSocketAutoResponseTimestamp: ({ connection }: ServerSocket) =>
      connection.respondedAtMs === undefined ? null : new Date(connection.respondedAtMs),
    blockConcurrencyWhile: ports.block,
    waitUntil: ports.waitUntil,
    abort: ports.abort,
  };
}
