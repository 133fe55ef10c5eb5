// Watches a part of a room's state. hooks.ts calls it, and applications by the name useRoomState.
import { useRef, useSyncExternalStore } from "react";

import { INITIAL } from "../store/initial-state.ts";
import type { RoomHandle } from "../store/shared-rooms.ts";
import type { RoomState } from "../store/state.ts";
import { useGivenRoom } from "./providers.ts";

interface Selected<Part> {
  readonly state: RoomState;
  readonly select: (state: RoomState) => Part;
  readonly part: Part;
}

/**
 * @param isEqual compares values that `select` makes each time: the component renders again where they differ
 */
export function usePart<Part>(
  room: RoomHandle,
  select: (state: RoomState) => Part,
  isEqual: (one: Part, other: Part) => boolean = Object.is,
): Part {
  const last = useRef<Selected<Part>>(undefined);
  const read = (state: RoomState): Part => {
    const { current } = last;
    if (current?.state === state && current.select === select) return current.part;
    const made = select(state);
    const part = current && isEqual(current.part, made) ? current.part : made;
    last.current = { state, select, part };
    return part;
  };
  return useSyncExternalStore(
    room.subscribe,
    () => read(room.getSnapshot()),
    () => read(INITIAL),
  );
}

/**
 * Any part of the state of the room around, or of the given one. A function that makes a new object each time needs an `isEqual`.
 */
export function useRoomState<Part>(
  select: (state: RoomState) => Part,
  { room, isEqual }: { readonly room?: RoomHandle; readonly isEqual?: (one: Part, other: Part) => boolean } = {},
): Part {
  return usePart(useGivenRoom(room, "useRoomState"), select, isEqual);
}
