// Connects one stock socket.io-client Socket and reconnects it after each failure. Each attempt fetches a token, connects, and
// reports the result to reconnection.ts, which calls for the next attempt when it is due. Room calls it.
import { io, type Socket } from "socket.io-client";

import { ENDINGS, isAboutToken } from "../../src/protocol/failures.ts";
import type { RefusalCode } from "../../src/protocol/chat-events.ts";
import type { AuthAt, Connection, Token } from "./api.ts";
import { basePathOf } from "./base.ts";
import { APPOINTMENT_MAX_MS, readRetryAfterMs, retryDelayMs } from "./backoff.ts";
import { systemClock } from "./clock.ts";
import { ExtendedWebSocket, extendedTransports } from "./extended-transports.ts";
import { Reconnection } from "./reconnection.ts";
import { ask, type StockSocket } from "./requests.ts";

/** How long a transport may take to open. */
const DIAL_TIMEOUT_MS = 10_000;
/** How long the application's token function may take. */
const TOKEN_TIMEOUT_MS = 30_000;

/** Over long-polling first, the stock client upgrades; the other way round it would stay there. */
const WEBSOCKET_FIRST = extendedTransports;
const POLLING_FIRST = extendedTransports.toReversed();

interface ConnectionOptions {
  /** The chat's address. */
  readonly base: string;
  readonly room: string;
  /** Without it, the server knows the user by cookies or the network. */
  readonly token: Token | undefined;
  readonly authAt: AuthAt;
  readonly changed: (connection: Connection) => void;
  /** Called with the token of each attempt, and with each that the room takes over the connection. */
  readonly dialling: (token: string) => void;
}

export class RoomConnection {
  readonly socket: StockSocket;
  readonly #options: ConnectionOptions;
  readonly #reconnection: Reconnection;
  #transports = WEBSOCKET_FIRST;
  /** Why the room did not accept the last token, or ended the connection. */
  #refused: RefusalCode | undefined;
  /** The room's notice of the reason, before it ends this connection. */
  #notice: { readonly code: string; readonly message: string; readonly retryAfterMs?: number } | undefined;
  #attempts = 0;
  #stopWaitingForToken = (): void => {};

