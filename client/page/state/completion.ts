// Completes what is being written: finds the people who fit a mention, and the completed text. Pure; completion.tsx
// calls it.
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

/** The text with what was chosen in the place of what was typed from there on, and the new place of the caret. */
export function completed(
  text: string,
  caret: number,
  from: number,
  chosen: string,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(caret).replace(/^ /, "");
  return { text: `${text.slice(0, from)}${chosen} ${rest}`, caret: from + chosen.length + 1 };
}
