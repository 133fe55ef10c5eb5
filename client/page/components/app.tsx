// The whole page: the join form, or a room with its list of rooms, side panel and dialogs. page.tsx and embed.tsx draw it.
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { saidNow, type ChatStore } from "../state/chat-store.ts";
import { t } from "../state/language.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ChatProps } from "./chat-props.ts";
import { ChatHeader } from "./chat-header.tsx";
import { Composer } from "./composer.tsx";
import { DropZone } from "./drop-zone.tsx";
import { JoinForm } from "./join-form.tsx";
import { MessageList } from "./message-list.tsx";
import { RoomList } from "./room-list.tsx";
import { onDemand } from "./on-demand.tsx";
import { NoticeLine, StatusLine } from "./status-line.tsx";

const Bars = onDemand(async () => (await import("./bars.tsx")).Bars);

/** A reader who looks at another tab for a moment misses nothing. */
const OUT_OF_VIEW_MS = 20_000;

/** Parts whose code the page loads when they are opened; an embedded chat has them at once. */
export interface Parts {
  readonly dialogs: FunctionComponent<ChatProps>;
  /** The menu that is open. */
  readonly menu: FunctionComponent<ChatProps>;
  readonly members: FunctionComponent<ChatProps>;
  readonly search: FunctionComponent<ChatProps>;
  /** Picks an emoji. */
  readonly picker: FunctionComponent<ChatProps>;
  /** The list of messages that mention the reader; an embedded chat, of one room, has none. */
  readonly mentions?: FunctionComponent<ChatProps>;
  /** The list of the reader's threads, and one thread; an embedded chat has none. */
  readonly threads?: FunctionComponent<ChatProps>;
  readonly thread?: FunctionComponent<ChatProps>;
}

interface AppProps {
  readonly store: ChatStore;
  /** The room that the address names. */
  readonly room?: string | undefined;
  readonly parts: Parts;
}

export function App({ store, room, parts }: AppProps) {
  const { view } = store;
  if (!view) return store.isEmbedded ? null : <JoinForm store={store} room={room} />;
  return <Chat store={store} view={view} parts={parts} />;
}

function Chat({ store, view, parts }: ChatProps & Pick<AppProps, "parts">) {
  const { panel, isEmbedded } = store;
  const {
    members: MemberList,
    menu: Menu,
    search: SearchPanel,
    mentions: MentionList,
    threads: ThreadList,
    thread: ThreadPanel,
    dialogs: Dialogs,
    picker: Picker,
  } = parts;
  const chat = useRef<HTMLDivElement>(null);
  useSubscriptionLevel(view);
  useEffect(() => {
    const listen = (event: Event): void => onShortcut(event as KeyboardEvent, store);
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
      <main
        class="talk"
        aria-label={
          view.kind === "room"
            ? t("Room {room}", { room: store.label })
            : t("Conversation with {name}", { name: store.title })
        }
      >
        <ChatHeader store={store} view={view} />
        <div class="lines">
          <StatusLine store={store} view={view} />
          <NoticeLine view={view} />
        </div>
        {(view.pinned.shown ?? view.reported.oldest) && <Bars store={store} view={view} />}
        <MessageList key={`list ${view.room}`} store={store} view={view} />
        {store.ui.menu && !store.ui.menu.isSheet && <Menu store={store} view={view} />}
        {store.ui.picking && <Picker store={store} view={view} />}
        <Composer key={`composer ${view.room}`} store={store} view={view} composing={view.composing} />
      </main>
      <DropZone store={store} view={view} within={isEmbedded ? chat : undefined} />
      {panel === "members" && <MemberList store={store} view={view} />}
      {panel === "mentions" && MentionList && <MentionList store={store} view={view} />}
      {panel === "threads" && ThreadList && <ThreadList store={store} view={view} />}
      {panel === "thread" && ThreadPanel && <ThreadPanel key={store.thread} store={store} view={view} />}
      {panel === "search" && <SearchPanel store={store} view={view} />}
      {(store.ui.dialog ?? store.ui.menu?.isSheet) && <Dialogs store={store} view={view} />}
      <div class="unseen" role="log" aria-live="polite" aria-label={t("New messages")}>
        {store.announcements.map(({ id, text }) => (
          <p key={id}>{saidNow(text)}</p>
        ))}
      </div>
    </div>
  );
}

/** Asks a large room for counts in place of messages while the page is out of view (ATT-1). */
function useSubscriptionLevel(view: RoomView): void {
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setInterval> | undefined;
    const leave = (): void => {
      const { welcome, presence } = view.state;
      if (welcome && presence.count > (welcome.settings.crowdMembers ?? Infinity)) void view.store.attend("counts");
    };
    const look = (): void => {
      clearInterval(timer);
      if (document.visibilityState === "visible") void view.store.attend("all");
      // Again and again: the room may grow meanwhile.
      else timer = setInterval(leave, OUT_OF_VIEW_MS);
    };
    document.addEventListener("visibilitychange", look, { signal: leaving.signal });
    look();
    return () => {
      leaving.abort();
      clearInterval(timer);
    };
  }, [view]);
}

/** Keyboard shortcuts of the whole page; in an embedded room, of the chat alone. */
function onShortcut(event: KeyboardEvent, store: ChatStore): void {
  const action = actionOf(event, store);
  if (!action) return;
  event.preventDefault();
  action();
}

function actionOf(event: KeyboardEvent, store: ChatStore): (() => void) | undefined {
  const { key, altKey, shiftKey } = event;
  const { dialog } = store.ui;
  const isCommand = event.ctrlKey || event.metaKey;
  if (altKey && key === "ArrowUp" && !store.isEmbedded) return () => store.step(-1);
  if (altKey && key === "ArrowDown" && !store.isEmbedded) return () => store.step(1);
  if (isCommand && !shiftKey && !altKey && key.toLowerCase() === "k" && !store.isEmbedded)
    return () => store.set({ dialog: dialog?.kind === "switcher" ? undefined : (dialog ?? { kind: "switcher" }) });
  if (isCommand && key === "/") return () => store.set({ dialog: { kind: "shortcuts" } });
  if (isCommand && shiftKey && key.toLowerCase() === "f") return () => store.open("search");
  if (isCommand && shiftKey && key.toLowerCase() === "m") return () => store.open("members");
  if (isCommand && shiftKey && event.code === "Space") return () => void store.view?.store.showNewest();
  if (key !== "Escape" || event.defaultPrevented) return undefined;
  if (store.panel !== undefined) return () => store.open(undefined);
  return store.view?.state.reading.keptUnread ? () => void store.view!.store.showNewest() : store.dismiss;
}
