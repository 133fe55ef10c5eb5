// Tests of touch gestures in a real Chromium: a long press opens the sheet of a message, a swipe replies, a scroll does neither. They also
// test that the page stays above the keyboard.
import type { BrowserContextOptions, CDPSession, Locator } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { passes } from "./axe.ts";
import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  isMobile: true,
  hasTouch: true,
  ...NO_WORKER,
};
const enter = sharedPage(() => Visitor.open(browser, url, PHONE));
type Client = Awaited<ReturnType<typeof join>>;

const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });
const say = async (who: Client, content: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content })).id;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** The page loads what hears fingers after the messages. */
async function hearsFingers({ page }: Visitor): Promise<void> {
  const parts = (): Promise<string[]> =>
    page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => name)
        .filter((name) => name.includes("/gestures-")),
    );
  await vi.waitFor(async () => expect(await parts()).toHaveLength(1), WAIT);
  // Resolves after the page's own import of it. As text: the test runner would rewrite an import that it sees.
  await page.evaluate(`import(${JSON.stringify((await parts())[0])}).then(() => undefined)`);
}

class Finger {
  readonly #session: CDPSession;

  static async of(visitor: Visitor): Promise<Finger> {
    await hearsFingers(visitor);
    return new Finger(await visitor.context.newCDPSession(visitor.page));
  }

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  touch(type: "touchStart" | "touchMove" | "touchEnd", ...touchPoints: Point[]): Promise<unknown> {
    return this.#session.send("Input.dispatchTouchEvent", { type, touchPoints });
  }

  /** Goes from one point to another in steps, and stays there. All at once: on a slow machine the first step would be a long press. */
  async drag(from: Point, { x = 0, y = 0 }: Partial<Point>): Promise<void> {
    const places = Array.from({ length: 8 }, (_, at) => ({
      x: from.x + (x * (at + 1)) / 8,
      y: from.y + (y * (at + 1)) / 8,
    }));
    await Promise.all([this.touch("touchStart", from), ...places.map((place) => this.touch("touchMove", place))]);
  }

  async swipe(from: Point, by: Partial<Point>): Promise<void> {
    await this.drag(from, by);
    await this.touch("touchEnd");
  }

  /** Rests until the sheet is there. */
  async press({ page }: Visitor, at: Point): Promise<void> {
    await this.touch("touchStart", at);
    await page.getByTestId("sheet").waitFor();
    await this.touch("touchEnd");
  }
}

