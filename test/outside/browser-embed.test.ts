// <parley-room> in a page on another origin and under a strict policy of its own.
import { readdir, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { buildClient, measureFirstLoad } from "../../scripts/build-client.ts";
import { HOST, PROJECT_ROOT } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { collect, join, tokenFor } from "./stock-clients.ts";
import { WAIT } from "./visitor.ts";

const FIRST_LOAD_BYTES_MAX = 100_000;

const url = inject("serverUrl");
const browser = await useBrowser();
let host: Server;
let page: Page;
let hostUrl: string;
const complaints: string[] = [];

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

// Every server that is started builds, and others serve the same files meanwhile.
it("a build without changes writes no file", async () => {
  const folder = path.join(PROJECT_ROOT, "dist", "client");
  const stamps = async (): Promise<unknown[]> =>
    Promise.all(
      (await readdir(folder, { recursive: true })).toSorted().map(async (name) => {
        const { ino, mtimeNs } = await stat(path.join(folder, name), { bigint: true });
        return [name, ino, mtimeNs];
      }),
    );
  const before = await stamps();
  await buildClient();
  expect(await stamps()).toEqual(before);
});

it(`a first visit of the chat page loads less than ${FIRST_LOAD_BYTES_MAX} bytes, compressed`, async () => {
  expect(await measureFirstLoad()).toBeLessThan(FIRST_LOAD_BYTES_MAX);
});
