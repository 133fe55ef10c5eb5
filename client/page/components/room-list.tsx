// Draws the list of rooms at the side: the reader's rooms and conversations with their unread counts and drafts, and others that the lobby
// lists. Below them is the reader, with a menu of their own. The app draws it.
import { useRef, useState } from "preact/hooks";

import { numberText, phrase, t, tn } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { roleText } from "../state/people.ts";
import { labelOf, SECTIONS, type RoomItem } from "../state/room-items.ts";
import { briefTime } from "../state/times.ts";
import type { ChatStore } from "../state/chat-store.ts";
import { countText } from "../state/news.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { Button, IconButton, SearchField } from "./controls.tsx";
import { Icon } from "./icons.tsx";

const TITLES = {
  yours: phrase("Your rooms"),
  direct: phrase("Direct messages"),
  discover: phrase("Discover"),
};

export function RoomList({ store, view }: ChatProps) {
  const [filter, setFilter] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const shown = useRef<readonly RoomItem[]>([]);
  const { directory } = store;
  const { user, name, role } = store.reader;
  if (!directory) return null;
  const held = list.current?.matches(":hover, :focus-within") ? shown.current : [];
  const items = store.roomItems({ filter, held });
  shown.current = items;
  const { drafted } = store;
  const isFolded = directory.isFolded && filter === "";
  return (
    <nav class="rooms" aria-label={t("Rooms")} data-testid="rooms">
      <header class="bar">
        <img src="favicon.svg" alt="" width="24" height="24" />
        <h2>Parley</h2>
        <span class="spring" />
        <IconButton
          icon="go"
          label={t("Go to a room or a person")}
          testId="switcher"
          onClick={() => store.set({ dialog: { kind: "switcher" } })}
        />
        <IconButton
          icon="at"
          label={t("Mentions")}
          testId="mentions-toggle"
          pressed={store.panel === "mentions"}
          onClick={() => store.open("mentions")}
        />
        <IconButton
          icon="plus"
          label={t("New room")}
          testId="new-room"
          onClick={() => store.set({ dialog: { kind: "new-room" } })}
        />
        <IconButton
          icon="close"
          label={t("Close the list of rooms")}
          class="phone-only"
          onClick={() => store.open("rooms")}
        />
      </header>
      {/* Shown for few rooms, too: otherwise its appearance would move the list. */}
      <SearchField label={t("Find a room")} testId="room-filter" value={filter} onText={setFilter} />
      <div ref={list} class="sections">
        {SECTIONS.map((section) => {
          const rooms = items.filter((item) => item.section === section);
          if (rooms.length === 0) return null;
          const isHidden = section === "discover" && isFolded;
          return (
            <section key={section} aria-label={t(TITLES[section])} data-testid={`section-${section}`}>
              <h3>
                {section === "discover" ? (
                  <Button class="fold" aria-expanded={!isHidden} onClick={() => directory.fold(!directory.isFolded)}>
                    {t(TITLES.discover)} <Icon name="next" />
                  </Button>
                ) : (
                  t(TITLES[section])
                )}
              </h3>
              <ul hidden={isHidden}>
                {rooms.map((item) => (
                  <li key={item.room}>
                    <RoomButton
                      store={store}
                      item={item}
                      isCurrent={item.room === view.room}
                      isDrafted={drafted.has(item.room)}
                    />
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
      {items.length === 0 && <p class="muted none">{t("No room of that name. Create it with +.")}</p>}
      {directory.isListable === false && <p class="muted none">{t("Only rooms you have been in are listed here.")}</p>}
      <footer>
        <Button
          class="self"
          testId="profile"
          aria-haspopup="menu"
          onClick={({ currentTarget }) => store.set({ menu: { anchor: currentTarget, isOwn: true } })}
        >
          <Avatar user={user} name={name} small />
          <bdi class="me">{bare(name)}</bdi>
          {role !== "member" && <span class="role">{roleText(role)}</span>}
          <Icon name="more" label={t("Your menu")} />
        </Button>
      </footer>
    </nav>
  );
}

interface RoomButtonProps {
  readonly store: ChatStore;
  readonly item: RoomItem;
  readonly isCurrent: boolean;
  readonly isDrafted: boolean;
}

function RoomButton({ store, item, isCurrent, isDrafted }: RoomButtonProps) {
  const { room, members, unread, mentions, isMuted, direct, tag, lastActivity } = item;
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
        {labelOf(item)}
        {tag !== undefined && <span class="tag"> {tag}</span>}
      </bdi>
      {isDrafted && <Icon name="edit" label={t("draft")} />}
      {isMuted && <Icon name="muted" label={t("muted")} />}
      {unread > 0 ? (
        <span class={`badge ${mentions > 0 ? "to-me" : ""}`} data-testid="unread">
          {countText(unread)}
          <span class="unseen">
            {" "}
            {tn(unread, "new message", "new messages")}
            {mentions > 0 && !direct && t(", {n} to you", { n: countText(mentions) })}
          </span>
        </span>
      ) : direct ? (
        lastActivity && <time class="present">{briefTime(lastActivity, Date.now())}</time>
      ) : (
        members !== undefined &&
        members > 0 && (
          <span class="present" title={tn(members, "{n} here now", "{n} here now")}>
            <Icon name="people" /> {numberText(members)}
            <span class="unseen"> {t("here now")}</span>
          </span>
        )
      )}
    </button>
  );
}
