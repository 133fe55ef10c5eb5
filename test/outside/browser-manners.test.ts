// Tests that nothing jumps while the page loads, and that the focus returns to its former element.
import type { Page } from "playwright-core";
import { describe, expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

/** The sum of all layout shifts; up to 0.1 counts as good elsewhere. */
const SHIFT_MAX = 0.01;
const SIZES = [
  ["desktop", { viewport: { width: 1200, height: 800 } }],
  ["phone", { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true }],
] as const;
/** More rooms than fit in the list. */
const MANY_ROOMS = Array.from({ length: 40 }, (_, at) => ({
  room: `r${at}`,
  members: at,
  lastSeq: 1,
  lastActivity: 1,
}));

const url = inject("serverUrl");
const browser = await useBrowser();

/** Elements that moved, each with its place in the document and on the screen, or "gone" if it was removed. */
const OBSERVE = `globalThis.shifts = [];
  const nameOf = (node) => node.nodeName.toLowerCase() + (node.className?.length > 0 ? "." + node.className.trim().replaceAll(/ +/g, ".") : "");
  const pathTo = (node) => node === null ? "gone" : [node, node.parentNode, node.parentNode?.parentNode].filter(Boolean).map(nameOf).join(" in ");
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
  new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push({ value, atMs: Math.round(startTime), moved: sources.map(({ node, previousRect, currentRect }) =>
        pathTo(node) + ": " + place(previousRect) + " → " + place(currentRect)) });
  }).observe({ type: "layout-shift", buffered: true });`;

interface Shift {
  readonly value: number;
  readonly atMs: number;
  readonly moved: readonly string[];
}

async function staysPut(page: Page): Promise<void> {
  // Two frames: by then the layout observer has seen the last drawing.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const shifts = await page.evaluate<Shift[]>("shifts");
  const sum = shifts.reduce((sum, { value }) => sum + value, 0);
  // Whole, and not as a difference of objects, which is cut.
  expect(sum, JSON.stringify(shifts, undefined, 1)).toBeLessThan(SHIFT_MAX);
}

/** Ten messages that fill the view, of which the last is sent. */
async function talk(ada: Visitor): Promise<void> {
  const texts = Array.from({ length: 10 }, (_, at) => `line ${at} ${"and so on ".repeat(at * 3)}`.trim());
  for (const text of texts) await ada.say(text);
  // On a phone not all of them are in view, and so not in the document.
  await vi.waitFor(
    async () => expect(await ada.message("line 9").getAttribute("data-state", { timeout: 500 })).toBe("sent"),
    WAIT,
  );
}

describe.each(SIZES)("%s", (size, view) => {
  it("nothing jumps while the join form or a room with messages loads", async () => {
    const ada = await Visitor.open(browser, url, view);
    await ada.page.addInitScript(OBSERVE);
    await ada.page.goto(url);
    await ada.page.getByTestId("join").waitFor();
    await staysPut(ada.page);
    await ada.fillIn(`still-${size}`, "Ada");
    await talk(ada);
    await ada.page.reload();
    await ada.message("line 9").waitFor();
    await ada.isConnected();
    await staysPut(ada.page);
    await ada.close();
  });

  it("nothing jumps when the rooms arrive with the messages, or long after them", async () => {
    const ada = await Visitor.open(browser, url, view);
    const told = Promise.withResolvers<void>();
    await ada.page.route("**/api/rooms?*", async (route) => {
      await told.promise;
      await route.fulfill({ json: { rooms: MANY_ROOMS } });
    });
    await ada.page.addInitScript(OBSERVE);
    await ada.enter(`rooms-${size}`, "Ada");
    await talk(ada);
    await ada.page.reload();
    await ada.message("line 9").waitFor();
    await ada.isConnected();
    told.resolve();
    await ada.page.locator('[data-room="r39"]').waitFor({ state: "attached" });
    await staysPut(ada.page);
    // This time they are there before the room is.
    await ada.page.reload();
    await ada.message("line 9").waitFor();
    await ada.isConnected();
    await ada.page.locator('[data-room="r39"]').waitFor({ state: "attached" });
    await staysPut(ada.page);
    await ada.close();
  });

  it("nothing jumps when the connection is lost and comes back, or a notice appears", async () => {
    const ada = await (await Visitor.open(browser, url, view)).enter(`lost-${size}`, "Ada");
    await talk(ada);
    // A moment after a click is no reason either.
    await ada.page.evaluate(OBSERVE.replace("!hadRecentInput", "true").replace("buffered: true", "buffered: false"));
    await ada.context.setOffline(true);
    await ada.stands("offline");
    await staysPut(ada.page);
    await ada.context.setOffline(false);
    await ada.isConnected();
    const mo = await join(url, `lost-${size}`, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
    await ask(mo, "slow-mode", { seconds: 1 });
    await ada.reads("notice", /slow mode/);
    await ada.page.getByRole("button", { name: "Dismiss" }).click();
    await ada.reads("notice", /^$/);
    await staysPut(ada.page);
    mo.disconnect();
    await ada.close();
  });

  it("nothing jumps when unsent messages are sent before the history arrives", async () => {
    const ada = await Visitor.open(browser, url, view);
    const line = await holdHistory(ada.page);
    await ada.page.addInitScript(OBSERVE);
    await ada.enter(`settled-${size}`, "Ada");
    await talk(ada);
    line.isCut = true;
    await ada.page.reload();
    await ada.say("from before");
    await ada.shows("pending", ["from before"]);
    Object.assign(line, { isCut: false, holdsHistory: true });
    await ada.page.reload();
    await ada.isConnected();
    await vi.waitFor(() => expect(line.held.length).toBeGreaterThan(0), WAIT);
    await ada.shows("pending", []);
    for (const give of line.held) give();
    await ada.message("line 9").waitFor();
    await ada.message("from before").waitFor();
    await staysPut(ada.page);
    await ada.close();
  });

  it("unsent messages do not jump when a short history arrives", async () => {
    const room = `short-${size}`;
    const ada = await Visitor.open(browser, url, view);
    const line = await holdHistory(ada.page);
    await ada.page.addInitScript(OBSERVE);
    await ada.enter(room, "Ada");
    await ada.say("line 1");
    await ada.sees("line 1");
    const left = { v: 1, clientMsgId: "x", content: "not sent", user: "guest-00000000000000bb", order: Date.now() };
    await ada.page.evaluate(
      ({ room, left }) => localStorage.setItem(`parley.outbox ${location.origin} ${room} x`, JSON.stringify(left)),
      { room, left },
    );
    line.holdsHistory = true;
    await ada.page.reload();
    await ada.shows("failed", ["not sent"]);
    await vi.waitFor(() => expect(line.held.length).toBeGreaterThan(0), WAIT);
    const button = ada.page.getByRole("button", { name: "Send as Ada" });
    const before = await button.boundingBox();
    for (const give of line.held) give();
    await ada.sees("line 1");
    expect(await button.boundingBox()).toEqual(before);
    await staysPut(ada.page);
    await ada.close();
  });
});

/** A connection that can be cut, and one that holds the room's history back until the test asks for it. */
async function holdHistory(page: Page) {
  const line = { isCut: false, holdsHistory: false, held: [] as (() => void)[] };
  await page.routeWebSocket(/socket\.io/, (socket) => {
    if (line.isCut) return;
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      const isHistory = line.holdsHistory && typeof frame === "string" && frame.includes('"hasMore"');
      if (isHistory) line.held.push(() => socket.send(frame));
      else socket.send(frame);
    });
  });
  return line;
}

