// `refresh-token` in a chat room: gives a connection the name and role of its new token. The Socket.IO server verifies the token
// and keeps its time (TOK-3).
import { REFRESH_TOKEN } from "../../protocol/events/people.ts";
import type { Identity } from "../../protocol/identity.ts";
import { refuse } from "../../protocol/refuse.ts";
import { waitingHandler } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Client, Room } from "../room/room.ts";

export class Refreshing implements RoomPart {
  readonly #room: Room;
  readonly operations;

  constructor(room: Room) {
    this.#room = room;
    this.operations = [
      waitingHandler(REFRESH_TOKEN, ({ client }, { token }, reply) =>
        client
          ? room.refreshToken(client, token, reply)
          : reply(refuse("FORBIDDEN", "Only a connection has a token to refresh.")),
      ),
    ];
  }

  onRefresh(client: Client, identity: Identity): void {
    const { user, name, role } = identity;
    const membership = client.peek();
    client.data = { ...membership, name, role };
    this.#room.members.note(user, { socketId: client.id, name, sinceMs: membership.sinceMs });
  }
}
