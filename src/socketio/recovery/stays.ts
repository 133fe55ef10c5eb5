// When a socket was in which channel, in places of its namespace's recovery log. Who comes back has missed what
// its channels were told while it was in them: nothing from before it joined, and all from before it left.

/** Channels left that are told apart, and the characters of their names: all of it is written at each change. */
export const LEFT_CHANNELS_MAX = 64;
const LEFT_CHARS_MAX = 4096;

/** In the channel for what came after `from`, up to and with `to`. */
type Stay = readonly [channel: string, from: number, to: number];

/** As plain data, beside the names of the channels that it is in. */
export interface StaysRecord {
  /** After which place it joined each of its channels, in their order. */
  readonly joined: readonly number[];
  /** Stays that are over, oldest end first. */
  readonly left: readonly Stay[];
  /** Some that ended up to here are forgotten. */
  readonly forgottenTo?: number;
}

export class Stays {
  readonly #joined: Map<string, number>;
  #left: readonly Stay[];
  #forgottenTo: number | undefined;

  /** @param record without it, it was in these channels all the time */
  constructor(channels: readonly string[], { joined, left, forgottenTo }: StaysRecord = { joined: [], left: [] }) {
    this.#joined = new Map(channels.map((channel, at) => [channel, joined[at] ?? 0]));
    this.#left = left;
    this.#forgottenTo = forgottenTo;
  }

  join(channel: string, seq: number): void {
    this.#joined.set(channel, seq);
  }

  leave(channel: string, seq: number): void {
    const from = this.#joined.get(channel);
    this.#joined.delete(channel);
    // Where nothing was said meanwhile there is nothing to remember.
    if (from === undefined || from === seq) return;
    this.#left = [...this.#left, [channel, from, seq]];
    while (this.#left.length > LEFT_CHANNELS_MAX || charsOf(this.#left) > LEFT_CHARS_MAX) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest, ...others] = this.#left;
    this.#forgottenTo = oldest![2];
    this.#left = others;
  }

  /** Whether `wasIn` is right about all that came after that place. */
  knowsAllAfter(seq: number): boolean {
    return this.#forgottenTo === undefined || seq >= this.#forgottenTo;
  }

  /** Whether it was in the channel when that place was taken. */
  wasIn(channel: string, seq: number): boolean {
    const joined = this.#joined.get(channel);
    if (joined !== undefined && seq > joined) return true;
    return this.#left.some(([name, from, to]) => name === channel && seq > from && seq <= to);
  }

  toRecord(): StaysRecord {
    const forgottenTo = this.#forgottenTo;
    return { joined: [...this.#joined.values()], left: this.#left, ...(forgottenTo !== undefined && { forgottenTo }) };
  }
}

const charsOf = (stays: readonly Stay[]): number => stays.reduce((chars, [channel]) => chars + channel.length, 0);
