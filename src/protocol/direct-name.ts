// How the names of rooms between two people begin. A file of its own, because clients need no more of them.
export const DIRECT_PREFIX = "dm~";

export const isDirectRoom = (room: string): boolean => room.startsWith(DIRECT_PREFIX);
