// The style sheets of the chat page, the operator page and the embed as a browser computes them: a value that it cannot read draws
// nothing, and no error says so.
import { expect, inject, it, vi } from "vitest";
import type { Page } from "playwright-core";

import { useBrowser } from "./stage.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();

interface Used {
  /** Such as `box-shadow: var(--shadow)`. */
  readonly declaration: string;
  /** Whether the browser takes the value with the custom properties put in. */
  readonly isValid: boolean;
  /** The computed `box-shadow`; empty for other declarations. */
  readonly shadow: string;
}

/** All declarations with custom properties in the sheets of the page, or of its `<parley-room>`. */
const usedIn = (page: Page): Promise<Used[]> =>
  page.evaluate(() => {
    const host = document.querySelector("parley-room");
    const sheets = host?.shadowRoot?.adoptedStyleSheets ?? document.styleSheets;
    const styles: CSSStyleDeclaration[] = [];
    const walk = (rules: CSSRuleList): void => {
      for (const rule of rules) {
        if ("style" in rule) styles.push(rule.style as CSSStyleDeclaration);
        if ("styleSheet" in rule) walk((rule.styleSheet as CSSStyleSheet).cssRules);
        if ("cssRules" in rule) walk(rule.cssRules as CSSRuleList);
      }
    };
    for (const sheet of sheets) walk(sheet.cssRules);
    const declared = styles.flatMap((style) => style.cssText.split(/;\s*/)).filter((text) => text.includes(":"));
    const probe = document.createElement("div");
    (host?.shadowRoot ?? document).querySelector(".parley")!.append(probe);
    const computed = getComputedStyle(probe);
    // Those of some elements only; components set `--hue`.
    const local = new Map([["--hue", "#0b6b60"]]);
    for (const text of declared) {
      const [, name, value] = /^(--[\w-]+):\s*(.*)$/s.exec(text) ?? [];
      if (name !== undefined) local.set(name, value!);
    }
    const valueOf = (name: string): string => computed.getPropertyValue(name) || (local.get(name) ?? "");
    const filled = (text: string): string =>
      /var\(/.test(text) ? filled(text.replaceAll(/var\((--[\w-]+)\)/g, (_, name: string) => valueOf(name))) : text;
    return declared
      .filter((text) => /var\(/.test(text) && !text.startsWith("--"))
      .map((declaration) => {
        const [, property, value] = /^([\w-]+):\s*(.*?)(?: !important)?$/s.exec(declaration)!;
        probe.style.cssText = declaration;
        const shadow = property === "box-shadow" ? computed.boxShadow : "";
        return { declaration, isValid: CSS.supports(property!, filled(value!)), shadow };
      });
  });

const PAGES: ReadonlyArray<readonly [name: string, open: (page: Page) => Promise<unknown>, shadows: number]> = [
  [
    "the chat page",
    async (page) => {
      await page.goto(url);
      await page.getByTestId("join-form").waitFor();
    },
    9,
  ],
  [
    "the operator page",
    async (page) => {
      await page.goto(`${url}/admin`);
      await page.locator(".card").waitFor();
    },
    3,
  ],
  [
    "the embed",
    async (page) => {
      await page.goto(`${url}/health`);
      await page.addScriptTag({ type: "module", url: `${url}/embed.js` });
      await page.evaluate(() => document.body.append(document.createElement("parley-room")));
      await page.waitForFunction(() => document.querySelector("parley-room")?.shadowRoot?.querySelector(".parley"));
    },
    7,
  ],
];

for (const [name, open, shadows] of PAGES)
  it(`${name}: the browser can read each value with a custom property, and draws all shadows, in light and in dark`, async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ colorScheme });
      await open(page);
      const used = await usedIn(page);
      expect(used.length).toBeGreaterThan(40);
      expect(used.filter(({ isValid }) => !isValid).map(({ declaration }) => declaration)).toEqual([]);
      const drawn = used.filter(({ declaration }) => declaration.startsWith("box-shadow: var(--shadow)"));
      expect(drawn.length).toBeGreaterThanOrEqual(shadows);
      for (const { shadow } of drawn) expect(shadow).toMatch(/^rgba\(.+\) 0px 6px 24px 0px$/);
      await page.close();
    }
  });

it("a menu and a dialog stand out from the page by their shadows", async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const ada = await (await Visitor.open(browser, url, { colorScheme })).enter("styles-shadow", "Ada");
    const shadowOf = (selector: string): Promise<string> =>
      ada.page.locator(selector).evaluate((element) => getComputedStyle(element).boxShadow);
    await ada.page.getByTestId("room-menu").click();
    await vi.waitFor(async () => expect(await shadowOf("[role=menu]")).toContain("24px"), WAIT);
    await ada.choose("Keyboard shortcuts…");
    await vi.waitFor(async () => expect(await shadowOf("dialog")).toContain("24px"), WAIT);
    await ada.close();
  }
});
