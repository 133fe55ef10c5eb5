// Finds the first message since a time. Called by history, search, announcements and the sweep of files.
import type { MessageLog } from "./message-log.ts";

/** The first seq whose message is no older; `lastSeq + 1` where there is none. Messages are in the order of time. */
export function seqAtTime(log: MessageLog, timeMs: number): number {
  let [from, to] = [log.firstSeq, log.lastSeq + 1];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const [message] = log.page({ after: middle - 1, limit: 1 }).messages;
    if (!message || message.timestamp >= timeMs) to = middle;
    else from = message.seq + 1;
  }
  return from;
}
