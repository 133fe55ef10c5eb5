// Who is here, and telling the others when that changes.
import type { PresenceAnswer, Welcome } from "../protocol/chat-events.ts";
import type { Members } from "./members.ts";
import { operation } from "./operation.ts";
import { Pacer } from "./pacer.ts";
import { presenceSchema } from "./payloads.ts";
import type { Client, Feature, Room } from "./room.ts";

/** Changes of presence are told at once in a quiet room, and at most this often in a busy one. */
export const PRESENCE_WINDOW_MS = 250;

export class Presence implements Feature {
  readonly #room: Room;
  readonly #members: Members;
  #pacer!: Pacer;
  readonly operations = {
    presence: operation(presenceSchema, (_caller, _payload, reply: (answer: PresenceAnswer) => void) =>
      reply({ ok: true, count: this.#members.count, members: this.#members.list() }),
    ),
  };

  constructor(room: Room, members: Members) {
    this.#room = room;
    this.#members = members;
  }

  start(): void {
    const deadline = this.#room.deadline("presence", (nowMs) => this.#pacer.flush(nowMs));
    this.#pacer = new Pacer(PRESENCE_WINDOW_MS, deadline, () => this.#tell());
  }

  onConnect(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#members.add(user, { socketId: client.id, name, sinceMs });
  }

  welcome(): Partial<Welcome> {
    return { presence: { count: this.#members.count } };
  }

  onWelcomed(): void {
    if (this.#members.hasJoined) this.#pacer.request(this.#room.now());
  }

  onRestore(client: Client): void {
    const { user, name, sinceMs } = client.peek();
    this.#members.note(user, { socketId: client.id, name, sinceMs });
  }

  onDisconnect(client: Client): void {
    // CHAT-5, not at once: who comes back within the window, or over another connection, has not left for the others.
    if (this.#members.remove(client.peek().user, client.id)) this.#pacer.requestLater(this.#room.now());
  }

  #tell(): void {
    const change = this.#members.takeChange();
    if (change) this.#room.everyone.emit("presence", change);
  }
}
