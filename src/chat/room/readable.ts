// Reads the log from a place on and skips batches that cannot be read. Used by features that read in the background.
import type { Message } from "../../protocol/chat-events.ts";
import { UnreadableBatch } from "../log/batch-format.ts";
import type { Room } from "./room.ts";

/**
 * Messages after a place; a batch that cannot be read is passed over.
 * @param problem what to report then, once
 */
export function* readableAfter(
  { log, report }: Pick<Room, "log" | "report">,
  after: number,
  problem: string,
): Iterable<Message> {
  let at = after;
  let isReported = false;
  while (at < log.lastSeq) {
    try {
      for (const message of log.ascending(at)) {
        yield message;
        at = message.seq;
      }
      return;
    } catch (error) {
      if (!(error instanceof UnreadableBatch)) throw error;
      if (!isReported) report(problem, error);
      isReported = true;
      at++;
    }
  }
}
