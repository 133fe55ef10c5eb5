// Typing notices: the set of users who type, so that a repeat sends nothing and each notice ends by itself. In memory only: the
// room stays awake while a user types, which writes no row and is over in seconds (TYP-3).
import { typingSchema } from "../../protocol/schemas/typing.ts";
import type { Answer, Message, TypingWelcome, Typist } from "../../protocol/chat-events.ts";
import type { Deadline } from "../../clock/deadlines.ts";
import { refuse } from "../../protocol/refuse.ts";
import { operation, type Caller } from "../room/operation.ts";
import type { Feature } from "../room/feature.ts";
import type { Client, Connection, Room } from "../room/room.ts";

/** A notice that is not repeated for so long ends (TYP-2). */
export const TYPING_MS = 5000;

/** Requests that it costs: each change goes out to everyone. */
export const TYPING_COST = 4;

/** Typing users in a welcome. */
export const TYPISTS_SHOWN_MAX = 20;

interface CurrentTyping {
  readonly name: string;
  /** The connection that sent the last notice; its end ends the typing. */
  readonly socketId: string;
  readonly untilMs: number;
  /** Whether it was sent to the others: in a large room it is not (TYP-1). */
  readonly isShown: boolean;
}

export class Typing implements Feature {
  readonly #room: Room;
  readonly #typists = new Map<string, CurrentTyping>();
  #deadline!: Deadline;
  readonly operations = {
    typing: operation(
      typingSchema,
      (caller, { on }) => this.#setTyping(caller, on),
      () => TYPING_COST,
    ),
  };

  constructor(room: Room) {
    this.#room = room;
  }

  start(): void {
    this.#deadline = this.#room.deadline("typing", (nowMs) => this.#expire(nowMs), { keepsAwake: true });
  }

  welcome(client: Connection): TypingWelcome {
    const self = client.peek().user;
    const others = [...this.#typists].filter(([user, { isShown }]) => isShown && user !== self);
    return { typing: others.slice(0, TYPISTS_SHOWN_MAX).map(([user, { name }]): Typist => ({ user, name })) };
  }

  /** A post ends the typing of its sender. */
  onPosted(messages: readonly Message[]): void {
    for (const { sender } of messages) this.#end(sender);
  }

  onDisconnect(client: Client): void {
    const { user } = client.peek();
    if (this.#typists.get(user)?.socketId === client.id) this.#end(user);
  }

  #setTyping(caller: Caller, on: boolean): Answer<object> {
    const { user, name, client } = caller;
    if (!client) return refuse("FORBIDDEN", "Only a connection can type.");
    const known = this.#typists.get(user);
    if (!on) {
      // Another tab of the same user may be the one that types.
      if (known?.socketId === client.id) this.#end(user);
      return { ok: true };
    }
    const untilMs = this.#room.now() + TYPING_MS;
    const isShown = known?.isShown ?? !this.#room.members.isLarge;
    this.#typists.set(user, { name: known?.name ?? name, socketId: client.id, untilMs, isShown });
    this.#deadline.pull(untilMs);
    // Volatile: a client that polls may miss it.
    if (!known && isShown) this.#others(user).volatile.emit("typing", { user, name, on: true });
    return { ok: true };
  }

  #end(user: string): void {
    const typing = this.#typists.get(user);
    if (!typing) return;
    this.#typists.delete(user);
    if (this.#typists.size === 0) this.#deadline.clear();
    // Not volatile: a client that got the beginning must get the end.
    if (typing.isShown) this.#others(user).emit("typing", { user, name: typing.name, on: false });
  }

  /** Not the user's own other connections (TYP-1). Shards hear of nobody (SHD-9): if the room died, they would not hear of the end. */
  #others(user: string): Room["here"] {
    return this.#room.here.except(this.#room.members.socketsOf(user));
  }

  #expire(nowMs: number): void {
    for (const [user, { untilMs }] of this.#typists) {
      if (untilMs <= nowMs) this.#end(user);
      else this.#deadline.pull(untilMs);
    }
  }
}
