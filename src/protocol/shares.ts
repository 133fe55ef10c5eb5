// The rule for bounded lists that users fill: searches, calls that wait, changes that wait, open reports. One user must not
// fill a list for all others. Called through src/chat/room/shares.ts, and by features through src/extension.

/** The user for whom a list counts an entry. The guests of one network are one, because each of them may ask for any number of tokens. */
export interface Party {
  /** Unique in the room. It shows no address. */
  readonly name: string;
  readonly isGuest: boolean;
}

export interface ShareLimits {
  /** Entries of all. */
  readonly max: number;
  /** Entries of one party. */
  readonly perParty: number;
}

/** Entries of a list: all of them, and those of the party that wants another one. */
export interface Held {
  readonly all: number;
  readonly own: number;
}

/** The second half of the list is for accounts that have no entry yet, so guests, and accounts that have some, leave it free. */
export function isFullFor({ isGuest }: Party, { all, own }: Held, { max, perParty }: ShareLimits): boolean {
  if (all >= max || own >= perParty) return true;
  return 2 * all >= max && (isGuest || own > 0);
}
