// The calls of rooms, of the Announcements object and of the DeadLetters object that the relay makes. Used by the Worker and by rooms.
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
  /** Links the room to `to`, from now on. */
  link(to: string): Promise<Answer<object>>;

  unlink(to: string): Promise<Answer<object>>;

  links(): Promise<RoomLinks>;

  /** Sends all messages behind `reached` again: the room at the other end of the link misses them. */
  rewind(to: string, link: LinkName, reached: Reached): Promise<void>;

  /** @returns the outcomes, in the order of the batches; resolves when they are durable */
  takeRelayed(batches: readonly RelayBatch[]): Promise<readonly RelayOutcome[]>;
}

export interface DeadLettersRpc {
  add(dead: readonly DeadBatch[]): Promise<void>;

  /** The oldest first. @param after an id */
  list(after: number, limit: number): Promise<readonly DeadLetter[]>;

  read(ids: readonly number[]): Promise<ReadonlyArray<{ readonly id: number; readonly batch: DeadBatch["batch"] }>>;

  remove(ids: readonly number[]): Promise<void>;

  /** How many there are. */
  count(): Promise<number>;
}

export interface AnnounceRpc {
  /** Sends them to the connections of the room. @returns the outcomes, in their order; resolves when they are durable */
  takeAnnounced(announcements: readonly AnnouncedHere[]): Promise<readonly AnnounceOutcome[]>;
}

export interface AnnouncementsRpc {
  /** @param by finds announcements of this user only; absent: of any user */
  find(id: string, by?: string): Promise<AnnounceProgress | undefined>;

  /** @param parts `null` while their number is not known */
  begin(
    id: string,
    given: { readonly by: string; readonly accepted: number; readonly parts: number | null },
  ): Promise<void>;

  note(notes: readonly AnnounceNote[], totals: readonly AnnounceTotal[]): Promise<void>;

  /** Delivers items without a queue. Resolves once they are stored. */
  deliver(items: readonly AnnounceItem[], delaySeconds: number): Promise<void>;
}

/** The name of the one object of that class. */
export const ANNOUNCEMENTS_NAME = "all";

/** The name of the one object of that class. */
export const DEAD_LETTERS_NAME = "relay";
