// Completes a mention while it is written: finds the people who fit, and the completed text. Pure;
// mention-completion.tsx calls it.
import type { Person } from "parley-rooms/client";

export const SUGGESTIONS_MAX = 6;

/** People whose name, a word of it, or id begins with the query. */
export function suggestionsFor(query: string, people: readonly Person[]): Person[] {
  const wanted = folded(query);
  const fits = ({ user, name }: Person): boolean =>
    [user, ...name.split(/\s+/), name].some((word) => folded(word).startsWith(wanted));
  return people.filter(fits).slice(0, SUGGESTIONS_MAX);
}

/** Letters alike, however a keyboard or an input method writes them. */
const folded = (text: string): string => text.normalize("NFKC").toLocaleLowerCase();

/** The text with the mention, and the new place of the caret. @param label the name of the person in the field */
export function withMention(
  text: string,
  caret: number,
  from: number,
  label: string,
): { readonly text: string; readonly caret: number } {
  const mention = `@${label} `;
  const rest = text.slice(caret).replace(/^ /, "");
  return { text: text.slice(0, from) + mention + rest, caret: from + mention.length };
}
