// The whole page: the join form, or a room with what stands beside it.
import { useEffect, useRef, useState } from "preact/hooks";

import type { Session } from "../state/session.ts";
import type { RoomView } from "../state/room-view.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { DropZone } from "./drop-zone.tsx";
import { JoinForm } from "./join-form.tsx";
import { MessageList } from "./message-list.tsx";
import { RoomList } from "./room-list.tsx";
import { onShortcut } from "./shortcuts.ts";
import { NoticeLine, StatusLine } from "./status-line.tsx";

interface AppProps {
  readonly session: Session;
  /** The room that the address names. */
  readonly room?: string | undefined;
}

export function App({ session, room }: AppProps) {
  const { view } = session;
  if (!view) return session.isEmbedded ? null : <JoinForm session={session} room={room} />;
  return <Chat session={session} view={view} />;
}

function Chat({ session, view }: { readonly session: Session; readonly view: RoomView }) {
  const { panel, isEmbedded, ui } = session;
  const later = useLater(panel ?? ui.menu?.anchor ?? ui.reacting?.anchor ?? ui.dialog?.kind ?? view.uploads.list[0]);
  const chat = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const listen = (event: Event): void => onShortcut(event as KeyboardEvent, session);
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
      {!isEmbedded && <RoomList session={session} view={view} />}
      <main class="talk" aria-label={`Room ${view.room}`}>
        <ChatHeader session={session} view={view} />
        <div class="lines">
          <StatusLine session={session} view={view} />
          <NoticeLine view={view} />
        </div>
        <MessageList key={`list ${view.room}`} session={session} view={view} />
        {later && <later.MenuPopover session={session} />}
        {later && <later.ReactionPicker session={session} view={view} />}
        <Composer key={`composer ${view.room}`} session={session} view={view}>
          {later && <later.UploadList view={view} />}
        </Composer>
      </main>
      <DropZone view={view} within={isEmbedded ? chat : undefined} />
      {later && panel === "members" && <later.MemberList session={session} view={view} />}
      {later && panel === "search" && <later.SearchPanel key={view.room} session={session} view={view} />}
      {later && <later.Dialogs session={session} view={view} />}
      <div class="unseen" role="log" aria-live="polite" aria-label="New messages">
        {session.announcements.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </div>
  );
}

type Later = typeof import("./later.tsx");

/** @param wanted another one each time the reader asks for something: what could not be loaded is tried again */
function useLater(wanted: unknown): Later | undefined {
  const [later, setLater] = useState<Later>();
  useEffect(() => {
    if (later) return;
    // Offline, which the status line shows.
    import("./later.tsx").then(setLater, () => {});
  }, [wanted]);
  return later;
}
