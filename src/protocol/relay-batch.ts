// The batches that rooms pass on to each other, in the form in which they travel (RLY-1, RLY-2).
import type { AnnouncePart } from "./announcement.ts";
import type { Role } from "./chat-events.ts";

export type * from "./schemas/relay.ts";

/** The room where a message began, and its place there. */
export interface Root {
  readonly room: string;
  /** The epoch of the log, and after a dot its life, where that has a name. */
  readonly epoch: string;
  readonly seq: number;
}

/** A message on its way to another room. */
export interface RelayedPost {
  /** Its place in the room that passes it on, and the life of that log. */
  readonly seq: number;
  readonly life?: string;
  readonly sender: string;
  readonly name: string;
  readonly content: string;
  /** The role it was written in, where that is higher than a member. */
  readonly role?: Extract<Role, "moderator" | "service">;
  readonly root: Root;
  /** Links passed by the time it arrives. */
  readonly hops: number;
}

/** An edit or a deletion of a message. */
export interface RelayedChange {
  /** The place of the message in the room that passes it on, and when it was posted there. */
  readonly seq: number;
  readonly timestamp: number;
  /** The change's place among the changes of that room; … */
  readonly rev: number;
  /** … and of the room where it began: the higher one is the later. */
  readonly rootRev: number;
  readonly root: Root;
  /** The user who made it. */
  readonly by: string;
  /** The content now; absent where the message was deleted. */
  readonly content?: string;
}

/** Everything that crosses of what stands behind `after`, up to and with `upTo`. */
export interface Span<Item> {
  readonly after: number;
  readonly upTo: number;
  /** Ascending. */
  readonly items: readonly Item[];
}

/** Has the lives of the log at both ends: after a backup was restored, other messages have the same places. */
export interface PostSpan extends Span<RelayedPost> {
  readonly afterLife?: string;
  readonly upToLife?: string;
}

/** Names a link, as distinct from earlier links between the same rooms. */
export interface LinkName {
  /** Of the log of the room that passes on. */
  readonly epoch: string;
  /** Messages up to here are not passed on. */
  readonly since: number;
  /** In milliseconds since 1970; also the `rev` behind which changes are passed on. */
  readonly linkedAtMs: number;
}

/** The version of the form of batches. A change of what a field means needs another one. */
export const RELAY_VERSION = 1;

/** Messages and changes that cross a link together. */
export interface RelayBatch extends LinkName {
  readonly v: typeof RELAY_VERSION;
  readonly from: string;
  readonly to: string;
  readonly posts: PostSpan;
  readonly changes: Span<RelayedChange>;
}

/** A room has messages and changes up to here of what another room passes on. */
export interface Reached {
  readonly seq: number;
  /** Of the log of the room that passes it on. */
  readonly life?: string;
  readonly rev: number;
}

export type RelayOutcome =
  /** `isThere`: the room itself has taken it, not a queue. */
  | { readonly ok: true; readonly isThere?: true }
  /** `isFinal`: another try would fail the same way. `reached`: the room misses what lies between there and the batch. */
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string; readonly reached?: Reached };

/** A batch that was given up. */
export interface DeadBatch {
  readonly batch: RelayBatch | AnnouncePart;
  readonly reason: string;
}
