// A backup of a room that was restored: what it has kept, and which messages are lost. Made by chat-deployment.ts and witness.ts, read by
// the clients of a run (person.ts).
import { incarnationOf, seqOf } from "./offset.ts";

/** The log of a room as a restored backup has it. */
export interface Kept {
  readonly epoch: string;
  /** Of the last message. */
  readonly lastSeq: number;
  /** Of the log: behind seqs that a relaxed room had reserved (CHAT-7), which no message has. */
  readonly place: number;
}

/** By this clients tell messages that arrive late, and that a restored backup has not, from those of after the restore. */
export interface Restored {
  /** Of the last message that the backup has. */
  readonly lastSeq: number;
  /** The incarnations that were over with the restore. */
  readonly lives: ReadonlySet<string>;
}

export const isLostIn = ({ lastSeq, lives }: Restored, id: string): boolean =>
  seqOf(id) > lastSeq && lives.has(incarnationOf(id));
