// The message list at its end in a real Chromium, while the reader writes: it shows what the reader has sent, and follows the
// messages of others.
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { ask, join } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const MESSAGES = 20;
const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };

const browser = await useBrowser();
const url = inject("fastServerUrl");

/** Several lines, each typed. */
async function typeLines(page: Page, lines: readonly string[]): Promise<void> {
  for (const [at, line] of lines.entries()) {
    if (at > 0) await page.keyboard.press("Shift+Enter");
    await page.keyboard.type(line);
  }
}

it.each([
  ["desktop", DESKTOP],
  ["phone", PHONE],
] as const)(
  "%s: lines, replies and pasted text are in view once sent, and the list still follows",
  async (name, device) => {
    const room = `follow-${name}`;
    const ben = await join(url, room, "ben");
    for (let n = 1; n <= MESSAGES; n++) await ask(ben, "chat-message", { content: `m${n}` });
    const ada = await (await Visitor.open(browser, url, device)).enter(room, "Ada");
    const { page } = ada;
    const press = (control: Locator): Promise<void> => (device === PHONE ? control.tap() : control.click());
    const isFollowed = async (seq: number): Promise<void> => {
      await page.locator(`[data-seq="${seq}"][data-state=sent]`).waitFor();
      await vi.waitFor(async () => {
        const left = await page
          .getByTestId("log")
          .evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
        expect(left).toBeLessThan(1);
        expect(await page.getByTestId("newest").count()).toBe(0);
      }, WAIT);
    };
    const reply = async (): Promise<void> => {
      const last = page.locator(`[data-seq="${seq}"]`);
      if (device === PHONE) await last.locator(".content").tap();
      else await last.hover();
      await press(last.getByTestId("reply"));
      await ada.reads("about", /^Replying to/);
      await page.keyboard.type("a reply");
    };
    let seq = MESSAGES;
    await isFollowed(seq);
    for (const write of [
      () => typeLines(page, ["one", "two"]),
      () => typeLines(page, ["one", "two", "three", "four", "five"]),
      reply,
      reply,
      () => page.keyboard.insertText("pasted\n".repeat(120)),
    ]) {
      await press(page.getByTestId("composer"));
      await write();
      // On a touch screen Enter begins a line.
      if (device === PHONE) await page.getByTestId("send").tap();
      else await page.keyboard.press("Enter");
      await isFollowed(++seq);
      await ask(ben, "chat-message", { content: "an answer" });
      await isFollowed(++seq);
    }
    expect(ada.complaints).toEqual([]);
    ben.disconnect();
    await ada.close();
  },
);
