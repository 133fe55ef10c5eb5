// Scripts, elements and addresses in everything that people can name or write: on the page and in the embed they are text; names have
// no characters that turn text around; and what the browser's translator has put into the page does no harm.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import type { Attachment, Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { isRoomName } from "../../src/protocol/room-name.ts";
import { PAGE_PAYLOADS } from "../attacks/page-payloads.ts";
import { HOST } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { complaintsIn, NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const ROOM = "attacked";
/** A name with characters that turn the text around. */
const TURNED = "<b>\u202Etuo \u2066edisni";
/** So high that every row of the room is in the document. Nobody looks at it: a quarter of the pixels takes less to draw. */
const VIEW = { viewport: { width: 1200, height: 14_000 }, deviceScaleFactor: 0.25 };
/** Of each kind of payload one: names of rooms. */
const ROOM_NAMES = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<iframe src=javascript:alert(1)></iframe>",
  "<base href=//evil.example/>",
  '" onmouseover="alert(1)" x="',
  "</title><svg onload=alert(1)>",
  "javascript:alert(1)",
  "[click](javascript:alert(1))",
  "{{constructor.constructor('alert(1)')()}}",
  "__proto__",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "\u202e<script>alert(1)</script>",
];

type Socket = Awaited<ReturnType<typeof join>>;

const shownName = (name: string): string => name.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, "");
const SHOWN_NAMES = PAGE_PAYLOADS.map(shownName);

const browser = await useBrowser();
const url = inject("fastServerUrl");
let host: Server;
let hostUrl: string;
/** The messages that the room keeps, in order. */
let posted: Message[];

