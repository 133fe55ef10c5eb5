// The parts that are open over the messages: a panel, and over it a dialog, menu or picker. The chat store extends it.
import type { Person } from "parley-rooms/client";

import { t } from "./language.ts";
import type { RoomView } from "./room-view.ts";
import type { Unfinished } from "./stored-data.ts";

/** The panel beside the messages; on a phone, over them. */
export type Panel = "rooms" | "members" | "search" | "mentions" | "threads" | "thread" | undefined;

/** A menu of actions on a message or a person, or of the reader; otherwise of the room. */
interface Menu {
  readonly anchor: Element;
  /** The `id` of a message. */
  readonly message?: string;
  readonly person?: Person;
  readonly isOwn?: true;
  /** For a finger: at the lower edge of the window, with reactions. */
  readonly isSheet?: true;
}

/** Dialogs about the names of rooms and of the reader. */
type Naming = "new-room" | "about-room" | "rename";

/** An emoji is picked for the field, or as a reaction to a message. */
interface Picking {
  readonly anchor: Element;
  /** Its `id`. */
  readonly message?: string;
}

export type Dialog =
  | { readonly kind: "shortcuts" | "room" | "switcher" | "language" | Naming }
  | { readonly kind: "sign-out"; readonly unfinished: Unfinished }
  | { readonly kind: "moderate"; readonly action: "kick" | "mute" | "ban"; readonly user: string }
  | { readonly kind: "delete" | "report" | "details"; readonly message: string }
  | { readonly kind: "image"; readonly key: string }
  /** Leads to another day. `at`: a moment of the one that the reader looks at. */
  | { readonly kind: "date"; readonly at: number };

/** The dialog, menu or picker that is open over the page. */
export interface Overlays {
  readonly dialog?: Dialog | undefined;
  readonly menu?: Menu | undefined;
  readonly picking?: Picking | undefined;
}

/** What the reader looks for; another object each time. */
export interface Sought {
  readonly query: string;
  /** The room in which it is looked for; in all rooms of the reader without one. */
  readonly room?: string;
}

export abstract class OpenParts {
  abstract view: RoomView | undefined;
  panel: Panel;
  #thread = "";
  /** In the search panel. */
  sought: Sought | undefined;
  ui: Overlays = {};

  /** Draws the whole again. */
  abstract changed(): void;

  open(panel: Panel): void {
    this.panel = this.panel === panel ? undefined : panel;
    this.changed();
  }

  /** @param id of the first message of the thread */
  openThread(id: string): void {
    this.panel = "thread";
    this.#thread = id;
    this.changed();
  }

  /** The open thread: the `id` of its first message. */
  get thread(): string | undefined {
    return this.panel === "thread" ? this.#thread : undefined;
  }

  /** How many layers lie over the messages: a panel, and over it a dialog, menu or picker. */
  get layers(): number {
    return Number(this.panel !== undefined) + Number(this.isOverlaid);
  }

  /** Closes the upper layers until that many are left. */
  closeTo(layers: number): void {
    if (layers < this.layers) this.ui = {};
    if (layers < this.layers) this.panel = undefined;
    this.changed();
  }

  search(sought: Sought): void {
    this.sought = sought;
    this.changed();
  }

  set(ui: Overlays): void {
    this.ui = { ...this.ui, ...ui };
    this.changed();
  }

  get isOverlaid(): boolean {
    return Object.values(this.ui).some((open) => open !== undefined);
  }

  /** Closes what is open about a message that somebody deleted. */
  closeGone(): void {
    const { dialog, menu, picking } = this.ui;
    const isGone = (part: object | undefined): boolean =>
      part !== undefined && "message" in part && this.view?.messageOf(part.message as string) === null;
    if (isGone(menu)) this.ui = { ...this.ui, menu: undefined };
    if (isGone(picking)) this.ui = { ...this.ui, picking: undefined };
    if (!isGone(dialog)) return;
    this.ui = { ...this.ui, dialog: undefined };
    this.view?.show(t("That message was deleted."));
  }
}
