// What the Worker can ask of a room besides connections: calls to its object, each with one answer. Who may ask has
// been decided when a room is called; what comes back is for the caller's eyes as it is.

import type { Answer, Attachment, ErrorAnswer, OpenDirectAnswer, Role, RoomOverview } from "../protocol/chat-events.ts";
import type { RoomStats, StatsQuery } from "../protocol/watching.ts";
import type { DirectUsers } from "../protocol/direct-room.ts";

/** On whose behalf the Worker asks. */
export interface OutsideCaller {
  readonly user: string;
  readonly name: string;
  readonly role: Role;
}

export interface RoomRpc<Place = unknown> {
  /** Does what the event of that name does, and answers as its ack would. Resolves when the answer is durable. */
  ask(event: string, caller: OutsideCaller, given: unknown): Promise<Answer<object>>;

  /**
   * Asks for the room's leave to store a file, before a byte of it is stored.
   * @param file what it is, with an `id` that nobody can guess; asked again, once its bytes say what it is, with `hasLeave`
   */
  permitUpload(caller: OutsideCaller, file: object): Promise<Answer<{ readonly attachment: Attachment }>>;

  /** Whether somebody may read a file, and with it the others of that life of the room. */
  permitReading(caller: OutsideCaller, file: { readonly key: string; readonly epoch: string }): Promise<Answer<object>>;

  /** @returns why somebody may not look after this room, or nothing where they may */
  refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined>;

  /** From now on the room, whose name says so, is that of these two. */
  openDirect(users: DirectUsers): Promise<OpenDirectAnswer>;

  overview(): Promise<RoomOverview>;

  /** Why it is awake, and who is connected. Asking wakes it. */
  stats(query: StatsQuery): Promise<RoomStats>;

  /**
   * A piece of the room's log as newline-delimited JSON.
   * @param place what the last piece gave as `next`; without it the export begins
   * @returns `undefined` if the log that was begun is gone
   */
  exportPiece(place?: Place): Promise<{ readonly lines: string; readonly next?: Place } | undefined>;

  /**
   * Sends everyone away for a while; they are told when to come back, spread over `withinMs`.
   * @returns how many connections were closed
   */
  drain(withinMs: number): Promise<number>;

  /** Sends everyone away for good, and forgets all that is stored. */
  deleteRoom(): Promise<void>;
}
