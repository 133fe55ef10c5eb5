// The position of a message in the log of a room that passes it on. Incarnations of a log have names that grow (incarnations.ts), so of two positions
// the one of the later incarnation is further on, also at a lower position: a restored backup gives positions to other messages.

export interface Position {
  readonly seq: number;
  /** Absent in an incarnation without a name. */
  readonly life?: string | undefined;
}

/** Whether a position is further on than another one. */
export function isBeyond(one: Position, other: Position): boolean {
  const [life, otherLife] = [one.life ?? "", other.life ?? ""];
  return life === otherLife ? one.seq > other.seq : life > otherLife;
}

export const furthest = <P extends Position>(one: P, other: P): P => (isBeyond(other, one) ? other : one);

/** Names the log that a message began in: its epoch, a dot and the incarnation. */
export const nameOfIncarnation = (epoch: string, life: string): string => (life === "" ? epoch : `${epoch}.${life}`);

/** The parts of such a name. */
export function partsOfName(name: string): { readonly epoch: string; readonly life: string } {
  const dot = name.indexOf(".");
  return dot === -1 ? { epoch: name, life: "" } : { epoch: name.slice(0, dot), life: name.slice(dot + 1) };
}
