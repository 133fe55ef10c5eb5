// The typing race of docs/examples as an outsider has it: copied out of the repository, with the tarball alone. Two people play it to the end in real
// browsers, one with a keyboard, the other on a phone, with a reload and a lost connection in mid-race.
import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { consumer, type Consumer } from "./consumer.ts";
import { useBrowser } from "./stage.ts";
import { WAIT } from "./visitor.ts";

const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };
/** Milliseconds from key to key: no more than 300 words a minute. */
const DELAY = 45;

let somebody: Consumer;
let server: Awaited<ReturnType<Consumer["serve"]>>;

beforeAll(async () => {
  somebody = await consumer();
  server = await somebody.serve("typing-race", { WAIT_MS: "2000" });
});

afterAll(() => server.stop());

describe("the page", async () => {
  const browser = await useBrowser();
  const complaints: string[] = [];

  async function enter(name: string, url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage();
    page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())));
    page.on("pageerror", ({ message }) => void complaints.push(message));
    await page.goto(url);
    await page.getByLabel("Your name").fill(name);
    await page.getByRole("button", { name: new URL(url).hash ? "Join the race" : "Find a race" }).click();
    await says(page, /begins in|Go!/);
    return page;
  }

  const says = (page: Page, text: RegExp | string): Promise<void> =>
    vi.waitFor(async () => expect(await page.locator("#phase").textContent()).toMatch(text), WAIT);
  const progress = (page: Page, name: string): Promise<number> =>
    page
      .getByRole("progressbar", { name: `Progress of ${name}` })
      .evaluate((bar) => (bar as HTMLProgressElement).value);

  /** All that it says from now on. */
  const notePhases = (page: Page): Promise<void> =>
    page.evaluate(() => {
      const phases: unknown[] = [];
      Object.assign(globalThis, { phases });
      const note = (): unknown => phases.push(document.querySelector("#phase")?.textContent);
      new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
    });

  /** The names of the rules of axe-core that the page breaks. */
  async function faults(page: Page): Promise<unknown> {
    await page.evaluate(axe.source);
    return page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
  }

  it("lets two people race to the end, and once more", async () => {
    const ada = await enter("Ada", server.url);
    // By Ada's link: also if the race has begun meanwhile.
    const ben = await enter("Ben", ada.url(), PHONE);
    await Promise.all([ada, ben].map((page) => says(page, "Go!")));
    const text = (await ada.locator("#passage").textContent())!;

    // A click led here, so the field has the focus, and a phone its keyboard.
    await ada.keyboard.type(text.slice(0, 30), { delay: DELAY });
    await ada.keyboard.type("~");
    expect(await ada.getByRole("alert").textContent()).toMatch(/another character/);
    expect(await faults(ada)).toEqual([]);
    await ada.keyboard.press("Backspace");
    await vi.waitFor(async () => expect(await progress(ben, "Ada")).toBe(30), WAIT);

    // A phone completes words: input events without keys, and signs of its own.
    await ben.keyboard.insertText(text.slice(0, 8).replace("'", "’"));
    await ben.keyboard.insertText(text.slice(8, 12));
    await vi.waitFor(async () => expect(await progress(ada, "Ben")).toBe(12), WAIT);

    await ada.reload();
    await vi.waitFor(
      async () => expect(await ada.getByLabel("Type the text").inputValue()).toBe(text.slice(0, 30)),
      WAIT,
    );
    await ben.context().setOffline(true);
    await ben.evaluate(() => window.dispatchEvent(new Event("offline")));
    await says(ben, "Go!");
    await ben.keyboard.insertText(text.slice(12, 20));
    await ben.context().setOffline(false);
    // What was typed meanwhile arrives.
    await vi.waitFor(async () => expect(await progress(ada, "Ben")).toBe(20), WAIT);

    await ada.getByLabel("Type the text").press("End");
    // A paste: the page sends no more at once than the server takes.
    await Promise.all([
      ada.keyboard.type(text.slice(30), { delay: DELAY }),
      ben.keyboard.insertText(text.slice(20, -25)),
    ]);
    await says(ada, /^You are 1st of 2, with \d+ words a minute\.$/);
    // She need not wait for Ben, who may have stopped to type.
    await ada.getByRole("button", { name: "Find another race" }).waitFor();
    expect(await ada.getByRole("button", { name: "Race again" }).isVisible()).toBe(false);
    await ben.keyboard.insertText(text.slice(-25));
    await says(ben, /^You are 2nd of 2, with \d+ words a minute\.$/);
    expect(await faults(ben)).toEqual([]);

    // The page says it for three seconds.
    await Promise.all([ada, ben].map(notePhases));
    await ben.getByRole("button", { name: "Race again" }).tap();
    for (const page of [ada, ben])
      await expect
        .poll(() => page.evaluate("phases"))
        .toContainEqual(expect.stringMatching(/^The race begins in \d …$/));
    await says(ben, "Go!");
    expect(await ben.getByLabel("Type the text").inputValue()).toBe("");
    expect(await progress(ben, "Ada")).toBe(0);
    // A phone has no room to the side.
    expect(await ben.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|WebSocket connection/.test(text))).toEqual([]);
    await Promise.all([ada, ben].map((page) => page.context().close()));
  });

  it("finds another race where the address names no room", async () => {
    const page = await (await browser.newContext()).newPage();
    for (const name of ["%E0%A4%A", "no%20room", "x".repeat(65)]) {
      // Another fragment alone would load nothing.
      await page.goto("about:blank");
      await page.goto(`${server.url}/#${name}`);
      await page.getByLabel("Your name").fill("Ada");
      await page.getByRole("button", { name: "Find a race" }).click();
      await says(page, /begins in|Go!/);
    }
    await page.context().close();
  });
});

it("compiles, and can be deployed", async () => {
  await somebody.run("typing-race", "tsc");
  await somebody.run("typing-race", "tsc", "-p", "page");
  expect(await somebody.deployed("typing-race")).toContain("--dry-run: exiting now.");
});
