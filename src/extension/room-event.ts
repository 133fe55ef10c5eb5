// An event that clients send to a custom feature: its callers, its payload and its work. Features list theirs in
// `events`; the room runs them as its own (src/chat/custom).
import type { StandardSchemaV1 } from "@standard-schema/spec";

import type { Callers, ErrorAnswer } from "../protocol/chat-events.ts";
import type { FeatureCaller } from "./feature-room.ts";

export type { Callers };

/** The fields of a good answer, or nothing where it says only `ok`; `refuse(…)` for a bad one. */
type Given<Good extends object> = Good | ErrorAnswer | undefined | void;

/** @typeParam Schema of the payload; @typeParam Good the fields of a good answer */
export interface RoomEvent<
  Schema extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
  Good extends object = object,
> {
  /** Checks the payload, synchronously; zod's schemas are of this standard. Without it the event takes nothing, or any object. */
  readonly schema?: Schema;
  /** Default: `speakers`. */
  readonly by?: Callers;
  /** Tokens of the user's request bucket (200, 50 more each second), 1 to 200. Default: 1. */
  readonly cost?: number | ((payload: PayloadOf<Schema>) => number);
  /**
   * Carries the event out. After an await the world may have changed: look again at what you checked. An error thrown here is logged and
   * answered with `INTERNAL`, as is an answer that takes longer than 30 seconds.
   */
  readonly run: (payload: PayloadOf<Schema>, caller: FeatureCaller) => Given<Good> | Promise<Given<Good>>;
}

export type PayloadOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : undefined;

/** Gives `run` and `cost` the type of the payload, and the client that of the answer. */
export function roomEvent<Schema extends StandardSchemaV1 | undefined = undefined, Good extends object = object>(
  event: RoomEvent<Schema, Good>,
): RoomEvent<Schema, Good> {
  return event;
}
