// The rules of link cards that need no network: which addresses the server fetches, and what becomes of a page's texts.
import { describe, expect, it } from "vitest";

import { ADDRESS_LENGTH_MAX, publicAddress } from "../../../src/features/link-cards/address.ts";
import {
  cardOf,
  DESCRIPTION_LENGTH_MAX,
  SITE_LENGTH_MAX,
  TITLE_LENGTH_MAX,
} from "../../../src/features/link-cards/card.ts";

const OWN = "chat.example.com";
const OF_TESTS = new URL("https://news.example.org/a/b");

const wordsOf = (text: string): string[] => text.trim().split(/\s+/);

describe("CARD-2: the server fetches addresses of the public web alone", () => {
  it.each([
    ["https://news.example.org", "https://news.example.org/"],
    ["http://news.example.org/a?b=c#part", "http://news.example.org/a?b=c"],
    ["HTTPS://NEWS.Example.ORG:443/A", "https://news.example.org/A"],
    ["http://news.example.org:80/", "http://news.example.org/"],
    ["https://bücher.example.com/ü", "https://xn--bcher-kva.example.com/%C3%BC"],
    ["https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/"],
    ["https://1.example.com/", "https://1.example.com/"],
    ["https://127.0.0.1.example.com/", "https://127.0.0.1.example.com/"],
    ["https://localhost.example.com/", "https://localhost.example.com/"],
    ["https://internal.com/", "https://internal.com/"],
  ])("%s", (text, href) => {
    expect(publicAddress(text, OWN)?.href).toBe(href);
  });

  const LOOPBACK = wordsOf(`
    127.0.0.1 127.0.0.1. 127.1 127.0.1 127.255.255.254 2130706433 017700000001 0177.0.0.1 0x7f000001 0x7f.1
    0X7F.0x0.0.1 127.0.0.0x1 00000177.00.0x0.1 %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 0 0.0.0.0 0x0
    localhost LOCALHOST localhost. LocalHost。 ⓛocalhost %6cocalhost a.localhost localhost.localdomain
    ip6-localhost [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
    [64:ff9b::127.0.0.1] [2002:7f00:1::]
  `);
  const PRIVATE = wordsOf(`
    10.0.0.1 10.1 012.1 167772161 172.16.0.1 172.31.255.254 192.168.0.1 192.168.1 0xc0a80001 3232235521
    100.64.0.1 169.254.169.254 169.254.43518 2852039166 0xA9FEA9FE 0251.0376.0251.0376 192.0.0.192 198.18.0.1
    224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 [fc00::1] [fd12:3456:789a::1] [fe80::1] [fec0::1]
    [ff02::1] [fd00:ec2::254] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe] [2001:db8::1] [2002:c0a8:1::]
  `);
  /** No name says whose they are. */
  const PUBLIC = wordsOf("93.184.215.14 [2606:2800:21f:cb07:6820:80da:af6b:8b2c]");
  const NAMES = [
    ...wordsOf(`
      intranet router metadata wpad kubernetes.default.svc kubernetes.default.svc.cluster.local
      metadata.google.internal METADATA.GOOGLE.INTERNAL. instance-data.ec2.internal printer.local nas.lan
      fritz.home db.corp mail.intranet router.home.arpa 1.0.0.127.in-addr.arpa x.invalid shop.test
      facebookcorewwwi.onion vault.service.consul a.private example.c0m example.. .
    `),
    OWN,
    `${OWN}.`,
    OWN.toUpperCase(),
  ];
  it.each([...LOOPBACK, ...PRIVATE, ...PUBLIC, ...NAMES])("and not that of %s", (host) => {
    for (const scheme of ["http", "https"])
      expect(publicAddress(`${scheme}://${host}/latest/meta-data`, OWN)).toBe(undefined);
  });

  it.each([
    "http://news.example.org:8080/",
    "http://news.example.org:443/",
    "https://news.example.org:80/",
    "https://news.example.org:22/",
    "https://ada@news.example.org/",
    "https://ada:secret@news.example.org/",
    "https://:secret@news.example.org/",
    "https://news.example.org\\@127.0.0.1/../x:1",
    "ftp://news.example.org/",
    "file:///etc/passwd",
    "gopher://news.example.org/",
    "data:text/html,<title>x</title>",
    "blob:https://news.example.org/1",
    "javascript:alert(1)",
    "ws://news.example.org/",
    "//news.example.org/",
    "/a",
    "news.example.org",
    "https://",
    "https://[",
    "https://exa mple.org/",
    "",
  ])("and not %s", (text) => {
    const found = publicAddress(text, OWN);
    // A browser reads a backslash as a slash: the name is the one before it.
    expect(found?.hostname).toBe(text.includes("\\") ? "news.example.org" : undefined);
  });

  it("and none that is longer than the limit", () => {
    const long = "https://news.example.org/".padEnd(ADDRESS_LENGTH_MAX, "a");
    expect(publicAddress(long, OWN)?.href).toBe(long);
    expect(publicAddress(`${long}a`, OWN)).toBe(undefined);
  });

  it("and relative ones by the page in which they stand", () => {
    expect(publicAddress("../c.png", OWN, OF_TESTS)?.href).toBe("https://news.example.org/c.png");
    expect(publicAddress("//cdn.example.net/c.png", OWN, OF_TESTS)?.href).toBe("https://cdn.example.net/c.png");
    expect(publicAddress("//127.0.0.1/c.png", OWN, OF_TESTS)).toBe(undefined);
    expect(publicAddress("http:c", OWN, OF_TESTS)).toBe(undefined);
  });
});

