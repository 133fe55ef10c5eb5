// The options of a SocketIoObject: names, units and defaults are those of Socket.IO on Node. Called by socketio-object.ts.
import { readTransports, refuseUnknown, wholeNumber, type Transport } from "../../protocol/given-options.ts";
import type { ServerOptions } from "../server/server.ts";
import type { ObjectLimits } from "./application.ts";

/** Times are in milliseconds. */
export interface SocketIoOptions {
  /** Between two pings of a client. Default: 25,000. */
  readonly pingInterval?: number | undefined;
  /** The wait for the answer to a ping, after which a client counts as gone. Default: 20,000. */
  readonly pingTimeout?: number | undefined;
  /** From a connection to its first namespace, after which it is closed. Default: 45,000. */
  readonly connectTimeout?: number | undefined;
  /** Bytes of one packet of a client, beyond which its connection is closed. Default: 1,000,000. */
  readonly maxHttpBufferSize?: number | undefined;
  /** Those that clients may use; others are refused. Default: both, and long-polling upgrades to WebSocket. */
  readonly transports?: readonly Transport[] | undefined;
  /** Connections of one address to one object; 0 is no limit. Default: 0. */
  readonly maxConnectionsPerIp?: number | undefined;
}

/** All that the server and the shell of an object need. */
type GivenOptions = ServerOptions & ObjectLimits;

/** The longest time of a timer, which clients wait with. No object holds as many bytes or connections. */
const MS_MAX = 2 ** 31 - 1;

const DEFAULTS = {
  pingInterval: 25_000,
  pingTimeout: 20_000,
  connectTimeout: 45_000,
  maxHttpBufferSize: 1_000_000,
  maxConnectionsPerIp: 0,
  transports: undefined,
} satisfies Record<keyof SocketIoOptions, unknown>;

/** @throws Error that names the option which is wrong */
export function readOptions(options: SocketIoOptions): GivenOptions {
  refuseUnknown("options", options, Object.keys(DEFAULTS));
  const read = (name: Exclude<keyof SocketIoOptions, "transports">, min = 1, max = MS_MAX): number =>
    wholeNumber(`options.${name}`, options[name] ?? DEFAULTS[name], min, max);
  // First, because the other one has to leave room for it.
  const pingTimeoutMs = read("pingTimeout", 1, MS_MAX - 1);
  return {
    pingIntervalMs: read("pingInterval", 1, MS_MAX - pingTimeoutMs),
    pingTimeoutMs,
    connectTimeoutMs: read("connectTimeout"),
    maxPayloadBytes: read("maxHttpBufferSize"),
    maxConnectionsPerIp: read("maxConnectionsPerIp", 0),
    transports: readTransports("options.transports", options.transports),
  };
}
