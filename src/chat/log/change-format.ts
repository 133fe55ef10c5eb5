// The stored format of a message's change: one JSON text, `[1, {d?, e?, r?, o?, l?}]`. Used by src/objects/sql/change-tables.ts.
//
//   d   the user who deleted it
//   e   [[content, timestampMs, by], …]: its edits
//   r   [[emoji, [user, …]], …]
//   o   of a copy: the change's position among those of the room where the message began
//   l   of a copy that was edited here since: the edit that came along, like one of `e`
//
// A new optional key needs no new version; a key that changes what another one means does.
import type { Version } from "../../protocol/chat-events.ts";
import { canonicalEmoji } from "../../protocol/text/characters.ts";
import { UnreadableBatch } from "./batch-format.ts";
import type { Change } from "./change.ts";

const VERSION = 1;

/** JSON leaves out the fields that are undefined. */
interface StoredChange {
  readonly d?: string | undefined;
  readonly e?: readonly StoredVersion[] | undefined;
  readonly r?: ReadonlyArray<readonly [emoji: string, users: readonly string[]]> | undefined;
  readonly o?: number | undefined;
  readonly l?: StoredVersion | undefined;
}

type StoredVersion = readonly [content: string, timestampMs: number, by: string];

const toStored = ({ content, timestamp, by }: Version): StoredVersion => [content, timestamp, by];
const toVersion = ([content, timestamp, by]: StoredVersion): Version => ({ content, timestamp, by });

export function encodeChange({ deletedBy, edits, reactions, rootRev, rootEdit }: Change): string {
  const stored: StoredChange = {
    d: deletedBy,
    e: edits.length > 0 ? edits.map(toStored) : undefined,
    r: reactions.size > 0 ? [...reactions] : undefined,
    o: rootRev,
    l: rootEdit && toStored(rootEdit),
  };
  return JSON.stringify([VERSION, stored]);
}

/** @throws UnreadableBatch where this code cannot read it: of another version, or damaged */
export function decodeChange(text: string, seq: number): Change {
  let version: unknown;
  try {
    const [writtenBy, stored] = JSON.parse(text) as [unknown, StoredChange];
    version = writtenBy;
    if (version === VERSION) return whole(toChange(stored));
  } catch (cause) {
    throw new UnreadableBatch(`the change of the message at seq ${seq} is damaged`, { cause });
  }
  const found = JSON.stringify(version);
  throw new UnreadableBatch(
    `the change of the message at seq ${seq} is of version ${found}; this code reads ${VERSION}`,
  );
}

/** @throws TypeError where a part has a wrong type */
function whole(change: Change): Change {
  const { deletedBy, edits, reactions, rootRev } = change;
  const isWhole =
    (deletedBy === undefined || typeof deletedBy === "string") &&
    edits.every(({ content, timestamp, by }) => isText(content) && Number.isFinite(timestamp) && isText(by)) &&
    [...reactions].every(([emoji, users]) => isText(emoji) && Array.isArray(users) && users.every(isText)) &&
    (rootRev === undefined || Number.isFinite(rootRev));
  if (isWhole) return change;
  throw new TypeError("not a change");
}

const isText = (value: unknown): boolean => typeof value === "string";

function toChange({ d, e = [], r = [], o, l }: StoredChange): Change {
  return {
    ...(d !== undefined && { deletedBy: d }),
    edits: e.map(toVersion),
    reactions: byEmoji(r),
    ...(o !== undefined && { rootRev: o }),
    ...(l && { rootEdit: toVersion(l) }),
  };
}

/** Earlier releases stored each way to write an emoji as one of its own: their users are those of one emoji, each once. */
function byEmoji(stored: NonNullable<StoredChange["r"]>): Change["reactions"] {
  const reactions = new Map<string, readonly string[]>();
  for (const [written, users] of stored) {
    const emoji = canonicalEmoji(written);
    const known = reactions.get(emoji);
    reactions.set(emoji, known ? [...known, ...users.filter((user) => !known.includes(user))] : users);
  }
  return reactions;
}
