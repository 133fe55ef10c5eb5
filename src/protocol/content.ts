// The normal form of a message's text, and the check of it, new or edited: by its length, and whether anything of it can be seen. Called by the
// schemas of posts and edits, by announcements, the names in tokens and the client.
import type { ErrorAnswer } from "./chat-events.ts";
import { refuse } from "./refuse.ts";

export interface ContentProblem {
  readonly code: "INVALID_PAYLOAD" | "TOO_LONG";
  /** Without the name of the field. */
  readonly message: string;
}

/** A vertical tab is how word processors copy a line break inside a paragraph. */
const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const CONTROLS = /(?![\t\n])\p{Cc}/gu;
const BLANK_LINES = /^(?:[^\S\n]*\n)+/;

/**
 * A visible character: neither a space, nor one without a width, nor the braille pattern without a dot. A character that this runtime's
 * Unicode does not know yet counts as visible.
 */
const VISIBLE =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cc}\p{Cf}\p{Cs}\u2800]/u;

export const isVisible = (text: string): boolean => VISIBLE.test(text);

/**
 * MSG-12: all line ends are line feeds; other control characters but tabs are left out, and half a surrogate pair is U+FFFD. Spaces and blank
 * lines around the text are left out, except before the first of several lines: that is how code is indented. A text in which nothing can
 * be seen is empty.
 */
export function normalContent(given: string): string {
  const text = given.toWellFormed().replaceAll(LINE_END, "\n").replaceAll(CONTROLS, "");
  if (!isVisible(text)) return "";
  const whole = text.trimEnd().replace(BLANK_LINES, "");
  return whole.includes("\n") ? whole : whole.trimStart();
}

/**
 * @param content in its normal form
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
