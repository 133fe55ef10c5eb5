// Refusals after which a post is never stored. Used by person.ts and verdict.ts.

/** A client with extensions gives a post up after these. */
export const FINAL = ["MUTED", "ROOM_READ_ONLY", "SLOW_MODE", "FORBIDDEN", "REJECTED"] as const;

export const REFUSED: ReadonlySet<string> = new Set([...FINAL, "TOO_LONG", "INVALID_PAYLOAD"]);