beforeAll(async () => {
  // Without a policy of its own: a script that got in would run.
  host = createServer((request, response) => {
    if (request.url !== "/") return void response.writeHead(204).end();
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><style>parley-room { height: ${VIEW.viewport.height - 100}px }</style>
<script type="module" src="${url}/embed.js"></script><parley-room room="${ROOM}" name="Ada"></parley-room>`);
  });
  await new Promise<void>((resolve) => void host.listen(0, HOST, resolve));
  hostUrl = `http://${HOST}:${(host.address() as AddressInfo).port}`;
  posted = await attack();
});
afterAll(async () => {
  host?.close();
});

/** Each payload as a name, in a message that mentions that name and answers the one before, and as the name of a file. */
async function attack(): Promise<Message[]> {
  let before: string | undefined;
  let socket: Socket | undefined;
  for (const [at, payload] of PAGE_PAYLOADS.entries()) {
    const user = `mallory-${at}`;
    const token = await tokenFor(user, { name: payload });
    socket = await join(url, ROOM, user, { auth: { token } });
    const attachment = await upload(token, payload);
    const content = `${payload}\n@${user}`;
    const answer = await ask<PostAnswer>(socket, "chat-message", {
      content,
      attachment,
      ...(before !== undefined && { replyTo: before }),
    });
    if (!("ok" in answer)) throw new Error(`${payload}: ${answer.error.message}`);
    before = answer.id;
  }
  await Promise.all(
    ROOM_NAMES.map(async (payload, at) => {
      const mo = await describe(`attacked-name-${at}`, payload);
      // The list has it by its message, and its name a second after the last member has left (LOB-2).
      await ask(mo, "chat-message", { content: "hello" });
      mo.disconnect();
    }),
  );
  (await describe(ROOM, TURNED)).disconnect();
  const { messages } = await ask<{ messages: Message[] }>(socket!, "history", { limit: PAGE_PAYLOADS.length });
  return messages;
}

async function describe(room: string, text: string): Promise<Socket> {
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
  expect(await ask(mo, "describe", { name: text, topic: `${text} ${"x".repeat(150)}` })).toEqual({ ok: true });
  return mo;
}

async function upload(token: string, name: string): Promise<Attachment> {
  const response = await fetch(`${url}/api/rooms/${ROOM}/files?name=${encodeURIComponent(name)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
    body: "text",
  });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  const { attachment } = (await response.json()) as { attachment: Attachment };
  return attachment;
}

/** Side effects of a script, or of an element that loads something. */
class Watch {
  readonly dialogs: string[] = [];
  readonly strangeRequests: string[] = [];
  readonly complaints: string[];
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    this.complaints = complaintsIn(page);
    page.on("dialog", (dialog) => {
      this.dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const { origin, pathname } = new URL(request.url());
      const isOurs =
        origin === url &&
        /^\/($|[a-z]+\.(js|css|svg)$|assets\/[a-z-]+-[A-Z0-9]{8}\.(js|css)$|api\/|rooms\/)/.test(pathname);
      const isHosts = origin === hostUrl && ["/", "/favicon.ico"].includes(pathname);
      if (!isOurs && !isHosts) this.strangeRequests.push(request.url());
    });
  }

  static async open(context: BrowserContext): Promise<Watch> {
    await context.addInitScript(`globalThis.violations = [];
      document.addEventListener("securitypolicyviolation", ({ blockedURI }) => violations.push(blockedURI));`);
    return new Watch(await context.newPage());
  }

  async sawNothing(): Promise<void> {
    // An injected element would act within a frame or two.
    await this.page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    expect(await this.page.evaluate(strangers)).toEqual([]);
    expect((await this.page.evaluate(texts)).filter((text) => /[\u202A-\u202E\u2066-\u2069]/.test(text))).toEqual([]);
    expect(await this.page.evaluate("typeof pwned")).toBe("undefined");
    expect(await this.page.evaluate("violations")).toEqual([]);
    expect(this.dialogs).toEqual([]);
    expect(this.strangeRequests).toEqual([]);
    expect(this.complaints).toEqual([]);
  }
}

/** Elements that the page has none of, attributes that are scripts, addresses that are neither of the web nor of its own files. */
function strangers(): string[] {
  const found: string[] = [];
  const wrong =
    "iframe, object, embed, math, video, audio, marquee, details, template, base, svg :is(script, animate), " +
    "body script, img:not([src='favicon.svg'], [src='/favicon.svg']), link:not(head > link), meta:not(head > meta), style:not(head > style), " +
    "parley-room parley-room";
  const visit = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll(wrong))
      if (!element.matches("script[src$='/embed.js']")) found.push(element.outerHTML);
    // The page draws its icon itself while it counts what is unread.
    for (const element of root.querySelectorAll("*:not(head > link[rel=icon][href^='blob:'])")) {
      for (const { name, value } of element.attributes) {
        const isAddress = ["href", "src", "action", "data", "formaction", "srcdoc", "xlink:href"].includes(name);
        const isOwn =
          /^(https?:\/\/|\/[a-z]|(assets\/[a-z-]+-[A-Z0-9]{8}|[a-z-]+)\.(css|js|svg|png|webmanifest)$)/.test(value);
        if (/^on/i.test(name) || (isAddress && !isOwn)) found.push(`${name}=${value}`);
      }
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return found;
}

/** Authors, quotes, labels, tooltips and announcements: with names, and without what people write themselves. */
function texts(): string[] {
  const named = "[data-testid=author], [data-testid=quote] .author, .member-name, [data-testid=typing]";
  return [
    ...Array.from(document.querySelectorAll(named), (shown) => shown.textContent ?? ""),
    ...Array.from(document.querySelectorAll<HTMLElement>("*"), ({ ariaLabel, title }) => `${ariaLabel} ${title}`),
  ];
}

/** The page shows each text character by character as it was written; names without the characters that turn text around. */
async function standsAsText(page: Page): Promise<void> {
  const texts = (selector: string): Promise<string[]> => page.locator(selector).allTextContents();
  await vi.waitFor(async () => expect(await texts("[data-testid=message] .content")).toHaveLength(posted.length), WAIT);
  expect(await texts("[data-testid=message] .head .author")).toEqual(SHOWN_NAMES);
  expect(await texts("[data-testid=message] .content")).toEqual(
    // Two underscores on either side of a word make it bold.
    PAGE_PAYLOADS.map((payload, at) => `${payload.replace(/^__(\w+)__$/, "$1")}\n@${SHOWN_NAMES[at]}`),
  );
  await expect
    .poll(() => texts("[data-testid=message] .file-name"))
    .toEqual(posted.map(({ attachment }) => attachment!.name));
  await vi.waitFor(
    async () => expect(await texts("[data-testid=quote] .author")).toEqual(SHOWN_NAMES.slice(0, -1)),
    WAIT,
  );
}

/** In a room of their own. */
const MARKS_ROOM = "attacked-marks";
const THIRDS = [PAGE_PAYLOADS.slice(0, 21), PAGE_PAYLOADS.slice(21, 42), PAGE_PAYLOADS.slice(42)];
/** Those that do not end the text of a link, and name no address. */
const LINKED = PAGE_PAYLOADS.filter((payload) => !/[[\]]|http:/.test(payload));

/** Payloads in items of lists, in code, and as the texts of links. */
async function attackByMarks(): Promise<void> {
  const mallory = await join(url, MARKS_ROOM, "mallory");
  const post = async (lines: readonly string[]): Promise<void> => {
    const answer = await ask<PostAnswer>(mallory, "chat-message", { content: lines.join("\n") });
    expect(answer).toHaveProperty("ok");
  };
  for (const third of THIRDS) await post(third.map((payload) => `- ${payload}`));
  for (const language of ["html", "js", "css", "md"])
    for (const third of THIRDS) await post([`\`\`\`${language}`, ...third, "```"]);
  for (let at = 0; at < LINKED.length; at += 10)
    await post(LINKED.slice(at, at + 10).map((payload) => `[${payload}](https://a.example/x)`));
  mallory.disconnect();
}

async function marksStandAsText(page: Page): Promise<void> {
  const texts = (selector: string): Promise<string[]> => page.locator(`.content ${selector}`).allTextContents();
  await vi.waitFor(async () => expect(await texts("li")).toHaveLength(PAGE_PAYLOADS.length), WAIT);
  expect(await texts("li")).toEqual(PAGE_PAYLOADS.map((payload) => payload.replace(/^__(\w+)__$/, "$1")));
  await page.locator(".content [class^=code-]").first().waitFor();
  const code = THIRDS.map((third) => third.join("\n"));
  expect(await texts("pre")).toEqual([...code, ...code, ...code, ...code]);
  const shown = await texts("a[href='https://a.example/x']");
  expect(shown.map((text) => text.replace(/ \(a\.example\)$/, ""))).toEqual(
    LINKED.map((payload) =>
      payload
        .replaceAll(/^__(?=\w+__$)|(?<=^__\w+)__$|\u202e/g, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    ),
  );
}

const enter = async (page: Page): Promise<void> => {
  await page.getByTestId("name").fill(PAGE_PAYLOADS[0]!);
  await page.getByTestId("other-room").click();
  await page.getByTestId("room").fill(ROOM);
  await page.getByTestId("join").click();
};

it("there are more than forty payloads", () => {
  expect(new Set(PAGE_PAYLOADS).size).toBeGreaterThanOrEqual(40);
  expect(PAGE_PAYLOADS).toEqual(expect.arrayContaining(ROOM_NAMES));
  expect(posted.map(({ name }) => name)).toEqual(PAGE_PAYLOADS);
});

it("on the page: names, rooms, topics, messages, mentions, quotes, files, members, search results, threads, typing, lists, code with colours, links with a text", async () => {
  const context = await browser.newContext({ ...VIEW, ...NO_WORKER });
  const watch = await Watch.open(context);
  const { page } = watch;
  await page.goto(url);
  await enter(page);
  await standsAsText(page);
  const card = page.getByTestId("link-card").filter({ hasText: "alert(1)" });
  expect(await card.locator("strong").textContent()).toBe(PAGE_PAYLOADS[0]);
  expect(await card.getAttribute("href")).toBe("http://evil.example/");
  await expect.poll(() => page.getByTestId("room-title").textContent()).toBe("#<b>tuo edisni");
  await expect.poll(() => page.getByTestId("topic").textContent()).toMatch(/^<b>tuo edisni x+$/);
  expect(await page.title()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  const listed = (): Promise<string[]> => page.locator("[data-room^=attacked-name-] .room-name").allTextContents();
  await vi.waitFor(
    async () => {
      // The page asks for the list now, and not a quarter of a minute later.
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      expect(new Set(await listed())).toEqual(new Set(ROOM_NAMES.map(shownName)));
    },
    { interval: 500 },
  );
  await page.getByTestId("topic").click();
  await page.getByTestId("dialog").getByText("#attacked").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("switcher").click();
  await page.getByTestId("go-to").fill("svg onload");
  await page.getByTestId("places").getByText("<svg onload=alert(1)>").first().waitFor();
  await watch.sawNothing();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: /members$/ }).click();
  const members = page.getByTestId("members").locator(".member-name bdi");
  await vi.waitFor(async () => expect(await members.count()).toBe(PAGE_PAYLOADS.length + 1), WAIT);
  expect(new Set(await members.allTextContents())).toEqual(new Set(SHOWN_NAMES));
  await watch.sawNothing();

  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("alert");
  await page.keyboard.press("Enter");
  await page.getByTestId("found").locator("button").first().waitFor();
  const found = await page.getByTestId("found").locator(".excerpt").allTextContents();
  expect(found.length).toBeGreaterThan(10);
  await watch.sawNothing();

  // All answer the first: each answers the one before.
  const last = page.getByTestId("message").last();
  await last.hover();
  await last.getByTestId("reply-in-thread").click();
  const replies = page.locator("[data-testid=replies] .content");
  await vi.waitFor(async () => expect(await replies.count()).toBe(50), WAIT);
  await watch.sawNothing();
  await page.getByTestId("follow-thread").click();
  await page.getByTestId("all-threads").click();
  await page.getByTestId("thread-item").waitFor();
  await watch.sawNothing();
  await page.locator(".side-panel").getByRole("button", { name: "Close", exact: true }).click();

  const attacker = PAGE_PAYLOADS.indexOf('"><script>alert(1)</script>');
  const user = `mallory-${attacker}`;
  const token = await tokenFor(user, { name: PAGE_PAYLOADS[attacker]! });
  const live = await join(url, ROOM, user, { auth: { token } });
  live.emit("typing", { on: true });
  await page
    .getByTestId("typing")
    .filter({ hasText: `${PAGE_PAYLOADS[attacker]} is typing` })
    .waitFor();
  // Read aloud as it comes, completed as it is mentioned, and drafted as an answer.
  live.emit("chat-message", { content: PAGE_PAYLOADS[0] });
  await page.getByRole("log", { name: "New messages" }).getByText("<script>alert(1)</script>").waitFor();
  await page.getByTestId("composer").fill(`@${user}`);
  await page.getByTestId("suggestions").getByText(PAGE_PAYLOADS[attacker]!).first().waitFor();
  await watch.sawNothing();

  await attackByMarks();
  await page.evaluate((room) => void (location.hash = room), MARKS_ROOM);
  await marksStandAsText(page);
  await watch.sawNothing();
  await context.close();
});

it("in the address and in the form, as a room's name; the content security policy of the page blocks inline scripts", async () => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const policy = response.headers.get("Content-Security-Policy");
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toContain("unsafe");
  // Its own server and no other, over WebSockets too.
  expect(policy).toContain("connect-src 'self';");
  expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  const context = await browser.newContext(NO_WORKER);
  const watch = await Watch.open(context);
  const { page } = watch;
  await page.goto(url);
  await page.getByTestId("name").fill("Ada");
  await page.getByTestId("other-room").click();
  const names = PAGE_PAYLOADS.filter((payload) => isRoomName(payload));
  for (const payload of ROOM_NAMES) {
    await page.evaluate((payload) => (location.hash = payload), payload);
    await page.getByTestId("room").fill(payload);
    await page.getByTestId("join").click();
    await expect.poll(() => page.locator("#room-note").isVisible()).toBe(true);
    await expect.poll(() => page.getByTestId("room").inputValue()).toBe(payload);
  }
  expect(names).toEqual(["constructor"]);
  await page.getByTestId("room").fill(names[0]!);
  await page.getByTestId("join").click();
  await page.getByTestId("room-title").filter({ hasText: names[0]! }).waitFor();
  await vi.waitFor(
    async () => expect(await page.getByTestId("connection").getAttribute("data-state")).toBe("connected"),
    WAIT,
  );
  await watch.sawNothing();

  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'owned'";
    document.head.append(script);
  });
  expect(await page.title()).not.toBe("owned");
  await vi.waitFor(() => expect(watch.complaints.join("\n")).toContain("Content Security Policy"), WAIT);
  await context.close();
});

