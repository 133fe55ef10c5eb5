// Names the lives of a log (CHAT-9). Each object that opens a log begins a new life with its first message, because a backup may have been
// restored since an earlier object wrote. After that, other messages get the same places. Ids and offsets contain the life besides the
// place, so that each names one message. Called by the logs in durable/.

/** Base 36, enough for thirty centuries. All names have the same length, so the later life has the higher name. */
const SECONDS_CHARS = 7;
const CHANCE_CHARS = 3;

/** The life of messages that were stored before lives had names; it comes before all others. */
export const UNNAMED_LIFE = "";

/**
 * Names a life that begins now. The name is higher than that of the life before it, and of one that a restored backup removed.
 * @param chance random letters and digits
 * @param before the name of the life before it
 */
export function nameLife(nowMs: number, chance: string, before: string): string {
  const afterS = before === UNNAMED_LIFE ? 0 : Number.parseInt(before.slice(0, SECONDS_CHARS), 36) + 1;
  const beganS = Math.max(Math.floor(nowMs / 1000), afterS);
  const drawn = chance.replaceAll(/[^0-9a-z]/g, "").slice(0, CHANCE_CHARS);
  return `${beganS.toString(36).padStart(SECONDS_CHARS, "0")}${drawn.padEnd(CHANCE_CHARS, "0")}`;
}

export interface LivesPorts {
  readonly lastSeq: () => number;
  /** Names a life that begins now, given the name of the life before it. */
  readonly begin: (before: string) => string;
  /** The life of the stored message at a seq, or of the nearest one before it. */
  readonly stored: (seq: number) => string | undefined;
}

/** The lives of one log: that of the object which has it open, and those that are stored. */
export class Lives {
  readonly #ports: LivesPorts;
  #own: string | undefined;
  /** The first seq that the own life took. */
  #ownSeq = Infinity;

  constructor(ports: LivesPorts) {
    this.#ports = ports;
  }

  /** Begins with the first read. */
  get own(): string {
    const { begin, stored, lastSeq } = this.#ports;
    return (this.#own ??= begin(stored(lastSeq()) ?? UNNAMED_LIFE));
  }

  /** Notes that the own life took a seq. */
  took(seq: number): void {
    this.#ownSeq = Math.min(this.#ownSeq, seq);
  }

  /** The life of a seq that is taken. */
  at(seq: number): string | undefined {
    return seq >= this.#ownSeq ? this.own : this.#ports.stored(seq);
  }
}
