// The dialog that leads to a room or a person by a part of the name; Ctrl K and the list of rooms open it. The page's dialogs draw it.
import { useState } from "preact/hooks";

import { t } from "../state/language.ts";
import { bare } from "../state/names.ts";
import { countText } from "../state/news.ts";
import { placesFor, type Place } from "../state/places.ts";
import { isDirect, labelOf, roomNameOf } from "../state/room-items.ts";
import { Avatar } from "./avatar.tsx";
import type { ChatProps } from "./chat-props.ts";
import { Modal } from "./modal.tsx";

interface Choice {
  readonly key: string;
  readonly place?: Place;
  readonly label: string;
  /** Tells it from others of the same name. */
  readonly note: string;
  readonly go: () => void;
}

export function Switcher({ store, view }: ChatProps) {
  const [text, setText] = useState("");
  const [chosen, choose] = useState(0);
  const close = (): void => store.set({ dialog: undefined });
  const choices = choicesFor({ store, view }, text);
  const at = Math.min(chosen, choices.length - 1);
  const go = (choice: Choice | undefined): void => {
    if (!choice) return;
    close();
    choice.go();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) choose((at + step + choices.length) % Math.max(1, choices.length));
    else if (event.key === "Enter") go(choices[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title={t("Go to")} onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-label={t("A room or a person")}
        placeholder={t("A room or a person")}
        aria-expanded="true"
        aria-controls="places"
        aria-activedescendant={choices.length === 0 ? undefined : `place-${at}`}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        enterkeyhint="go"
        data-testid="go-to"
        value={text}
        onKeyDown={onKey}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          choose(0);
        }}
      />
      <ul class="places" id="places" role="listbox" aria-label={t("Rooms and people")} data-testid="places">
        {choices.map((choice, index) => (
          <li
            key={choice.key}
            id={`place-${index}`}
            ref={(row) => {
              if (index === at) row?.scrollIntoView({ block: "nearest" });
            }}
            class={unreadIn(choice.place) > 0 ? "has-unread" : ""}
            role="option"
            aria-selected={index === at}
            onClick={() => go(choice)}
          >
            <Mark choice={choice} />
            <bdi class="room-name">{choice.label}</bdi>
            <bdi class="tag">{choice.note}</bdi>
            <Unread place={choice.place} />
          </li>
        ))}
      </ul>
      <p class="muted" role="status">
        {choices.length === 0 && text !== "" ? t("Nothing of that name.") : ""}
      </p>
    </Modal>
  );
}

function choicesFor({ store, view }: ChatProps, text: string): Choice[] {
  const items = store.roomItems();
  const people = view.state.presence.members.filter(({ user }) => store.mayMessage(user));
  const entered = store.directory?.entered ?? [];
  const choices = placesFor(text, { items, entered, current: view.room, people }).map((place): Choice => {
    if (place.kind === "person") {
      const { person } = place;
      const note = view.people.tagOf(person.user);
      return { key: `@${person.user}`, place, label: bare(person.name), note, go: () => void store.message(person) };
    }
    const { item } = place;
    const note = item.direct ? (item.tag ?? "") : item.name === undefined ? "" : `#${item.room}`;
    return { key: item.room, place, label: labelOf(item), note, go: () => store.enter(item.room) };
  });
  const id = roomNameOf(text);
  if (id === undefined || isDirect(id) || items.some(({ room }) => room === id)) return choices;
  return [
    ...choices,
    { key: "new", label: t("New room #{room}", { room: id }), note: "", go: () => void store.enterNamed(text) },
  ];
}

function Mark({ choice: { place } }: { readonly choice: Choice }) {
  const person = place?.kind === "person" ? place.person : place?.item.direct;
  if (person) return <Avatar user={person.user} name={person.name} small />;
  return (
    <span class="hash" aria-hidden="true">
      {place ? "#" : "+"}
    </span>
  );
}

const unreadIn = (place: Place | undefined): number => (place?.kind === "room" ? place.item.unread : 0);

function Unread({ place }: { readonly place: Place | undefined }) {
  const count = unreadIn(place);
  if (count === 0) return null;
  return (
    <span class="badge">
      {countText(count)}
      <span class="unseen"> {t("unread")}</span>
    </span>
  );
}
