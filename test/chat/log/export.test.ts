// Export of a room's log as text, chunk by chunk.
import { describe, expect, it } from "vitest";

import { EXPORT_CHARS_MAX, exportChunk, type ExportCursor } from "../../../src/chat/log/export.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { ROOM } from "../../host/chat-room.ts";
import { EPOCH, MemoryLog } from "../../host/memory-log.ts";
import { fc } from "../../host/properties.ts";

function logOf(contents: readonly string[]): MemoryLog {
  const log = new MemoryLog();
  contents.forEach((content, at) => log.append([messageAt(at + 1, content)]));
  return log;
}

const messageAt = (seq: number, content: string): Message => ({
  id: `${EPOCH}-${seq}`,
  seq,
  room: ROOM,
  sender: "ada",
  name: "Ada",
  content,
  timestamp: seq,
});

/** All chunks, with something done between any two. */
function chunksOf(log: MemoryLog, between: () => void = () => undefined): string[] {
  const chunks: string[] = [];
  let place: ExportCursor | undefined;
  do {
    const chunk = exportChunk(log, place)!;
    chunks.push(chunk.lines);
    place = chunk.next;
    between();
  } while (place);
  return chunks;
}

const parsed = (chunks: readonly string[]): Message[] =>
  chunks
    .join("")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Message);

const long = "x".repeat(EXPORT_CHARS_MAX / 4);

describe("an export: API-8", () => {
  it("of an empty room is empty", () => {
    expect(chunksOf(logOf([]))).toEqual([""]);
  });

  it("has every message once, in ascending order, in chunks of whole lines", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "line\nbreak", "\u2028", long), { maxLength: 150 }), (contents) => {
        const log = logOf(contents);
        const chunks = chunksOf(log);
        expect(parsed(chunks)).toEqual(log.messages);
        for (const chunk of chunks) {
          expect(chunk).toMatch(/^$|\n$/);
          const lastLine = chunk.trimEnd().slice(chunk.trimEnd().lastIndexOf("\n") + 1);
          expect(chunk.length - lastLine.length).toBeLessThanOrEqual(EXPORT_CHARS_MAX);
        }
      }),
    );
  });

  it("ends with the message that was the newest when it began", () => {
    const log = logOf([long, long, long, long, long]);
    const before = log.messages;
    const chunks = chunksOf(log, () => log.append([messageAt(log.lastSeq + 1, long)]));
    expect(chunks.length).toBeGreaterThan(1);
    expect(parsed(chunks)).toEqual(before);
  });

  it("begins with the oldest message that is kept", () => {
    const log = logOf(["a", "b", "c"]);
    log.batches.splice(0, 2);
    expect(parsed(chunksOf(log)).map(({ seq }) => seq)).toEqual([3]);
  });

  it("ends early when the room is deleted between two chunks, empty or used again", () => {
    const { next } = exportChunk(logOf([long, long, long, long, long]))!;
    expect(next).toMatchObject({ epoch: EPOCH });
    expect(exportChunk(new MemoryLog(), next)).toBeUndefined();
    const another = Object.defineProperty(logOf(["new"]), "epoch", { value: "e2" });
    expect(exportChunk(another, next)).toBeUndefined();
  });
});
