// The page for everybody, in a real Chromium: axe-core finds no problem in the states of the chat page, light and dark
// (browser-operator.test.ts has those of the operator page); and without a mouse Tab moves to one of the messages, arrow keys to the others, Tab from there to its actions, and
// the focus returns to where it was when something closes.
import type { BrowserContextOptions } from "playwright-core";
import { beforeAll, expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { findings, passes, passesDarkToo } from "./axe.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const ROOM = "accessible";
const DESKTOP = { viewport: { width: 1200, height: 800 } };
const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };

const browser = await useBrowser();
const moderator = await tokenFor("mo", { role: "moderator", name: "Mo" });

let ben: Awaited<ReturnType<typeof join>>;

beforeAll(talk);

/** One of everything that a message can have in it. */
async function talk(): Promise<void> {
  ben = await join(url, ROOM, "ben", { auth: { token: await tokenFor("ben", { name: "Ben Okafor" }) } });
  const mo = await join(url, ROOM, "mo", { auth: { token: moderator } });
  const said = async (by: typeof ben, content: string, replyTo?: string): Promise<string> => {
    const payload = { content, ...(replyTo !== undefined && { replyTo }) };
    const answer = await ask<PostAnswer>(by, "chat-message", payload);
    if (!("ok" in answer)) throw new Error(answer.error.message);
    return answer.id;
  };
  const question = await said(ben, "Who has **the key** to `room 4`? See https://example.com/keys, @mo.");
  const answer = await said(
    mo,
    "I do.\n> the key\n1. room 4\n   - the drawer\n```js\nconst key = 'left'; // drawer\n```",
    question,
  );
  await ask(ben, "react", { id: answer, emoji: "❤", on: true });
  await ask(mo, "react", { id: answer, emoji: "❤", on: true });
  await ask(ben, "edit-message", {
    id: question,
    content: "Who has **the key** to `room 4`? See [the plan](www.example.com), @mo",
  });
  const wrong = await said(ben, "not this one");
  await ask(ben, "delete-message", { id: wrong });
  await said(mo, "Anything else?");
  for (const id of [question, answer]) await ask(mo, "pin", { id });
  await ask(ben, "report-message", { id: answer, reason: "not his key" });
  await ask(mo, "describe", { name: "Keys & rooms", topic: "Who has which key, and where the others hang" });
  mo.disconnect();
}

const open = (view: BrowserContextOptions = DESKTOP): Promise<Visitor> =>
  Visitor.open(browser, url, { ...view, ...NO_WORKER, colorScheme: "light", reducedMotion: "reduce" });

it("the join form, an empty room, what a guest opens there, and the dialog that reports a message; planted faults are found", async () => {
  const ada = await open();
  const { page } = ada;
  await page.goto(url);
  const join = page.getByTestId("join");
  await join.waitFor();
  await passesDarkToo(page, "join");
  await ada.choosesRoom("no/slashes");
  await join.click();
  await passes(page, "join with problems");
  await ada.fillIn("accessible-empty", "Ada");
  await ada.isConnected();
  await page.getByTestId("say-hello").waitFor();
  await passes(page, "an empty room");
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitem").first().waitFor();
  await passes(page, "menu of the room", "menu");
  await page.keyboard.press("Escape");
  await page.getByTestId("profile").click();
  await page.getByRole("menuitem", { name: "Change your name" }).waitFor();
  await passes(page, "menu of the reader", "menu");
  await ada.choose("Change your name");
  await page.getByTestId("own-name").fill(" ");
  await page.keyboard.press("Enter");
  await page.getByText("Enter a name.").waitFor();
  await passes(page, "another name, with a problem", "dialog");
  await page.keyboard.press("Escape");
  await page.evaluate((room) => void (location.hash = room), ROOM);
  await ada.isIn("Keys & rooms");
  await ada.use("Who has the key", "more");
  await ada.choose("Report…");
  await page.getByTestId("dialog-submit").click();
  await passes(page, "report without a reason", "dialog");

  await page.goto(url);
  await page.getByRole("button", { name: "Continue as Ada" }).waitFor();
  await passes(page, "join of a visitor who was here");
  await join.evaluate((button) => Object.assign(button.style, { background: "#777", color: "#888" }));
  await page.getByTestId("other-room").evaluate((button) => (button.textContent = ""));
  const rules = (await findings(page)).map(([rule]) => rule);
  expect(new Set(rules)).toEqual(new Set(["button-name", "color-contrast"]));
  await ada.close();
});

