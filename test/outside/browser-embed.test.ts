// <parley-room> in a page on another origin: under a strict policy of that page, and outside its visible part, where it fetches no
// history, marks nothing as read, and keeps its place until it is shown.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import type { Message, PresenceChange, ReadMark } from "../../src/protocol/chat-events.ts";
import { comesToRest } from "./scroll-meter.ts";
import { HOST } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { WAIT } from "./visitor.ts";

const MESSAGES = 160;
const HIDDEN_ROOM = "embed-hidden";
/** By then a chat has sent its read marks. */
const LATER_MS = 3000;

const url = inject("fastServerUrl");
const browser = await useBrowser();
let host: Server;
let page: Page;
let hostUrl: string;
const complaints: string[] = [];
/** What the host answers at /hidden. */
let hiddenBody: string;

/** Its own styles are hostile, and it lets no inline style or script run. */
const HOST_PAGE = `<!doctype html><link rel="stylesheet" href="/host.css"><script type="module" src="${url}/embed.js"></script>
<h1>A page of its own</h1><parley-room room="embedded" token-from="/token"></parley-room>`;
/** A page that knows no visitors. */
const GUEST_PAGE = HOST_PAGE.replace(' token-from="/token"', "");
const HOST_CSS = "* { color: red; font-size: 40px } button, textarea { display: none !important }";

beforeAll(async () => {
  host = createServer((request, response) => {
    void (async () => {
      if (request.url === "/token" && request.method === "POST") {
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ token: await tokenFor("ada", { name: "Ada" }) }));
      } else if (request.url === "/host.css") response.setHeader("content-type", "text/css").end(HOST_CSS);
      else if (request.url === "/favicon.ico") response.writeHead(204).end();
      else if (request.url === "/hidden") response.setHeader("content-type", "text/html").end(hiddenBody);
      else {
        const socket = url.replace("http", "ws");
        response.setHeader("content-type", "text/html");
        response.setHeader(
          "content-security-policy",
          `default-src 'self'; script-src ${url}; connect-src 'self' ${url} ${socket}; img-src blob:`,
        );
        response.end(request.url === "/guests" ? GUEST_PAGE : HOST_PAGE);
      }
    })();
  });
  await new Promise<void>((resolve) => void host.listen(0, HOST, resolve));
  hostUrl = `http://${HOST}:${(host.address() as AddressInfo).port}`;
  page = await browser.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
});
afterAll(async () => {
  host?.close();
});

it("a user of the embed and a stock client meet in one room", async () => {
  const ben = await join(url, "embedded", "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const heard = collect<Message>(ben, "chat-message");
  await page.goto(hostUrl);
  const composer = page.getByTestId("composer");
  await composer.waitFor();
  expect(await page.evaluate("document.activeElement === document.body")).toBe(true);
  await composer.fill("from the embed");
  await composer.press("Enter");
  await vi.waitFor(
    () => expect(heard.map(({ content, sender }) => [sender, content])).toEqual([["ada", "from the embed"]]),
    WAIT,
  );
  ben.emit("chat-message", { content: "from elsewhere" });
  await page.getByText("from elsewhere").first().waitFor();
  // All emoji come from there, too.
  await page.getByTestId("emoji").click();
  await page.getByTestId("emoji-search").fill("lemon");
  await page.getByTestId("emoji-🍋").click();
  await expect.poll(() => composer.inputValue()).toBe("🍋");
  await composer.fill("");
});

it("styles of page and embed do not affect each other", async () => {
  const look = await page
    .getByTestId("message")
    .first()
    .evaluate((row) => {
      const { color, fontSize } = getComputedStyle(row);
      return { color, fontSize, heading: getComputedStyle(document.querySelector("h1")!).fontSize };
    });
  expect(look.color).not.toBe("rgb(255, 0, 0)");
  expect(look.fontSize).not.toBe("40px");
  expect(look.heading).toBe("40px");
  expect(await page.evaluate(() => document.adoptedStyleSheets.length)).toBe(0);
});

it("reports its state to the page, follows its attributes, and disconnects when it is removed", async () => {
  const other = await join(url, "embedded-2", "ben");
  const joined = collect<PresenceChange>(other, "presence");
  await page.evaluate(() => {
    const element = document.querySelector("parley-room")!;
    const told = ((globalThis as unknown as { told: string[] }).told = []) as string[];
    document.addEventListener("parley-state", (event) =>
      told.push((event as CustomEvent<{ connection: string }>).detail.connection),
    );
    element.setAttribute("room", "embedded-2");
  });
  await vi.waitFor(() => expect(joined.flatMap(({ joined }) => joined.map(({ user }) => user))).toContain("ada"), WAIT);
  await vi.waitFor(async () => expect(await page.evaluate("told.at(-1)")).toBe("connected"), WAIT);
  await page.evaluate(() => document.querySelector("parley-room")!.remove());
  await vi.waitFor(() => expect(joined.flatMap(({ left }) => left.map(({ user }) => user))).toEqual(["ada"]), WAIT);
  expect(complaints).toEqual([]);
});

it("a guest of the embed stays the same user after a reload and in another tab", async () => {
  const context = await browser.newContext();
  const tabs = [await context.newPage(), await context.newPage()];
  const ownIn = async (tab: Page): Promise<number> => tab.locator("[data-testid=message].own").count();
  const [first, second] = tabs as [Page, Page];
  await first.goto(`${hostUrl}/guests`);
  await first.getByTestId("composer").fill("from a guest");
  await first.getByTestId("composer").press("Enter");
  await vi.waitFor(async () => expect(await ownIn(first)).toBe(1), WAIT);
  await first.reload();
  await second.goto(`${hostUrl}/guests`);
  for (const tab of tabs) {
    await tab.getByText("from a guest").first().waitFor();
    await vi.waitFor(async () => expect(await ownIn(tab)).toBe(1), WAIT);
  }
  await context.close();
});

/** A page with a chat that is not to be seen, and what others and the room hear of it. */
let ben: Awaited<ReturnType<typeof join>>;
let read: ReadMark[];
let newest = MESSAGES;
/** The chat's history requests beyond the newest messages. */
let asked: string[];
let outOfSight: Page | undefined;

async function talk(): Promise<Awaited<ReturnType<typeof join>>> {
  const writer = await join(url, HIDDEN_ROOM, "writer");
  const lines = Array.from({ length: MESSAGES }, (_, at) => `line ${at + 1}`);
  await Promise.all(lines.map((content) => ask(writer, "chat-message", { content })));
  writer.disconnect();
  return join(url, HIDDEN_ROOM, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
}

async function openOutOfSight(): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 800, height: 700 } });
  await page.clock.install();
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((frame) => {
      if (/"history".*"before"/.test(String(frame))) asked.push(String(frame));
      server.send(frame);
    });
  });
  return page;
}

