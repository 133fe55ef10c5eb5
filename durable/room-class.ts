// Makes the class of a deployment's rooms, with its features. Called by createParley (src/entries).
import type { BindingNames } from "../src/rpc/bindings.ts";
import { askRoom } from "../src/objects/asking.ts";
import { ChatRoom } from "./chat-room.ts";
import type { ChatParts } from "../src/objects/create-chat.ts";
import type { InObject, RoomCall } from "../src/objects/feature.ts";
import { internalsOf, type Internals } from "../src/socketio/object/internals.ts";

/**
 * The class of rooms with these features. Each call by RPC of a feature is a method of it.
 * @param bindings as in createParley
 */
export function chatRoomWith(features: readonly InObject[], bindings: BindingNames = {}): typeof ChatRoom {
  class Room<Own> extends ChatRoom<Own> {
    static override readonly bindings = bindings;
    static override readonly made = { with: features, as: Room };
  }
  for (const { name, rpc = {} } of features)
    for (const [method, answer] of Object.entries(rpc)) {
      const value = async function (this: object, ...given: never[]): Promise<unknown> {
        return answer(callOf(internalsOf<ChatParts>(this), name), ...given);
      };
      Object.defineProperty(Room.prototype, method, { value, writable: true, configurable: true });
    }
  return Room;
}

function callOf(internals: Internals<ChatParts>, feature: string): RoomCall<never> {
  const part = (): never => internals.parts.chat.part(feature) as never;
  return {
    turn: (run, call) => internals.turn(() => run(part()), call),
    furtherTurn: (run) => internals.furtherTurn(() => run(part())),
    request: (call) => internals.activity.request("call", call),
    ask: (event, caller, given) => askRoom(internals, event, caller, given),
    report: (problem, error) => internals.report(problem, error),
  };
}
