// The page in other languages, in a real Chromium: which one a reader gets, what is loaded for it, and Arabic from right to left.
import type { BrowserContextOptions, Locator } from "playwright-core";
import { expect, inject, it } from "vitest";

import { passes } from "./axe.ts";
import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, tap, Visitor } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();

const open = (locale: string, options: BrowserContextOptions = {}): Promise<Visitor> =>
  Visitor.open(browser, url, { locale, ...options, ...NO_WORKER });

it("is that of the browser: words, numbers, dates and the page's own mark", async () => {
  const ben = await join(url, "languages-german", "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const ada = await (await open("de-AT")).enter("languages-german", "Ada");
  const { page } = ada;
  await page.getByRole("button", { name: "2 Mitglieder" }).waitFor();
  await ask(ben, "chat-message", { content: "Servus" });
  await page.getByText("Heute", { exact: true }).first().waitFor();
  const { id } = await ask<{ readonly id: string }>(ben, "chat-message", { content: "lang\n".repeat(150) });
  await page.getByRole("button", { name: "Mehr anzeigen" }).waitFor();
  await ask(ben, "edit-message", { id, content: "kurz" });
  await expect.poll(() => ada.message("kurz").locator(".edited").getAttribute("data-text")).toBe("(bearbeitet)");
  await ada.message("Servus").hover();
  await page.getByRole("button", { name: "Weitere Aktionen" }).click();
  await page.getByRole("menuitem", { name: "Text kopieren" }).waitFor();
  expect(await page.evaluate("[document.documentElement.lang, document.documentElement.dir]")).toEqual(["de", "ltr"]);
  expect(ada.complaints).toEqual([]);
});

it("is English where a language has no texts, and loads no catalogue then; an embedded chat has that of its page", async () => {
  const ada = await open("fi-FI");
  const { page } = ada;
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await ada.enter("languages-finnish", "Ada");
  await page.getByRole("button", { name: "1 member" }).waitFor();
  expect(loaded.filter((file) => /assets\/(?:de|es|ja|ar)-/.test(file))).toEqual([]);

  const body = `<!doctype html><html lang="de"><title>Laden</title><script type="module" src="${url}/embed.js"></script>
    <parley-room room="languages-embed" name="Ada"></parley-room>`;
  await page.route(`${url}/shop`, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(`${url}/shop`);
  await page.getByRole("button", { name: "1 Mitglied" }).waitFor();
});

it("stays English if its texts cannot be loaded, and the page says so to who chooses it; a chosen one stays", async () => {
  const ada = await open("es-ES");
  const { page } = ada;
  await page.route(/assets\/(?:es|de)-/, (route) => route.abort());
  await ada.enter("languages-away", "Ada");
  await page.getByTestId("composer").fill("half a text");
  const choose = async (label: string): Promise<void> => {
    await page.getByTestId("profile").click();
    await page.getByRole("menuitem", { name: "Language…" }).click();
    await page.getByTestId("language").selectOption({ label });
  };
  await choose("Deutsch");
  await page.getByText("The language could not be loaded. Try again with a connection.").waitFor();
  await choose("日本語");
  await page.getByRole("navigation", { name: "ルーム" }).waitFor();
  expect(await page.getByTestId("composer").inputValue()).toBe("half a text");
  await page.reload();
  await page.getByRole("navigation", { name: "ルーム" }).waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("ja");
});

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

it("Arabic runs from right to left, code from left to right, and English words are cut at their end; axe finds nothing", async () => {
  const room = "languages-arabic";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { name: "Mo", role: "moderator" }) } });
  const { id } = await ask<{ id: string }>(mo, "chat-message", {
    content: `Who brings cake? ${"And who tea? ".repeat(9)}`,
  });
  await ask(mo, "chat-message", { content: "مرحبا `npm run check.`\n```js\nconst a = 1;\n```", replyTo: id });
  const ada = await (await open("ar-EG", { viewport: PHONE, isMobile: true, hasTouch: true })).enter(room, "ليلى");
  const { page } = ada;
  const directionOf = (part: Locator): Promise<string> =>
    part.evaluate((element) => getComputedStyle(element).direction);
  const reply = ada.message("مرحبا");
  for (const code of await reply.locator("code, pre").all()) expect(await directionOf(code)).toBe("ltr");
  const words = reply.getByTestId("quote").locator("[dir]");
  expect(await words.evaluate((words) => words.scrollWidth > words.clientWidth)).toBe(true);
  expect(await reply.getByTestId("quote").evaluate((quote) => quote.scrollWidth > quote.clientWidth)).toBe(false);
  const cake = ada.message("Who brings cake?");
  await tap(cake.locator(".content"));
  await tap(cake.getByTestId("reply"));
  const about = page.getByTestId("about").locator("p");
  await about.waitFor();
  expect(await about.locator("[dir]").evaluate((words) => words.scrollWidth > words.clientWidth)).toBe(true);
  expect(await about.evaluate((line) => line.scrollWidth > line.clientWidth)).toBe(false);
  await tap(page.getByTestId("about").getByRole("button"));
  const field = page.getByTestId("composer");
  expect(await directionOf(field)).toBe("rtl");
  await field.fill("Tea");
  expect(await directionOf(field)).toBe("ltr");
  await ask(mo, "chat-message", { content: "Hello from the left" });
  await field.fill("نعم");
  await tap(page.getByTestId("send"));
  await ada.message("نعم").and(page.locator("[data-state=sent]")).waitFor();
  await ask(mo, "slow-mode", { seconds: 30 });
  const notice = page.getByTestId("notice").filter({ hasText: "Mo" });
  await notice.waitFor();
  expect(await directionOf(notice)).toBe("rtl");
  await tap(page.getByTestId("rooms-toggle"));
  // A name stands beside its mark.
  const gap = await page
    .locator("[data-testid=room-item]")
    .first()
    .evaluate((item) => {
      const text = document.createRange();
      text.selectNodeContents(item.querySelector(".room-name")!);
      return item.querySelector(".hash")!.getBoundingClientRect().left - text.getBoundingClientRect().right;
    });
  expect(gap).toBeLessThan(20);
  await page.keyboard.press("Escape");

  const sideOf = async (part: Locator): Promise<number> => {
    const { x, width } = (await part.boundingBox())!;
    return (x + width / 2) / page.viewportSize()!.width;
  };
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    await comesToRest(page);
    expect(await sideOf(page.getByTestId("send"))).toBeLessThan(await sideOf(page.getByTestId("attach")));
    expect(await sideOf(ada.message("Hello from the left").locator(".content"))).toBeGreaterThan(0.5);
    if (viewport === PHONE) {
      expect(await sideOf(ada.message("نعم").locator(".content"))).toBeLessThan(0.5);
      await passes(page, "Arabic");
    }
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(viewport.width);
  }
  expect(ada.complaints).toEqual([]);
  mo.disconnect();
});
