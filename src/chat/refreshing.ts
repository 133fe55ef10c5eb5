// `refresh-token` in a chat room: what the new token says of its user counts from then on. Verifying it, and its time, are the
// server's (TOK-3).
import type { RefreshAnswer } from "../protocol/chat-events.ts";
import { mayOpenDirect } from "../protocol/direct-room.ts";
import type { Identity } from "../protocol/identity.ts";
import { refuse } from "./answers.ts";
import type { Members } from "./members.ts";
import { operation } from "./operation.ts";
import { refreshTokenSchema } from "./payloads.ts";
import type { Client, Feature, Room } from "./room.ts";

export class Refreshing implements Feature {
  readonly #members: Members;
  readonly operations;

  constructor(room: Room, members: Members) {
    this.#members = members;
    this.operations = {
      "refresh-token": operation(refreshTokenSchema, ({ client }, { token }, reply: (answer: RefreshAnswer) => void) =>
        client
          ? room.refreshToken(client, token, reply)
          : reply(refuse("FORBIDDEN", "Only a connection has a token to refresh.")),
      ),
    };
  }

  onRefresh(client: Client, { user, name, role, rooms }: Identity): void {
    const { isBound: _was, ...membership } = client.peek();
    const isBound = mayOpenDirect(rooms) ? {} : ({ isBound: true } as const);
    client.data = { ...membership, name, role, ...isBound };
    this.#members.note(user, { socketId: client.id, name, sinceMs: membership.sinceMs });
  }
}
