// The calls of rooms and of the DeadLetters object that the relay makes. Used by the Worker and by rooms.
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

/** The name of the one object of that class. */
export const DEAD_LETTERS_NAME = "relay";
