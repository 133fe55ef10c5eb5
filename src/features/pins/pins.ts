// Pinned messages (PIN-1 to PIN-4): its part of a room, written against the public API alone. Made by index.ts for createParley, or in `features` of a
// room's class.
import * as z from "zod/mini";

import {
  roomEvent,
  RoomFeature,
  type ErrorAnswer,
  type FeatureCaller,
  type FeatureChange,
  type Message,
  type RoomHandle,
  refuse,
} from "../../extension/extension.ts";
import type { Pin, PinsSent, PinsWelcome, Unpinned } from "./pin-events.ts";

export const PINS_MAX_DEFAULT = 20;
/** All of them are in each `welcome`. */
export const PINS_MAX_MAX = 100;
/** Characters (code points) of a message that a pin shows. */
export const TEXT_LENGTH_MAX = 200;

/** In tokens: a pin is a row, and a message to all; the list of them is long. */
const PIN_COST = 5;

/** The key of the one value that it stores. */
const KEY = "pins";

export interface PinsOptions {
  /** Pins of a room, 1 to 100. Default: 20. */
  readonly max?: number;
  /** The users who may pin and unpin: moderators (the default), or all who may post. */
  readonly by?: PinsWelcome["pinRules"]["by"];
}

/** As it is stored: the text of the message is looked up. */
type StoredPin = Pick<Pin, "id" | "seq" | "by" | "at">;

const schema = z.object({ id: z.string().check(z.minLength(1), z.maxLength(128)) });

export class Pins extends RoomFeature<PinsSent> {
  readonly name = "pins";
  override readonly sends = ["pinned", "unpinned"] as const;
  override readonly events;
  readonly #rules: PinsWelcome["pinRules"];
  /** The longest pinned first; read when it is first needed. */
  #stored: readonly StoredPin[] | undefined;
  /** Pins as they are shown, by message. */
  readonly #shown = new Map<string, Pin>();

  /** @throws Error for a bad `max`. For a `by` that is unknown, the room leaves the feature out */
  constructor(room: RoomHandle, { max = PINS_MAX_DEFAULT, by = "moderators" }: PinsOptions = {}) {
    super(room);
    if (!(Number.isInteger(max) && max >= 1 && max <= PINS_MAX_MAX))
      throw new Error(`Pins: max must be 1 to ${PINS_MAX_MAX}, not ${max}`);
    this.#rules = { max, by };
    this.events = {
      pin: roomEvent({ schema, by, cost: PIN_COST, run: ({ id }, caller) => this.#pin(id, caller) }),
      unpin: roomEvent({ schema, by, cost: PIN_COST, run: ({ id }, caller) => this.#unpin(id, caller) }),
      pins: roomEvent({ by: "everyone", cost: PIN_COST, run: () => ({ pins: this.#all }) }),
    };
  }

  override welcome(): PinsWelcome {
    return { pins: this.#all, pinRules: this.#rules };
  }

  /** PIN-3: a pin goes with its message, and shows it as it stands. */
  override onChanged({ kind, message }: FeatureChange): void {
    if (kind === "reacted" || !this.#pins.some(({ id }) => id === message.id)) return;
    this.#shown.delete(message.id);
    const { id, seq, sender, deletedBy = sender } = message;
    if (kind === "deleted")
      this.#drop(
        (pin) => pin.id === id,
        () => ({ id, seq, by: deletedBy }),
      );
  }

  /** PIN-3. */
  override onTrimmed(firstSeq: number): void {
    this.#drop(
      ({ seq }) => seq < firstSeq,
      ({ id, seq }) => ({ id, seq }),
    );
  }

  // ---- the events ------------------------------------------------------------------------------------------

  /** PIN-1, PIN-2. */
  #pin(id: string, { user: by }: FeatureCaller): ErrorAnswer | undefined {
    const message = this.room.findMessage(id);
    if ("error" in message) return message;
    if (message.deleted) return refuse("NOT_FOUND", "id: the message was deleted");
    if (this.#pins.some((pin) => pin.id === id)) return undefined;
    const { max } = this.#rules;
    // A pin whose message was lost, as with a restored backup, is none.
    const pins = this.#pins.length < max ? this.#pins : this.#pins.filter((pin) => this.#show(pin));
    if (pins.length >= max) return refuse("FORBIDDEN", `A room has ${max} pins: unpin one first.`);
    const stored = { id, seq: message.seq, by, at: this.room.now() };
    // A client that gets the pin has the message.
    this.room.finishPosts();
    this.#keep([...pins, stored]);
    const pin = pinOf(stored, message);
    this.#shown.set(id, pin);
    this.room.everyone.emit("pinned", pin);
    return undefined;
  }

  #unpin(id: string, { user: by }: FeatureCaller): undefined {
    const pin = this.#pins.find((one) => one.id === id);
    if (!pin) return;
    this.room.finishPosts();
    this.#keep(this.#pins.filter((one) => one !== pin));
    this.#shown.delete(id);
    this.room.everyone.emit("unpinned", { id, seq: pin.seq, by });
  }

  /** As they are shown. */
  get #all(): Pin[] {
    return this.#pins.flatMap((pin) => this.#show(pin) ?? []);
  }

  // ---- storage ---------------------------------------------------------------------------------------------

  get #pins(): readonly StoredPin[] {
    return (this.#stored ??= (this.room.state.get(KEY) as StoredPin[] | undefined) ?? []);
  }

  /** @throws errors of the storage */
  #keep(pins: readonly StoredPin[]): void {
    if (pins.length > 0) this.room.state.put(KEY, pins);
    else this.room.state.delete(KEY);
    this.#stored = pins;
  }

  /** Their messages are gone. Where that cannot be stored, they are left out at the next start. */
  #drop(isGone: (pin: StoredPin) => boolean, describe: (pin: StoredPin) => Unpinned): void {
    const gone = this.#pins.filter(isGone);
    if (gone.length === 0) return;
    const left = this.#pins.filter((pin) => !gone.includes(pin));
    try {
      this.#keep(left);
    } catch (error) {
      this.#stored = left;
      this.room.report("pins of lost messages could not be removed", error);
    }
    for (const pin of gone) {
      this.#shown.delete(pin.id);
      this.room.everyone.emit("unpinned", describe(pin));
    }
  }

  /** @returns nothing where the message is not there any more */
  #show(stored: StoredPin): Pin | undefined {
    const known = this.#shown.get(stored.id);
    if (known) return known;
    const message = this.room.findMessage(stored.id);
    // It may be readable the next time.
    if ("error" in message)
      return message.error.code === "NOT_FOUND" ? undefined : { ...stored, sender: "", name: "", text: "" };
    if (message.deleted) return undefined;
    const pin = pinOf(stored, message);
    this.#shown.set(stored.id, pin);
    return pin;
  }
}

function pinOf(stored: StoredPin, { sender, name, content, attachment, attachments }: Message): Pin {
  const file = attachments?.map(({ name }) => name).join(", ") ?? attachment?.name;
  return {
    ...stored,
    sender,
    name,
    text: beginningOf(content),
    ...(file !== undefined && { file: beginningOf(file) }),
  };
}

const beginningOf = (text: string): string => Array.from(text).slice(0, TEXT_LENGTH_MAX).join("");