async function middleOf(locator: Locator): Promise<Point> {
  const { x, y, width, height } = (await locator.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

/** A timer of the page that begins after that of the press, and is longer. */
const longEnough = ({ page }: Visitor): Promise<unknown> =>
  page.evaluate("new Promise((resolve) => setTimeout(resolve, 600))");

/** What the draft replies to, as the field says above itself. */
const replies = ({ page }: Visitor): Locator => page.locator(".about");

it("a long press on a message opens its sheet: quick reactions, and what its menu has; Back, Escape and a tap beside it close it", async () => {
  const room = "touch-sheet";
  const ben = await person(room, "ben", "Ben");
  const id = await say(ben, "hold me");
  const ada = await enter(room);
  const { page } = ada;
  const finger = await Finger.of(ada);
  const row = ada.message("hold me");
  const sheet = page.getByTestId("sheet");
  const press = async (): Promise<void> => finger.press(ada, await middleOf(row.locator(".content")));
  const isClosed = (): Promise<void> => sheet.waitFor({ state: "detached" });
  const at = page.url();

  await press();
  const box = (await sheet.boundingBox())!;
  expect([box.x, box.width, Math.round(box.y + box.height)]).toEqual([0, 390, 844]);
  // All in it are for fingers, and the focus is in it.
  for (const button of await sheet.getByRole("button").or(sheet.getByRole("menuitem")).all()) {
    const { width, height } = (await button.boundingBox())!;
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(44);
  }
  expect(await sheet.evaluate((sheet) => sheet.contains(document.activeElement))).toBe(true);
  expect(await page.getByRole("dialog", { name: "Actions" }).getByRole("menuitem").allTextContents()).toEqual([
    "Reply",
    "Reply in thread",
    "Copy text",
    "Select text",
    "Copy link",
    "Details…",
    "Mark as unread",
    "Report…",
    "Message Ben",
  ]);
  await passes(page, "sheet of a message", "sheet");
  // The press itself selects no words.
  expect(await page.evaluate(() => String(getSelection()))).toBe("");
  await page.goBack();
  await isClosed();
  expect(page.url()).toBe(at);
  // The focus is where it was, and opens no keyboard.
  expect(await row.evaluate((row) => row === document.activeElement)).toBe(true);

  await press();
  await page.keyboard.press("Escape");
  await isClosed();
  await press();
  await page.touchscreen.tap(195, 60);
  await isClosed();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);

  await press();
  await tap(sheet.getByRole("button", { name: "👍" }));
  await isClosed();
  await ada.reads("reaction", "👍 1");
  await press();
  await vi.waitFor(
    async () => expect(await sheet.getByRole("button", { name: "👍" }).getAttribute("aria-pressed")).toBe("true"),
    WAIT,
  );
  await tap(sheet.getByRole("button", { name: "👍" }));
  await page.getByTestId("reaction").waitFor({ state: "detached" });
  await isClosed();
  await press();
  await tap(sheet.getByRole("button", { name: "Another emoji" }));
  await isClosed();
  await page.locator(".picker").waitFor();
  await page.goBack();
  await page.locator(".picker").waitFor({ state: "detached" });

  await press();
  await page.getByRole("menuitem", { name: "Reply", exact: true }).click();
  await isClosed();
  await replies(ada).getByText("hold me").waitFor();
  await expect
    .poll(() => page.getByTestId("composer").evaluate((field) => field === document.activeElement))
    .toBe(true);

  // Nothing is left of a sheet whose message is deleted.
  await press();
  await ask(ben, "delete-message", { id });
  await isClosed();
  const gone = await middleOf(page.locator(".gone"));
  await finger.touch("touchStart", gone);
  await finger.touch("touchEnd");
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
});

it("words can be selected by way of the sheet, and a link keeps the browser's own menu", async () => {
  const room = "touch-words";
  const ben = await person(room, "ben", "Ben");
  await say(ben, "these words");
  await say(ben, "https://chat.example/page");
  const ada = await enter(room);
  const { page } = ada;
  const finger = await Finger.of(ada);
  const words = ada.message("these words").locator(".content");
  await finger.press(ada, await middleOf(words));
  await ada.choose("Select text");
  await page.getByTestId("sheet").waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate(() => String(getSelection()).trim())).toBe("these words");
  const selects = (): Promise<string> => words.evaluate((words) => getComputedStyle(words).userSelect);
  expect(await selects()).toBe("text");
  await page.evaluate(() => getSelection()!.removeAllRanges());
  await expect.poll(selects).toBe("none");

  await finger.touch("touchStart", await middleOf(ada.message("chat.example").locator(".content a")));
  await longEnough(ada);
  await finger.touch("touchEnd");
  expect(await page.getByTestId("sheet").count()).toBe(0);
  ben.disconnect();
});

it("a swipe to the left replies; a short one, one to the right, from the edge, in code, of a mouse or up and down does not", async () => {
  const room = "touch-swipe";
  const ben = await person(room, "ben", "Ben");
  for (let count = 0; count < 30; count++) await say(ben, `before ${count}`);
  await say(ben, `\`\`\`\n${"code ".repeat(60)}\n\`\`\``);
  await say(ben, "swipe me");
  const ada = await enter(room);
  const { page } = ada;
  const finger = await Finger.of(ada);
  const row = ada.message("swipe me");
  const log = page.getByTestId("log");
  const hint = page.locator(".swipe-hint");
  const moved = (): Promise<string> => row.evaluate((row) => row.style.translate);
  const start = async (): Promise<Point> => ({ x: 300, y: (await middleOf(row)).y });
  const isIdle = async (): Promise<void> => {
    await hint.waitFor({ state: "detached" });
    await expect
      .poll(async () => [await moved(), await replies(ada).count(), await page.getByTestId("sheet").count()])
      .toEqual(["", 0, 0]);
  };
  await row.waitFor();

  await finger.swipe(await start(), { x: -40 });
  await isIdle();
  await finger.swipe(await start(), { x: 80 });
  await isIdle();
  await finger.swipe({ ...(await start()), x: 385 }, { x: -90 });
  await isIdle();
  const code = page.locator("pre").last();
  await finger.swipe(await middleOf(code), { x: -120 });
  await isIdle();
  await expect.poll(() => code.evaluate((code) => code.scrollLeft)).toBeGreaterThan(50);
  await page.mouse.move(300, (await start()).y);
  await page.mouse.down();
  await page.mouse.move(200, (await start()).y, { steps: 5 });
  await page.mouse.up();
  await isIdle();
  const before = await log.evaluate((log) => log.scrollTop);
  // A scroll, also one that lasts longer than a long press.
  await finger.drag(await start(), { y: 200, x: -30 });
  await longEnough(ada);
  await finger.touch("touchEnd");
  await vi.waitFor(async () => expect(await log.evaluate((log) => log.scrollTop)).toBeLessThan(before - 50), WAIT);
  await isIdle();
  await tap(page.getByTestId("newest"));
  await page.getByTestId("newest").waitFor({ state: "detached" });
  await comesToRest(page);

  await finger.drag(await start(), { x: -30 });
  await hint.waitFor();
  await expect.poll(async () => Number.parseFloat(await moved())).toBeLessThan(-20);
  expect(await hint.evaluate((hint) => hint.className)).not.toContain("far");
  await finger.touch("touchEnd");
  await isIdle();
  await finger.drag(await start(), { x: -100 });
  await vi.waitFor(async () => expect(await hint.evaluate((hint) => hint.className)).toContain("far"), WAIT);
  await finger.touch("touchEnd");
  await replies(ada).getByText("swipe me").waitFor();
  await hint.waitFor({ state: "detached" });
  await expect.poll(moved).toBe("");
  await ada.say("here");
  await ada.message("here").getByTestId("quote").waitFor();

  // Who wants no motion sees the sign alone.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await comesToRest(page);
  await finger.drag({ x: 300, y: (await middleOf(row)).y }, { x: -100 });
  await hint.waitFor();
  expect(await moved()).toBe("");
  const sign = (await hint.boundingBox())!;
  expect(sign.x + sign.width).toBeLessThanOrEqual(390);
  await finger.touch("touchEnd");
  await replies(ada).getByText("swipe me").waitFor();
  // Where one reads to the left, all is the other way.
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await ada.say("once more");
  await replies(ada).waitFor({ state: "detached" });
  await page.evaluate(() => (document.body.dir = "rtl"));
  await comesToRest(page);
  const y = (await middleOf(row)).y;
  await finger.swipe({ x: 200, y }, { x: -100 });
  await isIdle();
  await finger.drag({ x: 200, y }, { x: 100 });
  await hint.waitFor();
  await expect.poll(async () => Number.parseFloat(await moved())).toBeGreaterThan(50);
  await finger.touch("touchEnd");
  await replies(ada).getByText("swipe me").waitFor();
  await page.evaluate(() => (document.body.dir = ""));
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
});

