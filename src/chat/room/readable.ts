// Reads the log and skips unreadable batches. Used by the relay and webhooks, which read in the background.
import type { Message } from "../../protocol/chat-events.ts";
import { UnreadableBatch } from "../log/batch-format.ts";
import type { Kept } from "../log/change.ts";
import type { Room } from "./room.ts";

/** @returns `undefined` where the message is gone, or cannot be read, which is reported as `problem` */
export function readableAt(
  { log, reportProblem }: Pick<Room, "log" | "reportProblem">,
  seq: number,
  problem: string,
): Kept | undefined {
  try {
    return log.find(seq);
  } catch (error) {
    if (!(error instanceof UnreadableBatch)) throw error;
    reportProblem(problem, error);
    return undefined;
  }
}

/**
 * Messages after a seq; a batch that cannot be read is skipped.
 * @param problem reported then, once
 */
export function* readableAfter(
  { log, reportProblem }: Pick<Room, "log" | "reportProblem">,
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
      if (!isReported) reportProblem(problem, error);
      isReported = true;
      at++;
    }
  }
}
