// A user of the chat page in a browser profile of their own; keeps all errors and warnings of the browser.
import { setTimeout as sleep } from "node:timers/promises";

import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, onTestFailed, vi } from "vitest";

export const WAIT = { interval: 50 };

/** For tests that no service worker concerns: it fetches all files of the page, in each browser profile again. */
export const NO_WORKER: BrowserContextOptions = { serviceWorkers: "block" };
/** What Playwright writes in its place. */
const BLOCKED = "Service Worker registration blocked by Playwright";

/** The page draws nothing until the returned function is called: what happens meanwhile happens within one frame. */
export async function holdFrames(page: Page): Promise<() => Promise<void>> {
  await page.evaluate(() => {
    const held: FrameRequestCallback[] = [];
    const ask = globalThis.requestAnimationFrame;
    globalThis.requestAnimationFrame = (callback) => held.push(callback);
    addEventListener(
      "frames-go-on",
      () => {
        globalThis.requestAnimationFrame = ask;
        for (const callback of held) ask(callback);
      },
      { once: true },
    );
  });
  return () => page.evaluate(() => void dispatchEvent(new Event("frames-go-on")));
}

/** The errors and warnings of a page's console, also those that come later. */
export function complaintsIn(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    const isBad = message.type() === "error" || message.type() === "warning";
    if (isBad && message.text() !== BLOCKED) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return complaints;
}

/** How many clicks the page has heard since this was asked first. */
const clicksOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const counted = globalThis as { clicks?: number };
    if (counted.clicks === undefined) {
      counted.clicks = 0;
      addEventListener("click", () => (counted.clicks! += 1), true);
    }
    return counted.clicks;
  });

/** A finger taps. If the machine stalls in the middle, Chromium takes that for a long press, which ends in no click: then the finger taps again. */
export async function tap(target: Locator): Promise<void> {
  const page = target.page();
  const before = await clicksOf(page);
  await target.tap();
  for (let looks = 0; looks < 20; looks++) {
    if ((await clicksOf(page)) !== before) return;
    await sleep(50);
  }
  await tap(target);
}

export class Visitor {
  readonly complaints: string[];
  readonly page: Page;
  readonly context: BrowserContext;
  readonly #url: string;

