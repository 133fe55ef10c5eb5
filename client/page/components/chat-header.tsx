// The room's name, who is there, and the ways to what lies beside the messages.
import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { Icon, IconButton } from "./icons.tsx";
import { themeItems } from "./theme.ts";

export function ChatHeader({ session, view }: { readonly session: Session; readonly view: RoomView }) {
  const { count } = view.presence.roster;
  const { slowModeSeconds, readOnly } = view.modes;
  const hints = [slowModeSeconds > 0 && `slow mode ${slowModeSeconds} s`, readOnly && "read-only"].filter(Boolean);
  return (
    <header class="bar">
      {!session.isEmbedded && (
        <IconButton
          icon="menu"
          label="Rooms"
          class="rooms-toggle"
          testId="rooms-toggle"
          pressed={session.panel === "rooms"}
          onClick={() => session.open("rooms")}
        />
      )}
      <h1 class="room-title" data-testid="room-title">
        <span aria-hidden="true">#</span>
        <bdi>{view.room}</bdi>
      </h1>
      {hints.length > 0 && <span class="modes">{hints.join(", ")}</span>}
      <span class="spring" />
      <IconButton
        icon="search"
        label="Search"
        testId="search-toggle"
        pressed={session.panel === "search"}
        onClick={() => session.open("search")}
      />
      <button
        type="button"
        class="icon-button members-toggle"
        aria-label={`${count} ${count === 1 ? "member" : "members"}`}
        title="Members"
        aria-pressed={session.panel === "members"}
        onClick={() => session.open("members")}
      >
        <Icon name="people" />
        <span data-testid="member-count">{count}</span>
      </button>
      <IconButton
        icon="more"
        label="Menu"
        testId="room-menu"
        onClick={({ currentTarget }) => openMenu(session, view, currentTarget)}
      />
    </header>
  );
}

function openMenu(session: Session, view: RoomView, anchor: Element): void {
  const items = [
    ...(view.isModerator
      ? [{ label: "Moderate this room…", act: () => session.set({ dialog: { kind: "room" as const } }) }]
      : []),
    ...themeItems(anchor),
    { label: "Keyboard shortcuts…", act: () => session.set({ dialog: { kind: "shortcuts" as const } }) },
    ...(session.isEmbedded
      ? []
      : [
          { label: "Leave the room", act: () => session.forget() },
          { label: "Sign out", act: () => session.signOut() },
        ]),
  ];
  session.set({ menu: { anchor, items } });
}
