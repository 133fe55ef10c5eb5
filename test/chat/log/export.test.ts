// Export of a room's log as text, piece by piece.
import { describe, expect, it } from "vitest";

import { EXPORT_CHARS_MAX, exportPiece, type ExportCursor } from "../../../src/chat/log/export.ts";
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

/** All pieces, with something done between any two. */
function piecesOf(log: MemoryLog, between: () => void = () => undefined): string[] {
  const pieces: string[] = [];
  let place: ExportCursor | undefined;
  do {
    const piece = exportPiece(log, place)!;
    pieces.push(piece.lines);
    place = piece.next;
    between();
  } while (place);
  return pieces;
}

const parsed = (pieces: readonly string[]): Message[] =>
  pieces
    .join("")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Message);

const long = "x".repeat(EXPORT_CHARS_MAX / 4);

describe("an export: API-8", () => {
  it("of an empty room is empty", () => {
    expect(piecesOf(logOf([]))).toEqual([""]);
  });

  it("has every message once, in ascending order, in pieces of whole lines", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "line\nbreak", "\u2028", long), { maxLength: 150 }), (contents) => {
        const log = logOf(contents);
        const pieces = piecesOf(log);
        expect(parsed(pieces)).toEqual(log.messages);
        for (const piece of pieces) {
          expect(piece).toMatch(/^$|\n$/);
          const lastLine = piece.trimEnd().slice(piece.trimEnd().lastIndexOf("\n") + 1);
          expect(piece.length - lastLine.length).toBeLessThanOrEqual(EXPORT_CHARS_MAX);
        }
      }),
    );
  });

  it("ends with the message that was the newest when it began", () => {
    const log = logOf([long, long, long, long, long]);
    const before = log.messages;
    const pieces = piecesOf(log, () => log.append([messageAt(log.lastSeq + 1, long)]));
    expect(pieces.length).toBeGreaterThan(1);
    expect(parsed(pieces)).toEqual(before);
  });

  it("begins with the oldest message that is kept", () => {
    const log = logOf(["a", "b", "c"]);
    log.batches.splice(0, 2);
    expect(parsed(piecesOf(log)).map(({ seq }) => seq)).toEqual([3]);
  });

  it("ends early when the room is deleted between two pieces, empty or used again", () => {
    const { next } = exportPiece(logOf([long, long, long, long, long]))!;
    expect(next).toMatchObject({ epoch: EPOCH });
    expect(exportPiece(new MemoryLog(), next)).toBeUndefined();
    const another = Object.defineProperty(logOf(["new"]), "epoch", { value: "e2" });
    expect(exportPiece(another, next)).toBeUndefined();
  });
});