it("in the embed, on a page without a content security policy", async () => {
  const context = await browser.newContext(VIEW);
  const watch = await Watch.open(context);
  await watch.page.goto(hostUrl);
  await watch.page.getByTestId("composer").waitFor();
  await vi.waitFor(
    async () =>
      expect(await watch.page.locator("[data-testid=message] .content").count()).toBeGreaterThanOrEqual(posted.length),
    WAIT,
  );
  const names = await watch.page.locator("[data-testid=message] .head .author").allTextContents();
  expect(names.slice(0, posted.length)).toEqual(SHOWN_NAMES);
  await watch.sawNothing();
  await context.close();
});

/** As translators of browsers do: every text node of the page, also those of spaces, is two `<font>` elements and the text in small letters now. */
const translate = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const roots: Node[] = [
      document.body,
      ...Array.from(document.querySelectorAll("*"), (one) => one.shadowRoot ?? one),
    ];
    for (const root of roots) {
      const texts: Text[] = [];
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      for (const text of texts.filter(
        ({ parentElement }) => !parentElement?.closest("font, script, style, textarea"),
      )) {
        const [outer, inner] = [document.createElement("font"), document.createElement("font")];
        inner.textContent = text.data.toLowerCase();
        outer.append(inner);
        text.replaceWith(outer);
      }
    }
  });

