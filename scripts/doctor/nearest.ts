// Finds the name that a misspelled one was probably meant to be. Called by checks/settings.ts.

/** Two letters that changed places count as two. */
const EDITS_MAX = 2;
/** Shorter names differ in so few letters by chance. */
const LENGTH_MIN = 5;

export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length < LENGTH_MIN) return undefined;
  const [best] = known
    .filter((one) => one.length >= LENGTH_MIN)
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
