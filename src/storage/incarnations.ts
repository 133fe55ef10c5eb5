// Names the incarnations of a log (CHAT-9). Each object that opens a log begins a new incarnation with its first message, because a backup may have been
// restored since an earlier object wrote. After that, other messages get the same positions. Ids and offsets contain the incarnation besides the
// position, so that each names one message. Called by the logs of messages and of both recoveries.

/** Base 36, enough for thirty centuries. All names have the same length, so the later incarnation has the higher name. */
const SECONDS_CHARS = 7;
const CHANCE_CHARS = 3;

/** The incarnation of messages that were stored before incarnations had names; it comes before all others. */
export const UNNAMED_INCARNATION = "";

/**
 * Names an incarnation that begins now. The name is higher than that of the incarnation before it, and of one that a restored backup removed.
 * @param chance random letters and digits
 * @param before the name of the incarnation before it
 */
export function nameIncarnation(nowMs: number, chance: string, before: string): string {
  const afterS = before === UNNAMED_INCARNATION ? 0 : Number.parseInt(before.slice(0, SECONDS_CHARS), 36) + 1;
  const beganS = Math.max(Math.floor(nowMs / 1000), afterS);
  const drawn = chance.replaceAll(/[^0-9a-z]/g, "").slice(0, CHANCE_CHARS);
  return `${beganS.toString(36).padStart(SECONDS_CHARS, "0")}${drawn.padEnd(CHANCE_CHARS, "0")}`;
}

export interface IncarnationsPorts {
  readonly lastSeq: () => number;
  /** Names an incarnation that begins now, given the name of the incarnation before it. */
  readonly begin: (before: string) => string;
  /** The incarnation of the stored message at a seq, or of the nearest one before it. */
  readonly stored: (seq: number) => string | undefined;
}

/** The incarnations of one log: that of the object which has it open, and those that are stored. */
export class Incarnations {
  readonly #ports: IncarnationsPorts;
  #current: string | undefined;
  /** The first seq that the current incarnation took. */
  #currentSeq = Infinity;

  constructor(ports: IncarnationsPorts) {
    this.#ports = ports;
  }

  /** Begins with the first read. */
  get current(): string {
    const { begin, stored, lastSeq } = this.#ports;
    return (this.#current ??= begin(stored(lastSeq()) ?? UNNAMED_INCARNATION));
  }

  /** Notes that the current incarnation took a seq. */
  took(seq: number): void {
    this.#currentSeq = Math.min(this.#currentSeq, seq);
  }

  /** The incarnation of a seq that is taken. */
  at(seq: number): string | undefined {
    return seq >= this.#currentSeq ? this.current : this.#ports.stored(seq);
  }
}