it("the list of rooms does not reorder under the pointer: new rooms come below, and move later", async () => {
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  let rooms = MANY_ROOMS.slice(0, 3);
  await page.route("**/api/rooms?*", (route) => route.fulfill({ json: { rooms } }));
  await ada.enter("r9", "Ada");
  const order = (): Promise<string[]> => page.locator("[data-room] .room-name").allTextContents();
  const isListed = (...names: string[]): Promise<void> =>
    vi.waitFor(async () => expect(await order()).toEqual(names), WAIT);
  await isListed("r9", "r0", "r1", "r2");
  await page.locator('[data-room="r1"]').hover();
  rooms = [...rooms, { ...rooms[0]!, room: "a-new-one" }];
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await isListed("r9", "r0", "r1", "r2", "a-new-one");
  await page.getByTestId("log").hover();
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await isListed("r9", "a-new-one", "r0", "r1", "r2");
  await ada.close();
});

it("the focus returns when a dialog, a menu or a picker closes", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("focus", "Ada");
  const { page } = ada;
  const hasFocus = async (testId: string): Promise<void> =>
    vi.waitFor(async () => expect(await page.evaluate("document.activeElement.dataset.testid")).toBe(testId), WAIT);
  const onMessage = (): Promise<void> => hasFocus("message");
  await ada.say("something");
  await ada.sees("something");

  await page.getByTestId("new-room").click();
  await hasFocus("new-room-name");
  await page.keyboard.press("Escape");
  await hasFocus("new-room");

  await page.getByTestId("room-menu").focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem").first().waitFor();
  await page.keyboard.press("Escape");
  await hasFocus("room-menu");

  await page.getByTestId("composer").focus();
  await page.keyboard.press("Control+/");
  await page.getByTestId("dialog").waitFor();
  await page.keyboard.press("Escape");
  await hasFocus("composer");

  await ada.message("something").focus();
  await page.keyboard.press("+");
  await page.getByTestId("emoji-heart").waitFor();
  await page.keyboard.press("Escape");
  await onMessage();
  await page.keyboard.press("Delete");
  await page.getByTestId("dialog-submit").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await onMessage();
  // The element that had the focus is gone: the focus is in the composer or in the messages, never on the body.
  await page.keyboard.press("Delete");
  await page.getByTestId("dialog-submit").click();
  await ada.page.getByText("Message deleted").waitFor();
  expect(await page.evaluate("document.activeElement !== document.body")).toBe(true);
  await ada.close();
});
