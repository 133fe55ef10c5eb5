// What rooms and the Worker can ask of a room about what crosses from room to room, and of the place where that ends
// which nobody could take.
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

export interface RelayDoor {
  /** From now on the room passes on to `to`. */
  link(to: string): Promise<Answer<object>>;

  unlink(to: string): Promise<Answer<object>>;

  links(): Promise<RoomLinks>;

  /** The room at the other end of that link misses what comes behind this. */
  rewind(to: string, link: LinkName, reached: Reached): Promise<void>;

  /** @returns what became of each, in their order; resolves when that is durable */
  takeRelayed(batches: readonly RelayBatch[]): Promise<readonly RelayOutcome[]>;
}

export interface DeadLettersDoor {
  bury(dead: readonly DeadBatch[]): Promise<void>;

  /** The oldest first. @param after an id */
  list(after: number, limit: number): Promise<readonly DeadLetter[]>;

  read(ids: readonly number[]): Promise<ReadonlyArray<{ readonly id: number; readonly batch: RelayBatch }>>;

  remove(ids: readonly number[]): Promise<void>;
}

/** One object keeps them for the whole deployment. */
export const DEAD_LETTERS_NAME = "relay";
