// Checks what an application gives to `serve`: the options of a server of socket.io, as far as they concern an object, and those of the object.
// Called by durable/engine-object.ts.
import type { EngineServerOptions } from "./engine-server.ts";
import type { PacketLimitOptions } from "./packet-limits.ts";
import type { MeetSiblings } from "./sibling-adapter.ts";

/** As the package keeps anything for a client until its ping times out, a server may send whole documents at once. */
export const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** The longest time of a timer. No object holds as many bytes. */
const MAX = 2 ** 31 - 1;

/** That of the package. */
const WINDOW_MS = 120_000;

const NUMBERS = ["pingInterval", "pingTimeout", "upgradeTimeout", "connectTimeout", "maxHttpBufferSize"] as const;

/** Those of the server that this file reads. */
interface ServerOptions extends EngineServerOptions {
  readonly connectTimeout?: number;
  readonly connectionStateRecovery?: { readonly maxDisconnectionDuration?: number };
  readonly allowEIO3?: boolean;
  readonly adapter?: unknown;
  readonly parser?: unknown;
}

/** The arguments of `serve`: of JavaScript, where each may be anything. */
interface Given {
  readonly Server: unknown;
  readonly options: ServerOptions;
  readonly register: unknown;
  readonly own: EngineObjectOptions;
}

interface ServeOptions {
  readonly engine: EngineServerOptions;
  readonly limits: ObjectLimits;
  /** How long clients may be away, in milliseconds; `undefined` if they do not recover, or an adapter of the application's sees to it. */
  readonly windowMs: number | undefined;
}

const TYPES = { Server: "function", options: "object", register: "function", own: "object" } as const;

/** @throws Error that names the argument or the option which is wrong */
export function readServeOptions(given: Given): ServeOptions {
  for (const [name, type] of Object.entries(TYPES)) {
    const value = given[name as keyof Given];
    if (typeof value !== type || !value) throw misused(`${name}: must be of the type ${type}, not ${String(value)}`);
  }
  const { options, own } = given;
  if ("listen" in options) throw misused("options: must be those of the server, not an HTTP server");
  const windowMs = readRecoveryWindow(options);
  const limits = readObjectOptions(own);
  if (own.siblings && options.adapter) throw misused("siblings: the option adapter is given, too");
  if (own.sleep && own.siblings) throw misused("sleep: not together with siblings, which each wake would wake");
  if (own.sleep && windowMs === undefined)
    throw misused(
      "sleep: it needs the option connectionStateRecovery of the server, and no adapter of the application's",
    );
  if (own.bundles && options.parser) throw misused("bundles: not together with a parser of the application's");
  return { engine: readEngineOptions(options), limits, windowMs };
}

const misused = (problem: string): Error => new Error(`serve: ${problem}`);

function readEngineOptions(options: ServerOptions): EngineServerOptions {
  if (options.allowEIO3) throw misused("allowEIO3: clients of Socket.IO 2 are not served");
  for (const name of NUMBERS) checkNumber(name, options[name], 1);
  const { transports = ["polling"] } = options;
  const isKnown = (name: unknown): boolean => name === "polling" || name === "websocket";
  if (!Array.isArray(transports) || transports.length === 0 || !transports.every(isKnown))
    throw misused("transports: must list polling, websocket or both");
  return options;
}

/** The options of the object, which socket.io has not. 0 is no limit. */
export interface EngineObjectOptions extends Partial<PacketLimitOptions> {
  /** Connections of one address. Default: 0. */
  readonly maxConnectionsPerIp?: number | undefined;
  /** Connections of one address that are in no namespace yet, in all objects of an isolate. Default: 500. */
  readonly maxUnjoinedPerIp?: number | undefined;
  /** The objects that are one server with this one: what the function `siblings` returns. */
  readonly siblings?: MeetSiblings | undefined;
  /** The object sleeps while clients are connected and nothing happens. It needs the server's option `connectionStateRecovery`. */
  readonly sleep?: boolean | undefined;
  /** Clients that ask for bundles get what their socket is sent at a moment as one event. */
  readonly bundles?: boolean | undefined;
}

const OBJECT_LIMITS = {
  maxConnectionsPerIp: 0,
  maxUnjoinedPerIp: 500,
  maxConnects: 100,
  maxPackets: 10_000,
  maxNamespaces: 1000,
  maxPartialBytes: 32 * 1024 * 1024,
};

export type ObjectLimits = Readonly<Record<keyof typeof OBJECT_LIMITS, number>>;

export const siblingsMisused = (): Error =>
  misused("siblings: must be what the function `siblings` of this package returns");

export function readObjectOptions({
  siblings,
  sleep: _sleep,
  bundles: _bundles,
  ...limits
}: EngineObjectOptions): ObjectLimits {
  if (siblings && typeof siblings !== "function") throw siblingsMisused();
  const read = { ...OBJECT_LIMITS };
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(read, name))
      throw misused(
        `there is no option "${name}"; there are ${Object.keys(read).join(", ")}, siblings, sleep and bundles`,
      );
    checkNumber(name, value, 0);
    if (value !== undefined) read[name as keyof ObjectLimits] = value;
  }
  return read;
}

function readRecoveryWindow({ connectionStateRecovery, adapter }: ServerOptions): number | undefined {
  if (!connectionStateRecovery || adapter) return undefined;
  const { maxDisconnectionDuration = WINDOW_MS } = connectionStateRecovery;
  checkNumber("connectionStateRecovery: maxDisconnectionDuration", maxDisconnectionDuration, 1);
  return maxDisconnectionDuration;
}

function checkNumber(name: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= MAX)) return;
  throw misused(`${name}: must be a whole number from ${min} to ${MAX}, not ${String(value)}`);
}