const textOf = (page: Page, selector: string): Promise<string> =>
  page
    .locator(selector)
    .first()
    .evaluate((shown) => (shown.textContent ?? "").replaceAll(/\s+/g, " ").trim());
const shows = (page: Page, selector: string, text: string): Promise<void> =>
  vi.waitFor(async () => expect(await textOf(page, selector)).toBe(text), WAIT);

it("edits, reactions, deletions, counts and new messages are whole in a translated page", async () => {
  const room = "translated";
  const ben = await join(url, room, "ben");
  const post = (content: string) => ask<PostAnswer & { id: string }>(ben, "chat-message", { content });
  const [one, two, three] = [await post("One **bold** text"), await post("Two"), await post("Three")];
  await ask(ben, "react", { id: two.id, emoji: "🎉", on: true });
  const ada = await (await Visitor.open(browser, url, NO_WORKER)).enter(room, "Ada");
  const { page } = ada;
  const at = (seq: number, inside: string): string => `[data-seq="${seq}"] ${inside}`;
  await page.locator(at(2, "[data-testid=reaction]")).waitFor();
  await page.locator(".members-toggle").click();
  await page.getByTestId("composer").fill("draft");
  await translate(page);
  expect(await textOf(page, at(1, ".content"))).toBe("one bold text");

  await ask(ben, "edit-message", { id: one.id, content: "New *slanted* words https://a.example/x" });
  await shows(page, at(1, ".content"), "New slanted words https://a.example/x");
  await ask(ben, "edit-message", { id: two.id, content: "Plain" });
  await shows(page, at(2, ".content"), "Plain");
  const cleo = await join(url, room, "cleo");
  await ask(cleo, "react", { id: two.id, emoji: "🎉", on: true });
  await shows(page, at(2, ".reactions"), "🎉 2");
  await translate(page);
  await ask(cleo, "react", { id: two.id, emoji: "🎉", on: false });
  await ask(cleo, "react", { id: two.id, emoji: "👍", on: true });
  await shows(page, at(2, ".reactions"), "🎉 1👍 1");
  await shows(page, "[data-testid=member-count]", "3");
  await ask(ben, "delete-message", { id: three.id });
  await shows(page, at(3, ".gone"), "Message deleted");
  await post("Four");
  await shows(page, at(4, ".content"), "Four");
  await translate(page);
  await ask(ben, "edit-message", { id: one.id, content: "Last" });
  await shows(page, at(1, ".content"), "Last");
  cleo.emit("typing", { on: true });
  await vi.waitFor(async () => expect(await textOf(page, "[data-testid=typing]")).toMatch(/^cleo is typing/), WAIT);
  await translate(page);
  cleo.emit("typing", { on: false });
  await shows(page, "[data-testid=typing]", "");
  await translate(page);
  cleo.disconnect();
  await shows(page, "[data-testid=member-count]", "2");
  await page.getByTestId("send").click();
  await shows(page, at(5, ".content"), "draft");
  // Old parts of it lead where they led.
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("Plain");
  await page.keyboard.press("Enter");
  await shows(page, "[data-testid=search-outcome]", "1 found");
  await translate(page);
  await page.getByTestId("search-field").fill("nowhere");
  await page.keyboard.press("Enter");
  await shows(page, "[data-testid=search-outcome]", "Nothing found.");
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});
