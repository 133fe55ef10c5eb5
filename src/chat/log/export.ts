// Exports the log as text, a chunk at a time: newline-delimited JSON, one message a line, ascending by `seq` (API-8). The reader
// keeps the cursor, so a slow one costs the room nothing between two chunks. Called by src/chat/messages/exporting.ts.
import type { MessageLog } from "./message-log.ts";

/** A chunk ends with the line that makes it this long, in characters. */
export const EXPORT_CHARS_MAX = 262_144;

/** Where to go on: after a `seq`, up to another, in the log of that epoch. */
export interface ExportCursor {
  readonly after: number;
  readonly upTo: number;
  readonly epoch: string;
}

export interface ExportChunk {
  /** Whole lines, each with its line break; empty where there is nothing. */
  readonly lines: string;
  /** Absent with the last chunk. */
  readonly next?: ExportCursor;
}

/**
 * @param cursor where the last chunk ended; without it an export of the present log begins
 * @returns `undefined` if that log is gone: the room was deleted since
 */
export function exportChunk(log: MessageLog, cursor?: ExportCursor): ExportChunk | undefined {
  if (log.lastSeq === 0) return cursor ? undefined : { lines: "" };
  const { epoch } = log;
  if (cursor && cursor.epoch !== epoch) return undefined;
  const upTo = cursor?.upTo ?? log.lastSeq;
  let after = cursor?.after ?? 0;
  let lines = "";
  for (const message of log.ascending(after)) {
    if (message.seq > upTo) break;
    lines += `${JSON.stringify(message)}\n`;
    after = message.seq;
    if (lines.length >= EXPORT_CHARS_MAX) break;
  }
  const isLast = lines.length < EXPORT_CHARS_MAX || after >= upTo;
  return isLast ? { lines } : { lines, next: { after, upTo, epoch } };
}
