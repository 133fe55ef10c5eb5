// A user in Chromium loses the network: messages written meanwhile survive a reload, and are sent once, in order.
import { existsSync } from "node:fs";
import path from "node:path";

import type { BrowserContext, Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { Message, PresenceChange } from "../../src/protocol/chat-events.ts";
import { PROJECT_ROOT } from "./servers.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";

const url = inject("serverUrl");
const WAIT = { interval: 50 };
const WRITTEN = ["one", "two", "three", "four", "five"];

const browser = await useBrowser();

/** The page's own files, as a browser's cache would give them: the network is gone for everything else. */
async function serveFromCache(context: BrowserContext): Promise<void> {
  await context.route("**/*", (route) => {
    const { pathname } = new URL(route.request().url());
    const file = path.join(PROJECT_ROOT, "dist", "client", pathname === "/" ? "index.html" : pathname);
    return existsSync(file) ? route.fulfill({ path: file }) : route.abort("internetdisconnected");
  });
}

const connectionOf = (page: Page): Promise<string | null> => page.getByTestId("connection").getAttribute("data-state");

async function shows(page: Page, state: "pending" | "sent", texts: readonly string[]): Promise<void> {
  const shown = page.locator(`[data-testid=message][data-state=${state}] .content`);
  await vi.waitFor(async () => expect(await shown.allTextContents()).toEqual(texts), WAIT);
}

async function enter(page: Page, room: string): Promise<void> {
  await page.getByTestId("name").fill("Ada");
  await page.getByTestId("room").fill(room);
  await page.getByTestId("join").click();
  await page.getByTestId("composer").waitFor({ state: "visible" });
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByTestId("composer").fill(text);
  await page.getByTestId("send").click();
}

it("five messages written offline survive a reload and are sent once, in order", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await enter(page, "offline");
  await vi.waitFor(async () => expect(await connectionOf(page)).toBe("connected"), WAIT);
  await say(page, "before");
  await shows(page, "sent", ["before"]);
  const ben = await join(url, "offline", "ben");
  const changes = collect<PresenceChange>(ben, "presence");
  const heard = collect<Message>(ben, "chat-message");

  await context.setOffline(true);
  // The connection is really gone: the page knows, and so does the room.
  await vi.waitFor(async () => expect(await connectionOf(page)).toBe("offline"), WAIT);
  await vi.waitFor(() => expect(changes.flatMap(({ left }) => left)).toHaveLength(1), WAIT);
  for (const text of WRITTEN) await say(page, text);
  await shows(page, "pending", WRITTEN);

  await serveFromCache(context);
  await page.reload();
  await shows(page, "pending", WRITTEN);
  expect(heard).toEqual([]);

  await context.unrouteAll();
  await context.setOffline(false);
  await shows(page, "sent", ["before", ...WRITTEN]);
  await shows(page, "pending", []);
  const answer = (await ask(ben, "history", {})) as { messages: Message[] };
  expect(answer.messages.map(({ content }) => content)).toEqual(["before", ...WRITTEN]);
  expect(heard.map(({ content }) => content)).toEqual(WRITTEN);
  await context.close();
});

/** Joins with the client module, as another site's page does; the second time as a reloaded page. */
const enterTab = async (tab: Page): Promise<void> => {
  const options = JSON.stringify({ url, token: await tokenFor("ada") });
  // As text: the test runner would rewrite an import that it sees.
  await tab.evaluate(`(async ({ url, token }) => {
    globalThis.room?.socket.io.engine.close();
    globalThis.connectRoom ??= (await import("/client.js")).connectRoom;
    globalThis.room = connectRoom(url, "tabs", { token });
  })(${options})`);
};
const stateOf = (tab: Page): Promise<string> => tab.evaluate("room.connection.state");

it("two tabs of one user, one reloaded while offline: nothing is lost or doubled", async () => {
  const context = await browser.newContext();
  const ben = await join(url, "tabs", "ben");
  const heard = collect<Message>(ben, "chat-message");
  const tabs = [await context.newPage(), await context.newPage()];
  for (const tab of tabs) {
    // A page of the same origin that is not under the chat page's policy.
    await tab.goto(`${url}/health`);
    await enterTab(tab);
  }
  await vi.waitFor(async () => expect(await Promise.all(tabs.map(stateOf))).toEqual(["connected", "connected"]), WAIT);
  await context.setOffline(true);
  await vi.waitFor(async () => expect(await Promise.all(tabs.map(stateOf))).not.toContain("connected"), WAIT);
  await tabs[0]!.evaluate(`for (const text of ["a1", "a2"]) room.send(text); undefined`);
  await tabs[1]!.evaluate(`for (const text of ["b1", "b2"]) room.send(text); undefined`);
  await enterTab(tabs[1]!);
  await context.setOffline(false);
  await vi.waitFor(() => expect(heard).toHaveLength(4), WAIT);
  for (const tab of tabs) await vi.waitFor(async () => expect(await tab.evaluate("localStorage.length")).toBe(0), WAIT);
  const said = heard.map(({ content }) => content);
  expect(said.toSorted()).toEqual(["a1", "a2", "b1", "b2"]);
  for (const own of ["a", "b"]) expect(said.filter((text) => text.startsWith(own))).toEqual([`${own}1`, `${own}2`]);
  await context.close();
});

it("reconnects at once when the page is shown, online, or restored from the back/forward cache", async () => {
  const page = await browser.newPage();
  await page.goto(`${url}/health`);
  await enterTab(page);
  const connected = (): Promise<void> => vi.waitFor(async () => expect(await stateOf(page)).toBe("connected"), WAIT);
  const drop = "room.socket.io.engine.close()";
  const hide = `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`;
  for (const [go, comeBack] of [
    [drop, `dispatchEvent(new Event("online"))`],
    [drop, `document.dispatchEvent(new Event("visibilitychange"))`],
    [hide, `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`],
  ]) {
    await connected();
    const [gone, back] = await page.evaluate<string[]>(
      `(() => [() => ${go}, () => ${comeBack}].map((act) => (act(), room.connection.state)))()`,
    );
    expect([gone, back]).toEqual(["waiting", "connecting"]);
  }
  await connected();
  await page.close();
});
