// Maps a user id to one of a few colours, evenly and always to the same one. Pure; the avatar calls it.

/** White letters on each of them meet WCAG AA. */
export const HUES = ["#0b6b60", "#8a3ffc", "#b0413e", "#1f5fbf", "#8a5a00", "#a2307c", "#3f6b12", "#4b5a6b"] as const;

export function hueOf(user: string): string {
  // FNV-1a, with its bits mixed once more: short ids alone yield similar numbers.
  let hash = 0x811c9dc5;
  for (let at = 0; at < user.length; at++) hash = Math.imul(hash ^ user.charCodeAt(at), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  return HUES[((hash ^ (hash >>> 13)) >>> 0) % HUES.length]!;
}
