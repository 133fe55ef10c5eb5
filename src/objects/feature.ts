// The part of a feature in the object of a room: its part of the chat, made with what the object has, and its calls by RPC. Declared by
// features (src/features), and handed to room-class.ts.
import type { ChatBase } from "../chat/parts.ts";
import type { RoomPart } from "../chat/room/room-part.ts";
import type { Room } from "../chat/room/room.ts";
import type { Feature } from "../extension/extension.ts";
import type { Answer } from "../protocol/chat-events.ts";
import type { OutsideCaller } from "../rpc/room.ts";
import type { Settings } from "../settings/settings.ts";
import type { Env } from "./env.ts";

/** What the object of a room gives its features. */
export interface RoomHost {
  readonly env: Env;
  readonly settings: Settings;
  readonly storage: DurableObjectStorage;
}

/** One call by RPC, as a feature answers it. */
export interface RoomCall<Part> {
  /**
   * Runs the call as a turn, with the feature's part of the room.
   * @param call its name in the metrics, as a cause of waking
   */
  readonly turn: <Result>(run: (part: Part) => Result, call: string) => Result;
  /** The same for a later step of a call, which is no further request. */
  readonly furtherTurn: <Result>(run: (part: Part) => Result) => Result;
  /** Counts a call that runs as several further turns, each by `furtherTurn`. */
  readonly request: (call: string) => void;
  /** Sends the room an event of the chat in a further turn. */
  readonly ask: (event: string, caller: OutsideCaller, given: unknown) => Promise<Answer<object>>;
  readonly report: (problem: string, error: unknown) => void;
}

/** Calls by RPC under the names that objects of other releases call. */
export type RpcOf<Rpc, Part> = {
  readonly [Name in keyof Rpc]: Rpc[Name] extends (...given: infer Given) => infer Answer
    ? (call: RoomCall<Part>, ...given: Given) => Answer
    : never;
};

export interface InObject extends Feature {
  /** @returns its part of the room, if it has one there */
  readonly roomPart?: (room: Room, chat: ChatBase, host: RoomHost) => RoomPart | undefined;
  /** `RpcOf` its interface. */
  readonly rpc?: Readonly<Record<string, (call: RoomCall<never>, ...given: never[]) => unknown>>;
}