  constructor(options: ConnectionOptions) {
    const { base, room, token, changed } = options;
    this.#options = options;
    // A path after the origin would be taken for a namespace.
    this.socket = io(new URL(base).origin, {
      path: `${basePathOf(base)}/rooms/${room}/socket.io`,
      // The server need not guess from headers whether this client knows recovery (REC-2).
      query: { recovery: "on" },
      transports: this.#transports,
      timeout: DIAL_TIMEOUT_MS,
      // Each room is a server of its own, so no two may share a connection.
      forceNew: true,
      autoConnect: false,
      // The stock client decides by itself when to reconnect, and never after a refusal.
      reconnection: false,
    });
    this.#reconnection = new Reconnection({
      clock: systemClock,
      random: Math.random,
      // Without a token the next attempt may come with another cookie.
      mayRenew: typeof token !== "string",
      attempt: () => void this.#attempt(),
      changed,
    });
    this.socket.on("connect", () => this.#onConnect());
    this.socket.on("connect_error", (error) => this.#onConnectError(error));
    this.socket.on("disconnect", (reason) => this.#onDisconnect(reason));
    this.socket.on("notice", (notice) => {
      // Other notices, such as `TOKEN_EXPIRING`, explain no end that follows them.
      if (ENDINGS.some((code) => code === notice.code)) this.#notice = notice;
      if (notice.code === "TOKEN_EXPIRING") void this.#refresh();
    });
  }

  get state(): Connection {
    return this.#reconnection.connection;
  }

  connect(): void {
    this.#reconnection.connect();
  }

  /** The page is back in view or online: connects if it was waiting to, and finds out whether a connection still lives. */
  wake(): void {
    this.#reconnection.wake();
    this.probe();
  }

  probe(): void {
    const transport: unknown = this.socket.connected ? this.socket.io.engine.transport : undefined;
    if (transport instanceof ExtendedWebSocket) transport.probe();
  }

  /** Drops the connection without a goodbye: the page goes to sleep and may come back. */
  suspend(): void {
    if (this.socket.connected) this.socket.io.engine.close();
  }

  close(): void {
    this.#attempts += 1;
    this.#stopWaitingForToken();
    this.#reconnection.stop("CLOSED", "The room was closed.");
    this.socket.disconnect();
  }

  /** A fresh token, given in time, keeps the connection. Without one it ends, and the next attempt asks again. */
  async #refresh(): Promise<void> {
    const { token: makeToken } = this.#options;
    if (typeof makeToken !== "function") return;
    const { id } = this.socket;
    // Another connection has a token of its own.
    const isSame = (): boolean => this.socket.connected && this.socket.id === id;
    try {
      const token = await this.#inTime(makeToken("TOKEN_EXPIRED"));
      if (!isSame()) return;
      const answer = await ask(this.socket, "refresh-token", { token });
      if ("ok" in answer) this.#options.dialling(token);
      if ("ok" in answer || answer.error.code !== "UNAVAILABLE") return;
      // The room could not check the token now. It may be able to before the old one ends.
      const waitMs = retryDelayMs(0, Math.random(), readRetryAfterMs(answer.error.retryAfterMs));
      systemClock.after(waitMs, () => isSame() && void this.#refresh());
    } catch {
      // The end of the connection will say why.
    }
  }

  async #attempt(): Promise<void> {
    const attempt = ++this.#attempts;
    const { token: given } = this.#options;
    try {
      const token = typeof given === "function" ? await this.#inTime(given(this.#refused)) : given;
      if (attempt === this.#attempts) this.#dial(token);
    } catch (error) {
      if (attempt === this.#attempts)
        this.#reconnection.failed({ kind: "token", message: `No token: ${String(error)}` });
    }
  }

  /** The token, unless it takes too long. */
  async #inTime(token: Promise<string> | string): Promise<string> {
    // Of this call: a refresh may end while an attempt waits.
    let stop = (): void => {};
    const late = new Promise<never>((_resolve, reject) => {
      const giveUp = (): void => reject(new Error("the token function did not answer"));
      stop = systemClock.after(TOKEN_TIMEOUT_MS, giveUp);
    });
    this.#stopWaitingForToken = stop;
    try {
      return await Promise.race([token, late]);
    } finally {
      stop();
    }
  }

  #dial(token: string | undefined): void {
    const { socket } = this;
    this.#notice = undefined;
    if (token !== undefined) this.#options.dialling(token);
    socket.auth = token === undefined ? {} : { token };
    // Read again for each connection: https://socket.io/docs/v4/client-options/#transports
    const { opts } = socket.io;
    opts.transports = this.#transports;
    if (this.#options.authAt === "upgrade" && token !== undefined) {
      // Browsers allow no headers on a WebSocket, but subprotocols.
      opts.protocols = ["bearer", token];
      opts.extraHeaders = { Authorization: `Bearer ${token}` };
    }
    socket.connect();
  }

  #onConnect(): void {
    this.#refused = undefined;
    const { engine } = this.socket.io;
    const prefer = (): void => {
      if (engine.transport instanceof ExtendedWebSocket) this.#transports = WEBSOCKET_FIRST;
    };
    prefer();
    engine.once("upgrade", prefer);
    this.#reconnection.connected();
  }

  #onConnectError(error: Error & { readonly data?: unknown }): void {
    const { message } = error;
    // An inactive socket was refused. For an active one, the network or the server is not there.
    if (!this.socket.active) {
      const data = (error.data ?? {}) as { readonly code?: unknown; readonly retryAfterMs?: unknown };
      return this.#onRefused(data.code, message, data.retryAfterMs);
    }
    // A network without WebSockets may let long-polling through: the other order is tried before any waiting.
    const isFirstTry = this.#transports === WEBSOCKET_FIRST;
    this.#transports = isFirstTry ? POLLING_FIRST : WEBSOCKET_FIRST;
    this.#reconnection.failed({ kind: isFirstTry ? "blocked" : "lost", message });
  }

  #onDisconnect(reason: Socket.DisconnectReason): void {
    const { code, message, retryAfterMs } = this.#notice ?? {};
    if (reason === "io client disconnect") return this.#reconnection.stop("CLOSED", "The application disconnected.");
    if (reason === "io server disconnect")
      return this.#onRefused(code, message ?? "The room ended the connection.", retryAfterMs);
    const awayMs = code === "SERVER_SHUTDOWN" ? readRetryAfterMs(retryAfterMs, APPOINTMENT_MAX_MS) : undefined;
    const appointment = awayMs === undefined ? {} : ({ retryAfterMs: awayMs, isAppointment: true } as const);
    this.#reconnection.failed({ kind: "lost", message: reason, ...appointment });
  }

  #onRefused(code: unknown, message: string, retryAfterMs: unknown): void {
    if (isAboutToken(code)) this.#refused = code;
    const waitMs = readRetryAfterMs(retryAfterMs);
    this.#reconnection.failed({
      kind: "refused",
      message,
      ...(typeof code === "string" && { code }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    });
  }
}
