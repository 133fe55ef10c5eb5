// Maps a user id to one of sixteen hues, evenly and always to the same one. Pure; components give it to the sheets, which make colours of it
// (`oklch`): those of avatars, names and quotes.

/** Degrees, the same step apart. */
export const HUES = Array.from({ length: 16 }, (_, at) => at * 22.5);

export function hueOf(user: string): number {
  // FNV-1a, with its bits mixed once more: short ids alone yield similar numbers.
  let hash = 0x811c9dc5;
  for (let at = 0; at < user.length; at++) hash = Math.imul(hash ^ user.charCodeAt(at), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  return HUES[((hash ^ (hash >>> 13)) >>> 0) % HUES.length]!;
}
