// Draws the list of rooms at the side: the current one, visited ones with their unread counts, and others that the lobby lists. The
// app draws it.
import { useRef, useState } from "preact/hooks";

import { bare } from "../state/names.ts";
import type { RoomItem } from "../state/room-items.ts";
import type { ChatStore } from "../state/chat-store.ts";
import { countText } from "../state/news.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { IconButton, SearchField } from "./controls.tsx";
import { Icon } from "./icons.tsx";

export function RoomList({ store, view }: ChatProps) {
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const shown = useRef<readonly string[]>([]);
  const { directory } = store;
  const { user, name, role } = store.reader;
  if (!directory) return null;
  const held = list.current?.matches(":hover, :focus-within") ? shown.current : [];
  const items = store.roomItems({ filter, held });
  shown.current = items.map(({ room }) => room);
  return (
    <nav class="rooms" aria-label="Rooms" data-testid="rooms">
      <header class="bar">
        <img src="favicon.svg" alt="" width="24" height="24" />
        <h2>Parley</h2>
        <span class="spring" />
        <IconButton
          icon="at"
          label="Mentions"
          testId="mentions-toggle"
          pressed={store.panel === "mentions"}
          onClick={() => store.open("mentions")}
        />
        <IconButton
          icon="plus"
          label="New room"
          testId="new-room"
          onClick={() => store.set({ dialog: { kind: "new-room" } })}
        />
        <IconButton
          icon="close"
          label="Close the list of rooms"
          class="phone-only"
          onClick={() => store.open("rooms")}
        />
      </header>
      {/* Shown for few rooms, too: otherwise its appearance would move the list. */}
      <SearchField label="Find a room" testId="room-filter" value={filter} onText={setFilter} />
      <ul ref={list}>
        {items.map((item) => (
          <li key={item.room}>
            <RoomButton store={store} item={item} isCurrent={item.room === view.room} />
          </li>
        ))}
      </ul>
      {items.length === 0 && <p class="muted none">No room of that name. Create it with +.</p>}
      {directory.isListable === false && <p class="muted none">Only rooms you have been in are listed here.</p>}
      <footer>
        <Avatar user={user} name={name} small />
        <bdi class="me">{bare(name)}</bdi>
        {role !== "member" && <span class="role">{role}</span>}
      </footer>
    </nav>
  );
}

interface RoomButtonProps {
  readonly store: ChatStore;
  readonly item: RoomItem;
  readonly isCurrent: boolean;
}

function RoomButton({ store, item, isCurrent }: RoomButtonProps) {
  const { room, members, unread, mentions, isMuted, direct, tag } = item;
  return (
    <button
      type="button"
      class={`room ${unread > 0 ? "has-unread" : ""} ${isMuted ? "is-muted" : ""}`}
      aria-current={isCurrent ? "page" : undefined}
      data-testid="room-item"
      data-room={room}
      onClick={() => (isCurrent ? store.open(undefined) : store.enter(room))}
    >
      {direct ? (
        <Avatar user={direct.user} name={direct.name} small />
      ) : (
        <span class="hash" aria-hidden="true">
          #
        </span>
      )}
      <bdi class="room-name">
        {direct ? bare(direct.name) : room}
        {tag !== undefined && <span class="tag"> {tag}</span>}
      </bdi>
      {isMuted && <Icon name="muted" />}
      {isMuted && <span class="unseen"> muted </span>}
      {unread > 0 ? (
        <span class={`badge ${mentions > 0 ? "to-me" : ""}`} data-testid="unread">
          {countText(unread)}
          <span class="unseen">
            {" "}
            {unread === 1 ? "new message" : "new messages"}
            {mentions > 0 && !direct && `, ${countText(mentions)} to you`}
          </span>
        </span>
      ) : (
        !direct &&
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
