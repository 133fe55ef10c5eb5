// The hook that finds members by name in a large room. The list of members and the completion of mentions call it.
import { useEffect, useState } from "preact/hooks";
import type { Person } from "parley-rooms/client";

import type { RoomView } from "../state/room-view.ts";

/** The pause in typing after which a large room is asked for members. */
const FIND_PAUSE_MS = 250;

/** Members by a part of their name, from a room that has not listed all of them; `undefined` where the list itself is enough. */
export function useFound({ store, state }: RoomView, name: string): readonly Person[] | undefined {
  const [found, setFound] = useState<readonly Person[]>();
  const isAsked = name !== "" && state.welcome !== undefined && !state.presence.isComplete;
  useEffect(() => {
    if (!isAsked) return setFound(undefined);
    let isOver = false;
    const ask = (): void =>
      void store.findMembers(name).then((found) => isOver || setFound("ok" in found ? found.members : undefined));
    const timer = setTimeout(ask, FIND_PAUSE_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [store, name, isAsked]);
  return isAsked ? found : undefined;
}
