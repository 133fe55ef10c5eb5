// A token's life in an open connection: announced before it ends, refreshed in band, or ended in time.
import type { RefreshAnswer } from "../protocol/chat-events.ts";
import type { Authentication } from "../protocol/identity.ts";
import { mayOpenDirect } from "../protocol/direct-room.ts";
import { roomAllowed } from "../protocol/room-name.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { refuse } from "./answers.ts";
import type { Members } from "./members.ts";
import { operation } from "./operation.ts";
import { refreshTokenSchema } from "./payloads.ts";
import type { Client, Feature, Membership, Room } from "./room.ts";

export type Authenticate = (token: string) => Promise<Authentication>;

/** So long before a token ends its user is told; where less than twice that is left at the start, half of it: TOK-1. */
export const EXPIRY_WARNING_MS = 60_000;

/** Who would be told within so long is told along with others: a room wakes once for tokens of about the same age. */
export const EXPIRY_GATHER_MS = 10_000;

export class TokenLife implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #authenticate: Authenticate;
  /** Always the soonest of what is due, so that it stands where it stood after sleep. */
  #deadline!: Deadline;
  readonly operations = {
    "refresh-token": operation(refreshTokenSchema, ({ client }, { token }, reply: (answer: RefreshAnswer) => void) =>
      client
        ? this.#refresh(client, token, reply)
        : reply(refuse("FORBIDDEN", "Only a connection has a token to refresh.")),
    ),
  };

  constructor(room: Room, members: Members, authenticate: Authenticate) {
    this.#room = room;
    this.#members = members;
    this.#authenticate = authenticate;
  }

  start(): void {
    this.#deadline = this.#room.deadline("token-expiry", (nowMs) => this.#run(nowMs));
  }

  onConnect(client: Client): void {
    const { exp } = client.peek();
    if (exp !== undefined) client.data = { ...client.data, warnAtMs: warningAtMs(exp, this.#room.now()) };
    this.onRestore(client);
  }

  onRestore(client: Client): void {
    const atMs = dueMs(client.peek());
    if (atMs !== undefined) this.#deadline.pull(atMs);
  }

  onDisconnect(client: Client): void {
    this.#forget(dueMs(client.peek()));
  }

  /** TOK-3. */
  async #refresh(client: Client, token: string, reply: (answer: RefreshAnswer) => void): Promise<void> {
    const result = await this.#authenticate(token);
    this.#room.turn(() => {
      // Who went meanwhile is not to be remembered as a member.
      if (!client.connected) return;
      const { user } = client.peek();
      if (!result.ok) return reply(refuse(result.code, result.message));
      const { identity } = result;
      if (identity.user !== user) return reply(refuse("FORBIDDEN", "The token names another user."));
      if (!roomAllowed(identity.rooms, this.#room.name))
        return reply(refuse("FORBIDDEN", "The token does not open this room."));
      const { name, role, exp } = identity;
      const { exp: _ended, warnAtMs: _due, isBound: _was, ...membership } = client.peek();
      const dueBeforeMs = dueMs(client.peek());
      const isBound = mayOpenDirect(identity.rooms) ? {} : ({ isBound: true } as const);
      client.data = { ...membership, name, role, ...isBound, ...(exp !== undefined && { exp }) };
      this.#forget(dueBeforeMs);
      this.onConnect(client);
      this.#members.note(user, { socketId: client.id, name, sinceMs: membership.sinceMs });
      reply({ ok: true, exp: exp ?? null });
    });
  }

  /** Nobody wakes for a token that went. */
  #forget(atMs: number | undefined): void {
    if (atMs === undefined || atMs !== this.#deadline.atMs) return;
    this.#deadline.clear();
    for (const client of this.#room.clients.values()) this.onRestore(client);
  }

  #run(nowMs: number): void {
    for (const client of this.#room.clients.values()) this.#attend(client, nowMs);
    for (const client of this.#room.clients.values()) this.onRestore(client);
  }

  #attend(client: Client, nowMs: number): void {
    const { exp, warnAtMs } = client.peek();
    if (exp === undefined) return;
    if (exp * 1000 <= nowMs) return this.#end(client);
    if (warnAtMs === undefined || warnAtMs > nowMs + EXPIRY_GATHER_MS) return;
    const { warnAtMs: _told, ...membership } = client.peek();
    client.data = membership;
    client.emit("notice", {
      code: "TOKEN_EXPIRING",
      message: `The token expires in ${Math.ceil((exp * 1000 - nowMs) / 1000)} s; send refresh-token to stay.`,
    });
  }

  /** TOK-2. */
  #end(client: Client): void {
    client.emit("notice", { code: "TOKEN_EXPIRED", message: "The token has expired; connect with a fresh one." });
    client.disconnect();
  }
}

/** When something is to be done about a connection's token, in milliseconds since 1970. */
function dueMs({ exp, warnAtMs }: Readonly<Membership>): number | undefined {
  return warnAtMs ?? (exp === undefined ? undefined : exp * 1000);
}

/** @param exp in seconds since 1970 */
function warningAtMs(exp: number, nowMs: number): number {
  const leftMs = exp * 1000 - nowMs;
  return exp * 1000 - Math.min(EXPIRY_WARNING_MS, Math.floor(leftMs / 2));
}
