// Runs axe-core, which judges accessibility, in a page, in the light and in the dark scheme. Called by the browser tests.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** What opens over the page, stands beside it, or is one of many in it. */
const PARTS = {
  dialog: "[data-testid=dialog]",
  menu: "[role=menu]",
  message: "[data-testid=message]",
  panel: ".side-panel",
  picker: ".picker",
  sheet: "[data-testid=sheet]",
  suggestions: "[data-testid=suggestions]",
} as const;
type Part = keyof typeof PARTS;

/** The rules that judge by colours: dark differs from light in nothing else. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
/** One template draws all groups of emoji: the first two stand for the others, in which are some 1,800 buttons. */
const MORE_EMOJI = ".emoji-list > [role=group]:nth-child(n + 3)";

interface Judged {
  /** Default: all. */
  readonly rules?: readonly string[];
  /** Default: the whole page. */
  readonly part?: Part | undefined;
}

export async function findings(page: Page, { rules, part }: Judged = {}): Promise<string[][]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const context = JSON.stringify({ ...(part && { include: [[PARTS[part]]] }), exclude: [[MORE_EMOJI]] });
  const options = JSON.stringify({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
  return page.evaluate(`axe.run(${context}, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html + " " + failureSummary)]))`);
}

/** @param part what has opened over a page that passed before, or beside it */
export async function passes(page: Page, state: string, part?: Part): Promise<void> {
  const light = await findings(page, { part });
  expect({ state, light }).toEqual({ state, light: [] });
}

/** Texts and grounds in dark are those that test/client/page/colours.test.ts compares; a few states show that they meet as there. */
export async function passesDarkToo(page: Page, state: string, part?: Part): Promise<void> {
  await passes(page, state, part);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await findings(page, { rules: COLOUR_RULES, part });
  await page.emulateMedia({ colorScheme: "light" });
  expect({ state, dark }).toEqual({ state, dark: [] });
}
