// The pinned messages of the room on the screen, as they change, and which of them the bar shows. The room view owns it.
import type { Pin } from "parley-rooms/features";

import { t } from "./language.ts";
import { named } from "./names.ts";
import { storeOf, type FeaturePorts } from "./pins-and-reports.ts";
import type { RoomView } from "./room-view.ts";

export class Pinned {
  /** The longest pinned first. */
  pins: readonly Pin[] = [];
  /** How many pins back from the newest one the bar stands. */
  #back = 0;
  readonly #view: RoomView;
  readonly #ports: FeaturePorts;

  constructor(view: RoomView, ports: FeaturePorts) {
    this.#view = view;
    this.#ports = ports;
    const { room } = storeOf(view);
    room.on("welcome", ({ pins = [] }: { readonly pins?: readonly Pin[] }) => this.#set(pins));
    room.on("pinned", (pin) => this.#add(pin));
    room.on("unpinned", ({ id }) => this.#set(this.pins.filter((pin) => pin.id !== id)));
    room.on("message-edited", ({ id, content: text }) =>
      this.#set(this.pins.map((pin) => (pin.id === id ? { ...pin, text } : pin))),
    );
  }

  has(id: string): boolean {
    return this.pins.some((pin) => pin.id === id);
  }

  /** The pin that the bar shows, at first the newest, and its place. */
  get shown(): { readonly pin: Pin; readonly at: number } | undefined {
    const at = this.pins.length - 1 - this.#back;
    const pin = this.pins[at];
    return pin && { pin, at };
  }

  /** Brings the reader to the message that the bar shows; the bar goes on to the one that was pinned before it. */
  async visit(): Promise<void> {
    const { shown } = this;
    if (!shown) return;
    this.#back = (this.#back + 1) % this.pins.length;
    this.#ports.changed();
    await this.#view.store.jumpTo(shown.pin.seq);
  }

  #add(pin: Pin): void {
    this.#set([...this.pins.filter(({ id }) => id !== pin.id), pin]);
    this.#back = 0;
    const { people, self } = this.#view;
    if (pin.by !== self)
      this.#ports.announce(
        t("{by} pinned a message of {name}", { by: named(people.nameOf(pin.by)), name: named(pin.name) }),
      );
  }

  #set(pins: readonly Pin[]): void {
    this.pins = pins;
    if (this.#back >= pins.length) this.#back = 0;
    this.#ports.changed();
  }
}
