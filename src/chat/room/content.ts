// Checks the text of a message, new or edited. Called by posting and editing.
import type { ErrorAnswer } from "../../protocol/chat-events.ts";
import { refuse } from "./answers.ts";

/**
 * @param content trimmed
 * @param lengthMax in characters: Unicode code points
 * @param mayBeEmpty the message carries a file
 */
export function contentProblem(content: string, lengthMax: number, mayBeEmpty = false): ErrorAnswer | undefined {
  if (content === "" && !mayBeEmpty) return refuse("INVALID_PAYLOAD", "content: must not be empty");
  // Counts code points only where UTF-16 units leave a doubt.
  if (content.length <= lengthMax || Array.from(content).length <= lengthMax) return undefined;
  return refuse("TOO_LONG", `content: at most ${lengthMax} characters`);
}
