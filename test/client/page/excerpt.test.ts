// Tests the excerpts of found messages: names in place of ids, and the marks on the found words.
import { expect, it } from "vitest";

import { excerptOf } from "../../../client/page/state/excerpt.ts";
import { People } from "../../../client/page/state/people.ts";

const ADA = "guest-00000000000a1b2c";
const people = new People(() => new Map([[ADA, "Ada Lovelace"]]));

/** The excerpt, with the found words in brackets. */
function excerpt(content: string, ...found: string[]): string {
  const matches = found.map((word) => [content.indexOf(word), content.indexOf(word) + word.length] as const);
  return excerptOf({ content, matches }, people.labelledIn(content))
    .map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
    .join("");
}

it.each([
  ["after a mention", `hey @${ADA} and others`, ["others"], "hey @Ada Lovelace and [others]"],
  ["before a mention", `hey @${ADA}`, ["hey"], "[hey] @Ada Lovelace"],
  ["within the id of a mention", `hey @${ADA}, you`, ["guest", "00000000000a1b2c"], "hey [@Ada Lovelace], you"],
  ["from a mention on", `hey @${ADA}, you`, ["00000000000a1b2c, you"], "hey [@Ada Lovelace, you]"],
  ["in code, where no user is mentioned", `see \`@${ADA}\` there`, ["there"], `see @${ADA} [there]`],
  ["beside marks", "the **needle** is `here`", ["is"], "the needle [is] here"],
  ["far from the beginning", `@${ADA} ${"hay ".repeat(20)}needle`, ["needle"], `…${"hay ".repeat(9)}[needle]`],
])("a word that was found %s is marked, and people are named", (_, content, found, shown) => {
  expect(excerpt(content, ...found)).toBe(shown);
});
