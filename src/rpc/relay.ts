// What rooms and the Worker can ask of a room about what crosses from room to room, and of the place where that ends
// which nobody could take.
import type {
  AnnouncedHere,
  AnnounceItem,
  AnnounceNote,
  AnnounceOutcome,
  AnnounceProgress,
  AnnounceTotal,
} from "../protocol/announcement.ts";
import type { Answer } from "../protocol/chat-events.ts";
import type {
  DeadBatch,
  DeadLetter,
  LinkName,
  Reached,
  RelayBatch,
  RelayOutcome,
  RoomLinks,
} from "../protocol/relay-batch.ts";

export interface RelayRpc {
  /** From now on the room passes on to `to`. */
  link(to: string): Promise<Answer<object>>;

  unlink(to: string): Promise<Answer<object>>;

  links(): Promise<RoomLinks>;

  /** The room at the other end of that link misses what comes behind this. */
  rewind(to: string, link: LinkName, reached: Reached): Promise<void>;

  /** @returns what became of each, in their order; resolves when that is durable */
  takeRelayed(batches: readonly RelayBatch[]): Promise<readonly RelayOutcome[]>;
}

export interface DeadLettersRpc {
  bury(dead: readonly DeadBatch[]): Promise<void>;

  /** The oldest first. @param after an id */
  list(after: number, limit: number): Promise<readonly DeadLetter[]>;

  read(ids: readonly number[]): Promise<ReadonlyArray<{ readonly id: number; readonly batch: DeadBatch["batch"] }>>;

  remove(ids: readonly number[]): Promise<void>;

  /** How many there are. */
  count(): Promise<number>;
}

export interface AnnounceRpc {
  /** Says it to those who are there. @returns what became of each, in their order; resolves when that is durable */
  takeAnnounced(announcements: readonly AnnouncedHere[]): Promise<readonly AnnounceOutcome[]>;
}

export interface AnnouncementsRpc {
  /** @param by only what this user announced; absent: whoever did */
  find(id: string, by?: string): Promise<AnnounceProgress | undefined>;

  /** @param parts `null` while that is not known */
  begin(
    id: string,
    given: { readonly by: string; readonly accepted: number; readonly parts: number | null },
  ): Promise<void>;

  note(notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]): Promise<void>;

  /** Brings these to their rooms by itself, without a queue. Resolves when it is sure to. */
  deliver(items: readonly AnnounceItem[], delaySeconds: number): Promise<void>;
}

/** One object knows of all announcements. */
export const ANNOUNCEMENTS_NAME = "all";

/** One object keeps them for the whole deployment. */
export const DEAD_LETTERS_NAME = "relay";
