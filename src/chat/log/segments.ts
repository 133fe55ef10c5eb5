// Decides when a log begins a new segment, and drops old ones. Deleting a message costs as much as storing it and dropping a whole
// segment costs nothing, so a log is a few segments and is trimmed by whole ones (CHAT-8). Called by src/objects/sql.

/** The history that a room keeps, at least. */
export interface Retention {
  /** The newest so many messages, … */
  readonly messages: number;
  /** … as far as they are younger than this. */
  readonly ageMs: number;
}

/** A part of the log: messages next to each other, and close in time. */
export interface Segment {
  readonly firstSeq: number;
  /** From this moment on (ms since 1970) no message is added. */
  readonly untilMs: number;
  /** Messages stored before this segment, counted from wherever the log begins to count. */
  readonly storedBefore: number;
}

/** A log exceeds `Retention` by one segment at most: a tenth of it. */
const SEGMENTS_KEPT = 10;

/** @param stored messages stored so far, counted as `storedBefore` counts */
export function beginSegment({ ageMs }: Retention, firstSeq: number, stored: number, nowMs: number): Segment {
  return { firstSeq, untilMs: nowMs + Math.ceil(ageMs / SEGMENTS_KEPT), storedBefore: stored };
}

export function isFull(
  retention: Retention,
  { untilMs, storedBefore }: Segment,
  stored: number,
  nowMs: number,
): boolean {
  return nowMs >= untilMs || stored - storedBefore >= Math.ceil(retention.messages / SEGMENTS_KEPT);
}

/** The time at which all messages of a segment are too old, in ms since 1970. */
export function agedAtMs({ ageMs }: Retention, { untilMs }: Segment): number {
  return untilMs + ageMs;
}

/** Milliseconds until the first message of a segment may be dropped; for age it is dropped an hour later (CHAT-8). */
export function keptMsMax({ ageMs }: Retention): number {
  return Math.ceil(ageMs / SEGMENTS_KEPT) + ageMs;
}

/** Number of segments, of a list with the oldest first, that may be dropped. */
export function countExpired(
  retention: Retention,
  segments: readonly Segment[],
  stored: number,
  nowMs: number,
): number {
  const kept = segments.findIndex((segment, at) => {
    const storedAfter = stored - (segments[at + 1]?.storedBefore ?? stored);
    return nowMs < agedAtMs(retention, segment) && storedAfter < retention.messages;
  });
  return kept === -1 ? segments.length : kept;
}
