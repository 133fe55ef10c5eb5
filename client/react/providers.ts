// The components and the hook that open rooms: ParleyProvider says which chat and as whom, RoomProvider and useRoom which room. Rooms
// are connected in effects only, so strict mode opens no second connection and servers open none.
import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useMemo,
  useState,
  type FunctionComponent,
  type ReactNode,
} from "react";

import { SharedRooms, WeakValues, type RoomHandle, type RoomOptions } from "../store/shared-rooms.ts";

export interface ParleyProviderProps extends RoomOptions {
  /** The chat's address, such as `https://chat.example`, or `https://example.com/chat` where it is mounted at a path. */
  readonly url: string;
  readonly children?: ReactNode;
}

export interface RoomProviderProps {
  /** The name of the room. */
  readonly room: string;
  readonly children?: ReactNode;
}

export const ChatContext = createContext<SharedRooms | undefined>(undefined);
const RoomContext = createContext<RoomHandle | undefined>(undefined);

/**
 * Gives the components in it a chat and a user. Each of its rooms has one connection, however many components use it. A new `url`,
 * or a new `token` that is a string, connects again; of a function the newest one is called. Give it a `key` where another user signs
 * in.
 */
export const ParleyProvider: FunctionComponent<ParleyProviderProps> = ({ children, url, ...options }) => {
  const rooms = useSharedRooms(url, options, ownRooms);
  return createElement(ChatContext.Provider, { value: rooms }, children);
};

/** Connects to a room of the chat while it is mounted, and gives it to the hooks in it. */
export const RoomProvider: FunctionComponent<RoomProviderProps> = ({ children, room }) =>
  createElement(RoomContext.Provider, { value: useRoom(room) }, children);

/** The room of the nearest `RoomProvider`. @throws Error where there is none */
export function useRoom(): RoomHandle;
/** A room of the chat of the nearest `ParleyProvider`, connected while the component is mounted. @throws Error where there is none */
export function useRoom(name: string): RoomHandle;
/**
 * A room without a provider, connected while the component is mounted. Components that name the same address, room and token (or any
 * function as token) share one connection.
 * @param url as in `ParleyProvider`
 */
export function useRoom(url: string, name: string, options?: RoomOptions): RoomHandle;
export function useRoom(urlOrName?: string, named?: string, options: RoomOptions = {}): RoomHandle {
  const given = useContext(ChatContext);
  const current = useContext(RoomContext);
  const url = named === undefined ? undefined : urlOrName;
  const name = named ?? urlOrName;
  const own = useSharedRooms(url ?? "", options, sharedRooms);
  const rooms = url === undefined ? given : own;
  if (name !== undefined && !rooms)
    throw new Error(
      `useRoom("${name}") needs a <ParleyProvider> around it, or the chat's address: useRoom(url, name).`,
    );
  const room = useMemo(() => (name === undefined ? undefined : rooms!.get(name)), [rooms, name]);
  useEffect(() => room?.hold(), [room]);
  return room ?? roomFrom(current, "useRoom()");
}

/** The room that a hook was given, or the one around it. */
export function useGivenRoom(room: RoomHandle | undefined, hook: string): RoomHandle {
  const current = useContext(RoomContext);
  return room ?? roomFrom(current, hook);
}

function roomFrom(current: RoomHandle | undefined, hook: string): RoomHandle {
  if (current) return current;
  throw new Error(`${hook} needs a room: put a <RoomProvider> around it, or pass what useRoom returned.`);
}

/** Rooms of the same address and user, for as long as the component is there. */
function useSharedRooms(
  url: string,
  options: RoomOptions,
  roomsOf: (url: string, user: string, options: RoomOptions) => SharedRooms,
): SharedRooms {
  const { token } = options;
  // One function is as good as another, because most components make one at each render.
  const user = typeof token === "string" ? `token ${token}` : typeof token;
  const make = () => ({ url, user, rooms: roomsOf(url, user, options) });
  // No memo, which React may forget.
  const [kept, keep] = useState(make);
  const isSame = kept.url === url && kept.user === user;
  const { rooms } = isSame ? kept : make();
  if (!isSame) keep({ url, user, rooms });
  useEffect(() => {
    rooms.options = options;
  });
  return rooms;
}

const everywhere = new WeakValues<SharedRooms>();

const sharedRooms = (url: string, user: string, options: RoomOptions): SharedRooms =>
  everywhere.get(`${url} ${user}`, () => new SharedRooms(url, options));

const ownRooms = (url: string, _user: string, options: RoomOptions): SharedRooms => new SharedRooms(url, options);
