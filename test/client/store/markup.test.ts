// Tests the parser of a message's text: simple formatting, and nothing dangerous from any input.
import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";

import { steepUnits } from "../../host/steps.ts";
import { parseMarkup, lineOf, type Block, type Inline } from "../../../client/store/markup.ts";

/** The tree as a short text, so that a test shows it at a glance. */
function drawn(content: string, mentions?: readonly string[]): string {
  return parseMarkup(content, mentions).map(drawBlock).join("|");
}
function drawBlock(block: Block): string {
  if (block.kind === "pre") return `pre(${block.language ? `${block.language}: ` : ""}${block.text})`;
  if (block.kind === "list") {
    const { start, items } = block;
    const drawn = items.map(({ children, lists }) => [...children.map(drawInline), ...lists.map(drawBlock)].join(""));
    return `${start ?? ""}[${drawn.join(";")}]`;
  }
  return `${block.kind === "quote" ? ">" : ""}${block.children.map(drawInline).join("")}`;
}
function drawInline(node: Inline): string {
  if (node.kind === "text") return node.text;
  if (node.kind === "code") return `code(${node.text})`;
  if (node.kind === "link") return node.href === node.text ? `link(${node.text})` : `link(${node.text} → ${node.href})`;
  if (node.kind === "mention") return `mention(${node.user})`;
  return `${node.kind}(${node.children.map(drawInline).join("")})`;
}

