// Names the lives of a log. Each object that opens a log begins a new life of it with its first message, because a backup may have been
// restored since the object before it wrote. The same places are then given to other messages; ids and offsets name the life besides the
// place, so that none of them ever means two: CHAT-9. Called by the logs in durable/.

/** Base 36, enough for thirty centuries; all names are of the same length, so the later life has the higher name. */
const SECONDS_CHARS = 7;
const CHANCE_CHARS = 3;

/** The name of the life of messages that were stored before lives had names; it comes before all others. */
export const UNNAMED_LIFE = "";

/**
 * Names a life that begins now: higher than the one before it in the same log, and than one that a restored backup took away.
 * @param chance random letters and digits
 * @param before the name of the life before it
 */
export function nameLife(nowMs: number, chance: string, before: string): string {
  const afterS = before === UNNAMED_LIFE ? 0 : Number.parseInt(before.slice(0, SECONDS_CHARS), 36) + 1;
  const beganS = Math.max(Math.floor(nowMs / 1000), afterS);
  const drawn = chance.replaceAll(/[^0-9a-z]/g, "").slice(0, CHANCE_CHARS);
  return `${beganS.toString(36).padStart(SECONDS_CHARS, "0")}${drawn.padEnd(CHANCE_CHARS, "0")}`;
}
