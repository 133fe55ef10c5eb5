// Connections whose users do not look at the messages may ask for counts only (ATT-1 to ATT-3). crowd.ts keeps them; this takes their
// event. parts.ts makes it.
import { ATTEND } from "../../protocol/events/people.ts";
import type { AttendAnswer, AttendPayload } from "../../protocol/chat-events.ts";
import { refuse } from "../../protocol/refuse.ts";
import type { RoomPart } from "../room/room-part.ts";
import { handler, type Caller } from "../room/operation.ts";
import type { Room } from "../room/room.ts";

export class SubscriptionRequests implements RoomPart {
  readonly #room: Room;
  readonly operations = [handler(ATTEND, (caller, payload) => this.#attend(caller, payload))];

  constructor(room: Room) {
    this.#room = room;
  }

  /** A shard takes this event of its members itself. */
  #attend({ client }: Caller, payload: AttendPayload): AttendAnswer {
    const own = client && this.#room.clients.get(client.id);
    if (!own) return refuse("FORBIDDEN", "Only a connection attends.");
    return { ok: true, ...this.#room.subscriptions.attend(own, payload) };
  }
}
