// The prefix of rooms between two people. A file of its own, so that clients bundle no more than this.
export const DIRECT_PREFIX = "dm~";

export const isDirectRoom = (room: string): boolean => room.startsWith(DIRECT_PREFIX);
