// A page that its browser translates: text nodes give way to <font> elements, as translators of browsers put them. What changes after that
// is shown whole and once. In a real Chromium against the real server.
import type { Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");

/** Every text node of the page, also those of spaces, is two `<font>` elements and the text in small letters now. */
const translate = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const roots: Node[] = [
      document.body,
      ...Array.from(document.querySelectorAll("*"), (one) => one.shadowRoot ?? one),
    ];
    for (const root of roots) {
      const texts: Text[] = [];
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) texts.push(walker.currentNode as Text);
      for (const text of texts.filter(
        ({ parentElement }) => !parentElement?.closest("font, script, style, textarea"),
      )) {
        const [outer, inner] = [document.createElement("font"), document.createElement("font")];
        inner.textContent = text.data.toLowerCase();
        outer.append(inner);
        text.replaceWith(outer);
      }
    }
  });

const textOf = (page: Page, selector: string): Promise<string> =>
  page
    .locator(selector)
    .first()
    .evaluate((shown) => (shown.textContent ?? "").replaceAll(/\s+/g, " ").trim());
const shows = (page: Page, selector: string, text: string): Promise<void> =>
  vi.waitFor(async () => expect(await textOf(page, selector)).toBe(text), WAIT);

it("edits, reactions, deletions, counts and new messages are whole in a translated page", async () => {
  const room = "translated";
  const ben = await join(url, room, "ben");
  const post = (content: string) => ask<PostAnswer & { id: string }>(ben, "chat-message", { content });
  const [one, two, three] = [await post("One **bold** text"), await post("Two"), await post("Three")];
  await ask(ben, "react", { id: two.id, emoji: "🎉", on: true });
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  const at = (seq: number, inside: string): string => `[data-seq="${seq}"] ${inside}`;
  await page.locator(at(2, ".reaction")).waitFor();
  await page.locator(".members-toggle").click();
  await page.getByTestId("composer").fill("draft");
  await translate(page);
  expect(await textOf(page, at(1, ".content"))).toBe("one bold text");

  await ask(ben, "edit-message", { id: one.id, content: "New *slanted* words https://a.example/x" });
  await shows(page, at(1, ".content"), "New slanted words https://a.example/x");
  await ask(ben, "edit-message", { id: two.id, content: "Plain" });
  await shows(page, at(2, ".content"), "Plain");
  const cleo = await join(url, room, "cleo");
  await ask(cleo, "react", { id: two.id, emoji: "🎉", on: true });
  await shows(page, at(2, ".reactions"), "🎉 2");
  await translate(page);
  await ask(cleo, "react", { id: two.id, emoji: "🎉", on: false });
  await ask(cleo, "react", { id: two.id, emoji: "👍", on: true });
  await shows(page, at(2, ".reactions"), "🎉 1👍 1");
  await shows(page, "[data-testid=member-count]", "3");
  await ask(ben, "delete-message", { id: three.id });
  await shows(page, at(3, ".gone"), "Message deleted");
  await post("Four");
  await shows(page, at(4, ".content"), "Four");
  await translate(page);
  await ask(ben, "edit-message", { id: one.id, content: "Last" });
  await shows(page, at(1, ".content"), "Last");
  cleo.emit("typing", { on: true });
  await vi.waitFor(async () => expect(await textOf(page, "[data-testid=typing]")).toMatch(/^cleo is typing/), WAIT);
  await translate(page);
  cleo.emit("typing", { on: false });
  await shows(page, "[data-testid=typing]", "");
  await translate(page);
  cleo.disconnect();
  await shows(page, "[data-testid=member-count]", "2");
  await page.getByTestId("send").click();
  await shows(page, at(5, ".content"), "draft");
  // Old parts of it lead where they led.
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("Plain");
  await page.keyboard.press("Enter");
  await shows(page, "[data-testid=search-outcome]", "1 found");
  await translate(page);
  await page.getByTestId("search-field").fill("nowhere");
  await page.keyboard.press("Enter");
  await shows(page, "[data-testid=search-outcome]", "Nothing found.");
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});
