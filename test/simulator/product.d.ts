// The objects of the product, which the bundle takes from durable/: their own types belong to another platform.
declare module "product:objects" {
  import type { Message } from "../../src/protocol/chat-events.ts";
  import type { ObjectClass } from "../kit/simulator/object-host.ts";

  export const ChatRoom: ObjectClass;
  /** A room with rules of its own: those of `env.RULES`. */
  export const RuledRoom: ObjectClass;
  export const Lobby: ObjectClass;
  export const DeadLetters: ObjectClass;
  /** The consumer of the relay's queue. */
  export const deliverRelay: (batch: unknown, env: unknown) => Promise<void>;
  /** Reads a room's log. */
  export const SqlMessageLog: new (
    storage: unknown,
    options: object,
  ) => {
    ascending(after: number): Iterable<Message>;
    find(seq: number): { readonly posted: Message } | undefined;
  };
}
