// Records the channels of a socket over the positions of the recovery log, so that recovery replays only events that were sent to the socket's
// channels while it was in them. Called by both recoveries (src/socketio, src/stock).

/** Ended memberships that are kept, and the characters of their channels' names: each change writes the whole history. */
export const LEFT_CHANNELS_MAX = 64;
const LEFT_CHARS_MAX = 4096;

/** The socket was in the channel for events after `from`, up to and including `to`. */
type Membership = readonly [channel: string, from: number, to: number];

/** The history as plain data. The names of the current channels are stored beside it. */
export interface ChannelHistoryRecord {
  /** For each current channel, in order, the position after which the socket joined it. */
  readonly joined: readonly number[];
  /** Memberships that have ended, oldest end first. */
  readonly left: readonly Membership[];
  /** The last position of the ended memberships that were forgotten. */
  readonly forgottenTo?: number;
}

export class ChannelHistory {
  readonly #joined: Map<string, number>;
  #left: readonly Membership[];
  #forgottenTo: number | undefined;

  /** @param record without it, the socket was in these channels all the time */
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
    // No event was sent meanwhile.
    if (from === undefined || from === seq) return;
    this.#left = [...this.#left, [channel, from, seq]];
    while (this.#left.length > LEFT_CHANNELS_MAX || charsOf(this.#left) > LEFT_CHARS_MAX) {
      const [oldest, ...others] = this.#left;
      this.#forgottenTo = oldest![2];
      this.#left = others;
    }
  }

  /** The last position that it names. */
  get lastSeq(): number {
    return Math.max(0, ...this.#joined.values(), ...this.#left.map(([, , to]) => to));
  }

  /** Whether `wasIn` is right for all positions after `seq`. */
  knowsAllAfter(seq: number): boolean {
    return this.#forgottenTo === undefined || seq >= this.#forgottenTo;
  }

  /** Whether the socket was in the channel when the event at `seq` was sent. */
  wasIn(channel: string, seq: number): boolean {
    const joined = this.#joined.get(channel);
    if (joined !== undefined && seq > joined) return true;
    // `includes` finds NaN, too, which is equal to nothing.
    return this.#left.some(([name, from, to]) => [name].includes(channel) && seq > from && seq <= to);
  }

  toRecord(): ChannelHistoryRecord {
    const forgottenTo = this.#forgottenTo;
    return { joined: [...this.#joined.values()], left: this.#left, ...(forgottenTo !== undefined && { forgottenTo }) };
  }
}

/** Code without types names channels by other primitives, too. */
const charsOf = (memberships: ReadonlyArray<readonly [channel: unknown, from: number, to: number]>): number =>
  memberships.reduce((chars, [channel]) => chars + String(channel).length, 0);
