// The closings of sessions: the WebSocket close code and reason for the client, and Socket.IO's disconnect reason for the application. Used
// by all parts of the core, and by the shell.

/** Source of the names: https://socket.io/docs/v4/server-socket-instance/#disconnect */
export type DisconnectReason =
  | "transport close"
  | "transport error"
  | "ping timeout"
  | "parse error"
  | "client namespace disconnect"
  | "server namespace disconnect"
  | "forced close"
  | "forced server close";

export interface Closing {
  /** WebSocket close code (RFC 6455, section 7.4); 4000 and above are this project's. */
  readonly code: number;
  /** At most 123 bytes. */
  readonly reason: string;
  readonly disconnect: DisconnectReason;
  /** A client of long-polling that fetches the close packet gets a noop with it, as from engine.io. */
  readonly followsNoop?: true;
  /** A stock client stays away: each of its sockets is disconnected (`41`) before. */
  readonly isFinal?: true;
}

/** The time in which a peer has to answer the closing of its WebSocket; until then its frames take memory (LIM-5, LIM-6). */
export const CLOSING_MS = 5000;

/** All closings that the server starts. */
export const CLOSINGS = {
  /** The client asked with an Engine.IO `close` packet. */
  asked: { code: 1000, reason: "closed by client", disconnect: "transport close" },
  parseError: { code: 1002, reason: "parse error", disconnect: "parse error" },
  protocolViolation: { code: 1002, reason: "protocol violation", disconnect: "forced close" },
  payloadTooLarge: { code: 1009, reason: "payload too large", disconnect: "transport error" },
  internal: { code: 1011, reason: "internal error", disconnect: "forced server close" },
  /** Two polls, or too many posts, of a session at once (EIO-8). */
  pollOverlap: { code: 1002, reason: "overlapping requests", disconnect: "transport error" },
  /** The server restarts, and its clients should reconnect: to them it is a broken connection. */
  restart: { code: 1012, reason: "service restart", disconnect: "transport close" },
  /** The client left too much unread (EIO-10) or unfetched. Recovery or a fresh connection is quicker, and saves the memory. */
  queueTooLong: { code: 1013, reason: "too far behind", disconnect: "transport error" },
  /** A CONNECT cannot be decided at present (SIO-13): its client reconnects, as after a broken connection. */
  tryLater: { code: 1013, reason: "try again later", disconnect: "transport close" },
  connectTimeout: { code: 4001, reason: "connect timeout", disconnect: "forced server close" },
  pingTimeout: { code: 4002, reason: "ping timeout", disconnect: "ping timeout" },
  /** The application ended the session. */
  forcedByServer: {
    code: 4003,
    reason: "forced server close",
    disconnect: "server namespace disconnect",
    isFinal: true,
  },
  /** The client has recovered over another connection; this one had broken unnoticed. */
  superseded: { code: 4005, reason: "superseded", disconnect: "transport close" },
  /** SIO-11 */
  connectFlood: { code: 4006, reason: "too many CONNECTs", disconnect: "forced server close" },
  /** LIM-4 */
  idleFlood: { code: 4007, reason: "too many packets", disconnect: "forced server close" },
  /** SIO-15 */
  stateTooLarge: { code: 4004, reason: "session state too large", disconnect: "forced server close", isFinal: true },
} as const satisfies Record<string, Closing>;

/** The peer or the network closed the transport. */
export const TRANSPORT_CLOSE: Closing = { code: 1005, reason: "", disconnect: "transport close" };
export const TRANSPORT_ERROR: Closing = { code: 1006, reason: "", disconnect: "transport error" };

/** Reasons after which a socket may be recovered: the connection broke, and neither side ended it on purpose. */
const RETURNABLE: ReadonlySet<DisconnectReason> = new Set(["transport close", "transport error", "ping timeout"]);

export function isReturnable(reason: DisconnectReason): boolean {
  return RETURNABLE.has(reason);
}
