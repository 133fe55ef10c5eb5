// Lists the parts of a load test that did not happen as requested. Pure; docs/load.md defines an incomplete run.
import type { LoadReport } from "./report.ts";

/** A few lines that broke and came back cost a run no more of its posts. */
const UNACKED_SHARE_MAX = 0.01;

type Ran = Pick<LoadReport, "connections" | "messages">;

/** In words, with numbers; none where the run was whole. */
export function shortfallsOf({ connections: { users, in: entered, away }, messages }: Ran): string[] {
  const shortfalls: string[] = [];
  if (entered < users) shortfalls.push(`${users - entered} of ${users} users did not get in`);
  if (away > 0) shortfalls.push(`${away} of ${entered} users were away at the end`);
  const { posts, acks, unsent, refusals, unanswered } = messages;
  const due = posts + unsent;
  if (due - acks > UNACKED_SHARE_MAX * due)
    shortfalls.push(
      `${due - acks} of ${due} posts that were due have no ack (${unsent} not sent, ${refusals} refused, ${unanswered} unanswered)`,
    );
  return shortfalls;
}

/** The missing parts, and the consequence for the other results. */
export function incompleteWords(report: Ran): string {
  const held =
    report.messages.posts === 0 ? "Nothing was posted." : "No posted message was lost, doubled or out of order.";
  return `${shortfallsOf(report).join("; ")}. ${held}`;
}