async function enter(view: BrowserContextOptions): Promise<Visitor> {
  const mo = await open(view);
  await mo.enterWith(moderator, ROOM, "Mo");
  await mo.isConnected();
  await mo.message("Anything else?").waitFor();
  await mo.page.getByTestId("pinned").waitFor();
  await mo.page.locator(".code-keyword").waitFor();
  return mo;
}

async function passesThread({ page }: Visitor): Promise<void> {
  await page.getByTestId("thread-line").first().click();
  await page.getByTestId("replies").getByTestId("message").first().waitFor();
  await passes(page, "thread", "panel");
}

async function passesPanels(mo: Visitor): Promise<void> {
  const { page } = mo;
  const close = (): Promise<void> => page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByTestId("mentions-toggle").click();
  await page.getByTestId("mentions").getByRole("button").first().waitFor();
  await passes(page, "mentions", "panel");
  await close();
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("key");
  await page.keyboard.press("Enter");
  await mo.reads("search-outcome", /found$/);
  await passes(page, "search", "panel");
  await close();
  await passesThread(mo);
  await page.getByTestId("all-threads").click();
  await page.getByTestId("thread-item").waitFor();
  await passes(page, "threads", "panel");
  await close();
  await page.getByRole("button", { name: /members?$/ }).click();
  await page.getByTestId("members").waitFor();
  await passes(page, "room with members");
}

it("the room, its panels, menus and dialogs, online and offline; its dialog keeps the focus when a restriction ends", async () => {
  const mo = await enter(DESKTOP);
  const { page } = mo;
  const focused = page.locator(":focus");
  await passesDarkToo(page, "room with pinned messages");
  await mo.message("Who has the key").focus();
  await page.keyboard.press("+");
  await page.getByRole("group", { name: "Food & drink" }).waitFor();
  await passes(page, "message with the focus and the emoji");
  await page.keyboard.type("no such emoji");
  await page.getByText("No emoji found.").waitFor();
  await passes(page, "no emoji found", "picker");
  await page.keyboard.press("Escape");
  const dialog = page.getByTestId("dialog");
  await mo.use("Who has the key", "more");
  await page.getByRole("menuitem").first().waitFor();
  await passes(page, "menu of a message", "menu");
  await mo.choose("Ban");
  await dialog.waitFor();
  await passesDarkToo(page, "ban dialog", "dialog");
  await page.keyboard.press("Escape");
  await mo.use("Anything else?", "more");
  await mo.choose("Delete");
  await dialog.waitFor();
  await passes(page, "delete dialog", "dialog");
  await page.keyboard.press("Escape");
  await mo.use("Who has the key", "reply");
  await page.getByTestId("composer").fill("hm @b");
  await page.getByTestId("suggestions").waitFor();
  await passes(page, "reply with a completion");
  await page.getByTestId("composer").fill("hm :th");
  await page.getByRole("listbox", { name: "Emoji" }).waitFor();
  await passes(page, "reply with a code of an emoji", "suggestions");
  await page.keyboard.press("Escape");

  for (const [menu, item] of [
    ["room-menu", "About this room"],
    ["room-menu", "Jump to a date"],
    ["profile", "Keyboard shortcuts"],
  ] as const) {
    await page.getByTestId(menu).click();
    await page.getByRole("menuitem", { name: item }).click();
    await dialog.waitFor();
    await passes(page, item, "dialog");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }
  await page.getByTestId("new-room").click();
  await dialog.waitFor();
  await passes(page, "new room", "dialog");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await page.getByTestId("go-to").pressSequentially("e");
  await page.getByTestId("places").getByRole("option").first().waitFor();
  await passes(page, "the way to rooms and people", "dialog");
  await page.keyboard.press("Control+k");
  await dialog.waitFor({ state: "detached" });
  await passesPanels(mo);

  // The guest of the test before has left.
  await mo.countsMembers(2);
  await page.getByTestId("moderate").click();
  await mo.choose("Mute…");
  await page.getByTestId("dialog-submit").click();
  await expect.poll(() => focused.getAttribute("data-testid")).toBe("moderate");
  await page.getByTestId("room-menu").click();
  await mo.choose("Moderate this room…");
  const unmute = page.getByRole("button", { name: "Unmute" });
  await unmute.waitFor();
  await passes(page, "moderate this room", "dialog");
  await unmute.focus();
  await page.keyboard.press("Enter");
  await page.getByText("None.").waitFor();
  await expect.poll(() => focused.textContent()).toBe("Active restrictions");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });

  await mo.context.setOffline(true);
  await mo.stands("offline");
  await mo.say("**when** I am back: `soon`, https://example.com/train\n> the key\n```sh\nopen\n```");
  await page.locator("[data-testid=message][data-state=pending] a").waitFor();
  await passesDarkToo(page, "offline, with a message that waits");
  await mo.close();
});

