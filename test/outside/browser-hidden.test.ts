// A chat outside the visible part of its page: it fetches no history, sends no read marks, and keeps its scroll position
// until it is shown.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, afterEach, expect, inject, it, vi } from "vitest";

import type { ReadMark } from "../../src/protocol/chat-events.ts";
import { HOST } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { WAIT } from "./visitor.ts";

const WRITERS = 16;
/** The messages that each user writes at once. */
const BURST = 10;
const MESSAGES = WRITERS * BURST;
const ROOM = "hidden";
/** By then a chat has sent its read marks. */
const LATER_MS = 3000;

const url = inject("serverUrl");
const browser = await useBrowser();
let host: Server;
/** The answers of the host page. */
let body: string;
let page: Page;
let ben: Awaited<ReturnType<typeof join>>;
let read: ReadMark[];
let newest = MESSAGES;
/** The chat's history requests beyond the newest messages. */
let asked: string[];

beforeAll(async () => {
  host = createServer((_, response) => void response.setHeader("content-type", "text/html").end(body));
  await new Promise<void>((resolve) => void host.listen(0, HOST, resolve));
  for (let n = 0; n < WRITERS; n++) {
    const writer = await join(url, ROOM, `writer-${n}`);
    for (let at = 0; at < BURST; at++) await ask(writer, "chat-message", { content: `line ${n * BURST + at + 1}` });
    writer.disconnect();
  }
  ben = await join(url, ROOM, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
});
afterAll(async () => {
  host?.close();
});

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 800, height: 700 } });
  await page.clock.install();
  read = collect<ReadMark>(ben, "read");
  asked = [];
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((frame) => {
      if (/"history".*"before"/.test(String(frame))) asked.push(String(frame));
      server.send(frame);
    });
  });
});
afterEach(() => page.close());

/** @param attributes of the chat's element, or of one above it */
async function open(user: string, above: string, hidden = ""): Promise<void> {
  const token = await tokenFor(user, { name: user });
  body = `<!doctype html><input id="own"><div style="height: ${above}"></div><parley-room ${hidden}></parley-room>
    <script type="module">
      globalThis.told = [];
      document.addEventListener("parley-message", ({ detail }) => told.push(detail.text));
      const chat = document.querySelector("parley-room");
      chat.token = ${JSON.stringify(token)};
      chat.setAttribute("room", "${ROOM}");
    </script><script type="module" src="${url}/embed.js"></script>`;
  await page.goto(`http://${HOST}:${(host.address() as AddressInfo).port}`);
}

/** When the page gets this event, the messages before it have been drawn. */
async function hears(text: string): Promise<void> {
  await ask(ben, "chat-message", { content: text });
  newest += 1;
  await vi.waitFor(async () => expect(await page.evaluate("told.at(-1)")).toBe(`Ben: ${text}`), WAIT);
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
}

async function hasItsHistory(): Promise<void> {
  const rows = page.getByTestId("message");
  await vi.waitFor(async () => expect(await rows.count()).toBeGreaterThan(0), WAIT);
}

const readBy = (who: string): number | undefined => read.findLast(({ user }) => user === who)?.seq;
const reads = (who: string, seq: number): Promise<void> => vi.waitFor(() => expect(readBy(who)).toBe(seq), WAIT);

/** Read marks from before another user's read mark are known by then. */
async function hasToldOfReads(): Promise<void> {
  const other = `reader-${newest}`;
  const reader = await join(url, ROOM, other);
  await ask(reader, "read", { seq: newest });
  await reads(other, newest);
  reader.disconnect();
}

async function hide(isHidden: boolean): Promise<void> {
  await page.evaluate(`document.querySelector("parley-room").hidden = ${isHidden}`);
}

it("a hidden embed fetches only the newest messages and marks none as read; shown, it catches up", async () => {
  await open("ada", "0", "hidden");
  await hasItsHistory();
  for (const text of ["one", "two"]) await hears(text);
  await page.clock.fastForward(LATER_MS);
  await hears("three");
  await hasToldOfReads();
  expect(asked).toEqual([]);
  expect(readBy("ada")).toBe(undefined);
  await hide(false);
  await page.getByTestId("message").filter({ hasText: "three" }).waitFor();
  await reads("ada", newest);
  await page.getByTestId("log").hover();
  await page.mouse.wheel(0, -5000);
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(0), WAIT);
});

it("an embed below the visible part of its page marks nothing as read until it is scrolled into view", async () => {
  await open("cid", "3000px");
  await hasItsHistory();
  await hears("four");
  await page.clock.fastForward(LATER_MS);
  await hears("five");
  await hasToldOfReads();
  expect(readBy("cid")).toBe(undefined);
  await page.evaluate("document.querySelector('parley-room').scrollIntoView()");
  await reads("cid", newest);
});

it("an embed that is hidden and shown again keeps its scroll position", async () => {
  await open("dan", "0");
  await hasItsHistory();
  await page.getByTestId("log").hover();
  await page.mouse.wheel(0, -1500);
  await page.getByTestId("newest").waitFor();
  // Waits until the older messages above have loaded.
  await vi.waitFor(async () => expect(await page.getByText("Loading earlier messages…").count()).toBe(0), WAIT);
  const first = (): Promise<{ seq: string | undefined; y: number }> =>
    page.getByTestId("log").evaluate((log) => {
      const { top } = log.getBoundingClientRect();
      const rows = Array.from(log.querySelectorAll<HTMLElement>("[data-seq]"));
      const row = rows.find((row) => row.getBoundingClientRect().bottom > top + 10);
      return { seq: row?.dataset["seq"], y: (row?.getBoundingClientRect().top ?? 0) - top };
    });
  const before = await first();
  await hide(true);
  await hears("while it is hidden");
  await hide(false);
  await page.getByText("1 new message", { exact: true }).waitFor();
  await vi.waitFor(async () => {
    const { seq, y } = await first();
    expect(seq).toBe(before.seq);
    expect(Math.abs(y - before.y)).toBeLessThan(2);
  }, WAIT);
});

it("new messages do not take the focus from the page", async () => {
  await open("eve", "0");
  await hasItsHistory();
  await page.getByTestId("message").last().focus();
  await page.locator("#own").focus();
  for (const text of ["eight", "nine"]) await hears(text);
  expect(await page.evaluate("document.activeElement.id")).toBe("own");
});
