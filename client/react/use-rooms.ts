// The hooks for the list of a user's rooms, and for a search over them. A file of its own: applications without such a list do not bundle what
// follows it.
import { useCallback, useContext, useEffect, useMemo, useSyncExternalStore } from "react";

import { systemClock } from "../core/clock.ts";
import { followRooms, type OwnRooms } from "../core/own-rooms.ts";
import { createRoomsSearch, type RoomsSearch, type RoomsSearchState } from "../store/rooms-search.ts";
import { Shared } from "../store/shared.ts";
import type { SharedRooms } from "../store/shared-rooms.ts";
import { ChatContext } from "./providers.ts";

type Rooms = ReturnType<OwnRooms["getSnapshot"]>;

export interface RoomsState {
  /** The rooms in which the user has been, with what is new in each, the newest message first. `undefined` until the server has answered. */
  readonly rooms: Rooms;
  /** Messages that mention the user, in these rooms. */
  readonly mentions: OwnRooms["mentions"];
}

/** Of the chat of the nearest `ParleyProvider`, however many components use it. @throws Error where there is none */
export function useRooms(): RoomsState {
  const own = useOwn("useRooms");
  const rooms = useSyncExternalStore(own.subscribe, own.getSnapshot, () => undefined);
  const mentions = useCallback<RoomsState["mentions"]>((query) => own.opened.mentions(query), [own]);
  return useMemo(() => ({ rooms, mentions }), [rooms, mentions]);
}

export interface RoomsSearchHook
  extends RoomsSearchState, Pick<RoomsSearch, "search" | "more" | "moreIn" | "retry" | "stop"> {}

/** A search of this component over the rooms of `useRooms`; it stops with the component. @throws Error without a `ParleyProvider` */
export function useRoomsSearch(): RoomsSearchHook {
  const own = useOwn("useRoomsSearch");
  const search = useMemo(
    () => createRoomsSearch({ getSnapshot: own.getSnapshot, search: (query) => own.opened.search(query) }),
    [own],
  );
  useEffect(() => () => search.stop(), [search]);
  const state = useSyncExternalStore(search.subscribe, search.getSnapshot, search.getSnapshot);
  const actions = useMemo(
    (): Omit<RoomsSearchHook, keyof RoomsSearchState> => ({
      search: (sought) => search.search(sought),
      more: () => search.more(),
      moreIn: (room) => search.moreIn(room),
      retry: () => search.retry(),
      stop: () => search.stop(),
    }),
    [search],
  );
  return useMemo(() => ({ ...state, ...actions }), [state, actions]);
}

function useOwn(hook: string): Shared<Rooms, OwnRooms> {
  const chat = useContext(ChatContext);
  if (!chat) throw new Error(`${hook}() needs a <ParleyProvider> around it.`);
  const own = ownOf(chat);
  useEffect(() => own.hold(), [own]);
  return own;
}

const followed = new WeakMap<SharedRooms, Shared<Rooms, OwnRooms>>();

function ownOf(chat: SharedRooms): Shared<Rooms, OwnRooms> {
  const known = followed.get(chat);
  if (known) return known;
  const { clock = systemClock } = chat.options;
  const open = (): OwnRooms => followRooms(chat.url, chat.token === undefined ? {} : { token: chat.token });
  const own = new Shared<Rooms, OwnRooms>(open, undefined, clock);
  followed.set(chat, own);
  return own;
}
