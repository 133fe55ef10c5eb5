// Finding a message in a real Chromium: by a link to it and by its day; and the way back to where one was.
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, expect, inject, it, vi } from "vitest";

import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
/** More than a page of history. */
const MESSAGES = 150;
/** A room whose first messages are far back: most tests find them there. */
const ROOM = "finding-far";
/** The day of the messages that begin with “old”. */
const OLD = Date.UTC(2026, 2, 3, 12);

type Client = Awaited<ReturnType<typeof join>>;

const person = async (room: string, user: string, role: "member" | "moderator" = "member"): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name: user, role }) } });
const say = async (who: Client, content: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content })).id;

/** The `id` of the first message, and of the second. */
let first: string;
let second: string;

beforeAll(async () => {
  const ben = await person(ROOM, "ben");
  [first, second] = [await say(ben, "the first of all"), await say(ben, "the second of all")];
  await Promise.all(Array.from({ length: MESSAGES }, (_, n) => say(ben, `m${n}`)));
  ben.disconnect();
});

const enter = sharedPage(async () => {
  const visitor = await Visitor.open(browser, url, {
    permissions: ["clipboard-read", "clipboard-write"],
    timezoneId: "UTC",
    ...NO_WORKER,
  });
  await visitor.page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => socket.send(typeof frame === "string" ? aged(frame) : frame));
  });
  return visitor;
});

