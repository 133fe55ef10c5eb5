// Verifies the token of each CONNECT, warns clients before their tokens end, refreshes tokens and ends sockets whose token has ended (TOK-1
// to TOK-5). Called by connects.ts, sockets.ts and server.ts, for all namespaces except those with `authenticate = "anybody"`.
import type { Identity } from "../engine/session.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { ConnectRequest, Refusal } from "./namespace.ts";
import type { TokenRecord } from "./records.ts";
import type { Socket } from "./socket.ts";
import type { SocketSession } from "./socket-session.ts";

/** TOK-1: the notice comes this long before the end of a token; at half of its time, if it begins with less than twice that. */
export const EXPIRY_WARNING_MS = 60_000;

/** Notices that are due within this time are sent together, so that a room wakes once for tokens of about the same age. */
export const EXPIRY_GATHER_MS = 10_000;

const REFRESH_EVENT = "refresh-token";

/** The result of verifying a token. `UNAVAILABLE`: the keys cannot be loaded at present (TOK-5). */
export type Authentication =
  | { readonly ok: true; readonly identity: Identity }
  | {
      readonly ok: false;
      readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "UNAVAILABLE";
      readonly message: string;
      /** With `UNAVAILABLE`. */
      readonly retryAfterMs?: number;
    };

/** The answer to `refresh-token`. */
export type RefreshAnswer =
  | { readonly ok: true; readonly exp: number | null }
  | {
      readonly error: {
        readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "UNAVAILABLE" | "FORBIDDEN" | "INVALID_PAYLOAD";
        readonly message: string;
        readonly retryAfterMs?: number;
      };
    };

type RefreshError = Extract<RefreshAnswer, { error: object }>["error"];

/** Verifies tokens for one room. */
export interface TokenPorts {
  /** Without it no token is needed or read: a client that the front server vouches for has that identity, and others have none. */
  readonly authenticate?: ((token: string) => Promise<Authentication>) | undefined;
  /** The name of the room. */
  readonly room: string;
  /** Whether the token with this identity opens the room. */
  opens(identity: Identity): boolean;
}

interface TokenHost {
  readonly deadlines: Deadlines;
  readonly sessions: ReadonlyMap<string, SocketSession>;
  now(): number;
  turn<Result>(work: () => Result): Result;
  /** Called when a socket has a new token. */
  refreshed(socket: Socket, identity: Identity): void;
  /** Counts a token to be verified for a session. @returns whether it was one too many, which closed the session */
  isFlood(session: SocketSession): boolean;
}

/** The identity behind a CONNECT, if it has one, or its refusal. An identity may have fields of any name. */
interface Identified {
  readonly identity?: Identity;
  readonly refusal?: Refusal;
}

type Reply = (answer: RefreshAnswer) => void;

export class TokenLife {
  readonly #ports: TokenPorts;
  readonly #host: TokenHost;
  /** Always set to the soonest step of any socket, so that it is the same after sleep. */
  readonly #deadline: Deadline;
  /** Counts sockets by the moment of their next step, because many tokens are of the same age, and their sockets often end together. */
  readonly #waiting = new Map<number, number>();

