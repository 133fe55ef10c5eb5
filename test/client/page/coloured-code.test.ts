// Tests of coloured-code.ts: it names the kinds of tokens in code, and loses no character of any text.
import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";

import { COLOURED_MAX, colouredParts } from "../../../client/page/state/coloured-code.ts";

const drawn = (text: string, language: string): string | undefined =>
  colouredParts(text, language)
    ?.map(({ text, role }) => (role ? `${role}(${text})` : text))
    .join("");

describe("code", () => {
  it.each([
    ["ts", "const a = 'b'; // c", "keyword(const) a = string('b'); comment(// c)"],
    ["TypeScript", "let a: Date", "keyword(let) a: value(Date)"],
    ["py", "return 4 # c", "keyword(return) value(4) comment(# c)"],
    ["json", '{"a": "b"}', '{name("a"): string("b")}'],
    ["html", '<a href="b">c</a>', '<name(a) name(href)=string("b")>c</name(a)>'],
    ["diff", "+a\n-b\n c", "added(+a)\nremoved(-b)\n c"],
    ["bash", 'echo "a" | grep b', 'echo string("a") | grep b'],
  ])("%s: %j", (language, text, expected) => {
    expect(drawn(text, language)).toBe(expected);
  });

  it("has no colours in a language that nobody knows, nor beyond a length", () => {
    expect(colouredParts("a", "klingon")).toBeUndefined();
    expect(colouredParts("a", "constructor")).toBeUndefined();
    expect(colouredParts("a".repeat(COLOURED_MAX), "js")).toHaveLength(1);
    expect(colouredParts("a".repeat(COLOURED_MAX + 1), "js")).toBeUndefined();
  });

  it.each(["js", "ts", "html", "css", "py", "md", "diff", "sh", "sql", "rust"])(
    "in %s keeps all of its text",
    (language) => {
      const pieces = constantFrom(
        "<",
        ">",
        "</",
        "<script>",
        "<!--",
        "/",
        "/*",
        "*/",
        '"',
        "'",
        "`",
        "${",
        "}",
        "#",
        "\\",
        "\n",
        "\r",
        "-",
        "+",
        "a",
        " ",
      );
      assert(
        property(array(pieces, { maxLength: 40 }), (parts) => {
          const text = parts.join("");
          const coloured = colouredParts(text, language);
          if (coloured) expect(coloured.map((part) => part.text).join("")).toBe(text);
        }),
      );
    },
  );
});
