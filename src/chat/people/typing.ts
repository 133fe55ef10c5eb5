// Typing notices: a repeat sends nothing, and each notice ends by itself. A large room tells how many type, and not who. In memory only: the
// room stays awake while a user types, which writes no row and is over in seconds (TYP-3).
import { TYPING } from "../../protocol/events/people.ts";
import type { Answer, Message, TypingWelcome } from "../../protocol/chat-events.ts";
import type { ThrottledRun } from "../../clock/rates.ts";
import { Typists, type CurrentTyping } from "../../crowd/crowd.ts";
import { refuse } from "../../protocol/refuse.ts";
import { handler, type Caller } from "../room/operation.ts";
import type { RoomPart } from "../room/room-part.ts";
import type { Client, Connection, Room } from "../room/room.ts";
import { presenceWindowMs } from "./presence.ts";

/** Typing users in a welcome. */
export const TYPISTS_SHOWN_MAX = 20;

export class Typing implements RoomPart {
  readonly #room: Room;
  #typists!: Typists;
  #counting!: ThrottledRun;
  /** How many type, as the others heard it last. */
  notified = 0;
  readonly operations = [handler(TYPING, (caller, { on }) => this.#setTyping(caller, on))];

  constructor(room: Room) {
    this.#room = room;
  }

  start(): void {
    const { deadline, now, throttled } = this.#room;
    this.#typists = new Typists({ deadline, now, ended: (user, typing) => this.#onEnd(user, typing) });
    const windowMs = (): number => presenceWindowMs(this.#room.connectionCount);
    this.#counting = throttled("typing-count", { windowMs }, () => this.#sendCount(), { keepsAwake: true });
  }

  welcome(client: Connection): TypingWelcome {
    const self = client.peek().user;
    const others = this.#typists.named.filter(({ user }) => user !== self);
    return { typing: others.slice(0, TYPISTS_SHOWN_MAX), ...(this.notified > 0 && { typingCount: this.notified }) };
  }

  /** A post ends the typing of its sender. */
  onPosted(messages: readonly Message[]): void {
    for (const { sender } of messages) this.#typists.end(sender);
  }

  onDisconnect(client: Client): void {
    this.#typists.end(client.peek().user, client.id);
  }

  #setTyping({ user, name, client }: Caller, on: boolean): Answer<object> {
    if (!client) return refuse("FORBIDDEN", "Only a connection can type.");
    if (!on) {
      this.#typists.end(user, client.id);
      return { ok: true };
    }
    const isNamed = !this.#room.members.isLarge;
    const isNew = this.#typists.begin(user, { name, socketId: client.id, isNamed });
    // Volatile: a client that polls may miss it.
    if (isNew && isNamed) this.#others(user).volatile.emit("typing", { user, name, on: true });
    else if (isNew) this.countChanged();
    return { ok: true };
  }

  #onEnd(user: string, { name, isNamed }: CurrentTyping): void {
    // Not volatile: a client that got the beginning must get the end.
    if (isNamed) this.#others(user).emit("typing", { user, name, on: false });
    else this.countChanged();
  }

  /** Not the user's own other connections (TYP-1). Shards hear of nobody (SHD-9): if the room died, they would not hear of the end. */
  #others(user: string): Room["here"] {
    return this.#room.here.except(this.#room.members.socketsOf(user));
  }

  /** The number of those who type without being named has changed: here, or in a shard. */
  countChanged(): void {
    this.#counting.request(this.#room.now());
  }

  /** The room died with members in shards, which may have heard of those who typed then, and of no end. */
  recount(): void {
    this.notified = -1;
    this.#counting.requestLater(this.#room.now());
  }

  #sendCount(): void {
    const count = this.#typists.unnamed + (this.#room.remote?.typing ?? 0);
    if (count === this.notified) return;
    this.notified = count;
    this.#room.everyone.emit("typing-count", { count });
  }
}
