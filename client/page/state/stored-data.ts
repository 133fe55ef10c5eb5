// Counts and clears what a reader left in this browser: drafts, unsent messages, visited rooms and the name. The chat store
// clears it at sign-out.
import type { KeyValueStorage } from "../../core/api.ts";
import { defaultStorage, keysIn, unsentKeys } from "../../core/outbox-storage.ts";
import { draftPrefix } from "./drafts.ts";
import { keyAt } from "./json-storage.ts";
import { SEEN_NAME } from "./room-directory.ts";

const JOIN_NAME = "parley.join";
export const joinKey = (base: string): string => keyAt(base, JOIN_NAME);

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

/** Counts what a sign-out would delete. */
export function countUnfinished(owner: Owner): Unfinished {
  const storage = defaultStorage();
  if (!storage) return { unsent: 0, drafts: 0 };
  const { base, user } = owner;
  return { unsent: unsentKeys(storage, base, user).length, drafts: draftsIn(storage, owner).length };
}

export function clearStoredData(owner: Owner): void {
  const storage = defaultStorage();
  if (!storage) return;
  const { base, user } = owner;
  const keys = [...unsentKeys(storage, base, user), ...draftsIn(storage, owner), keyAt(base, SEEN_NAME), joinKey(base)];
  for (const key of keys) storage.removeItem(key);
  // Drafts that were typed before their writer was known.
  for (const key of keysIn(sessionStorage, draftPrefix(base))) sessionStorage.removeItem(key);
}

const draftsIn = (storage: KeyValueStorage, { base, writer }: Owner): string[] =>
  keysIn(storage, draftPrefix(base, writer));
