// Records from which `seq` to which of the recovery log a socket was in each channel, so that recovery replays only the events
// sent meanwhile. Called by server/ and recovery.ts.

/** Memberships that have ended, and the characters of their channels' names: the whole history is written at each change. */
export const LEFT_CHANNELS_MAX = 64;
const LEFT_CHARS_MAX = 4096;

/** In the channel for events after `from`, up to and including `to`. */
type Membership = readonly [channel: string, from: number, to: number];

/** As plain data, beside the names of the channels that it is in. */
export interface ChannelHistoryRecord {
  /** After which place it joined each of its channels, in their order. */
  readonly joined: readonly number[];
  /** Memberships that have ended, oldest end first. */
  readonly left: readonly Membership[];
  /** Some that ended up to this place are forgotten. */
  readonly forgottenTo?: number;
}

export class ChannelHistory {
  readonly #joined: Map<string, number>;
  #left: readonly Membership[];
  #forgottenTo: number | undefined;

  /** @param record without it, it was in these channels all the time */
  constructor(
    channels: readonly string[],
    { joined, left, forgottenTo }: ChannelHistoryRecord = { joined: [], left: [] },
  ) {
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
    // Without an event in between there is nothing to remember.
    if (from === undefined || from === seq) return;
    this.#left = [...this.#left, [channel, from, seq]];
    while (this.#left.length > LEFT_CHANNELS_MAX || charsOf(this.#left) > LEFT_CHARS_MAX) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest, ...others] = this.#left;
    this.#forgottenTo = oldest![2];
    this.#left = others;
  }

  /** Whether `wasIn` is right about all places after that one. */
  knowsAllAfter(seq: number): boolean {
    return this.#forgottenTo === undefined || seq >= this.#forgottenTo;
  }

  /** Whether it was in the channel when that place was taken. */
  wasIn(channel: string, seq: number): boolean {
    const joined = this.#joined.get(channel);
    if (joined !== undefined && seq > joined) return true;
    return this.#left.some(([name, from, to]) => name === channel && seq > from && seq <= to);
  }

  toRecord(): ChannelHistoryRecord {
    const forgottenTo = this.#forgottenTo;
    return { joined: [...this.#joined.values()], left: this.#left, ...(forgottenTo !== undefined && { forgottenTo }) };
  }
}

const charsOf = (memberships: readonly Membership[]): number =>
  memberships.reduce((chars, [channel]) => chars + channel.length, 0);
