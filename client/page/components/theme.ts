// Light or dark: as the system says, unless the reader chose. /theme.js applies the choice before anything is drawn.
import { keep, readKept } from "../state/kept.ts";

const KEY = "parley.theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const local = (): Storage => localStorage;

const known = (name: unknown): Theme => THEMES.find((theme) => theme === name) ?? "system";

/** Where the chat stands in somebody's page, only the chat changes. */
function themedBy(within: Element): HTMLElement {
  const root = within.getRootNode();
  return root instanceof ShadowRoot ? (root.host as HTMLElement) : document.documentElement;
}

/** After the one that is shown: system, light, dark, and round again. */
function nextOf(themed: HTMLElement): Theme {
  return THEMES[(THEMES.indexOf(known(themed.dataset["theme"])) + 1) % THEMES.length]!;
}

function apply(themed: HTMLElement, theme: Theme): void {
  if (theme === "system") delete themed.dataset["theme"];
  else themed.dataset["theme"] = theme;
}

export function themeLabel(within: Element = document.documentElement): string {
  const next = nextOf(themedBy(within));
  return next === "system" ? "Colours of the system" : next === "light" ? "Light colours" : "Dark colours";
}

export function nextTheme(within: Element): void {
  const themed = themedBy(within);
  const next = nextOf(themed);
  keep(local, KEY, next === "system" ? undefined : next);
  apply(themed, next);
}

/** What the reader chose the last time, unless their page says otherwise. */
export function applyChosenTheme(host: HTMLElement): void {
  if (host.dataset["theme"] === undefined) apply(host, known(readKept(local, KEY)));
}