/** @param attributes of the chat's element, or of one above it */
async function open(user: string, above: string, hidden = ""): Promise<Page> {
  ben ??= await talk();
  read = collect<ReadMark>(ben, "read");
  asked = [];
  const page = (outOfSight ??= await openOutOfSight());
  const token = await tokenFor(user, { name: user });
  hiddenBody = `<!doctype html><input id="own"><div style="height: ${above}"></div><parley-room ${hidden}></parley-room>
    <script type="module">
      globalThis.told = [];
      document.addEventListener("parley-message", ({ detail }) => told.push(detail.text));
      const chat = document.querySelector("parley-room");
      chat.token = ${JSON.stringify(token)};
      chat.setAttribute("room", "${HIDDEN_ROOM}");
    </script><script type="module" src="${url}/embed.js"></script>`;
  await page.goto(`${hostUrl}/hidden`);
  return page;
}

/** When the page gets this event, the messages before it have been drawn. */
async function hears(page: Page, text: string): Promise<void> {
  await ask(ben, "chat-message", { content: text });
  newest += 1;
  await vi.waitFor(async () => expect(await page.evaluate("told.at(-1)")).toBe(`Ben: ${text}`), WAIT);
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
}

async function hasItsHistory(page: Page): Promise<void> {
  const rows = page.getByTestId("message");
  await vi.waitFor(async () => expect(await rows.count()).toBeGreaterThan(0), WAIT);
}

const readBy = (who: string): number | undefined => read.findLast(({ user }) => user === who)?.seq;
const reads = (who: string, seq: number): Promise<void> => vi.waitFor(() => expect(readBy(who)).toBe(seq), WAIT);

/** Read marks from before another user's read mark are known by then. */
async function hasToldOfReads(): Promise<void> {
  const other = `reader-${newest}`;
  const reader = await join(url, HIDDEN_ROOM, other);
  await ask(reader, "read", { seq: newest });
  await reads(other, newest);
  reader.disconnect();
}

async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`document.querySelector("parley-room").hidden = ${isHidden}`);
}

it("a hidden embed fetches only the newest messages and marks none as read; shown, it catches up; hidden and shown again, it keeps its place", async () => {
  const page = await open("ada", "0", "hidden");
  await hasItsHistory(page);
  for (const text of ["one", "two"]) await hears(page, text);
  await page.clock.fastForward(LATER_MS);
  await hears(page, "three");
  await hasToldOfReads();
  expect(asked).toEqual([]);
  expect(readBy("ada")).toBe(undefined);
  await hide(page, false);
  await page.getByTestId("message").filter({ hasText: "three" }).waitFor();
  await reads("ada", newest);
  await page.getByTestId("log").hover();
  await page.mouse.wheel(0, -5000);
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), WAIT);
  await page.getByTestId("newest").waitFor();
  await comesToRest(page);
  const first = (): Promise<{ seq: string | undefined; y: number }> =>
    page.getByTestId("log").evaluate((log) => {
      const { top } = log.getBoundingClientRect();
      const rows = Array.from(log.querySelectorAll<HTMLElement>("[data-seq]"));
      const row = rows.find((row) => row.getBoundingClientRect().bottom > top + 10);
      return { seq: row?.dataset["seq"], y: (row?.getBoundingClientRect().top ?? 0) - top };
    });
  const before = await first();
  await hide(page, true);
  await hears(page, "while it is hidden");
  await hide(page, false);
  await page.getByText("1 new message", { exact: true }).waitFor();
  await vi.waitFor(async () => {
    const { seq, y } = await first();
    expect(seq).toBe(before.seq);
    expect(Math.abs(y - before.y)).toBeLessThan(2);
  }, WAIT);
});

it("an embed below the visible part of its page marks nothing as read until it is scrolled into view, and new messages do not take the focus from the page", async () => {
  const page = await open("cid", "3000px");
  await hasItsHistory(page);
  await hears(page, "four");
  await page.clock.fastForward(LATER_MS);
  await hears(page, "five");
  await hasToldOfReads();
  expect(readBy("cid")).toBe(undefined);
  await page.evaluate("document.querySelector('parley-room').scrollIntoView()");
  await reads("cid", newest);
  await page.getByTestId("message").last().focus();
  await page.locator("#own").focus();
  for (const text of ["eight", "nine"]) await hears(page, text);
  expect(await page.evaluate("document.activeElement.id")).toBe("own");
  await page.close();
});