it("a keyboard that lies over the page, as in Safari, covers neither the field nor the newest message", async () => {
  const room = "touch-keyboard";
  const ben = await person(room, "ben", "Ben");
  for (let count = 0; count < 30; count++) await say(ben, `line ${count}`);
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("line 29").waitFor();
  const covering = (height: number): Promise<void> =>
    page.evaluate((height) => {
      Object.defineProperty(visualViewport!, "height", { configurable: true, value: height });
      visualViewport!.dispatchEvent(new Event("resize"));
    }, height);
  const lowest = async (what: Locator): Promise<number> => {
    const { y, height } = (await what.boundingBox())!;
    return y + height;
  };
  await covering(480);
  await vi.waitFor(async () => expect(await lowest(page.getByTestId("composer"))).toBeLessThan(480), WAIT);
  await vi.waitFor(async () => expect(await lowest(ada.message("line 29"))).toBeLessThan(480), WAIT);
  await covering(844);
  await vi.waitFor(async () => expect(await lowest(page.getByTestId("composer"))).toBeGreaterThan(780), WAIT);
  ben.disconnect();
});

it("in a thread fingers do the same: a long press and a swipe reply there, and a quote leads to the quoted reply", async () => {
  const room = "touch-thread";
  const ben = await person(room, "ben", "Ben");
  const first = await say(ben, "Who brings cake?");
  for (const content of ["I do", "and I tea"]) await ask(ben, "chat-message", { content, replyTo: first });
  const ada = await enter(room);
  const { page } = ada;
  const finger = await Finger.of(ada);
  const panel = page.locator(".side-panel");
  const about = panel.locator(".about");
  const reply = (text: string): Locator =>
    panel.getByTestId("replies").getByTestId("message").filter({ hasText: text });
  await tap(page.getByTestId("thread-line"));
  await reply("and I tea").waitFor();
  await vi.waitFor(async () => expect(await page.evaluate("document.readyState")).toBe("complete"), WAIT);

  await finger.press(ada, await middleOf(reply("I do").locator(".content")));
  const items = page.getByTestId("sheet").getByRole("menuitem");
  expect(await items.allTextContents()).not.toContain("Reply in thread");
  await tap(items.filter({ hasText: /^Reply$/ }));
  await about.getByText("I do").waitFor();
  await panel.getByTestId("thread-composer").fill("which one?");
  await tap(panel.getByTestId("send"));
  const quote = reply("which one?").and(page.locator("[data-state=sent]")).getByTestId("quote");
  await tap(quote);
  await vi.waitFor(
    async () =>
      expect(
        await reply("I do")
          .first()
          .evaluate((row) => row === document.activeElement),
      ).toBe(true),
    WAIT,
  );
  await panel.waitFor();

  await finger.swipe(await middleOf(reply("and I tea").locator(".content")), { x: -80 });
  await about.getByText("and I tea").waitFor();
  await page.goBack();
  await panel.waitFor({ state: "detached" });
  expect(await replies(ada).count(), "the stream's field replies to nothing").toBe(0);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});