it("on a phone: the room, the list of rooms, and what covers the room", async () => {
  const mo = await enter(PHONE);
  const { page } = mo;
  await tap(mo.message("Who has the key").locator(".content"));
  await mo.message("Who has the key").getByTestId("react").waitFor();
  await passesDarkToo(page, "room, with the tools of a message");
  await tap(page.getByTestId("emoji"));
  await page.getByRole("group", { name: "Food & drink" }).waitFor();
  await passes(page, "the emoji", "picker");
  await page.keyboard.press("Escape");
  await page.locator(".picker").waitFor({ state: "detached" });
  await page.getByTestId("rooms-toggle").click();
  await passes(page, "list of rooms");
  await page.getByRole("button", { name: "Close the list of rooms" }).click();
  await passesThread(mo);
  await mo.close();
});

const enterAlone = sharedPage(() => Visitor.open(browser, url, NO_WORKER));
const TABS_MAX = 10;

/** @returns the test id of the focused element, and the text of its message */
const focusOf = ({ page }: Visitor): Promise<[string | undefined, string | undefined]> =>
  page.evaluate(() => {
    const focus = document.activeElement as HTMLElement;
    return [focus.dataset["testid"], focus.closest("[data-testid=message]")?.querySelector(".content")?.textContent];
  });
const hasFocus = (visitor: Visitor, testId: string, message: string): Promise<void> =>
  vi.waitFor(async () => expect(await focusOf(visitor)).toEqual([testId, message]), WAIT);

/** From where messages are written to the first of them that Tab finds. */
async function goBackToMessages(visitor: Visitor): Promise<void> {
  await visitor.page.getByTestId("composer").focus();
  for (let tabs = 0; tabs < TABS_MAX; tabs++) {
    await visitor.page.keyboard.press("Shift+Tab");
    if ((await focusOf(visitor))[0] === "message") return;
  }
  throw new Error(`no message within ${TABS_MAX} tabs`);
}

/** Whatever is about it: the test id of the focused element. */
const focusIsOn = (visitor: Visitor, testId: string): Promise<void> =>
  vi.waitFor(async () => expect((await focusOf(visitor))[0]).toBe(testId), WAIT);

it("one message is a tab stop, arrow keys move to the others, Tab moves to a message's actions, and single keys act on it", async () => {
  const ada = await enterAlone("keys");
  for (const text of ["one", "two", "three"]) await ada.say(text);
  await ada.sees("one", "two", "three");
  const { keyboard } = ada.page;
  await goBackToMessages(ada);
  await hasFocus(ada, "message", "three");
  await keyboard.press("ArrowUp");
  await hasFocus(ada, "message", "two");
  await keyboard.press("ArrowUp");
  await keyboard.press("ArrowDown");
  await hasFocus(ada, "message", "two");
  const stops = ada.page.locator("[data-testid=message][tabindex='0']");
  await vi.waitFor(async () => expect(await stops.allTextContents()).toEqual([expect.stringContaining("two")]), WAIT);
  await ada.message("two").getByTestId("react").waitFor();
  await keyboard.press("Tab");
  await hasFocus(ada, "react", "two");
  // A mouse that passes by takes nothing away.
  await ada.message("three").hover();
  await keyboard.press("Tab");
  await hasFocus(ada, "reply", "two");
  await keyboard.press("Tab");
  await hasFocus(ada, "reply-in-thread", "two");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await ada.page.getByRole("menuitem").first().waitFor();
  await keyboard.press("Escape");
  await hasFocus(ada, "more", "two");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Enter");
  await ada.reads("about", "two");
  await focusIsOn(ada, "composer");
  // Tabbing back into the list focuses the newest message.
  await goBackToMessages(ada);
  await hasFocus(ada, "message", "three");

  await keyboard.press("r");
  await ada.reads("about", "three");
  await focusIsOn(ada, "composer");
  // The draft is a reply to it already: the reader wants to write on.
  await goBackToMessages(ada);
  await hasFocus(ada, "message", "three");
  await keyboard.press("r");
  await focusIsOn(ada, "composer");
  await keyboard.press("Escape");
  await ada.page.getByTestId("about").waitFor({ state: "detached" });
  await keyboard.press("ArrowUp");
  await ada.drafts("three");
  await keyboard.press("Escape");
  await ada.drafts("");
});

