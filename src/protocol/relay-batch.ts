// What rooms pass on to each other, as it travels: RLY-1, RLY-2.
import type { AnnouncePart } from "./announcement.ts";
import type { Role } from "./chat-events.ts";

export type * from "./schemas/relay.ts";

/** The place where a message began: in which room, in which life of it, and where. */
export interface Root {
  readonly room: string;
  /** The epoch, and behind a dot the life of the log, where it has a name. */
  readonly epoch: string;
  readonly seq: number;
}

/** A message on its way to another room. */
export interface RelayedPost {
  /** Its place in the room that passes it on, and the life of the log there. */
  readonly seq: number;
  readonly life?: string;
  readonly sender: string;
  readonly name: string;
  readonly content: string;
  /** In which it was written, where that was more than a member. */
  readonly role?: Extract<Role, "moderator" | "service">;
  readonly root: Root;
  /** Links that it has passed when it arrives. */
  readonly hops: number;
}

/** That a message was edited or deleted since. */
export interface RelayedChange {
  /** The place of the message in the room that passes it on, and when it was posted there. */
  readonly seq: number;
  readonly timestamp: number;
  /** The change's place among the changes of that room; … */
  readonly rev: number;
  /** … and of the room where it began: the higher one is the later. */
  readonly rootRev: number;
  readonly root: Root;
  /** The user id of who did it. */
  readonly by: string;
  /** What it says now; absent where it was deleted. */
  readonly content?: string;
}

/** All there is to tell of what stands behind `after`, up to and with `upTo`. */
export interface Span<Item> {
  readonly after: number;
  readonly upTo: number;
  /** Ascending. */
  readonly items: readonly Item[];
}

/** The lives of the log at both ends tell messages from others that had the same places before a backup was restored. */
export interface PostSpan extends Span<RelayedPost> {
  readonly afterLife?: string;
  readonly upToLife?: string;
}

/** A link, told apart from those that were there before between the same rooms. */
export interface LinkName {
  /** Of the log of the room that passes on. */
  readonly epoch: string;
  /** What was posted up to here is not passed on. */
  readonly since: number;
  /** In milliseconds since 1970; also the `rev` behind which changes are passed on. */
  readonly linkedAtMs: number;
}

/** Of the form that batches have; one that is read as something else now needs another. */
export const RELAY_VERSION = 1;

/** What crosses a link in one go. */
export interface RelayBatch extends LinkName {
  readonly v: typeof RELAY_VERSION;
  readonly from: string;
  readonly to: string;
  readonly posts: PostSpan;
  readonly changes: Span<RelayedChange>;
}

/** How far a room has come with what another one passes on to it: messages and changes up to here it has. */
export interface Reached {
  readonly seq: number;
  /** Of the log of the room that passes it on. */
  readonly life?: string;
  readonly rev: number;
}

export type RelayOutcome =
  /** `isThere`: the room has it, and no queue has to bring it. */
  | { readonly ok: true; readonly isThere?: true }
  /** `isFinal`: another try would change nothing. `reached`: something between here and the batch is missing. */
  | { readonly ok: false; readonly isFinal: boolean; readonly reason: string; readonly reached?: Reached };

/** A batch that was given up. */
export interface DeadBatch {
  readonly batch: RelayBatch | AnnouncePart;
  readonly reason: string;
}
