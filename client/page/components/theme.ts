// Chooses the light or dark theme: the system's, in an embedded chat that of the page around it, unless the reader chose one. /theme.js
// applies the choice before the first paint.
import { keep, local, readJson } from "../state/json-storage.ts";
import { phrase, t } from "../state/language.ts";
import type { MenuItem } from "./chat-props.ts";

const KEY = "parley.theme";
const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const LABELS: Readonly<Record<Theme, string>> = {
  system: phrase("System"),
  light: phrase("Light"),
  dark: phrase("Dark"),
};

const known = (name: unknown): Theme => THEMES.find((theme) => theme === name) ?? "system";

/** An embedded chat changes its own theme only, not the page's. */
function themedBy(within: Element): HTMLElement {
  const root = within.getRootNode();
  return root instanceof ShadowRoot ? (root.host as HTMLElement) : document.documentElement;
}

/** By embedded chat, the visitor's choice: another theme is set by the page. */
const applied = new WeakMap<HTMLElement, Theme>();

function apply(themed: HTMLElement, theme: Theme): void {
  applied.set(themed, theme);
  if (theme === "system") delete themed.dataset["theme"];
  else themed.dataset["theme"] = theme;
}

/** The themes as items of a menu; the present one is chosen. None where the page around an embedded chat has set one. */
export function themeItems(within: Element): MenuItem[] {
  const themed = themedBy(within);
  const current = known(themed.dataset["theme"]);
  const isEmbedded = themed !== document.documentElement;
  if (isEmbedded && current !== "system" && current !== applied.get(themed)) return [];
  return THEMES.map((theme) => ({
    label: isEmbedded && theme === "system" ? t("This page's") : t(LABELS[theme]),
    choice: t("Theme"),
    icon: theme,
    isChosen: theme === current,
    act: () => {
      keep(local, KEY, theme === "system" ? undefined : theme);
      apply(themed, theme);
    },
  }));
}

/** Applies the theme that the reader chose last, unless the embedding page sets one. */
export function applyChosenTheme(host: HTMLElement): void {
  if (host.dataset["theme"] === undefined) apply(host, known(readJson(local, KEY)));
}
