// Reads ids of messages, and reads and sets the recovery offset of a stock client, which is private to it.
import type { Socket } from "socket.io-client";

interface Resuming {
  _lastOffset?: string;
}

/** Characters of an epoch; in ids and offsets the incarnation of the log follows it. */
const EPOCH_CHARS = 20;

/** The epoch of the log that an id or an offset is of. */
export const epochOf = (idOrOffset: string): string => idOrOffset.slice(0, EPOCH_CHARS);

/** The incarnation of that log in which the message with this id was posted. */
export const incarnationOf = (id: string): string => id.slice(EPOCH_CHARS, id.lastIndexOf("-"));

export const seqOf = (id: string): number => Number.parseInt(id.slice(id.lastIndexOf("-") + 1), 36);

export const offsetOf = (socket: Socket): string | undefined => (socket as unknown as Resuming)._lastOffset;

export function setOffset(socket: Socket, offset: string): void {
  (socket as unknown as Resuming)._lastOffset = offset;
}