/** No room has messages of another day. */
const aged = (frame: string): string =>
  frame.replaceAll(/\{[^{}]*"content":"old [^{}]*\}/g, (message) =>
    message.replace(/"timestamp":\d+/, `"timestamp":${OLD}`),
  );

/** Of the room with many, wherever the reader stands there. */
async function readNewest({ page }: Visitor): Promise<void> {
  const newest = page.getByTestId("newest");
  if ((await newest.count()) > 0) await newest.first().click();
  await page.locator(`[data-seq="${MESSAGES + 2}"]`).waitFor();
  await newest.waitFor({ state: "detached" });
}

it("the link of a message leads a visitor through the form to it, however far back it is, and the reader of another room at once", async () => {
  const room = ROOM;
  const ada = await enter(room);
  await ada.message("m149").waitFor();
  await ada.page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  await ada.page.getByTestId("jump-first").click();
  await ada.isLedTo("the first of all");
  await ada.use("the first of all", "more");
  await ada.choose("Copy link");
  await ada.reads("notice", "The link to the message is copied.");
  const link = await ada.page.evaluate<string>("navigator.clipboard.readText()");
  expect(link).toMatch(new RegExp(`^${url}/#${room}/[\\w-]+$`));

  const eve = await Visitor.open(browser, url, NO_WORKER);
  // As the end of a sentence has it.
  await eve.page.goto(`${link}.`);
  await eve.page.getByTestId("name").fill("Eve");
  await eve.page.getByRole("button", { name: `Enter #${room}` }).click();
  await eve.isLedTo("the first of all");
  await eve.isAt(`${url}/#${room}`);
  // Whom the browser knows comes there without the form, and after a reload stays in the room.
  await eve.page.goto("about:blank");
  await eve.page.goto(link);
  await eve.isLedTo("the first of all");
  await eve.isAt(`${url}/#${room}`);
  await eve.page.evaluate(() => void (location.hash = "finding-elsewhere"));
  await eve.isIn("#finding-elsewhere");
  await eve.page.evaluate((link) => void (location.href = link), link);
  await eve.isLedTo("the first of all");
  await eve.isAt(`${url}/#${room}`);
  // Another room than that of the link.
  await eve.page.evaluate(() => localStorage.clear());
  await eve.page.goto("about:blank");
  await eve.page.goto(link);
  await eve.fillIn("finding-elsewhere", "Dan");
  await eve.isIn("#finding-elsewhere");
  expect([ada, eve].flatMap(({ complaints }) => complaints)).toEqual([]);
  await eve.close();
});

it("a press on such a link in a message goes there within the page, Back leads back, and other links open as ever", async () => {
  const [room, other] = ["finding-press", ROOM];
  const ben = await person(room, "ben");
  const here = await say(ben, "where it began");
  await Promise.all(Array.from({ length: 40 }, (_, n) => say(ben, `between ${n}`)));
  await say(ben, `there: ${url}/#${other}/${second}`);
  await say(ben, `back: ${url}/#${room}/${here}`);
  await say(ben, `room: ${url}/#${other}`);
  await say(ben, `none: ${url}/#${other}/%3Cimg%20src=x%20onerror=alert(1)%3E`);
  const ada = await enter(room);
  const { page } = ada;
  // A press on a link that moves away meanwhile is none.
  const rest = async (text: string): Promise<void> => {
    await ada.message(text).waitFor();
    await comesToRest(page);
  };
  const press = async (text: string): Promise<void> => {
    await rest(text);
    await ada.message(text).locator(".content a").click();
  };
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await press("back:");
  await ada.isLedTo("where it began");
  await ada.isAt(`${url}/#${room}`);
  await page.getByTestId("newest").click();
  await press("there:");
  await ada.isLedTo("the second of all");
  await ada.isAt(`${url}/#${other}`);
  await page.goBack();
  await ada.isIn(`#${room}`);
  await press("room:");
  await ada.isIn(`#${other}`);
  // Where she was led to before.
  await page.locator("[data-seq='2']").waitFor();
  await readNewest(ada);
  await page.goBack();
  await ada.isIn(`#${room}`);
  expect(await page.evaluate("isSamePage")).toBe(true);
  for (const [text, modifiers] of [
    ["none:", []],
    ["there:", ["Control"]],
  ] as const) {
    await rest(text);
    const link = ada.message(text).locator(".content a");
    const tabs = (): Page[] => page.context().pages().slice(1);
    // A press comes to nothing if its row moves between down and up: then a reader presses again.
    await vi.waitFor(async () => {
      await link.click({ modifiers: [...modifiers] });
      await expect.poll(() => tabs().length, { timeout: 20_000 }).toBeGreaterThan(0);
    }, WAIT);
    for (const tab of tabs()) await tab.close();
  }
  await ada.isIn(`#${room}`);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
});

it("the page says of a link's message that it was deleted, or is not there; a conversation has no such links", async () => {
  const room = "finding-gone";
  const [ben, mo] = [await person(room, "ben"), await person(room, "mo", "moderator")];
  const gone = await say(ben, "I will go");
  await say(ben, "I will stay");
  await ask(mo, "delete-message", { id: gone });
  const ada = await enter(room);
  const { page } = ada;
  const follow = (message: string): Promise<void> =>
    page.evaluate((hash) => void (location.hash = hash), `#${room}/${message}`);
  await ada.message("I will stay").waitFor();
  await follow(gone);
  await ada.isLedTo("Message deleted");
  await ada.reads("notice", "That message was deleted.");
  await follow(`${gone}zz`);
  await ada.reads("notice", "That message is not there any more.");
  await follow("<img src=x onerror=alert(1)>");
  await ada.reads("notice", `“${room}/<img src=x onerror=alert(1`);
  await ada.isAt(`${url}/#${room}`);
  await page.goto("about:blank");
  await page.goto(`${url}/#${room}/never-was`);
  await ada.reads("notice", "That message is not there any more.");

  await ada.use("I will stay", "more");
  await ada.choose("Message ben");
  await ada.isIn("ben");
  await ada.say("between us");
  await ada.sees("between us");
  await ada.use("between us", "more");
  await page.getByRole("menuitem", { name: "Copy text" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Copy link" }).count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  for (const client of [ben, mo]) client.disconnect();
});

it("the day over the messages, a key and the menu lead to another day; the browser refuses what is none", async () => {
  const ada = await enter(ROOM);
  const { page } = ada;
  const field = page.getByTestId("jump-date");
  const dialog = page.getByTestId("dialog");
  await ada.message("m149").waitFor();
  await page.getByTestId("log").hover();
  await vi.waitFor(async () => {
    await page.mouse.wheel(0, -300);
    await page.getByTestId("day").hover({ timeout: 500 });
  }, WAIT);
  // It stays while the reader points at it.
  await page.getByTestId("day").click();
  const today = await field.inputValue();
  expect(today).toMatch(/^\d{4}-\d\d-\d\d$/);
  await page.keyboard.press("Enter");
  await ada.isLedTo("the first of all");
  await dialog.waitFor({ state: "detached" });

  // With the keyboard alone, and to a day without messages.
  await page.getByTestId("newest").click();
  await ada.message("m149").waitFor();
  await ada.message("m149").focus();
  await page.keyboard.press("d");
  await vi.waitFor(() => expect(field.evaluate((one) => one === document.activeElement)).resolves.toBe(true), WAIT);
  await field.fill("2020-02-29");
  await page.keyboard.press("Enter");
  await ada.isLedTo("the first of all");
  await ada.reads("notice", /^That day has no messages\. The next day with messages: (?:Today|Yesterday)\.$/);

  await page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  for (const none of ["", "9999-12-31", "0001-01-01"]) {
    await field.fill(none);
    await page.keyboard.press("Enter");
    expect(await field.evaluate((one) => (one as HTMLInputElement).validity.valid), none).toBe(false);
    await dialog.waitFor();
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
});

it("who comes back to a room, also by a reload, stands where they were to the pixel; at what is new, if something is", async () => {
  const [room, other] = [ROOM, "finding-elsewhere"];
  const ben = await person(room, "ben");
  const ada = await enter(room);
  const { page } = ada;
  await readNewest(ada);
  await page.getByTestId("log").hover();
  await vi.waitFor(async () => {
    await page.mouse.wheel(0, -2777);
    await page.locator("[data-seq='60']").waitFor({ timeout: 1000 });
  }, WAIT);
  await comesToRest(page);
  const topRow = async (): Promise<readonly [seq: string | undefined, y: number]> =>
    page.getByTestId("log").evaluate((log) => {
      const { top } = log.getBoundingClientRect();
      const rows = Array.from(log.querySelectorAll<HTMLElement>("li[data-seq]"));
      const row = rows.find((one) => one.getBoundingClientRect().bottom > top + 1)!;
      return [row.dataset["seq"], Math.round(row.getBoundingClientRect().top - top)] as const;
    });
  const stood = await topRow();
  const isBack = async (): Promise<void> => {
    await vi.waitFor(async () => expect(await topRow()).toEqual(stood), WAIT);
    expect(await page.locator(".message.target").count()).toBe(0);
  };
  await page.evaluate((hash) => void (location.hash = hash), other);
  await ada.isIn(`#${other}`);
  await page.goBack();
  await ada.isIn(`#${room}`);
  await isBack();
  await page.reload();
  await ada.isConnected();
  await isBack();
  // In another room, the first one keeps its place over a reload.
  await page.evaluate((hash) => void (location.hash = hash), other);
  await ada.isIn(`#${other}`);
  await page.reload();
  await ada.isConnected();
  await page.evaluate((hash) => void (location.hash = hash), room);
  await isBack();

  // With something new the reader goes on there.
  await page.evaluate((hash) => void (location.hash = hash), other);
  await ada.isIn(`#${other}`);
  await say(ben, "something new");
  await page.goBack();
  await ada.isIn(`#${room}`);
  await ada.message("something new").waitFor();
  await page.getByTestId("newest").waitFor({ state: "detached" });
  await page.reload();
  await ada.message("something new").waitFor();
  // Another tab begins at the newest.
  const tab = await ada.tab();
  await tab.page.goto(`${url}/#${room}`);
  await tab.message("something new").waitFor();
  expect(ada.complaints).toEqual([]);
  await tab.page.close();
  ben.disconnect();
});

it("the menu of the room leads to other days from the one that is read, and from today where the newest are read", async () => {
  const room = "finding-menu-day";
  const ben = await person(room, "ben");
  for (const day of ["old", "new"]) await Promise.all(Array.from({ length: 30 }, (_, n) => say(ben, `${day} ${n}`)));
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("new 29").waitFor();
  const opens = async (): Promise<string> => {
    await page.getByTestId("room-menu").click();
    await ada.choose("Jump to a date");
    const date = await page.getByTestId("jump-date").inputValue();
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    return date;
  };
  expect(await opens()).not.toBe("2026-03-03");
  await page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  await page.getByTestId("jump-first").click();
  await ada.isLedTo("old 0");
  expect(await opens()).toBe("2026-03-03");
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
});

it("on a phone: a link leads to its message, the heading of a day to another one, and a link in a thread to its message before the thread", async () => {
  const ben = await person(ROOM, "ben");
  const id = await say(ben, "in a thread");
  await ask(ben, "chat-message", { content: `see ${url}/#${ROOM}/${second}`, replyTo: id });
  const ada = await Visitor.open(browser, url, { ...PHONE, ...NO_WORKER });
  const { page } = ada;
  await page.goto(`${url}/#${ROOM}/${first}`);
  await page.getByTestId("name").fill("Ada");
  await tap(page.getByTestId("join"));
  await ada.isLedTo("the first of all");
  await tap(page.locator(".day .day-button").first());
  await page.getByTestId("jump-date").waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  await tap(page.getByTestId("dialog-submit"));
  await ada.isLedTo("the first of all");
  await ada.isAt(`${url}/#${ROOM}`);

  await tap(page.getByTestId("newest").first());
  await tap(page.getByTestId("thread-line"));
  await tap(page.getByTestId("thread").locator(".content a"));
  await ada.isLedTo("the second of all");
  await page.getByTestId("thread").waitFor({ state: "detached" });
  await ada.isAt(`${url}/#${ROOM}`);
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});
