// Finds misspelt names of settings, and says which were probably meant. Called by local-variables.ts and doctor/settings.ts.
import { SETTING_NAMES } from "../src/settings/settings.ts";

/** Two letters that changed places count as two. */
const EDITS_MAX = 2;
/** Shorter names differ in so few letters by chance. */
const LENGTH_MIN = 5;

/** @returns a sentence for each of these names that is no setting and nearly has the name of one */
export function misspeltIn(names: Iterable<string>): string[] {
  return [...names].flatMap((name) => {
    const meant = SETTING_NAMES.includes(name) ? undefined : nearest(name);
    return meant === undefined ? [] : [`${name} is no setting. Did you mean ${meant}?`];
  });
}

function nearest(name: string): string | undefined {
  if (name.length < LENGTH_MIN) return undefined;
  const [best] = SETTING_NAMES.filter((one) => one.length >= LENGTH_MIN)
    .map((one) => ({ one, edits: editsBetween(name, one) }))
    .filter(({ edits }) => edits <= EDITS_MAX)
    .toSorted((a, b) => a.edits - b.edits);
  return best?.one;
}

/** Letters to insert, remove or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_none, at) => at);
  for (let at = 0; at < from.length; at++) {
    const next = [at + 1];
    for (let other = 0; other < to.length; other++) {
      const replaced = row[other]! + (from[at] === to[other] ? 0 : 1);
      next.push(Math.min(next[other]! + 1, row[other + 1]! + 1, replaced));
    }
    row = next;
  }
  return row[to.length]!;
}
