// Reads and sets the recovery offset of a stock client, which is private to it.
import type { Socket } from "socket.io-client";

interface Resuming {
  _lastOffset?: string;
}

/** Characters of an epoch; in ids and offsets the life of the log follows it. */
const EPOCH_CHARS = 20;

/** The epoch of the log that an id or an offset is of. */
export const epochOf = (idOrOffset: string): string => idOrOffset.slice(0, EPOCH_CHARS);

export const offsetOf = (socket: Socket): string | undefined => (socket as unknown as Resuming)._lastOffset;

export function setOffset(socket: Socket, offset: string): void {
  (socket as unknown as Resuming)._lastOffset = offset;
}
