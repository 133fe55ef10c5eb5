// The messages of one visit in the order of their seq, and the reader's own that are still on their way.
// Pure state: the visit feeds it, the message list draws it.
import type { Message } from "../../src/protocol/chat-events.ts";

/** A message that the room has not confirmed; replaced, never changed. */
export interface Outgoing {
  readonly clientMsgId: string;
  readonly content: string;
  /** Why it was not sent; `null` while it is on its way. */
  readonly failure: string | null;
}

export class Timeline {
  /** Whether the room has messages before the first one here. */
  hasEarlier = false;
  readonly #messages: Message[] = [];
  readonly #outgoing = new Map<string, Outgoing>();
  #through = 0;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get outgoing(): Iterable<Outgoing> {
    return this.#outgoing.values();
  }

  /** Up to this seq nothing is missing: where to catch up from after a reconnect. */
  get through(): number {
    return this.#through;
  }

  /** Adds a message at its place, whatever order messages come in; one that is known already is replaced. */
  add(message: Message, self: string): void {
    if (message.sender === self && message.clientMsgId !== undefined) this.#outgoing.delete(message.clientMsgId);
    const before = this.#messages.findLastIndex((known) => known.seq <= message.seq);
    if (this.#messages[before]?.seq === message.seq) {
      this.#messages[before] = message;
      return;
    }
    this.#messages.splice(before + 1, 0, message);
    this.#advance(before + 1);
  }

  /** The room has answered for everything up to `seq`. */
  cover(seq: number): void {
    if (seq <= this.#through) return;
    this.#through = seq;
    this.#advance(this.#messages.findLastIndex((known) => known.seq <= seq) + 1);
  }

  /** The room has stored an outgoing message; its own copy, if that came first, knows better. */
  confirm(message: Message, self: string): void {
    if (message.clientMsgId !== undefined) this.#outgoing.delete(message.clientMsgId);
    if (!this.#messages.some((known) => known.seq === message.seq)) this.add(message, self);
  }

  /** The room was deleted and began anew; what is on its way goes to the new one. */
  restart(): void {
    this.#messages.length = 0;
    this.#through = 0;
    this.hasEarlier = false;
  }

  setOutgoing(outgoing: Outgoing): void {
    this.#outgoing.set(outgoing.clientMsgId, outgoing);
  }

  findOutgoing(clientMsgId: string): Outgoing | undefined {
    return this.#outgoing.get(clientMsgId);
  }

  discard(clientMsgId: string): void {
    this.#outgoing.delete(clientMsgId);
  }

  /** Forgets the oldest messages beyond `count`; they can be loaded again. */
  keepNewest(count: number): void {
    const excess = this.#messages.length - count;
    if (excess <= 0) return;
    this.#messages.splice(0, excess);
    this.hasEarlier = true;
  }

  #advance(index: number): void {
    while (this.#messages[index]?.seq === this.#through + 1) {
      this.#through += 1;
      index += 1;
    }
  }
}
