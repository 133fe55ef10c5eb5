// Names of rooms, and the rooms that a token opens. Used by the Worker, the client and the tokens.

/** The room of a client that names none. */
export const DEFAULT_ROOM = "global";

/** 1 to 64 characters of `A-Z a-z 0-9 _ . - ~`, the first a letter or digit. */
export const ROOM_NAME = /^[A-Za-z0-9][A-Za-z0-9_.~-]{0,63}$/;

export function isRoomName(name: string): boolean {
  return ROOM_NAME.test(name);
}

/** Characters of a name that an application gives a room by itself, by the option `room` of `connect`. */
export const NAMED_ROOM_CHARS_MAX = 256;

/** Whether an application of its own may have a room of that name. */
export function isNamedRoom(name: string): boolean {
  return name.length > 0 && name.length <= NAMED_ROOM_CHARS_MAX;
}

/**
 * Whether a token's `rooms` claim lets its bearer in: exact names, or prefixes ending in `*`. A room between two people asks
 * besides who they are (DM-2).
 */
export function roomAllowed(rooms: readonly string[] | undefined, room: string): boolean {
  if (rooms === undefined) return true;
  return rooms.some((rule) => (rule.endsWith("*") ? room.startsWith(rule.slice(0, -1)) : room === rule));
}
