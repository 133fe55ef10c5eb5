// The types of product/objects.ts, as far as the simulator uses it.
declare module "product:objects" {
  import type { Message } from "../../src/protocol/chat-events.ts";
  import type { ObjectClass } from "../kit/simulation.ts";

  export const ChatRoom: ObjectClass;
  export function internalsOf(object: object): { readonly parts: unknown };
  /** A room with pins and reports, where `env.FEATURES` is `on`. */
  export const FeaturedRoom: ObjectClass;
  export const RoomShard: ObjectClass;
  /** A room with rules of its own: those of `env.RULES`. */
  export const RuledRoom: ObjectClass;
  export const Lobby: ObjectClass;
  export const DeadLetters: ObjectClass;
  export function createParley(options: object): {
    readonly fetch: (request: Request, env: object, ctx: object) => Promise<Response>;
    readonly queue: (batch: object, env: object) => Promise<void>;
  };
  /** Reads a room's log. */
  export const SqlMessageLog: new (
    storage: unknown,
    options: object,
  ) => {
    readonly lastSeq: number;
    ascending(after: number): Iterable<Message>;
    find(seq: number): { readonly posted: Message } | undefined;
  };
}
