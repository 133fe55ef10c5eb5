// The bar above the messages: the room's name, topic and modes, and the buttons for rooms, search, members and the menu. The app draws it.
import { numberText, t, tn } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { Button, IconButton } from "./controls.tsx";

export function ChatHeader({ store, view }: ChatProps) {
  const count = store.memberCount;
  const { slowModeSeconds, readOnly, topic = "" } = view.state.modes;
  const isNamed = view.kind === "room" && store.heading === "";
  const hints = [
    slowModeSeconds > 0 && t("slow mode {n} s", { n: slowModeSeconds }),
    readOnly && t("read-only"),
  ].filter(Boolean);
  return (
    <header class="bar">
      {!store.isEmbedded && (
        <IconButton
          icon="menu"
          label={t("Rooms")}
          class="rooms-toggle"
          testId="rooms-toggle"
          pressed={store.panel === "rooms"}
          onClick={() => store.open("rooms")}
        />
      )}
      <div class="room-heading">
        <h1 class="room-title" data-testid="room-title">
          {/* The mark of a room is for the eye alone. */}
          {isNamed && <span aria-hidden="true">#</span>}
          {view.direct && <Avatar user={view.direct.user} name={view.direct.name} small />}
          <bdi>{store.label}</bdi>
        </h1>
        {topic !== "" && !store.isEmbedded && (
          <Button class="topic" testId="topic" onClick={() => store.set({ dialog: { kind: "about-room" } })}>
            <bdi>{bare(topic)}</bdi>
          </Button>
        )}
        {hints.length > 0 && <span class="modes">{hints.join(t(", "))}</span>}
      </div>
      {view.hasThreads && <ThreadsButton store={store} view={view} />}
      <IconButton
        icon="search"
        label={t("Search")}
        testId="search-toggle"
        pressed={store.panel === "search"}
        onClick={() => store.open("search")}
      />
      <IconButton
        icon="people"
        label={count === undefined ? t("Members") : tn(count, "{n} member", "{n} members")}
        title={t("Members")}
        class="members-toggle"
        pressed={store.panel === "members"}
        onClick={() => store.open("members")}
      >
        <span data-testid="member-count">{count === undefined ? "" : numberText(count)}</span>
      </IconButton>
      <IconButton
        icon="more"
        label={t("Menu")}
        testId="room-menu"
        onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget } })}
      />
      {store.dismiss && (
        <IconButton icon="close" label={t("Close the chat")} testId="dismiss" onClick={store.dismiss} />
      )}
    </header>
  );
}

/** On a phone it is there while something is new; the room's menu leads there, too. */
function ThreadsButton({ store, view }: ChatProps) {
  const { unread } = view.store.threads.own;
  const label =
    unread === 0 ? t("Threads") : tn(unread, "Threads, {n} with new replies", "Threads, {n} with new replies");
  return (
    <IconButton
      icon="thread"
      label={label}
      title={t("Threads")}
      class={unread === 0 ? "threads-toggle" : "threads-toggle has-news"}
      testId="threads-toggle"
      pressed={store.panel === "threads"}
      onClick={() => store.open("threads")}
    >
      {unread > 0 && <span class="badge">{numberText(unread)}</span>}
    </IconButton>
  );
}
