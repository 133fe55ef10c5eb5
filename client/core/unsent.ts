// The messages that a user has not sent yet, in all rooms of a chat, as far as this browser keeps them: for a sign-out. Applications
// call it, the page among them.
import type { KeyValueStorage } from "./api.ts";
import { baseOf } from "./base.ts";
import { defaultStorage, unsentKeys } from "./outbox-storage.ts";

export interface UnsentMessages {
  readonly count: number;
  /** Deletes them: they are never sent. */
  forget(): void;
}

/**
 * Those without a known writer count as the user's.
 * @param url the chat's address
 * @param storage default: `localStorage`, where `connectRoom` keeps them
 */
export function unsentOf(url: string, user: string | undefined, storage?: KeyValueStorage): UnsentMessages {
  const kept = storage ?? defaultStorage();
  const keys = kept ? unsentKeys(kept, baseOf(url), user) : [];
  return {
    count: keys.length,
    forget: () => {
      for (const key of keys) kept?.removeItem(key);
    },
  };
}
