// The whole page: the join form, or a room with what stands beside it.
import { useEffect, useRef, useState } from "preact/hooks";

import type { Session } from "../state/session.ts";
import type { Visit } from "../state/visit.ts";
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
  const { visit } = session;
  if (!visit) return session.isEmbedded ? null : <JoinForm session={session} room={room} />;
  return <Chat session={session} visit={visit} />;
}

function Chat({ session, visit }: { readonly session: Session; readonly visit: Visit }) {
  const { panel, isEmbedded, ui } = session;
  const later = useLater(panel ?? ui.menu?.anchor ?? ui.reacting?.anchor ?? ui.dialog?.kind ?? visit.uploads.list[0]);
  const chat = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const listen = (event: Event): void => onShortcut(event as KeyboardEvent, session);
    // In somebody's page the keys are theirs, unless the focus is in the chat.
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
      {!isEmbedded && <RoomList session={session} visit={visit} />}
      <main class="talk" aria-label={`Room ${visit.room}`}>
        <ChatHeader session={session} visit={visit} />
        <div class="lines">
          <StatusLine session={session} visit={visit} />
          <NoticeLine visit={visit} />
        </div>
        <MessageList key={`list ${visit.room}`} session={session} visit={visit} />
        {later && <later.MenuPopover session={session} />}
        {later && <later.ReactionPicker session={session} visit={visit} />}
        <Composer key={`composer ${visit.room}`} session={session} visit={visit}>
          {later && <later.UploadList visit={visit} />}
        </Composer>
      </main>
      <DropZone visit={visit} within={isEmbedded ? chat : undefined} />
      {later && panel === "members" && <later.MemberList session={session} visit={visit} />}
      {later && panel === "search" && <later.SearchPanel key={visit.room} session={session} visit={visit} />}
      {later && <later.Dialogs session={session} visit={visit} />}
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
