// Chooses messages that are worth indexing, and makes their index blocks. Called by search-run.ts: a search indexes the old messages
// that it comes across, so a room that is never searched is never indexed.
import type { Message } from "../../protocol/chat-events.ts";
import { termsOf } from "./index-terms.ts";
import type { IndexBlock, IndexPart, IndexShape } from "./search-index.ts";
import type { Effort } from "./words.ts";

/** @returns a part that begins where the given one does, and ends with it or where the effort was enough for one part */
export function buildPart(
  { firstSeq, lastSeq }: IndexPart,
  { blockMessages, blockChars, partUnits }: IndexShape,
  read: (firstSeq: number, lastSeq: number) => readonly Message[],
  effort: Effort,
): { readonly part: IndexPart; readonly blocks: readonly IndexBlock[] } {
  const blocks: IndexBlock[] = [];
  let end = firstSeq - 1;
  while (end < lastSeq && effort.units < partUnits) {
    const blockEnd = Math.min(lastSeq, end + blockMessages);
    const next = blocksOf(read(end + 1, blockEnd), { charsMax: blockChars, unitsMax: partUnits }, effort);
    blocks.push(...next.blocks);
    end = next.cutAt ?? blockEnd;
  }
  return { part: { firstSeq, lastSeq: end }, blocks };
}

/**
 * One block, or several where one would be too long.
 * @returns with `cutAt`, the place of the last message, where the effort was too much for all of them
 */
function blocksOf(
  messages: readonly Message[],
  { charsMax, unitsMax }: { readonly charsMax: number; readonly unitsMax: number },
  effort: Effort,
): { readonly blocks: readonly IndexBlock[]; readonly cutAt?: number } {
  const blocks: Array<{ readonly firstSeq: number; readonly terms: Set<string> }> = [];
  const filled = (): readonly IndexBlock[] => blocks.filter(({ terms }) => terms.size > 0);
  let chars = Infinity;
  for (const message of messages) {
    chars += message.content.length;
    if (chars > charsMax) {
      blocks.push({ firstSeq: message.seq, terms: new Set() });
      chars = message.content.length;
    }
    for (const term of termsOf(message, effort)) blocks.at(-1)!.terms.add(term);
    if (effort.units >= unitsMax) return { blocks: filled(), cutAt: message.seq };
  }
  return { blocks: filled() };
}

/** The part that a place in a gap between parts would belong to. */
export function chunkOf({ firstSeq, lastSeq }: IndexPart, seq: number, { partMessages }: IndexShape): IndexPart {
  const first = firstSeq + Math.floor((seq - firstSeq) / partMessages) * partMessages;
  return { firstSeq: first, lastSeq: Math.min(first + partMessages - 1, lastSeq) };
}

/** @param newestSeq where the log ends; `undefined` in a gap between parts, which gets no more messages */
export function isWorthIndexing(
  { firstSeq, lastSeq }: IndexPart,
  newestSeq: number | undefined,
  shape: IndexShape,
): boolean {
  const length = lastSeq - firstSeq + 1;
  if (newestSeq === undefined) return length >= shape.pieceMessages;
  return length === shape.partMessages && lastSeq <= newestSeq - shape.unindexedMessages;
}
