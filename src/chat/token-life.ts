// A token's life in an open connection: refreshed in band, or ended in time.
import type { RefreshAnswer } from "../protocol/chat-events.ts";
import type { Authentication } from "../protocol/identity.ts";
import { roomAllowed } from "../protocol/room-name.ts";
import type { Deadline } from "../socketio/deadlines.ts";
import { refuse } from "./answers.ts";
import type { Members } from "./members.ts";
import { operation } from "./operation.ts";
import { refreshTokenSchema } from "./payloads.ts";
import type { Client, Feature, Room } from "./room.ts";

export type Authenticate = (token: string) => Promise<Authentication>;

export class TokenLife implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  readonly #authenticate: Authenticate;
  #expiryDeadline!: Deadline;
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
    this.#expiryDeadline = this.#room.deadline("token-expiry", (nowMs) => this.#expire(nowMs));
  }

  onConnect(client: Client): void {
    this.onRestore(client);
  }

  onRestore(client: Client): void {
    const { exp } = client.peek();
    if (exp !== undefined) this.#expiryDeadline.pull(exp * 1000);
  }

  onDisconnect(): void {
    if (this.#room.clients.size === 0) this.#expiryDeadline.clear();
  }

  async #refresh(client: Client, token: string, reply: (answer: RefreshAnswer) => void): Promise<void> {
    const result = await this.#authenticate(token);
    this.#room.turn(() => {
      const { user } = client.peek();
      if (!result.ok) return reply(refuse(result.code, result.message));
      const { identity } = result;
      if (identity.user !== user) return reply(refuse("FORBIDDEN", "The token names another user."));
      if (!roomAllowed(identity.rooms, this.#room.name))
        return reply(refuse("FORBIDDEN", "The token does not open this room."));
      const { name, role, exp } = identity;
      const { exp: _ended, ...membership } = client.data;
      client.data = { ...membership, name, role, ...(exp !== undefined && { exp }) };
      if (exp !== undefined) this.#expiryDeadline.pull(exp * 1000);
      this.#members.note(user, { socketId: client.id, name, sinceMs: membership.sinceMs });
      reply({ ok: true, exp: exp ?? null });
    });
  }

  #expire(nowMs: number): void {
    for (const client of this.#room.clients.values()) {
      const { exp } = client.peek();
      if (exp === undefined) continue;
      if (exp * 1000 > nowMs) {
        this.#expiryDeadline.pull(exp * 1000);
        continue;
      }
      client.emit("notice", { code: "TOKEN_EXPIRED", message: "The token has expired; connect with a fresh one." });
      client.disconnect();
    }
  }
}
