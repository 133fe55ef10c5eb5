// Web addresses in prose: where they begin and end, in any script.
import { describe, expect, it } from "vitest";

import { linksIn } from "../../../src/protocol/text/links.ts";
import { fc, runs } from "../../host/properties.ts";
import { steepUnits } from "../../host/steps.ts";

const found = (text: string): string[] => linksIn(text).map(({ from, to }) => text.slice(from, to));

describe("an address", () => {
  it.each<[text: string, addresses: string[]]>([
    // Begins after any letter that cannot be one of its scheme, and after any bracket.
    ["詳細はhttps://a.example/x を見て", ["https://a.example/x"]],
    ["смотриhttps://ru.example/Россия, да", ["https://ru.example/Россия"]],
    ["בhttps://a.example/x", ["https://a.example/x"]],
    ["xhttps://a.example 2http://a.example", []],
    ["Https://a.example/x HTTP://B.example", ["Https://a.example/x", "HTTP://B.example"]],
    // Ends before what follows without a space.
    ["https://a.example/xを見て", ["https://a.example/x"]],
    ["https://a.example谢谢", ["https://a.example"]],
    ["https://a.example/を見て", ["https://a.example/"]],
    ["링크 https://a.example/x에서 확인", ["https://a.example/x"]],
    ["ดูhttps://a.example/xได้เลย", ["https://a.example/x"]],
    ["https://a.example/x👍 https://a.example/y→次", ["https://a.example/x", "https://a.example/y"]],
    ["https://a.example/x\u200B次 https://a.example/y\u3000次", ["https://a.example/x", "https://a.example/y"]],
    // Brackets, quotes and punctuation of all scripts.
    ["（https://a.example/x）「https://b.example」", ["https://a.example/x", "https://b.example"]],
    ["【https://a.example/x】『https://a.example/y』と", ["https://a.example/x", "https://a.example/y"]],
    [
      "https://a.example/x。次 https://a.example/y，谢 https://a.example/z、",
      ["https://a.example/x", "https://a.example/y", "https://a.example/z"],
    ],
    [
      "https://a.example/x！ https://a.example/y？ https://a.example/z：",
      ["https://a.example/x", "https://a.example/y", "https://a.example/z"],
    ],
    [
      "“https://a.example/x” ‘https://a.example/y’ «https://a.example/z»",
      ["https://a.example/x", "https://a.example/y", "https://a.example/z"],
    ],
    [
      "https://a.example/x؟ https://a.example/y، https://a.example/z।",
      ["https://a.example/x", "https://a.example/y", "https://a.example/z"],
    ],
    ["https://a.example/x… https://a.example/y—and", ["https://a.example/x", "https://a.example/y"]],
    ["\u2068https://a.example/x\u2069", ["https://a.example/x"]],
    // What belongs to it.
    [
      "https://a.example/_x_ https://a.example/*x* https://a.example/~x",
      ["https://a.example/_x_", "https://a.example/*x*", "https://a.example/~x"],
    ],
    ["(https://a.example/wiki/Parley_(chat)).", ["https://a.example/wiki/Parley_(chat)"]],
    ["[x](https://a.example/x),(https://b.example/y)", ["https://a.example/x", "https://b.example/y"]],
    ["https://a.example,https://b.example/it's'", ["https://a.example", "https://b.example/it's"]],
    ["https://web.example/2020/https://b.example/", ["https://web.example/2020/https://b.example/"]],
    [
      "http://[::1]:8787/x http://user:p@a.example:80/?q=1&r=2#z!",
      ["http://[::1]:8787/x", "http://user:p@a.example:80/?q=1&r=2#z"],
    ],
    ["https://fa.example/می‌شود است https://hi.example/हिन्दी", ["https://fa.example/می‌شود", "https://hi.example/हिन्दी"]],
    [
      "https://ja.example/wiki/日本。 https://a.example/?q=東京",
      ["https://ja.example/wiki/日本", "https://a.example/?q=東京"],
    ],
    ["https://en.example/Bose–Einstein_condensate", ["https://en.example/Bose–Einstein_condensate"]],
    ["https:// http://。 https://(( https://%/x", []],
    // Without a scheme: `www.` and a host with a dot in it.
    [
      "www.example.org, WWW.example.org/x_(y) (www.a.example:80?q). 詳細はwww.日本語.jpを見て",
      ["www.example.org", "WWW.example.org/x_(y)", "www.a.example:80?q", "www.日本語.jp"],
    ],
    ["_www.a.example_ www.a.example,www.b.example", ["www.a.example_", "www.a.example", "www.b.example"]],
    ["www. www.a www.a. wwww.a.example a-www.a.example x.www.a.example //www.a.example", []],
    // No host stands before it that is not the one it leads to.
    ["www.bank.example:x@evil.example/x", ["x@evil.example"]],
    // Mail, in the prose of any script, and nothing that only looks like it.
    [
      "ada@example.org, (mailto:ada.l+x@mail.example.org)! _b_c@a.example_ иван@пример.рф",
      ["ada@example.org", "mailto:ada.l+x@mail.example.org", "b_c@a.example", "иван@пример.рф"],
    ],
    ["詳細はada@example.orgまで 请写信给ada@example.org。", ["ada@example.org", "ada@example.org"]],
    ["ada@example ada@ @example.org ada@x.1 ada@x.y ada+@a.example a%b@a.example //ada@a.example", []],
    ["ada@a.example@b.example ada@b.example.@c", ["ada@b.example"]],
    [`${"a".repeat(64)}@a.example ${"a".repeat(72)}@a.example`, [`${"a".repeat(64)}@a.example`]],
    ["https://a.example/?to=ada@a.example", ["https://a.example/?to=ada@a.example"]],
  ])("%j has %j", (text, addresses) => {
    expect(found(text)).toEqual(addresses);
  });

  it("leads to the host in the letters that browsers send", () => {
    expect(linksIn("https://日本語.jp/、https://müller.example。").map(({ href }) => href)).toEqual([
      "https://xn--wgv71a119e.jp/",
      "https://xn--mller-kva.example/",
    ]);
    expect(linksIn("www.Example.org/x Mailto:Ada@example.org").map(({ href }) => href)).toEqual([
      "https://www.example.org/x",
      "mailto:Ada@example.org",
    ]);
  });

  it("is a part of the text, http(s) or mail, and beside the others, in any text", () => {
    const units = [
      ..."www.|ada@|mailto:|https://|Http://|a|.|/|(|)|日|を|。|’|@|?".split("|"),
      " ",
      "\u{1F44D}",
      "\uD800",
    ];
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 80 }), (text) => {
        let end = 0;
        for (const { from, to, href } of linksIn(text)) {
          expect(from).toBeGreaterThanOrEqual(end);
          expect(text.slice(from, to)).toMatch(/^(?:(?:https?:\/\/|www\.)\S|\S+@\S)/i);
          expect(href).toMatch(/^(?:https?:\/\/|mailto:[^?]+$)/);
          end = to;
        }
      }),
      runs(1000),
    );
  });
});

const HOSTILE = (
  "https://(( https://%(/ https://a. https://a/( https://あ 'https:// @ @a/ @_ @< あ@ a. " +
  "a.-/ ` `@ ```@ @a. @a.- @<a www. www.a www.a. a@a. a.a@ a@a.aa"
).split(" ");

it("takes steps that grow with the text, and no faster, whatever comes again and again", async () => {
  expect(await steepUnits("addresses", HOSTILE)).toEqual([]);
});
