// What the stock client resumes with, which is its own affair: tests set it back, and see whether it has moved on.
import type { Socket } from "socket.io-client";

interface Resuming {
  _lastOffset?: string;
}

export const offsetOf = (socket: Socket): string | undefined => (socket as unknown as Resuming)._lastOffset;

export function setOffset(socket: Socket, offset: string): void {
  (socket as unknown as Resuming)._lastOffset = offset;
}
