// The rooms at the side: where the reader is, where they have been and what is new there, and others the lobby lists.
import { useRef, useState } from "preact/hooks";

import { roomItems, type RoomItem } from "../state/room-list.ts";
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { Avatar } from "./avatar.tsx";
import { Icon, IconButton } from "./icons.tsx";

export function RoomList({ session, view }: { readonly session: Session; readonly view: RoomView }) {
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const shown = useRef<readonly string[]>([]);
  const { directory } = session;
  if (!directory) return null;
  const held = list.current?.matches(":hover, :focus-within") ? shown.current : [];
  const known = { listed: directory.listed, seen: directory.seen, current: view.room, held };
  const items = roomItems({ ...known, filter }).map((item) =>
    // The connected room's own count is fresher than the lobby's.
    item.room === view.room ? { ...item, members: view.presence.roster.count } : item,
  );
  shown.current = items.map(({ room }) => room);
  return (
    <nav class="rooms" aria-label="Rooms" data-testid="rooms">
      <header class="bar">
        <img src="/favicon.svg" alt="" width="24" height="24" />
        <h2>Parley</h2>
        <span class="spring" />
        <IconButton
          icon="plus"
          label="New room"
          testId="new-room"
          onClick={() => session.set({ dialog: { kind: "new-room" } })}
        />
        <IconButton
          icon="close"
          label="Close the list of rooms"
          class="phone-only"
          onClick={() => session.open("rooms")}
        />
      </header>
      {/* However few rooms there are: when more become known, it moves none of them. */}
      <input
        class="filter"
        type="search"
        placeholder="Find a room"
        aria-label="Find a room"
        data-testid="room-filter"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <ul ref={list}>
        {items.map((item) => (
          <li key={item.room}>
            <RoomButton session={session} item={item} isCurrent={item.room === view.room} />
          </li>
        ))}
      </ul>
      {items.length === 0 && <p class="muted none">No room of that name. Create it with +.</p>}
      {directory.isListable === false && <p class="muted none">Only rooms you have been in are listed here.</p>}
      <footer>
        <Avatar user={view.self} name={view.welcome?.name ?? "?"} small />
        <bdi class="me">{view.welcome?.name ?? ""}</bdi>
        {view.role !== "member" && <span class="role">{view.role}</span>}
      </footer>
    </nav>
  );
}

function RoomButton({
  session,
  item,
  isCurrent,
}: {
  readonly session: Session;
  readonly item: RoomItem;
  readonly isCurrent: boolean;
}) {
  const { room, members, unread } = item;
  return (
    <button
      type="button"
      class={`room ${unread > 0 ? "has-unread" : ""}`}
      aria-current={isCurrent ? "page" : undefined}
      data-testid="room-item"
      data-room={room}
      onClick={() => (isCurrent ? session.open(undefined) : session.enter(room))}
    >
      <span class="hash" aria-hidden="true">
        #
      </span>
      <bdi class="room-name">{room}</bdi>
      {unread > 0 ? (
        <span class="badge" data-testid="unread">
          {unread > 99 ? "99+" : unread}
          <span class="unseen"> new messages</span>
        </span>
      ) : (
        members !== undefined &&
        members > 0 && (
          <span class="present" title={`${members} here now`}>
            <Icon name="people" /> {members}
            <span class="unseen"> here now</span>
          </span>
        )
      )}
    </button>
  );
}
