// Whom a socket is from. The token of a CONNECT is verified before its namespace is asked, announced before it ends, refreshed
// in band, or ended in time. The server (server.ts) calls it, for all namespaces but those that let anybody in. Rules: TOK-1 to TOK-5.
import type { AnswerCode, Notice, RefreshAnswer, RefusalCode } from "../../protocol/chat-events.ts";
import type { Authentication, Identity, Unauthenticated } from "../../protocol/identity.ts";
import { roomAllowed } from "../../protocol/room-name.ts";
import type { Deadline, Deadlines } from "../../clock/deadlines.ts";
import type { ConnectRequest, Refusal } from "./namespace.ts";
import type { Session } from "../engine/session.ts";
import type { Socket } from "./socket.ts";

/** So long before its end a token is announced to end; where less than twice that is left at the start, half of it: TOK-1. */
export const EXPIRY_WARNING_MS = 60_000;

/** Notices that fall due within so long go out together: a room wakes once for tokens of about the same age. */
export const EXPIRY_GATHER_MS = 10_000;

const REFRESH_EVENT = "refresh-token";

/** How a shell verifies tokens. */
export interface TokenPorts {
  readonly authenticate: (token: string) => Promise<Authentication>;
  /** The name of the room, which a token's `rooms` have to open. */
  readonly room: string;
}

/** What is kept of a token with the socket that it let in. */
export interface TokenRecord {
  readonly user: string;
  /** When it ends, in seconds since 1970; absent: never. */
  readonly exp?: number;
  /** When its user is to be told that it is about to end, in milliseconds since 1970; absent once told. */
  readonly warnAtMs?: number;
}

interface TokenHost {
  readonly deadlines: Deadlines;
  readonly sessions: ReadonlyMap<string, Session>;
  now(): number;
  turn<Result>(work: () => Result): Result;
  /** A socket has another token: its namespace is to hear of it. */
  refreshed(socket: Socket, identity: Identity): void;
  /** Counts a token that a session wants to have verified. @returns whether it was one too many, and the session is over */
  isFlood(session: Session): boolean;
}

type Reply = (answer: RefreshAnswer) => void;

export class TokenLife {
  readonly #ports: TokenPorts;
  readonly #host: TokenHost;
  /** Always the soonest of what is due, so that it stands where it stood after sleep. */
  readonly #deadline: Deadline;
  /** How many sockets wait for which moment: tokens of one age are many, and their sockets often go together. */
  readonly #waiting = new Map<number, number>();

  constructor(ports: TokenPorts, host: TokenHost) {
    this.#ports = ports;
    this.#host = host;
    this.#deadline = host.deadlines.add("token-expiry", (nowMs) => this.#run(nowMs));
  }

  /** TOK-4. At once where the front server has vouched for somebody; never throws before it is known who asks. */
  identify({ auth, handshake }: ConnectRequest): Identity | Refusal | Promise<Identity | Refusal> {
    const { identity: vouched } = handshake;
    // A token that the Worker saw may have ended since: the connection can be older than its CONNECT.
    if (vouched && !this.#hasEnded(vouched)) return this.#admit(vouched);
    const { token } = auth;
    if (typeof token === "string" && token !== "") return this.#authenticate(token);
    return vouched
      ? deny("TOKEN_EXPIRED", "The token has expired")
      : deny("UNAUTHORIZED", "A token is required: auth.token");
  }

  async #authenticate(token: string): Promise<Identity | Refusal> {
    const result = await this.#ports.authenticate(token);
    if (!result.ok) return denyToken(result);
    if (this.#hasEnded(result.identity)) return deny("TOKEN_EXPIRED", "The token has expired");
    return this.#admit(result.identity);
  }

  #admit(identity: Identity): Identity | Refusal {
    const { room } = this.#ports;
    return roomAllowed(identity.rooms, room)
      ? identity
      : deny("FORBIDDEN_ROOM", `The token does not open room ${room}`);
  }

