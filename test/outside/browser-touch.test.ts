// Tests that a finger and a screen reader reach what a pointer finds: times, authors, who reacted and who has seen a message, menus.
import { expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
let rooms = 0;
const freshRoom = (): string => `touch-${++rooms}`;
type Client = Awaited<ReturnType<typeof join>>;

const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });

async function say(who: Client, content: string): Promise<string> {
  return (await ask<{ id: string }>(who, "chat-message", { content })).id;
}

it("on a phone, a tap on a grouped message shows its time, and “Details” who reacted, who has seen it, and exact times", async () => {
  const room = freshRoom();
  const [ben, eve] = [await person(room, "ben", "Ben"), await person(room, "eve", "Eve")];
  await say(ben, "one");
  const second = await say(ben, "two");
  await ask(eve, "react", { id: second, emoji: "👍", on: true });
  await ask(eve, "read", { seq: 2 });
  await ask(ben, "edit-message", { id: second, content: "two, better" });
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  const { page } = ada;
  const row = ada.message("two, better");
  await row.locator(".content").tap();
  const time = row.locator("time");
  await vi.waitFor(async () => {
    expect(await time.evaluate((time) => getComputedStyle(time).opacity)).toBe("1");
    expect(await time.evaluate((time) => time.checkVisibility())).toBe(true);
  }, WAIT);
  const box = (await time.boundingBox())!;
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual((await row.locator(".content").boundingBox())!.x);
  expect(await time.textContent()).toMatch(/^\d{1,2}:\d\d(\s[AP]M)?$/);

  await row.getByTestId("more").tap();
  const more = (await row.getByTestId("more").boundingBox())!;
  const menu = (await page.getByRole("menu").boundingBox())!;
  // It stands beside the button that opened it, also on the left half of the window.
  expect(Math.abs(menu.x - more.x)).toBeLessThan(2);
  await page.getByRole("menuitem", { name: "Details…" }).tap();
  const details = page.getByTestId("details");
  const year = String(new Date().getFullYear());
  await vi.waitFor(async () => {
    const shown = await details.locator("div").allTextContents();
    expect(shown).toEqual([
      "Written byBen",
      expect.stringMatching(new RegExp(`^Written at.*${year}.*:\\d\\d:\\d\\d`)),
      expect.stringMatching(new RegExp(`^Edited.*${year}.*:\\d\\d:\\d\\d`)),
      "👍Eve",
      "Seen byEve",
    ]);
  }, WAIT);
  await page.getByTestId("dialog").getByRole("button", { name: "Close" }).tap();
  // The reader has seen it.
  await say(ben, "three");
  const third = ada.message("three");
  await third.locator(".content").tap();
  await third.getByTestId("more").tap();
  await page.getByRole("menuitem", { name: "Details…" }).tap();
  await vi.waitFor(
    async () => expect(await details.locator("div").last().textContent()).toBe("Seen bynobody else yet"),
    WAIT,
  );
  await ada.close();
  for (const each of [ben, eve]) each.disconnect();
});

