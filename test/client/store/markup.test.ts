// Tests the parser of a message's text: simple formatting, and nothing dangerous from any input.
import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";

import { growsWithText } from "../../host/steps.ts";
import { parseMarkup, lineOf, type Block, type Inline } from "../../../client/store/markup.ts";

/** The tree as a short text, so that a test shows it at a glance. */
function drawn(content: string, mentions?: readonly string[]): string {
  return parseMarkup(content, mentions).map(drawBlock).join("|");
}
const drawBlock = (block: Block): string =>
  block.kind === "pre"
    ? `pre(${block.language ? `${block.language}: ` : ""}${block.text})`
    : `${block.kind === "quote" ? ">" : ""}${block.children.map(drawInline).join("")}`;
function drawInline(node: Inline): string {
  if (node.kind === "text") return node.text;
  if (node.kind === "code") return `code(${node.text})`;
  if (node.kind === "link") return node.href === node.text ? `link(${node.text})` : `link(${node.text} → ${node.href})`;
  if (node.kind === "mention") return `mention(${node.user})`;
  return `${node.kind}(${node.children.map(drawInline).join("")})`;
}

/** All that there is to read in a block. */
const textOf = (block: Block): string =>
  block.kind === "pre" ? `${block.language ?? ""}\n${block.text}` : block.children.map(textIn).join("");
function textIn(node: Inline): string {
  if (node.kind === "mention") return node.user;
  return "children" in node ? node.children.map(textIn).join("") : node.text;
}

describe("markup", () => {
  it.each([
    ["plain text", "plain text"],
    ["two\nlines", "two\nlines"],
    ["**bold** and *slanted* and _slanted_ and ~~gone~~", "strong(bold) and em(slanted) and em(slanted) and del(gone)"],
    ["**bold with *slant* in it**", "strong(bold with em(slant) in it)"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["** not bold ** and **open", "** not bold ** and **open"],
    ["`**code**`", "code(**code**)"],
    ["a ` alone", "a ` alone"],
    ["before ```js\nlet a = 1;\n``` after", "before |pre(js: let a = 1;)| after"],
    ["```yes\n```", "pre(yes)"],
    ["```\nyes\nno\n```", "pre(yes\nno)"],
    ["**one\n\ntwo** *three*", "**one\n\ntwo** em(three)"],
    ["*a b\n\n*c*", "*a b\n\nem(c)"],
    ["> *a\n>\n> b* c\n\n\nd", ">*a\n\nb* c|\n\nd"],
    ["```one line```", "pre(one line)"],
    ["``` never closed **bold**", "``` never closed strong(bold)"],
    ["> said\n> twice\nanswer", ">said\ntwice|answer"],
    ["see https://a.example/x?y=1#z.", "see link(https://a.example/x?y=1#z)."],
    ["(https://a.example/wiki/Parley_(chat))", "(link(https://a.example/wiki/Parley_(chat)))"],
    ["ftp://a.example javascript:alert(1)", "ftp://a.example javascript:alert(1)"],
    ["Https://a.example/x、次", "link(Https://a.example/x → https://a.example/x)、次"],
    ["https://a.example/_x_ and _y_", "link(https://a.example/_x_) and em(y)"],
    ["*see https://a.example/*x* b*", "em(see link(https://a.example/*x*) b)"],
    ["_https://a.example/x_", "em(link(https://a.example/x))"],
    ["これは**太字**で*斜体*です", "これはstrong(太字)でem(斜体)です"],
    ["```js \r\n  x\r\ny\r\n```", "pre(js:   x\ny)"],
    ["    if\n      x", "    if\n      x"],
    ["data:text/html,<script>alert(1)</script>", "data:text/html,<script>alert(1)</script>"],
    ["https:// alone", "https:// alone"],
    ["**https://a.example/**", "strong(link(https://a.example/))"],
  ])("%j", (content, expected) => {
    expect(drawn(content)).toBe(expected);
  });

  it("shows the room's mentions as mentions, and no others", () => {
    expect(drawn("@ben @ben2 @<Ada L> a@ben.example", ["ben", "ben2", "Ada L"])).toBe(
      "mention(ben) mention(ben2) mention(Ada L) a@ben.example",
    );
    expect(drawn("@ben", [])).toBe("@ben");
    expect(drawn("请＠ben:看 ＠cleo", ["ben"])).toBe("请mention(ben):看 ＠cleo");
    expect(drawn("你好@benさん _@ben_ https://x.example/@ben ben@ben.example", ["ben"])).toBe(
      "你好mention(ben)さん em(mention(ben)) link(https://x.example/@ben) ben@ben.example",
    );
  });

  it("in one line, for quotes", () => {
    expect(lineOf("> said\n**bold** `code`\n\n```js\nx\n```")).toBe("said bold code x");
  });

  it("keeps all text, and links http(s) addresses only", () => {
    const pieces = constantFrom(
      "*",
      "**",
      "_",
      "~~",
      "`",
      "```",
      "> ",
      "\n",
      "@",
      "@<",
      ">",
      "https://",
      "a",
      " ",
      "(",
      ")",
      "javascript:",
      "<img src=x onerror=alert(1)>",
    );
    assert(
      property(array(pieces, { maxLength: 60 }), (parts) => {
        const content = parts.join("");
        const links: string[] = [];
        const walk = (node: Inline): void => {
          if (node.kind === "link") links.push(node.href);
          if ("children" in node) node.children.forEach(walk);
        };
        const blocks = parseMarkup(content, ["a"]);
        for (const block of blocks) if (block.kind !== "pre") block.children.forEach(walk);
        expect(links.filter((href) => !/^https?:\/\//.test(href))).toEqual([]);
        const letters = (text: string): string => text.replaceAll(/[^a-z]/g, "");
        expect(letters(blocks.map(textOf).join(""))).toBe(letters(content));
        // The language stands beside the code, not in its first line.
        const isTold = blocks.some((block) => block.kind === "pre" && block.language);
        if (!isTold) expect(letters(lineOf(content))).toBe(letters(content));
      }),
    );
  });

  it.each([
    "*a",
    "_a ",
    "~~",
    "`",
    "@<",
    "https://((",
    "https://%(",
    "https://a_",
    "> \n",
    "**a*",
    ")",
    "*a |",
    "**a |x** ",
  ])("takes steps that grow with the text, and no faster: %j again and again", (unit) => {
    // Each mark looks for its end, which is in another paragraph.
    expect(growsWithText(unit, (text) => void parseMarkup(`https://a${text}\n\nx*`, ["a"]))).toBe(true);
  });
});