  #hasEnded({ exp }: Pick<Identity, "exp">): boolean {
    return exp !== undefined && exp * 1000 <= this.#host.now();
  }

  /** What a socket keeps of the token that lets it in now. */
  recordOf({ user, exp }: Identity): TokenRecord {
    return { user, ...(exp !== undefined && { exp, warnAtMs: warningAtMs(exp, this.#host.now()) }) };
  }

  /** A socket came, or is still there after sleep. */
  watch({ token }: Socket): void {
    this.#wait(token, 1);
  }

  /** A socket went: nobody wakes for its token. */
  forget({ token }: Socket): void {
    this.#wait(token, -1);
  }

  /** One more, or one less, waits for what is due next about a token. */
  #wait(token: TokenRecord | undefined, more: 1 | -1): void {
    const atMs = token && dueMs(token);
    if (atMs === undefined) return;
    const count = (this.#waiting.get(atMs) ?? 0) + more;
    if (count > 0) this.#waiting.set(atMs, count);
    else this.#waiting.delete(atMs);
    if (more > 0) this.#deadline.pull(atMs);
    else if (count === 0 && atMs === this.#deadline.atMs) this.#lookAgain();
  }

  #lookAgain(): void {
    this.#deadline.clear();
    for (const atMs of this.#waiting.keys()) this.#deadline.pull(atMs);
  }

  *#sockets(): Iterable<Socket> {
    for (const session of this.#host.sessions.values()) {
      for (const socket of session.sockets.values()) if (socket.connected) yield socket;
    }
  }

  /** What answers `refresh-token` in a namespace that does not answer it itself. */
  handlerOf({ token }: Socket, event: string): ((socket: Socket, ...args: unknown[]) => unknown) | undefined {
    return token && event === REFRESH_EVENT ? this.#handle : undefined;
  }

  readonly #handle = (socket: Socket, ...args: unknown[]): void | Promise<void> => {
    if (this.#host.isFlood(socket.session)) return;
    const ack = args.at(-1);
    const reply = typeof ack === "function" ? (ack as Reply) : (answer: RefreshAnswer) => tellError(socket, answer);
    const token = (args[0] as { readonly token?: unknown } | null | undefined)?.token;
    if (typeof token !== "string" || token === "") return reply(refuse("INVALID_PAYLOAD", "token: is required"));
    return this.refresh(socket, token, reply);
  };

  /** TOK-3. A client that went meanwhile gets no answer. */
  async refresh(socket: Socket, token: string, reply: Reply): Promise<void> {
    const result = await this.#ports.authenticate(token);
    this.#host.turn(() => {
      if (!socket.connected || !socket.token) return;
      if (!result.ok) return reply(refuse(result.code, result.message, result.retryAfterMs));
      const { identity } = result;
      if (identity.user !== socket.token.user) return reply(refuse("FORBIDDEN", "The token names another user."));
      if (!roomAllowed(identity.rooms, this.#ports.room))
        return reply(refuse("FORBIDDEN", "The token does not open this room."));
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

  #run(nowMs: number): void {
    for (const socket of this.#sockets()) this.#attend(socket, nowMs);
    this.#lookAgain();
  }

  #attend(socket: Socket, nowMs: number): void {
    const { exp, warnAtMs, user } = socket.token ?? {};
    // Its going may have taken others along.
    if (user === undefined || exp === undefined || !socket.connected) return;
    if (exp * 1000 <= nowMs) return end(socket);
    if (warnAtMs === undefined || warnAtMs > nowMs + EXPIRY_GATHER_MS) return;
    this.#replace(socket, { user, exp });
    const leftSeconds = Math.ceil((exp * 1000 - nowMs) / 1000);
    notify(socket, "TOKEN_EXPIRING", `The token expires in ${leftSeconds} s; send refresh-token to stay.`);
  }
}

/** TOK-2. */
function end(socket: Socket): void {
  notify(socket, "TOKEN_EXPIRED", "The token has expired; connect with a fresh one.");
  socket.disconnect();
}

function notify(socket: Socket, code: Notice["code"], message: string): void {
  socket.emit("notice", { code, message } satisfies Notice);
}

/** Without an ack callback an error comes as event `error`, and a good answer needs no words. */
function tellError(socket: Socket, answer: RefreshAnswer): void {
  if ("error" in answer) socket.emit("error", answer.error);
}

function deny(code: RefusalCode, message: string): Refusal {
  return { accepted: false, message, data: { code } };
}

/** SIO-13: what nobody can say yet is no reason to stay away. */
function denyToken({ code, message, retryAfterMs = 0 }: Unauthenticated): Refusal {
  const refusal = deny(code, message);
  return code === "UNAVAILABLE" ? { ...refusal, data: { code, retryAfterMs }, passesInMs: retryAfterMs } : refusal;
}

function refuse(code: AnswerCode, message: string, retryAfterMs?: number): RefreshAnswer {
  return { error: { code, message, ...(retryAfterMs !== undefined && { retryAfterMs }) } };
}

/** When something is to be done about a token, in milliseconds since 1970. */
function dueMs({ exp, warnAtMs }: TokenRecord): number | undefined {
  return warnAtMs ?? (exp === undefined ? undefined : exp * 1000);
}

/** @param exp in seconds since 1970 */
function warningAtMs(exp: number, nowMs: number): number {
  const leftMs = exp * 1000 - nowMs;
  return exp * 1000 - Math.min(EXPIRY_WARNING_MS, Math.floor(leftMs / 2));
}
