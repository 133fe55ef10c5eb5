// Checks the text of a message, new or edited. Called by posting, editing, announcements and the client.
import type { ErrorAnswer } from "./chat-events.ts";
import { refuse } from "./refuse.ts";

export interface ContentProblem {
  readonly code: "INVALID_PAYLOAD" | "TOO_LONG";
  /** Without the name of the field. */
  readonly message: string;
}

/**
 * @param content trimmed
 * @param lengthMax in characters: Unicode code points
 * @param mayBeEmpty the message carries a file
 */
export function contentProblem(content: string, lengthMax: number, mayBeEmpty = false): ContentProblem | undefined {
  if (content === "" && !mayBeEmpty) return { code: "INVALID_PAYLOAD", message: "must not be empty" };
  // Counts code points only where UTF-16 units leave a doubt.
  if (content.length <= lengthMax || Array.from(content).length <= lengthMax) return undefined;
  return { code: "TOO_LONG", message: `at most ${lengthMax} characters` };
}

/** The same as an answer to a client. */
export function refuseContent(...given: Parameters<typeof contentProblem>): ErrorAnswer | undefined {
  const problem = contentProblem(...given);
  return problem && refuse(problem.code, `content: ${problem.message}`);
}
