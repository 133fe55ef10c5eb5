// Reads from a socket the record by which it is restored after a sleep of its object, and puts that into it: the request that opened its
// connection, its handshake, and the plain data that the application gave it. Called by sleep.ts and socket-rows.ts.
import { fingerprint } from "../storage/fingerprint.ts";
import { EngineRequest } from "./node-request.ts";

/** The request that opened a connection. */
interface RequestRecord {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: string;
}

/** What a socket needs besides, to be restored after a sleep of its object as if nothing had happened. */
export interface AsleepRecord {
  /** The id of its connection. */
  readonly session: string;
  readonly request: RequestRecord;
  /** The properties that middlewares gave the request, as far as they are plain data. */
  readonly requestOwn: Own;
  /** Of its handshake. */
  readonly auth: unknown;
  /** The properties that middlewares gave its handshake, as far as they are plain data. */
  readonly handshakeOwn: Own;
  /** The time of its handshake, in milliseconds since 1970. */
  readonly issued: number;
  /** The properties that the application gave it, as far as they are plain data. */
  readonly own: Own;
  /** The events for which it had listeners. */
  readonly events: readonly string[];
}

type Own = Readonly<Record<string, unknown>>;

export function requestRecord({ method, url, headers, connection }: EngineRequest): RequestRecord {
  const { encrypted, remoteAddress } = connection;
  return { method, url: `${encrypted ? "https" : "http"}://host${url}`, headers, address: remoteAddress };
}

export function requestFrom({ request, requestOwn }: AsleepRecord): EngineRequest {
  return Object.assign(new EngineRequest({ ...request, headers: Object.entries(request.headers) }), requestOwn);
}

export const REQUEST_USUAL: ReadonlySet<string | symbol> = keysOf(
  new EngineRequest({ method: "GET", url: "/", headers: [], address: "" }),
);

export function keysOf(owner: object): Set<string | symbol> {
  return new Set(Reflect.ownKeys(owner).filter((key) => Object.prototype.propertyIsEnumerable.call(owner, key)));
}

/**
 * @param usual the properties that it has without the application
 * @param isNot called with the name of each that is no plain data
 */
export function plainOf(owner: object, usual: ReadonlySet<string | symbol>, isNot: (name: string) => void): Own {
  const plain: Record<string, unknown> = {};
  for (const key of keysOf(owner)) {
    if (usual.has(key)) continue;
    const value = (owner as Record<string | symbol, unknown>)[key];
    if (typeof key === "string" && isPlain(value)) plain[key] = value;
    else isNot(String(key));
  }
  return plain;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A copy with plain objects and lists in place of proxies for them, which have no clone: the Admin UI makes one of each `socket.data`. */
export function withoutProxies(value: unknown, above = new Set<unknown>()): unknown {
  if (above.has(value)) return value;
  const within = (part: unknown): unknown => withoutProxies(part, above);
  let copy = value;
  above.add(value);
  if (Array.isArray(value)) copy = value.map(within);
  else if (isPlainObject(value))
    copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, within(part)]));
  above.delete(value);
  return copy;
}

const COPIED = [Array, Set, Map, Date, RegExp, ArrayBuffer];

/** Whether a structured clone of it is the same. */
export const isPlain = (value: unknown): boolean => [...partsOf(value)].every(isCopied);

function isCopied(part: unknown): boolean {
  return isPlainObject(part) || ArrayBuffer.isView(part) || COPIED.some((Type) => part instanceof Type);
}

/** @returns what a value consists of besides primitives that have a clone, itself included, each part once */
function partsOf(value: unknown, found = new Set<unknown>()): ReadonlySet<unknown> {
  if ((Object(value) !== value && typeof value !== "symbol") || found.has(value)) return found;
  found.add(value);
  let parts: Iterable<unknown> = [];
  if (value instanceof Map) parts = [...value.keys(), ...value.values()];
  else if (value instanceof Set) parts = value;
  else if (Array.isArray(value) || isPlainObject(value)) parts = Object.values(value);
  for (const part of parts) partsOf(part, found);
  return found;
}

/** A socket. */
interface Owner {
  readonly connected: boolean;
}

/** Knows which socket has an object: after a sleep each has its own. */
export class Owners {
  /** Sockets, by the objects that they have. */
  readonly #all = new WeakMap<object, Owner>();

  /** @returns whether another socket that is connected has a part of the value, too, which can be changed */
  isShared(value: unknown, by: Owner): boolean {
    let isShared = false;
    for (const part of partsOf(value)) {
      if (Object.isFrozen(part)) continue;
      const owner = this.#all.get(part as object);
      isShared ||= owner !== by && owner?.connected === true;
      this.#all.set(part as object, by);
    }
    return isShared;
  }
}

/** The objects that a wake has put into sockets. Others are the application's, which may use one for several sockets. */
export class GivenParts {
  readonly #all = new WeakSet<object>();

  /** Notes a value, and all parts of it. */
  add(value: unknown): void {
    for (const part of partsOf(value)) this.#all.add(part as object);
  }

  /**
   * Makes one value like another. Parts that the wake has given are changed in place: listeners may hold them.
   * @param replaced called if a part of the application's own gives way to what is stored
   * @returns the one that is like the other
   */
  putInto(present: unknown, stored: unknown, replaced: () => void): unknown {
    const print = fingerprint(stored);
    if (print !== undefined && print === fingerprint(present)) return present;
    const seen = new Set<unknown>();
    const merge = (part: unknown, storedPart: unknown): unknown => {
      // What is stored may refer to itself.
      if (seen.has(storedPart) || typeof part !== "object" || part === null) return storedPart;
      if (!this.#all.has(part)) {
        if (typeof storedPart === "object" && storedPart !== null) replaced();
        return storedPart;
      }
      seen.add(storedPart);
      try {
        return mergeParts(part, storedPart, merge);
      } catch {
        // Frozen, for example: what is stored takes its place.
        return storedPart;
      }
    };
    return merge(present, stored);
  }
}

function mergeParts(present: unknown, stored: unknown, merge: (present: unknown, stored: unknown) => unknown): unknown {
  if (Array.isArray(present) && Array.isArray(stored)) {
    present.splice(0, Infinity, ...stored.map((part, at) => merge(present[at], part)));
    return present;
  }
  if (present instanceof Map && stored instanceof Map) {
    const entries = [...(stored as Map<unknown, unknown>)].map(
      ([key, part]) => [key, merge(present.get(key), part)] as const,
    );
    present.clear();
    for (const [key, part] of entries) present.set(key, part);
    return present;
  }
  if (present instanceof Set && stored instanceof Set) {
    present.clear();
    for (const part of stored) present.add(part);
    return present;
  }
  if (!isPlainObject(present) || !isPlainObject(stored)) return stored;
  for (const key of Object.keys(present)) if (!Object.hasOwn(stored, key)) delete present[key];
  for (const [key, part] of Object.entries(stored)) {
    const value = merge(Object.hasOwn(present, key) ? present[key] : undefined, part);
    // Of a client's data, one may be named `__proto__`.
    Object.defineProperty(present, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return present;
}
