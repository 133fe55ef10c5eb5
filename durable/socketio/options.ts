// The options of a SocketIoObject: names, units and defaults are those of Socket.IO on Node. Called by socketio-object.ts.
import { readTransports, refuseUnknown, wholeNumber, type Transport } from "../../src/protocol/given-options.ts";
import type { ServerOptions } from "../../src/socketio/server/server.ts";
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
  /** Those offered to clients. Default: both, and long-polling upgrades to WebSocket. */
  readonly transports?: readonly Transport[] | undefined;
  /** Connections of one address to one object; 0 is no limit. Default: 0. */
  readonly maxConnectionsPerIp?: number | undefined;
}

/** All that the server and the shell of an object need. */
type GivenOptions = ServerOptions & ObjectLimits;

/** The longest time of a timer, which clients wait with. */
const MS_MAX = 2 ** 31 - 1;

const NAMES: readonly string[] = [
  "pingInterval",
  "pingTimeout",
  "connectTimeout",
  "maxHttpBufferSize",
  "maxConnectionsPerIp",
  "transports",
] satisfies Array<keyof SocketIoOptions>;

/** @throws Error that names the option which is wrong */
export function readOptions(options: SocketIoOptions): GivenOptions {
  refuseUnknown("options", options, NAMES);
  const { pingInterval = 25_000, pingTimeout = 20_000, connectTimeout = 45_000 } = options;
  const { maxHttpBufferSize = 1_000_000, maxConnectionsPerIp = 0 } = options;
  return {
    pingIntervalMs: wholeNumber("options.pingInterval", pingInterval, 1, MS_MAX - pingTimeout),
    pingTimeoutMs: wholeNumber("options.pingTimeout", pingTimeout, 1, MS_MAX),
    connectTimeoutMs: wholeNumber("options.connectTimeout", connectTimeout, 1, MS_MAX),
    maxPayloadBytes: wholeNumber("options.maxHttpBufferSize", maxHttpBufferSize, 1),
    maxConnectionsPerIp: wholeNumber("options.maxConnectionsPerIp", maxConnectionsPerIp, 0),
    transports: readTransports("options.transports", options.transports),
  };
}