describe("CARD-4: a card", () => {
  const card = (tags: Readonly<Record<string, string>>) => cardOf(new Map(Object.entries(tags)), OF_TESTS, OWN);

  it("has what the page says in its Open Graph tags, or else in others", () => {
    const url = OF_TESTS.href;
    expect(
      card({
        "og:title": "Tea",
        title: "Tea | News",
        "og:description": "Leaves in water",
        description: "of news",
        "og:site_name": "The News",
        "og:image": "/tea.png",
      }),
    ).toEqual({
      url,
      title: "Tea",
      description: "Leaves in water",
      site: "The News",
      picture: "https://news.example.org/tea.png",
    });
    expect(
      card({ title: "Tea | News", description: "of news", "twitter:image": "https://cdn.example.net/t.png" }),
    ).toEqual({
      url,
      title: "Tea | News",
      description: "of news",
      picture: "https://cdn.example.net/t.png",
    });
    expect(card({ "og:title": " ", title: "Tea", description: "Tea" })).toEqual({ url, title: "Tea" });
  });

  it("is none without a title", () => {
    expect(card({})).toBe(undefined);
    expect(card({ description: "of news", "og:image": "/tea.png", title: "\u202E \n" })).toBe(undefined);
  });

  it.each([
    "http://127.0.0.1/a.png",
    "data:image/png;base64,AA==",
    "http://metadata.google.internal/",
    `https://${OWN}/a.png`,
  ])("has no picture at %s", (picture) => {
    expect(card({ title: "Tea", "og:image": picture })).toEqual({ url: OF_TESTS.href, title: "Tea" });
  });

  it.each([
    ["Tom &amp; Jerry&#39;s &quot;tea&quot; &#x1F375; &mdash; &nbsp;free", 'Tom & Jerry\'s "tea" 🍵 — free'],
    ["&lt;img src=x onerror=alert(1)&gt;", "<img src=x onerror=alert(1)>"],
    ["&amp;lt;b&amp;gt;", "&lt;b&gt;"],
    ["&unknown; &#0; &#x110000; &#xD800; &constructor; & 5 &", "&unknown; � &constructor; & 5 &"],
    ["a\u0000b\u0007c\u202Edef\u2066g\u200F", "abcdefg"],
    ["  many\n\n\tlines   of \u00A0it ", "many lines of it"],
    ["می‌خواهم 👩‍👩‍👧", "می‌خواهم 👩‍👩‍👧"],
  ])("has its texts in one line and as they are meant: %s", (title, shown) => {
    expect(card({ title })?.title).toBe(shown);
  });

  it("has texts of so many characters, and none is cut in two", () => {
    const long = (length: number): string => "🍵".repeat(length);
    expect(
      card({
        title: long(TITLE_LENGTH_MAX),
        description: long(DESCRIPTION_LENGTH_MAX),
        "og:site_name": long(SITE_LENGTH_MAX),
      }),
    ).toMatchObject({
      title: long(TITLE_LENGTH_MAX),
      description: long(DESCRIPTION_LENGTH_MAX),
      site: long(SITE_LENGTH_MAX),
    });
    expect(card({ title: long(TITLE_LENGTH_MAX + 1) })?.title).toBe(`${long(TITLE_LENGTH_MAX - 1)}…`);
  });
});
