// Reads the `auth` of a client: the key and the name of its player. Called by typing-race.ts, and by every server that the bench compares.
import type { Entrant } from "./race.ts";

export const NAME_CHARACTERS_MAX = 20;
const KEY = /^[\w-]{16,64}$/;

/** @returns the player, or the problem of `auth`. @param auth as it came: untrusted */
export function readEntrant({ key, name }: Readonly<Record<string, unknown>>): Entrant | string {
  if (typeof key !== "string" || !KEY.test(key)) return "auth.key has to be 16 to 64 letters and digits.";
  const shown = typeof name === "string" ? name.trim() : "";
  if (shown === "" || shown.length > NAME_CHARACTERS_MAX)
    return `auth.name has to be a text of 1 to ${NAME_CHARACTERS_MAX} characters.`;
  return { key, name: shown };
}
