// The bar of pinned messages above the list: a press leads to the message, and the bar goes on to the next one. The app draws it.
import { lineOf } from "parley-rooms/client";

import { bare, named } from "../state/names.ts";
import { Pinned } from "../state/pinned.ts";
import type { RoomView } from "../state/room-view.ts";
import type { ChatProps } from "./chat-props.ts";

const known = new WeakMap<RoomView, Pinned>();

/** The pinned messages of the room on the screen, which change with it. */
export function pinnedOf({ store, view }: ChatProps): Pinned {
  let pinned = known.get(view);
  if (!pinned) {
    pinned = new Pinned(view, { changed: () => store.changed(), announce: (text) => store.announce(text) });
    known.set(view, pinned);
  }
  return pinned;
}

export function PinnedBar({ store, view }: ChatProps) {
  const pinned = pinnedOf({ store, view });
  const { shown, pins } = pinned;
  if (!shown) return null;
  const { pin, at } = shown;
  return (
    <button
      type="button"
      class="pinned"
      title={`Pinned by ${named(view.people.nameOf(pin.by))}`}
      data-testid="pinned"
      onClick={() => void pinned.visit()}
    >
      <svg class="icon" viewBox="0 0 24 24" role="img" aria-label="Pinned message">
        <path d="M9 4h6l-1 6 3 3v2H7v-2l3-3zM12 15v6" />
      </svg>
      <span class="pinned-text" dir="auto">
        <bdi class="author">{bare(pin.name)}</bdi> {lineOf(view.people.withNames(pin.text)) || pin.file}
      </span>
      {pins.length > 1 && (
        <span class="muted">
          {at + 1} of {pins.length}
        </span>
      )}
    </button>
  );
}
