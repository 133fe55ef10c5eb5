// Maps a user id to one of a few colours, evenly and always to the same one. Pure; the avatar calls it.
export const HUES = 8;

export function hueOf(user: string): number {
  // FNV-1a, mixed once more: of short ids alone it makes much the same.
  let hash = 0x811c9dc5;
  for (let at = 0; at < user.length; at++) hash = Math.imul(hash ^ user.charCodeAt(at), 0x01000193) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) >>> 0;
  return ((hash ^ (hash >>> 13)) >>> 0) % HUES;
}
