// The part of a found message that the searches show: its text from the first match on, with names in place of the ids of mentioned
// people. Pure. Called by search-panel.tsx, page-search.tsx and found-row.tsx.
import { relabelled, type FoundMessage, type Labelled } from "parley-rooms/client";

/** Characters shown before the first match. */
const LEAD = 40;

export interface ExcerptPart {
  readonly text: string;
  /** Whether the search found this text. */
  readonly isMatch: boolean;
}

/** @param mentions those in the content whose names are known */
export function excerptOf(
  { content, matches }: Pick<FoundMessage, "content" | "matches">,
  mentions: readonly Labelled[],
): ExcerptPart[] {
  const text = relabelled(content, mentions);
  const found = matches.map(([from, to]) => [placeOf(from, mentions, "begin"), placeOf(to, mentions, "end")] as const);
  const begin = beginOf(text, found[0]?.[0] ?? 0);
  const parts: ExcerptPart[] = [{ text: begin > 0 ? "…" : "", isMatch: false }];
  let at = begin;
  for (const [from, to] of found) {
    // Two words of one id became the same name.
    if (from < at) continue;
    parts.push({ text: unmarked(text.slice(at, from)), isMatch: false }, { text: text.slice(from, to), isMatch: true });
    at = to;
  }
  return [...parts, { text: unmarked(text.slice(at)), isMatch: false }].filter(({ text }) => text !== "");
}

/** The place in the text with names. A place within an id is that side of its name. */
function placeOf(place: number, mentions: readonly Labelled[], side: "begin" | "end"): number {
  let shift = 0;
  for (const [label, from, to] of mentions) {
    if (place <= from) break;
    if (place < to && side === "begin") return from + shift;
    shift += label.length - (to - from);
    if (place < to) return to + shift;
  }
  return place + shift;
}

/** A little before the first match, at the beginning of a word. */
function beginOf(text: string, found: number): number {
  if (found <= LEAD) return 0;
  const space = text.slice(found - LEAD, found).search(/\s\S/);
  return found - LEAD + space + 1;
}

/** Without the marks of bold and code, which may be unpaired in an excerpt. */
const unmarked = (text: string): string => text.replaceAll(/\*\*|`+/g, "");
