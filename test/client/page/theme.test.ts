// Tests which themes the menu of an embedded chat offers, and what a choice changes.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { applyChosenTheme, themeItems } from "../../../client/page/components/theme.ts";
import { FakeLocalStorage } from "../../host/fake-local-storage.ts";

class FakeShadowRoot {
  readonly host: HTMLElement;

  constructor(host: HTMLElement) {
    this.host = host;
  }
}

beforeEach(() => {
  vi.stubGlobal("localStorage", new FakeLocalStorage());
  vi.stubGlobal("ShadowRoot", FakeShadowRoot);
  vi.stubGlobal("document", { documentElement: {} });
});
afterEach(() => vi.unstubAllGlobals());

/** An embedded chat, as its page wrote it. */
function embed(theme?: string): HTMLElement {
  const host = { dataset: theme === undefined ? {} : { theme } } as unknown as HTMLElement;
  applyChosenTheme(host);
  return host;
}
const itemsOf = (host: HTMLElement): ReturnType<typeof themeItems> =>
  themeItems({ getRootNode: () => new FakeShadowRoot(host) } as unknown as Element);
const chosen = (host: HTMLElement): string[] =>
  itemsOf(host).flatMap(({ label, isChosen }) => (isChosen ? [label] : []));
const choose = (host: HTMLElement, theme: string): void =>
  itemsOf(host)
    .find(({ label }) => label === theme)!
    .act();

it("the visitor chooses the theme of an embedded chat whose page sets none, also the next time", () => {
  const host = embed();
  expect(chosen(host)).toEqual(["This page's"]);
  choose(host, "Dark");
  expect([chosen(host), chosen(embed())]).toEqual([["Dark"], ["Dark"]]);
  choose(host, "This page's");
  expect([chosen(host), host.dataset["theme"]]).toEqual([["This page's"], undefined]);
});

it("a theme that the page sets is not the visitor's to choose, until the page takes it back", () => {
  expect(itemsOf(embed("light"))).toEqual([]);
  const host = embed();
  choose(host, "Dark");
  host.dataset["theme"] = "light";
  expect(itemsOf(host)).toEqual([]);
  delete host.dataset["theme"];
  expect(chosen(host)).toEqual(["This page's"]);
});
