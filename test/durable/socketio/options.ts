// Settings of the servers and objects of this folder's applications.
import type { ServerOptions } from "../../../src/socketio/server/server.ts";

const HEARTBEAT = { pingIntervalMs: 45_000, pingTimeoutMs: 30_000, connectTimeoutMs: 10_000 };
const LIMITS = { maxPayloadBytes: 65_536, maxConnectionsPerIp: 0 };

export const OPTIONS: ServerOptions & typeof LIMITS = {
  ...HEARTBEAT,
  ...LIMITS,
  transports: ["websocket", "polling"],
};

/** How long a connection may be recovered. */
export const WINDOW_MS = 60_000;
