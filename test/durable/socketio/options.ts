// Settings that this folder's applications share.

/** How long a connection may be recovered, in milliseconds. */
export const WINDOW_MS = 60_000;
