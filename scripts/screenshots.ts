// `npm run screenshots`: takes pictures of the page and the operator page, with a server and sample rooms of its own, into
// dist/screenshots/. The name of a picture as argument takes that one alone; `--update` replaces those in
// docs/screenshots/.
import { mkdir } from "node:fs/promises";
import path from "node:path";

import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";

import { PROJECT_ROOT } from "./local-variables.ts";
import { assertFonts, launchWithFonts } from "./screenshots/fonts.ts";
import { OPERATIONS_PICTURES, takeOperations } from "./screenshots/operations.ts";
import { setStage, type Stage } from "./screenshots/stage.ts";
import { PEOPLE, READER } from "./screenshots/story.ts";
import { exitOnStop } from "./stopping.ts";
import { helpOf, readOptions } from "./options.ts";

const DESKTOP: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
/** High enough that each picture begins with a whole message. */
const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 838 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};

/** After so many frames the page has measured and drawn its rows again. */
const SETTLING_FRAMES = 5;

type Picture = (stage: Stage) => Promise<Page>;

/** Waits before each picture until nothing moves. */
const PICTURES: Readonly<Record<string, Picture>> = {
  "desktop-light": async (stage) => {
    const page = await stage.open({ ...DESKTOP, colorScheme: "light" });
    const posted = page.getByTestId("message").filter({ has: page.locator(".content", { hasText: "We are live" }) });
    // A click of the mouse would scroll the list there.
    await posted.getByTestId("thread-line").evaluate((line) => line.click());
    await page.getByTestId("replies").getByTestId("message").first().waitFor();
    await beginWithWhole(page);
    return showTyping(stage, page);
  },
  "desktop-dark": async (stage) => {
    const page = await stage.open({ ...DESKTOP, colorScheme: "dark" });
    await page.getByTestId("search-toggle").click();
    await page.getByLabel("All my rooms").check();
    await page.getByTestId("search-field").fill("tandem");
    await page.keyboard.press("Enter");
    await page.getByTestId("found-everywhere").getByRole("button").first().waitFor();
    await scrollToSaid(page, "The rehearsal on staging");
    await page.locator(".code-keyword").first().waitFor();
    return page;
  },
  "phone-light": async (stage) => showTyping(stage, await stage.open({ ...PHONE, colorScheme: "light" })),
  "phone-dark": async (stage) => {
    const page = await stage.open({ ...PHONE, colorScheme: "dark" });
    await scrollToSaid(page, "Lemon cake is ordered");
    await page.locator(".album img").nth(2).waitFor();
    return page;
  },
  "phone-rooms-dark": async (stage) => {
    const page = await stage.open({ ...PHONE, colorScheme: "dark" });
    await page.getByTestId("rooms-toggle").click();
    return page;
  },
  "phone-offline-light": async (stage) => {
    const page = await stage.open({ ...PHONE, colorScheme: "light" });
    // Loaded on demand: no longer without a network.
    for (const part of ["pinned", "threads-toggle"]) await page.getByTestId(part).waitFor();
    await page.context().setOffline(true);
    await page.locator("[data-testid=connection][data-state=offline]").waitFor();
    for (const text of [
      "Train tunnel. Save me that slice, I will be there before anybody asks again!",
      "Home at six, with an answer about the tandem, its two saddles and its bell.",
    ]) {
      await page.getByTestId("composer").fill(text);
      await page.getByTestId("send").click();
    }
    await page.locator("[data-testid=message][data-state=pending]").nth(1).waitFor();
    return page;
  },
  "join-light": async (stage) => {
    const page = await stage.open({ viewport: { width: 900, height: 620 }, colorScheme: "light" }, { isKnown: false });
    await page.getByTestId("name").fill(PEOPLE[READER]);
    return page;
  },
};

async function showTyping(stage: Stage, page: Page): Promise<Page> {
  stage.member("aiko").socket.emit("typing", { on: true });
  await page.getByTestId("typing").filter({ hasText: "typing" }).waitFor();
  return page;
}

/** Shows the message with that text at the upper edge, and not one that quotes it. */
async function scrollToSaid(page: Page, text: string): Promise<void> {
  const said = page.locator(".content", { hasText: text });
  await scrollTo(page, page.getByTestId("message").filter({ has: said }));
  // It goes a second after the last movement.
  await page.getByTestId("day").waitFor({ state: "detached" });
}

/** Shows a message at the upper edge. */
async function scrollTo(page: Page, message: Locator): Promise<void> {
  // The list stays at its end until it has drawn the loaded messages.
  while ((await message.count()) === 0) {
    await page.getByTestId("log").evaluate((log) => (log.scrollTop = 0));
    await nextFrame(page);
  }
  for (let frames = 0; frames < SETTLING_FRAMES; frames++) {
    const moved = await message.evaluate((row) => {
      const log = row.closest(".log")!;
      const moved = row.getBoundingClientRect().top - log.getBoundingClientRect().top;
      log.scrollTop += moved;
      return moved;
    });
    if (Math.abs(moved) >= 1) frames = 0;
    await nextFrame(page);
  }
}

/** Makes the window higher by what is cut of the uppermost message. */
async function beginWithWhole(page: Page): Promise<void> {
  const { width, height } = page.viewportSize()!;
  await page.setViewportSize({ width, height: height + (await cutOf(page)) });
  for (let frames = 0; frames < SETTLING_FRAMES; frames++) await nextFrame(page);
}

/** Pixels of the uppermost message, with its author, that are not in view. */
function cutOf(page: Page): Promise<number> {
  return page.getByTestId("log").evaluate((log) => {
    const { top } = log.getBoundingClientRect();
    const line = log.closest(".talk")!.querySelector(".lines")!.getBoundingClientRect().height;
    const tops: number[] = [];
    for (const row of log.querySelectorAll(".message.head, .day")) tops.push(row.getBoundingClientRect().top - top);
    return Math.ceil(line - (tops.findLast((rowTop) => rowTop <= line) ?? line));
  });
}

const nextFrame = (page: Page): Promise<unknown> =>
  page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");

const {
  positionals: [only],
  values: { update },
} = readOptions(helpOf("screenshots"), {
  allowPositionals: true,
  options: { update: { type: "boolean", default: false } },
});
const FOLDER = path.join(PROJECT_ROOT, update ? "docs" : "dist", "screenshots");
const isWanted = (name: string): boolean => only === undefined || only === name;

async function take(name: string, page: Page): Promise<void> {
  if (!isWanted(name)) return;
  const file = path.join(FOLDER, `${name}.png`);
  await page.screenshot({ path: file, animations: "disabled", caret: "hide" });
  console.log(path.relative(PROJECT_ROOT, file));
}

async function takePage(browser: Browser): Promise<void> {
  const stage = await setStage(browser);
  try {
    for (const [name, picture] of Object.entries(PICTURES)) {
      if (!isWanted(name)) continue;
      const page = await picture(stage);
      await take(name, page);
      await page.context().close();
      // Other pages must not show as typing in the next picture.
      await stage.member("aiko").socket.emitWithAck("typing", { on: false });
    }
  } finally {
    await stage.close();
  }
}

exitOnStop();
const browser = await launchWithFonts();
try {
  if (update) await assertFonts(browser);
  await mkdir(FOLDER, { recursive: true });
  if (Object.keys(PICTURES).some(isWanted)) await takePage(browser);
  if (OPERATIONS_PICTURES.some(isWanted)) await takeOperations(browser, take);
} finally {
  await browser.close();
}
