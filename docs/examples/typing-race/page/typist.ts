// The text that a player has typed into the field, and the part that has still to be sent. Called by page.ts for each change of the field: so a
// keyboard, a phone that completes words and a paste are all the same.

/** The most characters to send at once: some fewer than the server accepts. */
export const BURST_CHARACTERS = 20;
/** After this time the server accepts as many again. */
export const PAUSE_MS = 1000;

/** Characters that phones put in the place of others. */
const AS_TYPED: Readonly<Record<string, string>> = { "’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " " };

export class Typist {
  readonly passage: string;
  /** How many characters the server has, or is about to get. */
  #sent: number;

  /** @param position that the server has */
  constructor(passage: string, position: number) {
    this.passage = passage;
    this.#sent = position;
  }

  /** How much of the text in the field is right, from the beginning on. */
  rightUpTo(text: string): number {
    let at = 0;
    while (at < text.length && at < this.passage.length && asTyped(text[at]!) === this.passage[at]) at++;
    return at;
  }

  /** @returns the places of the characters to send now; when they are `BURST_CHARACTERS`, there may be more to send after a pause */
  next(text: string): number[] {
    const from = this.#sent;
    this.#sent = Math.max(from, Math.min(this.rightUpTo(text), from + BURST_CHARACTERS));
    return Array.from({ length: this.#sent - from }, (_, i) => from + i);
  }

  /** Called when the server has another position than the client thinks: the characters after it are sent again. */
  goBackTo(position: number): void {
    this.#sent = position;
  }
}

const asTyped = (character: string): string => AS_TYPED[character] ?? character;