  constructor(ports: TokenPorts, host: TokenHost) {
    this.#ports = ports;
    this.#host = host;
    this.#deadline = host.deadlines.add("token-expiry", (nowMs) => {
      for (const { sockets } of host.sessions.values()) {
        for (const socket of sockets.values()) this.#attend(socket, nowMs);
      }
      this.#pullToSoonest();
    });
  }

  /** TOK-4. Synchronous if the front server has verified the token. */
  identify({ auth, handshake }: ConnectRequest): Identified | Promise<Identified> {
    const { identity: verified } = handshake;
    // The token of the request may have ended since, because the connection can be older than its CONNECT.
    if (verified && !this.#hasEnded(verified)) return this.#admit(verified);
    const { authenticate } = this.#ports;
    const { token } = auth;
    if (authenticate && typeof token === "string" && token !== "") return this.#judge(authenticate(token));
    if (verified) return { refusal: deny("TOKEN_EXPIRED", "The token has expired") };
    return authenticate ? { refusal: deny("UNAUTHORIZED", "A token is required: auth.token") } : {};
  }

  async #judge(authenticating: Promise<Authentication>): Promise<Identified> {
    const result = await authenticating;
    if (!result.ok) return { refusal: denyToken(result) };
    if (this.#hasEnded(result.identity)) return { refusal: deny("TOKEN_EXPIRED", "The token has expired") };
    return this.#admit(result.identity);
  }

  #admit(identity: Identity): Identified {
    const { room } = this.#ports;
    if (this.#ports.opens(identity)) return { identity };
    return { refusal: deny("FORBIDDEN_ROOM", `The token does not open room ${room}`) };
  }

  #hasEnded({ exp }: Pick<Identity, "exp">): boolean {
    return exp !== undefined && exp * 1000 <= this.#host.now();
  }

  /** @returns the part of a token that is stored with the socket that it lets in now */
  recordOf({ user, exp }: Identity): TokenRecord {
    return { user, ...(exp !== undefined && { exp, warnAtMs: warningAtMs(exp, this.#host.now()) }) };
  }

  /** Called for each new socket, and each one that is restored after sleep. */
  watch({ token }: Socket): void {
    this.#wait(token, 1);
  }

  /** Called when a socket ends: the room does not wake for its token any more. */
  forget({ token }: Socket): void {
    this.#wait(token, -1);
  }

  /** Counts one more, or one less, socket whose token has a next step. */
  #wait(token: TokenRecord | undefined, more: 1 | -1): void {
    const atMs = token && dueMs(token);
    if (atMs === undefined) return;
    const count = (this.#waiting.get(atMs) ?? 0) + more;
    if (count > 0) this.#waiting.set(atMs, count);
    else this.#waiting.delete(atMs);
    if (more > 0) this.#deadline.pull(atMs);
    else if (count === 0 && atMs === this.#deadline.atMs) this.#pullToSoonest();
  }

  #pullToSoonest(): void {
    this.#deadline.clear();
    for (const atMs of this.#waiting.keys()) this.#deadline.pull(atMs);
  }

  /** @returns the handler of `refresh-token`, for namespaces that have none themselves */
  handlerOf({ token }: Socket, event: string): ((socket: Socket, ...args: unknown[]) => unknown) | undefined {
    return this.#ports.authenticate && token && event === REFRESH_EVENT ? this.#handle : undefined;
  }

  readonly #handle = (socket: Socket, ...args: unknown[]): void | Promise<void> => {
    if (this.#host.isFlood(socket.session)) return;
    const ack = args.at(-1);
    const reply = typeof ack === "function" ? (ack as Reply) : (answer: RefreshAnswer) => emitError(socket, answer);
    const token = (args[0] as { readonly token?: unknown } | null | undefined)?.token;
    if (typeof token !== "string" || token === "") return reply(errorOf("INVALID_PAYLOAD", "token: is required"));
    return this.refresh(socket, token, reply);
  };

  /** TOK-3. A client that is gone by then gets no answer. */
  async refresh(socket: Socket, token: string, reply: Reply): Promise<void> {
    const result = (await this.#ports.authenticate?.(token)) ?? NO_TOKENS;
    this.#host.turn(() => {
      if (!socket.connected || !socket.token) return;
      if (!result.ok) return reply(errorOf(result.code, result.message, result.retryAfterMs));
      const { identity } = result;
      if (identity.user !== socket.token.user) return reply(errorOf("FORBIDDEN", "The token names another user."));
      if (!this.#ports.opens(identity)) return reply(errorOf("FORBIDDEN", "The token does not open this room."));
      this.#replace(socket, this.recordOf(identity));
      this.#host.refreshed(socket, identity);
      reply({ ok: true, exp: identity.exp ?? null });
    });
  }

  #replace(socket: Socket, token: TokenRecord): void {
    this.forget(socket);
    socket.setToken(token);
    this.watch(socket);
  }

  /** Takes the next step of a token, if that is due: ends its socket, or warns its client. */
  #attend(socket: Socket, nowMs: number): void {
    const { exp, warnAtMs, user } = socket.token ?? {};
    // The application may have disconnected the socket when another one ended.
    if (user === undefined || exp === undefined || !socket.connected) return;
    if (exp * 1000 <= nowMs) return end(socket);
    if (warnAtMs === undefined || warnAtMs > nowMs + EXPIRY_GATHER_MS) return;
    this.#replace(socket, { user, exp });
    const leftSeconds = Math.ceil((exp * 1000 - nowMs) / 1000);
    notify(socket, "TOKEN_EXPIRING", `The token expires in ${leftSeconds} s.`);
  }
}

/** TOK-2. */
function end(socket: Socket): void {
  notify(socket, "TOKEN_EXPIRED", "The token has expired; connect with a fresh one.");
  socket.disconnect();
}

function notify(socket: Socket, code: "TOKEN_EXPIRING" | "TOKEN_EXPIRED", message: string): void {
  socket.emit("notice", { code, message });
}

/** Without an ack callback an error is sent as event `error`, and success is not answered. */
function emitError(socket: Socket, answer: RefreshAnswer): void {
  if ("error" in answer) socket.emit("error", answer.error);
}

const NO_TOKENS: Authentication = { ok: false, code: "UNAUTHORIZED", message: "No token is accepted here" };

type DenialCode = "UNAUTHORIZED" | "TOKEN_EXPIRED" | "UNAVAILABLE" | "FORBIDDEN_ROOM";

function deny(code: DenialCode, message: string): Refusal {
  return { accepted: false, message, data: { code } };
}

/** SIO-13: a token that cannot be verified yet may be tried again. */
function denyToken({ code, message, retryAfterMs = 0 }: Extract<Authentication, { ok: false }>): Refusal {
  const refusal = deny(code, message);
  return code === "UNAVAILABLE" ? { ...refusal, data: { code, retryAfterMs }, passesInMs: retryAfterMs } : refusal;
}

function errorOf(code: RefreshError["code"], message: string, retryAfterMs?: number): RefreshAnswer {
  return { error: { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}

/** The moment of a token's next step, in milliseconds since 1970. */
function dueMs({ exp, warnAtMs }: TokenRecord): number | undefined {
  return warnAtMs ?? (exp === undefined ? undefined : exp * 1000);
}

/** @param exp in seconds since 1970 */
function warningAtMs(exp: number, nowMs: number): number {
  const leftMs = exp * 1000 - nowMs;
  return exp * 1000 - Math.min(EXPIRY_WARNING_MS, Math.floor(leftMs / 2));
}