  static async open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await browser.newContext(options);
    return new Visitor(context, await context.newPage(), url);
  }

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.context = context;
    this.page = page;
    this.#url = url;
    this.complaints = complaintsIn(page);
  }

  /** Another tab of the same browser profile. */
  async tab(): Promise<Visitor> {
    return new Visitor(this.context, await this.context.newPage(), this.#url);
  }

  async enter(room: string, name: string): Promise<this> {
    await this.page.goto(this.#url);
    await this.fillIn(room, name);
    await this.isConnected();
    return this;
  }

  /** With a token in place of a guest's, as a browser has it that was there before. */
  async enterWith(token: string, room: string, name: string): Promise<this> {
    await this.page.addInitScript(
      ([token, name]) => localStorage.setItem("parley.token", JSON.stringify({ name, token })),
      [token, name] as const,
    );
    await this.page.goto(`${this.#url}/#${room}`);
    return this;
  }

  async fillIn(room: string, name: string): Promise<void> {
    await this.opens("name", "other-name");
    await this.page.getByTestId("name").fill(name);
    await this.choosesRoom(room);
    await this.page.getByTestId("join").click();
    await this.page.getByTestId("composer").waitFor({ state: "visible" });
  }

  /** In the form, which has a room already. */
  async choosesRoom(room: string): Promise<void> {
    await this.opens("room", "other-room");
    await this.page.getByTestId("room").fill(room);
  }

  /** A field of the form that may be behind a link. */
  private async opens(field: string, link: string): Promise<void> {
    const [shown, leading] = [this.page.getByTestId(field), this.page.getByTestId(link)];
    await shown.or(leading).first().waitFor();
    if (!(await shown.isVisible())) await leading.click();
  }

  isConnected(): Promise<void> {
    return this.stands("connected");
  }

  async stands(state: string): Promise<void> {
    const line = this.page.getByTestId("connection");
    await vi.waitFor(async () => expect(await line.getAttribute("data-state", { timeout: 500 })).toBe(state), WAIT);
  }

  async say(text: string): Promise<void> {
    await this.page.getByTestId("composer").fill(text);
    await this.page.getByTestId("send").click();
  }

  /** The text in the composer. */
  async drafts(text: string): Promise<void> {
    const draft = this.page.getByTestId("composer");
    await vi.waitFor(async () => expect(await draft.inputValue({ timeout: 500 })).toBe(text), WAIT);
  }

  /** The messages on the screen, in order. */
  async sees(...texts: string[]): Promise<void> {
    await this.shows("sent", texts);
  }

  async shows(state: "sent" | "pending" | "failed", texts: readonly string[]): Promise<void> {
    const contents = this.page.locator(`[data-testid=message][data-state=${state}] .content`);
    await vi.waitFor(async () => expect(await contents.allTextContents()).toEqual(texts), WAIT);
  }

  message(text: string): Locator {
    return this.page.getByTestId("message").filter({ hasText: text }).first();
  }

  /** Points at a message and presses one of the buttons that appear. */
  async use(text: string, tool: "react" | "reply" | "reply-in-thread" | "more"): Promise<void> {
    const message = this.message(text);
    await message.hover();
    await message.getByTestId(tool).click();
  }

  async choose(item: string): Promise<void> {
    await this.page.getByRole("menuitem", { name: item }).click();
  }

  async countsMembers(count: number): Promise<void> {
    const shown = this.page.getByTestId("member-count");
    await vi.waitFor(async () => expect(await shown.textContent()).toBe(String(count)), WAIT);
  }

  async reads(testId: string, text: string | RegExp): Promise<void> {
    const shown = this.page.getByTestId(testId).first();
    await vi.waitFor(async () => expect(await shown.textContent({ timeout: 500 })).toMatch(text), WAIT);
  }

  isAt(address: string): Promise<void> {
    return vi.waitFor(() => expect(this.page.url()).toBe(address), WAIT);
  }

  /** Into another room, within the page. Its messages are there, and rest: what is pressed stays at its place. */
  async goesTo(room: string): Promise<void> {
    await this.page.evaluate((room) => void (location.hash = room), room);
    await this.reads("room-title", new RegExp(`^#${room}$`));
    await this.isConnected();
    const place = (): Promise<string> =>
      this.page
        .getByTestId("log")
        .evaluate((log) => [log.ariaBusy, log.scrollTop, log.scrollHeight, log.clientHeight].join(" "), null, {
          timeout: 500,
        });
    let before = "";
    await vi.waitFor(async () => {
      const last = before;
      before = await place();
      expect(before).toBe(last);
      expect(before).toMatch(/^false/);
    }, WAIT);
  }

  /** In the room, with a connection: who leaves it earlier has a complaint of the browser. */
  async isIn(room: string): Promise<void> {
    await this.reads("room-title", room);
    await this.isConnected();
  }

  /** The message that the reader was led to, in view. */
  async isLedTo(text: string): Promise<void> {
    const target = this.page.locator(".message.target").filter({ hasText: text });
    await target.waitFor();
    await vi.waitFor(async () => {
      const [box, log] = [await target.boundingBox(), (await this.page.getByTestId("log").boundingBox())!];
      expect(box!.y).toBeGreaterThan(log.y);
      expect(box!.y + box!.height).toBeLessThan(log.y + log.height);
    }, WAIT);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

/**
 * One page for several tests of a file, which costs less than a page each: the first test opens it, and the others go to other rooms. After a test
 * that failed the next one gets another page.
 * @param token of a user; without it, a guest comes in
 * @returns enters a room
 */
export function sharedPage(
  open: () => Promise<Visitor>,
  token?: () => Promise<string>,
): (room: string, name?: string) => Promise<Visitor> {
  let shared: Visitor | undefined;
  return async (room, name = "Ada") => {
    onTestFailed(async () => {
      const failed = shared;
      shared = undefined;
      await failed?.close();
    });
    if (!shared) {
      shared = await open();
      if (!token) return shared.enter(room, name);
      await shared.enterWith(await token(), room, name);
      await shared.isConnected();
      return shared;
    }
    shared.complaints.length = 0;
    await shared.goesTo(room);
    return shared;
  };
}
