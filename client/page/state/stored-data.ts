// Counts and clears the data of a reader in this browser: drafts, unsent messages, visited rooms, what was read last, emoji and the name. The chat store
// clears it at sign-out.
import { isRoomName, unsentOf } from "parley-rooms/client";

import { draftPrefix } from "./drafts.ts";
import { likedKey } from "./emoji.ts";
import { keep, keyAt, keysOf, local, ofTab, readJson } from "./json-storage.ts";
import { lastReadKey } from "./last-read.ts";
import { FOLDED_NAME, LEFT_NAME, SEEN_NAME } from "./room-directory.ts";
import { begunKey } from "./sign-in.ts";

const JOIN_NAME = "parley.join";
export const joinKey = (base: string): string => keyAt(base, JOIN_NAME);

/** The name and the room with which somebody joined last in this browser. */
export function rememberedAt(key: string): { readonly name: string; readonly room: string | undefined } {
  const kept = readJson(local, key) as { name?: unknown; room?: unknown } | undefined;
  return {
    name: typeof kept?.name === "string" ? kept.name : "",
    room: typeof kept?.room === "string" && isRoomName(kept.room) ? kept.room : undefined,
  };
}

/** The reader whose data is meant, as far as they are known. */
export interface Owner {
  readonly base: string;
  readonly user: string | undefined;
  /** The writer in the storage keys of drafts. */
  readonly writer: string | undefined;
}

export interface Unfinished {
  readonly unsent: number;
  readonly drafts: number;
}

/** Counts the data that a sign-out would delete. */
export function countUnfinished(owner: Owner): Unfinished {
  return { unsent: unsentOf(owner.base, owner.user).count, drafts: draftsOf(owner).length };
}

/** @param isReplaced whether another reader has come in another tab: what is kept under keys without a user is theirs */
export function clearStoredData(owner: Owner, isReplaced = false): void {
  const { base, user } = owner;
  unsentOf(base, user).forget();
  const kept = [SEEN_NAME, LEFT_NAME, FOLDED_NAME].map((name) => keyAt(base, name));
  const shared = [...kept, joinKey(base), begunKey(base), likedKey(base), lastReadKey(base)];
  for (const key of [...draftsOf(owner), ...(isReplaced ? [] : shared)]) keep(local, key, undefined);
  // Drafts that were typed before their writer was known.
  for (const key of keysOf(ofTab, draftPrefix(base))) keep(ofTab, key, undefined);
}

const draftsOf = ({ base, writer }: Owner): string[] => keysOf(local, draftPrefix(base, writer));
