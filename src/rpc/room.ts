// The calls of a room's object besides connections. The Worker calls them once it has checked the caller, and passes the answers on.

import type {
  Answer,
  AnswerTo,
  Attachment,
  ClientToServerEvents,
  ErrorAnswer,
  Role,
  RoomModes,
  RoomOverview,
  FilePassGiven,
} from "../protocol/chat-events.ts";
import type { FileOfLog } from "../protocol/file-key.ts";
import type { RoomStats, StatsQuery } from "../protocol/watching.ts";

/** The user for whom the Worker calls. */
export interface OutsideCaller {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
  /** Of a guest: names all guests of the network, who count as one user. */
  readonly guests?: string;
}

export interface RoomRpc<Position = unknown> {
  /** Carries out the event of that name, and answers as its ack would. Resolves when the answer is durable. */
  ask<Event extends keyof ClientToServerEvents>(
    event: Event,
    caller: OutsideCaller,
    given: unknown,
  ): Promise<AnswerTo<Event>>;

  /** The same for an event of a feature that the room's class adds (OWN-9); any other event is unknown here. */
  askOwn(event: string, caller: OutsideCaller, given: unknown): Promise<Answer<object>>;

  /**
   * Asks the room's permission to store a file, before a byte of it is stored.
   * @param file its facts, with an `id` that cannot be guessed; asked again with `isPermitted`, once the bytes have shown its type
   */
  permitUpload(caller: OutsideCaller, file: object): Promise<Answer<{ readonly attachment: Attachment }>>;

  /** Permits a user to read a file, and with it the other files of that log of the room. */
  permitReading(caller: OutsideCaller, file: FileOfLog): Promise<Answer<object>>;

  /** Gives a user who may read a file a pass to it. */
  passTo(caller: OutsideCaller, file: FileOfLog): Promise<Answer<FilePassGiven>>;

  /** Checks a pass to a file: its bearer may read the file while the user of the pass may. */
  permitPass(pass: string, file: FileOfLog): Promise<Answer<object>>;

  /** @returns the refusal where the caller is no moderator of this room */
  refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined>;

  overview(): Promise<RoomOverview & Pick<RoomModes, "topic">>;

  /** The reason why the room is awake, and its connections. The call wakes it. */
  stats(query: StatsQuery): Promise<RoomStats>;

  /**
   * A chunk of the room's log as newline-delimited JSON, or the refusal: the caller may not read any more, or has too much to read.
   * @param position `next` of the last chunk; without it the export begins
   * @returns `undefined` if the log that was begun is gone
   */
  exportPiece(
    caller: OutsideCaller,
    position?: Position,
  ): Promise<{ readonly lines: string; readonly next?: Position } | ErrorAnswer | undefined>;

  /**
   * Disconnects everyone for a while. The notice carries a moment to come back, spread over `withinMs`.
   * @returns how many connections were closed. @throws Error where shards failed; all other connections are closed then, too
   */
  drain(withinMs: number): Promise<number>;

  /** Disconnects everyone for good, and deletes all that is stored. */
  deleteRoom(): Promise<void>;
}
