// A page that counts how often each hook renders its component, and does what parts.test.ts says. That test bundles it and opens it.
import { Component, StrictMode, useEffect, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import {
  ParleyProvider,
  RoomProvider,
  useConnection,
  useMe,
  useMessages,
  useModeration,
  usePresence,
  useProblem,
  useReaders,
  useRoom,
  useRoomEvent,
  useRoomState,
  useRooms,
  useRoomsSearch,
  useSend,
  useThread,
  useTyping,
  useUnread,
  useUploads,
  type RoomHandle,
} from "parley-rooms/react";

interface Page {
  /** How often each component rendered. */
  readonly renders: Record<string, number>;
  readonly heard: string[];
  /** By its hook and name: how often a function was another one after a render. */
  readonly replaced: Record<string, number>;
  /** The rooms that components got, by a name that the test gave. */
  readonly rooms: Record<string, RoomHandle>;
  show(scene: keyof typeof SCENES, props?: SceneProps): void;
  hide(): void;
}

interface SceneProps {
  readonly room?: string;
  readonly token?: string;
  readonly thread?: string;
}

const renders: Page["renders"] = {};
const heard: string[] = [];
const replaced: Page["replaced"] = {};
const rooms: Page["rooms"] = {};

function Counted({ name, value }: { readonly name: string; readonly value: unknown }) {
  renders[name] = (renders[name] ?? 0) + 1;
  return <p id={name}>{JSON.stringify(value)}</p>;
}

/** One component for each hook. */
const Connection = () => <Counted name="connection" value={useConnection().state} />;
const Me = () => <Counted name="me" value={useMe().user} />;
const Messages = () => <Counted name="messages" value={useMessages().messages.map(({ content }) => content)} />;
const Presence = () => <Counted name="presence" value={usePresence().count} />;
const Readers = () => <Counted name="readers" value={Array.from(useReaders())} />;
const Typing = () => <Counted name="typing" value={useTyping().typists.map(({ user }) => user)} />;
const Unread = () => <Counted name="unread" value={useUnread().count} />;
const Rooms = ({ name }: { readonly name: string }) => (
  <Counted name={name} value={useRooms().rooms?.map(({ room, unread, mentions }) => `${room} ${unread} ${mentions}`)} />
);
const functions = new Map<string, unknown>();
/** Notes the functions that a hook returned. */
function useNoted(hook: string, returned: object): void {
  useEffect(() => {
    for (const [member, value] of Object.entries(returned)) {
      if (typeof value !== "function") continue;
      const name = `${hook} ${member}`;
      replaced[name] ??= 0;
      if (functions.has(name) && functions.get(name) !== value) replaced[name]++;
      functions.set(name, value);
    }
  });
}

const Functions = ({ thread }: { readonly thread: string }) => {
  const used = useThread(thread);
  useNoted("useMessages", useMessages());
  useNoted("useModeration", useModeration());
  useNoted("usePresence", usePresence());
  useNoted("useProblem", useProblem());
  useNoted("useSend", useSend());
  useNoted("useThread", used);
  useNoted("useTyping", useTyping());
  useNoted("useUnread", useUnread());
  useNoted("useUploads", useUploads());
  return <Counted name="thread" value={used.replies.map(({ content }) => content)} />;
};

const RoomsFunctions = () => {
  const rooms = useRooms();
  useNoted("useRooms", rooms);
  useNoted("useRoomsSearch", useRoomsSearch());
  return <Counted name="list" value={rooms.rooms?.map(({ room, unread }) => `${room} ${unread}`)} />;
};

/** A part that is made each time, and compared. */
const Roles = () => {
  const roles = useRoomState(({ presence }) => presence.members.map(({ role }) => role ?? "member"), {
    isEqual: (one, other) => one.join() === other.join(),
  });
  return <Counted name="roles" value={roles} />;
};

function Listener({ word }: { readonly word: string }) {
  useRoomEvent("chat-message", ({ content }) => heard.push(`${word} ${content}`));
  return null;
}

function Held({ name }: { readonly name: string }) {
  rooms[name] = useRoom();
  return null;
}

function Alone({ name, room, token }: { readonly name: string; readonly room: string; readonly token: string }) {
  const handle = useRoom(location.origin, room, { token, storage: null });
  return <Counted name={name} value={useConnection(handle).state} />;
}

const Parts = () => (
  <>
    <Connection />
    <Me />
    <Messages />
    <Presence />
    <Readers />
    <Roles />
    <Typing />
    <Unread />
    <Held name="first" />
  </>
);

const SCENES = {
  /** All hooks on one room, twice. */
  all: ({ room = "", token = "" }: SceneProps) => (
    <ParleyProvider url={location.origin} token={token} storage={null}>
      <RoomProvider room={room}>
        <Parts />
      </RoomProvider>
      <RoomProvider room={room}>
        <Held name="second" />
        <Listener word={room} />
      </RoomProvider>
    </ParleyProvider>
  ),
  /** Without a provider. */
  alone: ({ room = "", token = "" }: SceneProps) => (
    <>
      <Alone name="one" room={room} token={token} />
      <Alone name="two" room={room} token={token} />
    </>
  ),
  /** All hooks that return functions, besides. */
  functions: ({ room = "", token = "", thread = "" }: SceneProps) => (
    <ParleyProvider url={location.origin} token={token} storage={null}>
      <RoomProvider room={room}>
        <Parts />
        <Functions thread={thread} />
      </RoomProvider>
      <RoomsFunctions />
    </ParleyProvider>
  ),
  /** The list of rooms, twice, without a room. */
  list: ({ token = "" }: SceneProps) => (
    <ParleyProvider url={location.origin} token={token}>
      <Rooms name="list" />
      <Rooms name="list-again" />
    </ParleyProvider>
  ),
  /** A hook without a room. */
  lost: () => <Messages />,
  /** A room without a chat. */
  homeless: () => (
    <RoomProvider room="nowhere">
      <p />
    </RoomProvider>
  ),
};

class Boundary extends Component<{ readonly children: ReactNode }, { readonly message?: string }> {
  override state: { readonly message?: string } = {};
  static getDerivedStateFromError({ message }: Error) {
    return { message };
  }
  override render() {
    return this.state.message === undefined ? this.props.children : <p id="error">{this.state.message}</p>;
  }
}

let root: Root | undefined;
const page: Page = {
  renders,
  heard,
  replaced,
  rooms,
  show: (scene, props = {}) => {
    root ??= createRoot(document.body.appendChild(document.createElement("div")));
    const Scene = SCENES[scene];
    root.render(
      <StrictMode>
        <Boundary key={scene}>
          <Scene {...props} />
        </Boundary>
      </StrictMode>,
    );
  },
  hide: () => {
    root?.unmount();
    root = undefined;
  },
};
Object.assign(window, { page });
