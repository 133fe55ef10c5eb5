// The interface of a run's members, for each kind of client, and of the tally to which they report (tally.ts). Called by both,
// crowd.ts, history.ts and run.ts.

/** Who a member is, and how it connects. */
export interface Seat {
  /** Counts all members of the run. */
  readonly number: number;
  readonly user: string;
  /** Counts all rooms of the run. */
  readonly roomNumber: number;
  readonly room: string;
  readonly origin: string;
  /** Of the Socket.IO endpoint, perhaps with a query. */
  readonly path: string;
  /** Speaks as Parley's own client does, with several packets to a frame; otherwise as a stock client. */
  readonly isOwn: boolean;
  /** Takes the events of a turn in one, as a stock client may. */
  readonly isBundling: boolean;
  readonly isPolling: boolean;
  /** A client library, in place of the few lines of which one process can be ten thousand. */
  readonly isLibrary: boolean;
  readonly token?: string;
}

export interface Post {
  /** A number for the message, the same wherever it is seen. */
  readonly code: number;
  readonly content: string;
  readonly dueUs: number;
}

export interface Member {
  readonly seat: Seat;
  readonly isIn: boolean;
  /** Posts without an answer so far. */
  readonly unanswered: number;
  /** Those sent over the connection that still stands: only the server can have lost them. */
  readonly ignored: number;
  /** Resolves when the room has let it in; rejects with a `JoinError`. */
  join(): Promise<void>;
  /** @returns whether it could be sent: a member that is away cannot */
  post(post: Post): boolean;
  /** Goes for good. */
  leave(): void;
}

export interface Observer {
  /** A message of a room, as a member got it. `mark` if it belongs to this run. */
  delivered(member: Member, seq: number, mark: { room: number; code: number; dueUs: number } | undefined): void;
  /** The room's last seq when the member connected, from its welcome. */
  entered(member: Member, lastSeq: number): void;
  acked(member: Member, seq: number, post: Post): void;
  refused(code: string): void;
  /** The connection ended unexpectedly. */
  dropped(reason: string): void;
  /** It is back. */
  returned(isRecovered: boolean): void;
  /** The server sent a heartbeat: its room is awake. */
  pinged(): void;
  /** Something happened that should not. */
  failed(reason: string): void;
}

export class JoinError extends Error {
  /** `429`, `UNAUTHORIZED`, `ECONNREFUSED`: short, and the same for the same cause. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Microseconds on a clock of this process that never goes back. */
export const nowUs = (): number => performance.now() * 1000;
