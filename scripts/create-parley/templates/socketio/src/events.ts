// The events of a board. Server and page share these types.

export type Line = readonly [fromX: number, fromY: number, toX: number, toY: number];

export interface ClientToServerEvents {
  draw: (line: Line, ack: (answer: { ok: boolean }) => void) => void;
  wipe: () => void;
}

export interface ServerToClientEvents {
  /** The lines on the board, to a new painter. */
  board: (lines: readonly Line[]) => void;
  draw: (line: Line) => void;
  wipe: () => void;
  people: (count: number) => void;
}
