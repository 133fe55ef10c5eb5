// Marks of the users in a room: a hash of six characters per user, so that a lobby knows which rooms to call for an
// announcement to users. Two users may share a mark; then a room is called that has neither. Called by features/directory and
// chat/people/room-bounds.ts.

const MARK_LENGTH = 6;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The marks of all of them, ascending, so that the same people give the same text. */
export function marksOf(users: Iterable<string>): string {
  return Array.from(users, markOf).sort().join("");
}

export function markOf(user: string): string {
  let [a, b] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < user.length; i++) {
    a = Math.imul(a ^ user.charCodeAt(i), 0x01000193) >>> 0;
    b = Math.imul(b ^ user.charCodeAt(i), 0x85ebca6b) >>> 0;
    b = (b ^ (b >>> 13)) >>> 0;
  }
  let mark = "";
  for (let i = 0; i < MARK_LENGTH; i++) {
    mark += ALPHABET[(i < 3 ? a >>> (i * 6) : b >>> ((i - 3) * 6)) & 63]!;
  }
  return mark;
}

export function* eachMark(marks: string): Iterable<string> {
  for (let i = 0; i < marks.length; i += MARK_LENGTH) yield marks.slice(i, i + MARK_LENGTH);
}