it("on a phone, the first tap on a link, a quote or an author of the newest message does what it says", async () => {
  const room = freshRoom();
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "the first of all");
  // More than the window holds, so that the newest is at its lower edge.
  for (let count = 0; count < 20; count++) await say(ben, `in between ${count}`);
  const eve = await person(room, "eve", "Eve");
  await ask(eve, "chat-message", { content: "look: https://chat.example/page", replyTo: first });
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  const { page } = ada;
  await page.evaluate(() => {
    const followed: string[] = [];
    Object.assign(globalThis, { followed });
    addEventListener("click", (event) => {
      const link = (event.target as Element).closest("a");
      if (link) followed.push(link.href);
      if (link) event.preventDefault();
    });
  });
  const newest = ada.message("look:");
  const leave = async (): Promise<void> => {
    await page.getByTestId("composer").tap();
    await newest.getByTestId("react").waitFor({ state: "detached" });
  };
  await newest.locator("a").tap();
  await vi.waitFor(async () => expect(await page.evaluate("followed")).toEqual(["https://chat.example/page"]), WAIT);
  await newest.getByTestId("react").waitFor();
  await leave();
  await newest.getByTestId("author").tap();
  await page.getByRole("menuitem", { name: "Message Eve" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  await leave();
  await newest.getByTestId("quote").tap();
  const found = page.locator(".message.target").filter({ hasText: "the first of all" });
  await found.waitFor();
  expect(ada.complaints).toEqual([]);
  for (const client of [ben, eve]) client.disconnect();
  await ada.close();
});

it("a screen reader hears the author of each message, also of those below another of the same author", async () => {
  const room = freshRoom();
  const ben = await person(room, "ben", "Ben Okri");
  for (const text of ["one", "two", "three"]) await say(ben, text);
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.say("mine");
  await ada.say("mine as well");
  await ada.sees("one", "two", "three", "mine", "mine as well");
  const tree = await ada.page.getByTestId("messages").ariaSnapshot();
  const items = tree.split(/^\s*- listitem/m).filter((item) => /one|two|three|mine/.test(item));
  expect(items.length).toBe(5);
  for (const item of items) expect(item).toMatch(/Ben Okri|Ada/);
  // Read aloud, not seen.
  const hidden = ada.message("two").locator(".unseen");
  const size = await hidden.boundingBox();
  expect(size!.width).toBeLessThan(2);
  await ada.close();
  ben.disconnect();
});

it("several copied messages have their authors and times; a part of one is copied as it is", async () => {
  const room = freshRoom();
  const [ben, eve] = [await person(room, "ben", "Ben"), await person(room, "eve", "Eve")];
  await say(ben, "one **bold**");
  await say(ben, "two @eve");
  await say(eve, "three");
  const ada = await Visitor.open(browser, url, { permissions: ["clipboard-read", "clipboard-write"] });
  await ada.enter(room, "Ada");
  const { page } = ada;
  await ada.message("three").waitFor();
  const copied = async (from: string, to: string): Promise<string> => {
    const [first, last] = [ada.message(from).locator(".content"), ada.message(to).locator(".content")];
    const start = (await first.boundingBox())!;
    const end = (await last.boundingBox())!;
    // A press on selected text would drag it.
    await page.getByTestId("composer").click();
    await page.mouse.move(start.x + 14, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width - 10, end.y + end.height / 2, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.press("Control+c");
    return page.evaluate("navigator.clipboard.readText()");
  };
  await vi.waitFor(async () => {
    expect(await copied("one", "three")).toMatch(
      /^Ben, \d{1,2}:\d\d(\s[AP]M)?\none \*\*bold\*\*\ntwo @Eve\n\nEve, \d{1,2}:\d\d(\s[AP]M)?\nthree$/,
    );
  }, WAIT);
  await ada.message("two").locator(".content").click({ clickCount: 3 });
  await page.keyboard.press("Control+c");
  expect((await page.evaluate<string>("navigator.clipboard.readText()")).trim()).toBe("two @Eve");
  await vi.waitFor(async () => expect(await copied("three", "three")).toMatch(/^t?hre?e?$/), WAIT);
  await ada.close();
  for (const each of [ben, eve]) each.disconnect();
});

it("“(edited)” stands beside the last line of a long message, not on a line of its own", async () => {
  const room = freshRoom();
  const ben = await person(room, "ben", "Ben");
  for (const device of [PHONE, { viewport: { width: 900, height: 700 } }]) {
    const id = await say(ben, "short");
    const content = `${device === PHONE ? "phone" : "window"} ${"as wide as it goes ".repeat(12)}`;
    await ask(ben, "edit-message", { id, content });
    const ada = await (await Visitor.open(browser, url, device)).enter(room, "Ada");
    const row = ada.message(content.slice(0, 12));
    const [text, edited] = [await row.locator(".content").boundingBox(), await row.locator(".edited").boundingBox()];
    expect(edited!.y).toBeLessThan(text!.y + text!.height);
    expect(edited!.x).toBeGreaterThanOrEqual(text!.x + text!.width);
    await ada.close();
  }
  ben.disconnect();
});

it("a reader who comes back to a room stands where they were in its history", async () => {
  const [room, other] = [freshRoom(), freshRoom()];
  const ben = await person(room, "ben", "Ben");
  for (let n = 1; n <= 60; n++) await say(ben, `message ${n} of many`);
  const ada = await (await Visitor.open(browser, url)).enter(other, "Ada");
  const { page } = ada;
  const go = async (to: string): Promise<void> => {
    await page.evaluate((to) => (location.hash = to), to);
    await ada.reads("room-title", `#${to}`);
    await ada.isConnected();
  };
  await go(room);
  await ada.message("message 60 of many").waitFor();
  await page.getByTestId("log").hover();
  for (let turn = 0; turn < 4; turn++) await page.mouse.wheel(0, -300);
  const newest = page.getByTestId("newest");
  await newest.waitFor();
  const inView = (): Promise<string[]> =>
    page.getByTestId("log").evaluate((log) => {
      const { top, bottom } = log.getBoundingClientRect();
      const rows = Array.from(log.querySelectorAll<HTMLElement>("li[data-seq]"));
      return rows
        .filter((row) => row.getBoundingClientRect().top >= top && row.getBoundingClientRect().bottom <= bottom)
        .map((row) => row.dataset["seq"]!);
    });
  const [first] = await inView();
  await go(other);
  await go(room);
  await vi.waitFor(async () => expect(await inView()).toContain(first), WAIT);
  await newest.waitFor();
  // At the newest, the room opens there again.
  await newest.click();
  await vi.waitFor(async () => expect(await inView()).toContain("60"), WAIT);
  await go(other);
  await go(room);
  await vi.waitFor(async () => expect(await inView()).toContain("60"), WAIT);
  await ada.close();
  ben.disconnect();
});

it("the bars of the browser have the chosen theme's colour, not the system's", async () => {
  const ada = await (await Visitor.open(browser, url, { colorScheme: "dark" })).enter(freshRoom(), "Ada");
  const { page } = ada;
  const colour = (): Promise<string> =>
    page.evaluate(() => {
      const metas = Array.from(document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]"));
      return metas.filter(({ media }) => matchMedia(media).matches).map(({ content }) => content)[0] ?? "";
    });
  const dark = await colour();
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitemradio", { name: "Theme: Light" }).click();
  await expect.poll(colour).not.toBe(dark);
  const light = await colour();
  await page.reload();
  await ada.isConnected();
  expect(await colour()).toBe(light);
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitemradio", { name: "Theme: System" }).click();
  await expect.poll(colour).toBe(dark);
  await ada.close();
});

it("the date of a found message stands on one line beside a long name", async () => {
  const room = freshRoom();
  const ben = await person(room, "ben", "Benedict Alexander Montgomery of the Hills");
  await say(ben, "needle");
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  await ada.page.getByTestId("search-toggle").click();
  await ada.page.getByTestId("search-field").fill("needle");
  await ada.page.keyboard.press("Enter");
  const time = ada.page.getByTestId("found").locator("time");
  await time.waitFor();
  const lines = (): Promise<number> => time.evaluate((time) => time.getClientRects().length);
  await time.evaluate((time) => (time.textContent = "Wednesday, November 25 12:37 PM"));
  expect(await lines()).toBe(1);
  const height = await time.evaluate((time) => time.getBoundingClientRect().height);
  expect(height).toBeLessThan(20);
  await ada.close();
  ben.disconnect();
});
