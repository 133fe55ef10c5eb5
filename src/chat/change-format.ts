// How a message's change is written down: one JSON text, `[1, {d?, e?, r?}]`.
//
//   d   who deleted it
//   e   [[content, timestampMs, by], …]: what it said after it was posted
//   r   [[emoji, [user, …]], …]
//   o   of a copy: the change's place among those of the room where the message began
//
// A new optional key needs no new version; a key that changes what another one means does.
import { UnreadableBatch } from "./batch-format.ts";
import type { Change } from "./change.ts";

const VERSION = 1;

interface StoredChange {
  readonly d?: string;
  readonly e?: ReadonlyArray<readonly [content: string, timestampMs: number, by: string]>;
  readonly r?: ReadonlyArray<readonly [emoji: string, users: readonly string[]]>;
  readonly o?: number;
}

export function encodeChange({ deletedBy, edits, reactions, rootRev }: Change): string {
  const stored: StoredChange = {
    ...(deletedBy !== undefined && { d: deletedBy }),
    ...(edits.length > 0 && { e: edits.map(({ content, timestamp, by }) => [content, timestamp, by] as const) }),
    ...(reactions.size > 0 && { r: [...reactions] }),
    ...(rootRev !== undefined && { o: rootRev }),
  };
  return JSON.stringify([VERSION, stored]);
}

/** @throws UnreadableBatch where this code cannot read it: of another version, or damaged */
export function decodeChange(text: string, seq: number): Change {
  let version: unknown;
  try {
    const [writtenBy, stored] = JSON.parse(text) as [unknown, StoredChange];
    version = writtenBy;
    if (version === VERSION) return toChange(stored);
  } catch (cause) {
    throw new UnreadableBatch(`the change of the message at seq ${seq} is damaged`, { cause });
  }
  const found = JSON.stringify(version);
  throw new UnreadableBatch(
    `the change of the message at seq ${seq} is of version ${found}; this code reads ${VERSION}`,
  );
}

function toChange({ d, e = [], r = [], o }: StoredChange): Change {
  return {
    ...(d !== undefined && { deletedBy: d }),
    edits: e.map(([content, timestamp, by]) => ({ content, timestamp, by })),
    reactions: new Map(r),
    ...(o !== undefined && { rootRev: o }),
  };
}
