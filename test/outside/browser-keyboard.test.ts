// The page without a mouse: Tab moves to one of the messages, arrow keys to the others, and Tab from there to its actions.
import { expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();

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

it("one message is a tab stop, arrow keys move to the others, and Tab moves to a message's actions", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("keys", "Ada");
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
  await keyboard.press("Tab");
  await hasFocus(ada, "react", "two");
  // A mouse that passes by takes nothing away.
  await ada.message("three").hover();
  await keyboard.press("Tab");
  await hasFocus(ada, "reply", "two");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await ada.page.getByRole("menuitem").first().waitFor();
  await keyboard.press("Escape");
  await hasFocus(ada, "more", "two");
  await keyboard.press("Shift+Tab");
  await keyboard.press("Enter");
  await ada.reads("about", "two");
  // Tabbing back into the list focuses the newest message.
  await goBackToMessages(ada);
  await hasFocus(ada, "message", "three");
  await ada.close();
});

it("with older messages in view, Tab moves to one of them, and to unsent messages", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("keys-up", "Ada");
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
  await ada.close();
});

it("Shift+Tab leaves the suggestions without choosing one", async () => {
  const ben = await join(url, "keys-mention", "ben", { auth: { token: await tokenFor("ben", { name: "Benedict" }) } });
  const ada = await (await Visitor.open(browser, url)).enter("keys-mention", "Ada");
  await ada.countsMembers(2);
  await ada.page.getByTestId("composer").pressSequentially("hi @bene");
  await ada.page.getByTestId("suggestions").waitFor();
  await ada.page.keyboard.press("Shift+Tab");
  await ada.drafts("hi @bene");
  expect((await focusOf(ada))[0]).not.toBe("composer");
  ben.disconnect();
  await ada.close();
});

it("a message that is deleted by its menu keeps the focus", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("keys-delete", "Ada");
  for (const text of ["one", "two"]) await ada.say(text);
  await ada.sees("one", "two");
  const { keyboard } = ada.page;
  await ada.use("two", "more");
  await ada.choose("Delete");
  await ada.page.getByTestId("dialog").waitFor();
  await keyboard.press("Escape");
  await hasFocus(ada, "message", "two");
  await ada.use("two", "more");
  await ada.choose("Delete");
  await ada.page.getByTestId("dialog-submit").click();
  await ada.sees("one");
  await expect.poll(() => ada.page.locator(":focus").textContent()).toMatch("Message deleted");
  await keyboard.press("ArrowUp");
  await hasFocus(ada, "message", "one");
  await ada.close();
});

it("Escape closes a picker, and the panel beside it only with the next press", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("keys-escape", "Ada");
  const { page } = ada;
  await ada.say("one");
  await ada.sees("one");
  await page.keyboard.press("Control+Shift+m");
  await page.getByTestId("members").waitFor();
  await ada.message("one").focus();
  await page.keyboard.press("+");
  await page.getByTestId("emoji-heart").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("emoji-heart").waitFor({ state: "detached" });
  await hasFocus(ada, "message", "one");
  expect(await page.getByTestId("members").count()).toBe(1);
  await page.keyboard.press("Escape");
  await page.getByTestId("members").waitFor({ state: "detached" });
  await ada.close();
});

it("the search gives the focus back where it was when it opened", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("keys-search", "Ada");
  const focused = ada.page.locator(":focus");
  const stands = (testId: string): Promise<void> =>
    expect.poll(() => focused.getAttribute("data-testid", { timeout: 500 })).toBe(testId);
  const { keyboard } = ada.page;
  for (const close of ["Escape", "Control+Shift+F"]) {
    await ada.page.getByTestId("composer").click();
    await keyboard.press("Control+Shift+F");
    await stands("search-field");
    await keyboard.press(close);
    await stands("composer");
  }
  await ada.page.getByTestId("search-toggle").click();
  await stands("search-field");
  await keyboard.press("Escape");
  await stands("search-toggle");
  await ada.close();
});

it("the dialog of a room keeps the focus when a restriction ends", async () => {
  const mo = await Visitor.open(browser, url);
  await mo.enterWith(await tokenFor("mo", { role: "moderator", name: "Mo" }), "keys-moderate", "Mo");
  await mo.isConnected();
  const ben = await join(url, "keys-moderate", "ben");
  await mo.countsMembers(2);
  await mo.page.getByRole("button", { name: "2 members" }).click();
  await mo.page.getByTestId("moderate").click();
  await mo.choose("Mute…");
  await mo.page.getByTestId("dialog-submit").click();
  await expect.poll(() => mo.page.locator(":focus").getAttribute("data-testid")).toBe("moderate");
  await mo.page.getByTestId("room-menu").click();
  await mo.choose("Moderate this room…");
  await mo.page.getByRole("button", { name: "Unmute" }).focus();
  await mo.page.keyboard.press("Enter");
  await mo.page.getByText("None.").waitFor();
  await expect.poll(() => mo.page.locator(":focus").textContent()).toBe("Active restrictions");
  ben.disconnect();
  await mo.close();
});