it("the focus returns when a dialog, a menu, a picker or a panel closes; the innermost closes first; a deleted message keeps the focus", async () => {
  const ada = await enterAlone("keys-focus");
  const { page } = ada;
  const { keyboard } = page;
  for (const text of ["one", "two"]) await ada.say(text);
  await ada.sees("one", "two");
  const [dialog, heart] = [page.getByTestId("dialog"), page.getByTestId("emoji-❤️").first()];
  /** On a wide screen with a mouse, panels and dialogs have no entry in the history. */
  const entries = await page.evaluate(() => history.length);

  await page.getByTestId("new-room").click();
  await focusIsOn(ada, "new-room-name");
  await keyboard.press("Escape");
  await focusIsOn(ada, "new-room");
  await page.getByTestId("room-menu").focus();
  await keyboard.press("Enter");
  await page.getByRole("menuitem").first().waitFor();
  await keyboard.press("Escape");
  await focusIsOn(ada, "room-menu");
  await page.getByTestId("composer").focus();
  await keyboard.press("Control+/");
  await page.getByRole("heading", { name: "Keyboard shortcuts" }).waitFor();
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await focusIsOn(ada, "composer");

  for (const close of ["Escape", "Control+Shift+F"]) {
    await page.getByTestId("composer").click();
    await keyboard.press("Control+Shift+F");
    await focusIsOn(ada, "search-field");
    await keyboard.press(close);
    await focusIsOn(ada, "composer");
  }
  await page.getByTestId("search-toggle").click();
  await focusIsOn(ada, "search-field");
  await keyboard.press("Escape");
  await focusIsOn(ada, "search-toggle");

  await keyboard.press("Control+Shift+m");
  await page.getByTestId("members").waitFor();
  await ada.message("one").focus();
  await keyboard.press("+");
  await heart.waitFor();
  await keyboard.press("Escape");
  await heart.waitFor({ state: "detached" });
  await hasFocus(ada, "message", "one");
  expect(await page.getByTestId("members").count()).toBe(1);
  await keyboard.press("Escape");
  await page.getByTestId("members").waitFor({ state: "detached" });
  expect(await page.evaluate(() => history.length)).toBe(entries);

  await ada.message("one").focus();
  await keyboard.press("Delete");
  await page.getByTestId("dialog-submit").waitFor();
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await hasFocus(ada, "message", "one");
  await ada.use("two", "more");
  await ada.choose("Delete");
  await page.getByTestId("dialog-submit").click();
  await ada.sees("one");
  await expect.poll(() => page.locator(":focus").textContent()).toMatch("Message deleted");
  await keyboard.press("ArrowUp");
  await hasFocus(ada, "message", "one");
});

it("with older messages in view, Tab moves to one of them, and to unsent messages", async () => {
  const ada = await enterAlone("keys-up");
  const texts = ["a", "b", "c", "d", "e", "f"].map((letter) => `${letter}\n`.repeat(30).trim());
  for (const text of texts) await ada.say(text);
  await vi.waitFor(
    async () => expect(await ada.message("f").getAttribute("data-state", { timeout: 500 })).toBe("sent"),
    WAIT,
  );
  await ada.page.getByTestId("log").hover();
  await ada.page.mouse.wheel(0, -1200);
  await ada.page.getByTestId("newest").waitFor();
  const isInView = (): Promise<boolean> =>
    ada.page.evaluate(() => {
      const [row, log] = [document.activeElement!, document.querySelector(".log")!].map((element) =>
        element.getBoundingClientRect(),
      ) as [DOMRect, DOMRect];
      return row.bottom > log.top && row.top < log.bottom;
    });
  // The wheel may turn on for a while.
  await vi.waitFor(async () => {
    await goBackToMessages(ada);
    expect(await isInView()).toBe(true);
  }, WAIT);
  await ada.context.setOffline(true);
  await ada.stands("offline");
  await ada.say("waits");
  await ada.shows("pending", ["waits"]);
  await goBackToMessages(ada);
  await hasFocus(ada, "message", "waits");
  await ada.page.keyboard.press("ArrowUp");
  await hasFocus(ada, "message", texts.at(-1)!);
});
