// The events and answers about pinned messages. Sent by pins.ts; the chat page reads it.

/** A pinned message. */
export interface Pin {
  /** The message's. */
  readonly id: string;
  readonly seq: number;
  /** The id of the user who pinned it. */
  readonly by: string;
  /** When it was pinned, in milliseconds since 1970. */
  readonly at: number;
  /** The user id and the name of its author. */
  readonly sender: string;
  readonly name: string;
  /** The beginning of its text, 200 characters at most, as it stood when this was sent. */
  readonly text: string;
  /** The names of its files, the first 200 characters. */
  readonly file?: string;
}

export interface Unpinned {
  /** The message's. */
  readonly id: string;
  readonly seq: number;
  /** The id of the user who unpinned or deleted it; absent where the room has dropped the message. */
  readonly by?: string;
}

export interface PinsSent {
  pinned: (pin: Pin) => void;
  unpinned: (unpinned: Unpinned) => void;
}

/** The fields of `welcome`. */
export interface PinsWelcome {
  /** The longest pinned first. */
  readonly pins: readonly Pin[];
  readonly pinRules: {
    readonly max: number;
    /** The users who may pin: moderators, or all who may post. */
    readonly by: "moderators" | "speakers";
  };
}
