// The whole page: the join form, or a room with its list of rooms, side panel and dialogs. page.tsx and embed.tsx draw it.
import { useEffect, useRef, useState } from "preact/hooks";

import { saidNow, type ChatStore } from "../state/chat-store.ts";
import type { ChatProps, Later } from "./chat-props.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { DropZone } from "./drop-zone.tsx";
import { JoinForm } from "./join-form.tsx";
import { MessageList } from "./message-list.tsx";
import { RoomList } from "./room-list.tsx";
import { NoticeLine, StatusLine } from "./status-line.tsx";

interface AppProps {
  readonly store: ChatStore;
  /** The room that the address names. */
  readonly room?: string | undefined;
}

export function App({ store, room }: AppProps) {
  const { view } = store;
  if (!view) return store.isEmbedded ? null : <JoinForm store={store} room={room} />;
  return <Chat store={store} view={view} />;
}

function Chat({ store, view }: ChatProps) {
  const { panel, isEmbedded, ui } = store;
  const later = useLater(panel ?? ui.menu?.anchor ?? ui.reacting?.anchor ?? ui.dialog?.kind ?? view.state.uploads[0]);
  const chat = useRef<HTMLDivElement>(null);
  const keys = useRef<Later>(undefined);
  keys.current = later;
  useEffect(() => {
    const listen = (event: Event): void => keys.current?.onShortcut(event as KeyboardEvent, store);
    // The embedding page owns the keys unless the focus is in the chat.
    const target = isEmbedded ? chat.current! : window;
    target.addEventListener("keydown", listen);
    return () => target.removeEventListener("keydown", listen);
  }, []);
  return (
    <div
      ref={chat}
      class={`chat ${panel === undefined ? "" : `with-${panel}`} ${isEmbedded ? "embedded" : ""}`}
      data-testid="chat"
    >
      {!isEmbedded && <RoomList store={store} view={view} />}
      <main class="talk" aria-label={view.kind === "room" ? `Room ${view.room}` : `Conversation with ${store.title}`}>
        <ChatHeader store={store} view={view} />
        <div class="lines">
          <StatusLine store={store} view={view} />
          <NoticeLine view={view} />
        </div>
        {later && <later.ReportsBar store={store} view={view} />}
        {later && <later.PinnedBar store={store} view={view} />}
        <MessageList key={`list ${view.room}`} {...{ store, view, later }} />
        {later && <later.MenuPopover store={store} view={view} />}
        {later && <later.ReactionPicker store={store} view={view} />}
        <Composer key={`composer ${view.room}`} {...{ store, view, later }} />
      </main>
      <DropZone view={view} within={isEmbedded ? chat : undefined} />
      {later && panel === "members" && <later.MemberList store={store} view={view} />}
      {later && panel === "search" && <later.SearchPanel key={view.room} store={store} view={view} />}
      {later && <later.PageAttention view={view} />}
      {later && <later.Dialogs store={store} view={view} />}
      <div class="unseen" role="log" aria-live="polite" aria-label="New messages">
        {store.announcements.map(({ id, text }) => (
          <p key={id}>{saidNow(text)}</p>
        ))}
      </div>
    </div>
  );
}

/** @param wanted changes each time the reader opens something: parts that could not be loaded are tried again */
function useLater(wanted: unknown): Later | undefined {
  const [later, setLater] = useState<Later>();
  useEffect(() => {
    if (later) return;
    // While offline, which the status line shows, nothing opens.
    import("./later.tsx").then(setLater, () => {});
  }, [wanted]);
  return later;
}
