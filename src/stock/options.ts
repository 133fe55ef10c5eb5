// Checks the options of a server of socket.io that concern its engine, and those of its object. Called by durable/engine-object.ts.
import type { EngineServerOptions } from "./engine-server.ts";
import type { PacketLimitOptions } from "./packet-limits.ts";
import type { MeetSiblings } from "./sibling-adapter.ts";

/** As the package keeps anything for a client until its ping times out, a server may send whole documents at once. */
export const UNREAD_BYTES_MAX = 16 * 1024 * 1024;

/** The longest time of a timer. No object holds as many bytes. */
const MAX = 2 ** 31 - 1;

/** That of the package. */
const WINDOW_MS = 120_000;

const NUMBERS = ["pingInterval", "pingTimeout", "upgradeTimeout", "maxHttpBufferSize"] as const;

/** @throws Error that names the option which is wrong */
export function readStockOptions(options: object): EngineServerOptions {
  if (typeof options !== "object") throw new Error("serve: the options of the server must be an object");
  const given = options as EngineServerOptions & Readonly<Record<string, unknown>>;
  if (given["allowEIO3"]) throw new Error("serve: allowEIO3: clients of Socket.IO 2 are not served");
  for (const name of NUMBERS) checkNumber(name, given[name], 1);
  const { transports = [] } = given;
  if (!Array.isArray(transports) || transports.some((name) => name !== "polling" && name !== "websocket"))
    throw new Error("serve: transports: must list polling, websocket or both");
  return given;
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

export const SIBLINGS_MISUSED = "serve: siblings: must be what the function `siblings` of this package returns";

export const SLEEP_MISUSED =
  "serve: sleep: it needs the option connectionStateRecovery of the server, and no adapter of the application's";

/**
 * @param server the options of the server
 * @throws Error that names the option which is wrong
 */
export function readObjectOptions(
  given: EngineObjectOptions,
  server: { readonly parser?: unknown } = {},
): ObjectLimits {
  const { siblings, sleep, bundles, ...limits } = given;
  // Of JavaScript, where it may be the list itself.
  if (siblings && typeof siblings !== "function") throw new Error(SIBLINGS_MISUSED);
  if (sleep && siblings) throw new Error("serve: sleep: not together with siblings, which each wake would wake");
  if (bundles && server.parser) throw new Error("serve: bundles: not together with a parser of the application's");
  const names = [...Object.keys(OBJECT_LIMITS), "siblings", "sleep", "bundles"];
  for (const [name, value] of Object.entries(limits)) {
    if (!names.includes(name)) throw new Error(`serve: there is no option "${name}"; there are ${names.join(", ")}`);
    checkNumber(name, value, 0);
  }
  const set = Object.entries(limits).filter(([, value]) => value !== undefined);
  return { ...OBJECT_LIMITS, ...Object.fromEntries(set) };
}

/**
 * @returns how long clients may be away, in milliseconds; `undefined` if they do not recover, or an adapter of the application's sees to it
 * @throws Error for another time
 */
export function readRecoveryWindow(options: object): number | undefined {
  const { connectionStateRecovery, adapter } = options as {
    readonly connectionStateRecovery?: { readonly maxDisconnectionDuration?: number };
    readonly adapter?: unknown;
  };
  if (!connectionStateRecovery || adapter) return undefined;
  const { maxDisconnectionDuration = WINDOW_MS } = connectionStateRecovery;
  checkNumber("connectionStateRecovery: maxDisconnectionDuration", maxDisconnectionDuration, 1);
  return maxDisconnectionDuration;
}

function checkNumber(name: string, value: number | undefined, min: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= min && value <= MAX)) return;
  throw new Error(`serve: ${name}: must be a whole number from ${min} to ${MAX}, not ${String(value)}`);
}
