// The reader's place in the history of each room: kept when they leave the room, also over a reload of the tab, and restored when they come back.
// Or the message of a link that they followed. The chat store owns it; the message list reports the place, and asks for it.
import type { MessagePlace } from "parley-rooms/client";

import { keep, keyAt, ofTab, readJson } from "./json-storage.ts";
import type { RoomView } from "./room-view.ts";

const NAME = "parley.standing";

/** The first message in view, and its distance below the upper edge of the view in pixels. */
interface Place {
  readonly seq: number;
  readonly offset: number;
}

export class Standing {
  wanted: { readonly room: string; readonly place: MessagePlace } | undefined;
  readonly #key: string;
  /** By room. */
  readonly #places: Map<string, Place>;
  /** The view in which the reader has been shown their place, if they had one. */
  #entered: RoomView | undefined;
  /** The reader is led back to it. */
  #back: Place | undefined;

  /** @param base the chat's address */
  constructor(base: string) {
    this.#key = keyAt(base, NAME);
    this.#places = new Map(placesIn(readJson(ofTab, this.#key)));
  }

  /** @param place none for a reader at the newest message */
  leave(room: string, place: Place | undefined): void {
    if (place) this.#places.set(room, place);
    else if (!this.#places.delete(room)) return;
    keep(ofTab, this.#key, [...this.#places]);
  }

  /** Call it after each change of the view: leads the reader to the message that they want, or to where they stood. */
  restore(view: RoomView): void {
    const { room, state, store } = view;
    const { wanted } = this;
    if (wanted?.room === room) {
      // While earlier messages come in, the list still moves to its end.
      if (!state.messages.isLoaded || state.messages.loading !== undefined) return;
      this.wanted = undefined;
      this.#entered = view;
      this.leave(room, undefined);
      return void view.jumpTo(wanted.place);
    }
    // Later the reader may have left the page, which may come back.
    if (!state.welcome || this.#entered === view) return;
    this.#entered = view;
    const place = this.#places.get(room);
    if (!place) return;
    this.leave(room, undefined);
    // Otherwise the first new message is where the reader goes on.
    if (state.welcome.unread > 0) return;
    this.#back = place;
    void store.jumpTo(place.seq);
  }

  /** @returns where a message stood, if the reader is led back to it: once */
  takeBack(seq: number): number | undefined {
    const back = this.#back;
    this.#back = undefined;
    return back?.seq === seq ? back.offset : undefined;
  }

  forget(): void {
    this.#places.clear();
    keep(ofTab, this.#key, undefined);
  }
}

function placesIn(kept: unknown): Array<[string, Place]> {
  const all: ReadonlyArray<readonly [string, Partial<Place> | null] | null> = Array.isArray(kept) ? kept : [];
  return all.flatMap((entry) => {
    const [room, { seq, offset } = {}] = (Array.isArray(entry) ? entry : []) as [string, Partial<Place>?];
    return Number.isSafeInteger(seq) && Number.isFinite(offset) ? [[room, { seq: seq!, offset: offset! }]] : [];
  });
}
