// The page in other languages, in a real Chromium: which one a reader gets, what is loaded for it, and Arabic from right to left.
import axe from "axe-core";
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it } from "vitest";

import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();

const open = (locale: string, options: BrowserContextOptions = {}): Promise<Visitor> =>
  Visitor.open(browser, url, { locale, ...options });

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

it("is English for those whose language has no texts, and loads no catalogue then", async () => {
  const ada = await open("fi-FI");
  const loaded: string[] = [];
  ada.page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await ada.enter("languages-finnish", "Ada");
  await ada.page.getByRole("button", { name: "1 member" }).waitFor();
  expect(loaded.filter((file) => /assets\/(?:de|es|ja|ar)-/.test(file))).toEqual([]);
});

it("is the one that the reader chooses, from then on", async () => {
  const ada = await (await open("en-US")).enter("languages-chosen", "Ada");
  const { page } = ada;
  await page.getByTestId("composer").fill("half a text");
  await page.getByTestId("profile").click();
  await page.getByRole("menuitem", { name: "Language…" }).click();
  await page.getByTestId("language").selectOption({ label: "日本語" });
  await page.getByRole("navigation", { name: "ルーム" }).waitFor();
  expect(await page.getByTestId("composer").inputValue()).toBe("half a text");
  await page.reload();
  await page.getByRole("navigation", { name: "ルーム" }).waitFor();
  expect(await page.evaluate("document.documentElement.lang")).toBe("ja");
});

it("stays English if its texts cannot be loaded, and the page says so to who chooses it", async () => {
  const ada = await open("es-ES");
  await ada.page.route(/assets\/(?:es|de)-/, (route) => route.abort());
  await ada.enter("languages-away", "Ada");
  const { page } = ada;
  await page.getByTestId("profile").click();
  await page.getByRole("menuitem", { name: "Language…" }).click();
  await page.getByTestId("language").selectOption({ label: "Deutsch" });
  await page.getByText("The language could not be loaded. Try again with a connection.").waitFor();
});

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

it.each([
  ["on a desktop", { viewport: DESKTOP }],
  ["on a phone", { viewport: PHONE, isMobile: true, hasTouch: true }],
])(
  "Arabic runs from right to left %s: the list of rooms, the field, own messages; axe finds nothing",
  async (where, options) => {
    const room = `languages-arabic-${where.length}`;
    const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
    const ada = await (await open("ar-EG", options)).enter(room, "ليلى");
    const { page } = ada;
    await ask(ben, "chat-message", { content: "Hello from the left" });
    await page.getByTestId("composer").fill("مرحبا");
    await page.getByTestId("send").click();
    await ada.message("مرحبا").locator("[data-state=sent], time").first().waitFor();
    const { width } = options.viewport;
    const sideOf = async (part: ReturnType<typeof page.locator>): Promise<number> => {
      const { x, width: own } = (await part.boundingBox())!;
      return (x + own / 2) / width;
    };
    const [send, attach] = [await sideOf(page.getByTestId("send")), await sideOf(page.getByTestId("attach"))];
    expect(send).toBeLessThan(attach);
    const [own, other] = [
      await sideOf(ada.message("مرحبا").locator(".content")),
      await sideOf(ada.message("Hello from the left").locator(".content")),
    ];
    expect(other).toBeGreaterThan(0.5);
    if (options.viewport === PHONE) expect(own).toBeLessThan(0.5);
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    await page.evaluate(axe.source);
    expect(
      await page.evaluate(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`),
    ).toEqual([]);
  },
);

it("in an Arabic page code runs from left to right, English words are cut at their end, and sentences of the page run from the right", async () => {
  const room = "languages-mixed";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { name: "Mo", role: "moderator" }) } });
  const { id } = await ask<{ id: string }>(mo, "chat-message", {
    content: `Who brings cake? ${"And who tea? ".repeat(9)}`,
  });
  await ask(mo, "chat-message", { content: "مرحبا `npm run check.`\n```js\nconst a = 1;\n```", replyTo: id });
  const ada = await (await open("ar-EG", { viewport: PHONE, isMobile: true, hasTouch: true })).enter(room, "ليلى");
  const { page } = ada;
  const directionOf = (part: ReturnType<typeof page.locator>): Promise<string> =>
    part.evaluate((element) => getComputedStyle(element).direction);
  const reply = ada.message("مرحبا");
  for (const code of await reply.locator("code, pre").all()) expect(await directionOf(code)).toBe("ltr");
  const words = reply.getByTestId("quote").locator("[dir]");
  expect(await words.evaluate((words) => words.scrollWidth > words.clientWidth)).toBe(true);
  expect(await reply.getByTestId("quote").evaluate((quote) => quote.scrollWidth > quote.clientWidth)).toBe(false);
  const cake = ada.message("Who brings cake?");
  await cake.locator(".content").tap();
  await cake.getByTestId("reply").tap();
  const about = page.getByTestId("about").locator("p");
  await about.waitFor();
  expect(await about.locator("[dir]").evaluate((words) => words.scrollWidth > words.clientWidth)).toBe(true);
  expect(await about.evaluate((line) => line.scrollWidth > line.clientWidth)).toBe(false);
  const field = page.getByTestId("composer");
  expect(await directionOf(field)).toBe("rtl");
  await field.fill("Tea");
  expect(await directionOf(field)).toBe("ltr");
  await ask(mo, "slow-mode", { seconds: 30 });
  const notice = page.getByTestId("notice").filter({ hasText: "Mo" });
  await notice.waitFor();
  expect(await directionOf(notice)).toBe("rtl");
  await page.getByTestId("rooms-toggle").tap();
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
  expect(ada.complaints).toEqual([]);
});

it("of an embedded chat is that of the page around it", async () => {
  const { page } = await open("en-US");
  const body = `<!doctype html><html lang="de"><title>Laden</title><script type="module" src="${url}/embed.js"></script>
    <parley-room room="languages-embed" name="Ada"></parley-room>`;
  await page.route(`${url}/shop`, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(`${url}/shop`);
  await page.getByRole("button", { name: "1 Mitglied" }).waitFor();
});
