// The hooks for rooms with custom features, whose events and fields of `welcome` the compiler then knows. Applications call it.
import type { HeardEvents } from "../core/api.ts";
import type { FeatureEvents } from "../core/feature-events.ts";
import type { RoomHandle, RoomOptions } from "../store/shared-rooms.ts";
import type { RoomState } from "../store/state.ts";
import { useRoomEvent } from "./hooks.ts";
import { useRoom } from "./providers.ts";
import { useRoomState } from "./use-part.ts";

export interface OwnHooks<Own extends FeatureEvents> {
  readonly useRoom: {
    (): RoomHandle<Own>;
    (name: string): RoomHandle<Own>;
    (url: string, name: string, options?: RoomOptions): RoomHandle<Own>;
  };
  readonly useRoomEvent: <Event extends keyof HeardEvents<Own>>(
    event: Event,
    listener: HeardEvents<Own>[Event],
    room?: RoomHandle<Own>,
  ) => void;
  readonly useRoomState: <Part>(
    select: (state: RoomState<Own>) => Part,
    options?: { readonly room?: RoomHandle<Own>; readonly isEqual?: (one: Part, other: Part) => boolean },
  ) => Part;
}

/** `const { useRoomEvent } = hooksFor<EventsOf<Pins>>()`: the same hooks, with the types of a room that has pins. */
export const hooksFor = <Own extends FeatureEvents>(): OwnHooks<Own> =>
  ({ useRoom, useRoomEvent, useRoomState }) as unknown as OwnHooks<Own>;
