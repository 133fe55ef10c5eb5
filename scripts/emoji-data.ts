// The emoji that the page's picker offers, as one text, which build-client.ts puts into the page: from the package `emojibase-data`, with the
// codes of Slack and of GitHub. client/page/state/emoji-data.ts reads it.
import data from "emojibase-data/en/data.json" with { type: "json" };
import messages from "emojibase-data/en/messages.json" with { type: "json" };
import githubCodes from "emojibase-data/en/shortcodes/github.json" with { type: "json" };
import slackCodes from "emojibase-data/en/shortcodes/iamcal.json" with { type: "json" };

import { canonicalEmoji } from "../src/protocol/text/characters.ts";

/** Of 2022: what came later is an empty box on many machines. */
const VERSION_MAX = 15;

/**
 * Groups, whose names the picker knows, have an empty line between them. An emoji is a line: itself, with a tilde if it has tones of skin, its codes,
 * the shortest first, its name if the last code does not say it, and further words by which it is found.
 */
export function emojiData(): string {
  const groups = messages.groups.filter(({ key }) => key !== "component");
  return groups
    .map(({ order }) => {
      const emoji = data.filter(({ group, version }) => group === order && version <= VERSION_MAX);
      return emoji.toSorted(byOrder).map(lineOf).join("\n");
    })
    .join("\n\n");
}

type Entry = (typeof data)[number];

const byOrder = (one: Entry, other: Entry): number => one.order! - other.order!;

function lineOf({ emoji, hexcode, label, tags = [], skins = [] }: Entry): string {
  const codes = [...new Set([slackCodes, githubCodes].flatMap((codes) => codes[hexcode] ?? []))].toSorted(
    (one, other) => one.length - other.length,
  );
  const name = codes.at(-1)!.replaceAll("_", " ") === label ? "" : label;
  const words = `${codes.join(" ")} ${label}`.toLowerCase().split(/[\s_-]+/);
  const more = tags.filter((tag) => !words.some((word) => word.startsWith(tag.toLowerCase())));
  const tones = skins.some(({ version }) => version <= VERSION_MAX) ? "~" : "";
  return [canonicalEmoji(emoji) + tones, codes.join(" "), name, more.join(" ")].join("|").replace(/\|*$/, "");
}