/** All that there is to read in a block, and where its links lead. */
function textOf(block: Block): string {
  if (block.kind === "pre") return `${block.language ?? ""}\n${block.text}`;
  return inlinesOf(block).map(textIn).join("");
}
function textIn(node: Inline): string {
  if (node.kind === "mention") return node.user;
  return "children" in node ? node.children.map(textIn).join("") : node.text;
}
function inlinesOf(block: Block): readonly Inline[] {
  if (block.kind === "pre") return [];
  if (block.kind !== "list") return block.children;
  return block.items.flatMap(({ children, lists }) => [...children, ...lists.flatMap(inlinesOf)]);
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
    [
      "www.example.org, ada@a.example",
      "link(www.example.org → https://www.example.org/), link(ada@a.example → mailto:ada@a.example)",
    ],
    [
      "_ada_l@a.example_ *www.example.org*",
      "em(link(ada_l@a.example → mailto:ada_l@a.example)) em(link(www.example.org → https://www.example.org/))",
    ],
  ])("%j", (content, expected) => {
    expect(drawn(content)).toBe(expected);
  });

  it.each([
    ["see [the docs](https://a.example/x).", "see link(the docs → https://a.example/x)."],
    [
      "[site](www.example.org) [ada](ada@a.example) [ben](mailto:ben@a.example)",
      "link(site → https://www.example.org/) link(ada → mailto:ada@a.example) link(ben → mailto:ben@a.example)",
    ],
    [
      "[a **b** `c`](https://a.example/_x_(y)) **[d](https://a.example/)**",
      "link(a b c → https://a.example/_x_(y)) strong(link(d → https://a.example/))",
    ],
    ["![picture](https://a.example/p.png)", "!link(picture → https://a.example/p.png)"],
    [
      "[see [1]](https://a.example/) [[2]](https://a.example/)",
      "link(see [1] → https://a.example/) link([2] → https://a.example/)",
    ],
    ["*x [a* b](https://a.example/*)", "*x link(a* b → https://a.example/*)"],
    [
      "`[a](https://a.example/)` `[b`](https://a.example/)",
      "code([a](https://a.example/)) code([b)](link(https://a.example/))",
    ],
    ["[https://a.example/](https://a.example/)", "link(https://a.example/)"],
    ["- [a](https://a.example/)", "[link(a → https://a.example/)]"],
    // No link, or none with that text.
    [
      "[a](javascript:alert(1)) [b](data:text/html,x) [c](/x) [d](//a.example)",
      "[a](javascript:alert(1)) [b](data:text/html,x) [c](/x) [d](//a.example)",
    ],
    [
      "[a] (https://a.example/) [b](https://a.example/ x) [c](https://a.example/",
      "[a] (link(https://a.example/)) [b](link(https://a.example/) x) [c](link(https://a.example/)",
    ],
    [
      "[](https://a.example/) [ \u200B\u202E](https://a.example/) a](https://a.example/)",
      "[](link(https://a.example/)) [ \u200B\u202E](link(https://a.example/)) a](link(https://a.example/))",
    ],
    [
      "[\u3164](https://a.example/) [\u2800\u0301](https://a.example/)",
      "[\u3164](link(https://a.example/)) [\u2800\u0301](link(https://a.example/))",
    ],
    ["[two\nlines](https://a.example/)", "[two\nlines](link(https://a.example/))"],
    // A text that names another place: an address stands beside the one to which it is written, and a host is followed by the one.
    ["[https://bank.example/](https://evil.example/)", "[link(https://bank.example/)](link(https://evil.example/))"],
    [
      "[ada@bank.example](https://evil.example/)",
      "[link(ada@bank.example → mailto:ada@bank.example)](link(https://evil.example/))",
    ],
    [
      "[bank.example](https://evil.example/x) [at Bank.example.](https://www.bank.example/x)",
      "link(bank.example (evil.example) → https://evil.example/x) link(at Bank.example. → https://www.bank.example/x)",
    ],
    [
      "[bank.example:443/x@evil.example](https://evil.example/)",
      "link(bank.example:443/x@evil.example (evil.example) → https://evil.example/)",
    ],
    [
      "[bank\uFF0Eexample](https://evil.example/) [bank\u200B.exa\u0301mple](https://evil.example/)",
      "link(bank\uFF0Eexample (evil.example) → https://evil.example/) link(bank\u200B.exa\u0301mple (evil.example) → https://evil.example/)",
    ],
    [
      "[\u202Eelpmaxe.knab](https://evil.example/) [v1.2, e.g. this](https://a.example/)",
      "link(elpmaxe.knab (evil.example) → https://evil.example/) link(v1.2, e.g. this → https://a.example/)",
    ],
    [
      "[bank.\u2065example](https://evil.example/) [192.0.2.1](https://evil.example/) [v1.2.3](https://a.example/)",
      "link(bank.\u2065example (evil.example) → https://evil.example/) link(192.0.2.1 (evil.example) → https://evil.example/) link(v1.2.3 → https://a.example/)",
    ],
    ["[192.0.2.1.](https://192.0.2.1/x)", "link(192.0.2.1. → https://192.0.2.1/x)"],
    [
      "[bank.example       x](mailto:ada@evil.example)",
      "link(bank.example x (ada@evil.example) → mailto:ada@evil.example)",
    ],
  ])("a link with a text: %j", (content, expected) => {
    expect(drawn(content)).toBe(expected);
  });

  it.each([
    ["- a", "[a]"],
    ["* a *b*\n* c", "[a em(b);c]"],
    ["to do:\n- a\n- b\ndone", "to do:|[a;b]|done"],
    ["3. a\n4. b", "3[a;b]"],
    ["1. a\n- b\n2. c", "1[a]|[b]|2[c]"],
    ["- a\n  - b\n    1. c\n- d", "[a[b]1[c];d]"],
    // Each number is that of the writer.
    ["3. a\n2. b\n3. c\n3. d", "3[a]|2[b;c]|3[d]"],
    ["99. a\n100. b\n0. c", "99[a;b]|0[c]"],
    ["2026. Then\n01. January\n000. x", "2026. Then\n01. January\n000. x"],
    ["1. a\n\t- b\n\t- c\n2. d", "1[a[b;c];d]"],
    ["  - a\n  - b", "[a;b]"],
    ["- a\n  more of **it**\n- b", "[a\nmore of strong(it);b]"],
    ["- a\n\n- b", "[a]|[b]"],
    ["> - a", ">- a"],
    ["- a\n> b", "[a]|>b"],
    ["- *a\n- b*", "[*a;b*]"],
    ["1. a ```x``` b", "1[a ]|pre(x)| b"],
    ["-5 degrees\n- \n-\n---\n1.5 l\n1.\n*a*", "-5 degrees\n- \n-\n---\n1.5 l\n1.\nem(a)"],
  ])("a list: %j", (content, expected) => {
    expect(drawn(content)).toBe(expected);
  });

  it("shows the room's mentions as mentions, and no others", () => {
    expect(drawn("@ben @ben2 @<Ada L> a@ben.example", ["ben", "ben2", "Ada L"])).toBe(
      "mention(ben) mention(ben2) mention(Ada L) link(a@ben.example → mailto:a@ben.example)",
    );
    expect(drawn("@ben", [])).toBe("@ben");
    expect(drawn("请＠ben:看 ＠cleo", ["ben"])).toBe("请mention(ben):看 ＠cleo");
    expect(drawn("你好@benさん _@ben_ https://x.example/@ben ben@ben.example", ["ben"])).toBe(
      "你好mention(ben)さん em(mention(ben)) link(https://x.example/@ben) link(ben@ben.example → mailto:ben@ben.example)",
    );
  });

  it("in one line, for quotes", () => {
    expect(lineOf("> said\n**bold** `code`\n\n```js\nx\n```")).toBe("said bold code x");
    expect(lineOf("to do\n2. [a](https://a.example/)\n   - b\n3. c")).toBe("to do 2. a • b 3. c");
  });

  it("keeps all text, and links addresses of the web and of mail only", () => {
    const pieces = constantFrom(
      "- ",
      "1. ",
      "  ",
      "[",
      "](",
      "www.a.example",
      "a@a.example",
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
        const links: Array<Inline & { kind: "link" }> = [];
        const walk = (node: Inline): void => {
          if (node.kind === "link") links.push(node);
          if ("children" in node) node.children.forEach(walk);
        };
        const blocks = parseMarkup(content, ["a"]);
        blocks.flatMap(inlinesOf).forEach(walk);
        expect(links.filter(({ href }) => !/^(?:https?:\/\/|mailto:[^?]+$)/.test(href))).toEqual([]);
        // A text in place of the address takes its letters away.
        if (links.some(({ text }) => !content.includes(text) || content.includes(`[${text}](`))) return;
        const letters = (text: string): string => text.replaceAll(/[^a-z]/g, "");
        expect(letters(blocks.map(textOf).join(""))).toBe(letters(content));
        // The language stands beside the code, not in its first line.
        const isTold = blocks.some((block) => block.kind === "pre" && block.language);
        if (!isTold) expect(letters(lineOf(content))).toBe(letters(content));
      }),
    );
  });

  it("takes steps that grow with the text, and no faster, whatever comes again and again", async () => {
    const units = [
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
      "[",
      "[a](",
      "[[a]](https://a.a)",
      "](https://a.a)",
      "[a.a.",
      "www.a.a)",
      "a@a.aa ",
      "- a\n",
      " - ",
      "1. \n",
    ];
    expect(await steepUnits("markup", units)).toEqual([]);
  });
});
