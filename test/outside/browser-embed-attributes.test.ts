// The attributes of <parley-room>: token, colours, title, launcher and keys. browser-sign-in.test.ts has those that concern the way in.
import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { afterAll, expect, inject, it, vi } from "vitest";

import type { ReadMark } from "../../src/protocol/chat-events.ts";
import { EmbedHost, stands, recorded } from "./embed-host.ts";
import { useBrowser } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { tap, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
const host = await EmbedHost.open(browser, url);
afterAll(() => host.close());

it("another visitor's token: the draft of the visitor before is not shown", async () => {
  const [ada, ben] = [await tokenFor("ada"), await tokenFor("ben")];
  const page = await host.place({ room: "visitors" }, [ada]);
  await stands(page, "connected");
  const composer = page.getByTestId("composer");
  const goesTo = async (token: string, draft: string): Promise<void> => {
    await page.evaluate((token) => void Object.assign(document.querySelector("parley-room")!, { token }), token);
    await vi.waitFor(async () => expect(await composer.inputValue({ timeout: 500 })).toBe(draft), WAIT);
    await stands(page, "connected");
    expect(await composer.inputValue()).toBe(draft);
  };
  await composer.fill("dear diary");
  await goesTo(ben, "");
  await composer.fill("of ben");
  await goesTo(ada, "dear diary");
});

it("`data-theme`: follows the colour scheme of the page, the attribute or the visitor's choice at once", async () => {
  const page = await host.place({ room: "colours" }, [await tokenFor("ada")]);
  await stands(page, "connected");
  const ground = (): Promise<string> =>
    page.getByTestId("room-title").evaluate((title) => getComputedStyle(title).color);
  const element = page.locator("parley-room");
  const shows = (color: string): Promise<void> => vi.waitFor(async () => expect(await ground()).toBe(color), WAIT);
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  // The page has one colour scheme, which is light: the visitor's system makes no difference.
  await page.emulateMedia({ colorScheme: "dark" });
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  expect(await ground()).toBe(light);
  const scheme = (value: string): Promise<void> =>
    page.evaluate((value) => void (document.documentElement.style.colorScheme = value), value);
  await scheme("light dark");
  await vi.waitFor(async () => expect(await ground()).not.toBe(light), WAIT);
  const dark = await ground();
  await scheme("light");
  await shows(light);
  // An element of the page around it counts as well.
  await page.evaluate("document.body.style.colorScheme = 'dark'");
  await shows(dark);
  const fieldOf = (): Promise<string> =>
    page.getByTestId("composer").evaluate((field) => getComputedStyle(field).colorScheme);
  expect(await fieldOf()).toBe("dark");
  await element.evaluate((room) => room.setAttribute("data-theme", "light"));
  await shows(light);
  await element.evaluate((room) => room.removeAttribute("data-theme"));
  await shows(dark);

  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitemradio", { name: "Theme: Light" }).click();
  await shows(light);
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitemradio", { name: "Theme: This page's" }).click();
  await shows(dark);
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitemradio", { name: "Theme: Light" }).click();
  await shows(light);
  await page.reload();
  await host.add(page, { room: "colours" }, [await tokenFor("ada")]);
  await stands(page, "connected");
  await shows(light);
  await element.evaluate((room) => room.remove());
  await host.add(page, { room: "colours", "data-theme": "dark" }, [await tokenFor("ada")]);
  await shows(dark);
  await page.emulateMedia({ colorScheme: "light" });
});

it("`--accent` colours the own avatar, and own messages where they are bubbles; lines through the text of the page around, and a ban on selecting it, end at the element", async () => {
  const page = await host.place({ room: "accent" }, [await tokenFor("ada")]);
  await page.setViewportSize({ width: 1000, height: 700 });
  await stands(page, "connected");
  await page.getByTestId("composer").fill("mine");
  await page.getByTestId("composer").press("Enter");
  const own = page.locator("[data-testid=message].own[data-state=sent]");
  await own.waitFor();
  const groundOf = (part: string): Promise<string> =>
    own.locator(part).evaluate((part) => getComputedStyle(part).backgroundColor);
  const colour = (accent: string): Promise<void> =>
    page.locator("parley-room").evaluate((room, accent) => room.style.setProperty("--accent", accent), accent);
  await colour("rgb(106, 63, 209)");
  expect(await groundOf(".avatar")).toBe("rgb(106, 63, 209)");
  // Where the element is narrow, messages are bubbles.
  await page.setViewportSize({ width: 390, height: 700 });
  await expect.poll(() => groundOf(".body")).toBe("rgb(106, 63, 209)");
  await colour("rgb(11, 107, 96)");
  await expect.poll(() => groundOf(".body")).toBe("rgb(11, 107, 96)");
  await page.setViewportSize({ width: 1000, height: 700 });
  const [bar, heading] = [page.locator(".bar").first(), page.locator("h1", { hasText: "Elsewhere" })];
  const looks = async (part: Locator): Promise<string> => (await part.screenshot()).toString("base64");
  let within = await looks(bar);
  // The element may still become wide.
  await vi.waitFor(async () => {
    const before = within;
    within = await looks(bar);
    expect(within === before).toBe(true);
  }, WAIT);
  const around = await looks(heading);
  await page.evaluate(() => {
    Object.assign(document.body.style, { textDecoration: "underline wavy red", userSelect: "none" });
  });
  expect(await looks(bar)).toBe(within);
  // It is there.
  expect(await looks(heading)).not.toBe(around);
  await own.locator(".content").dblclick({ position: { x: 5, y: 5 } });
  expect(await page.evaluate(() => getSelection()!.toString())).toBe("mine");
  await page.setViewportSize({ width: 1280, height: 720 });
});

it("`title` names the chat for its visitors, also while it changes, and is no tooltip over all of it", async () => {
  const page = await host.place({ room: "titled", title: "Ask the roaster" }, [await tokenFor("ada")]);
  await stands(page, "connected");
  await expect.poll(() => page.getByTestId("room-title").textContent()).toBe("Ask the roaster");
  await page.getByRole("main", { name: "Room Ask the roaster" }).waitFor();
  expect(await page.locator(".parley").getAttribute("title")).toBe("");
  await page.locator("parley-room").evaluate((room) => room.setAttribute("title", "Ask us"));
  await expect.poll(() => page.getByTestId("room-title").textContent()).toBe("Ask us");
  await page.locator("parley-room").evaluate((room) => room.removeAttribute("title"));
  await expect.poll(() => page.getByTestId("room-title").textContent()).toBe("#titled");
});

it("`launcher`: a button that connects when it is first opened, then counts what comes while it is closed, and gives the focus back", async () => {
  const page = await host.place({ room: "launched", launcher: "", title: "Ask the roaster" }, [await tokenFor("ada")]);
  await page.evaluate(() => {
    const counts: number[] = [];
    Object.assign(globalThis, { counts });
    document.addEventListener("parley-unread", (event) =>
      counts.push((event as CustomEvent<{ count: number }>).detail.count),
    );
  });
  const [launcher, composer] = [page.getByTestId("launcher"), page.getByTestId("composer")];
  const faults = async (): Promise<unknown> => {
    await page.evaluate(axe.source);
    return page.evaluate(
      "axe.run('parley-room').then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))",
    );
  };
  await page.getByRole("button", { name: "Ask the roaster" }).waitFor();
  expect((await recorded(page)).asked).toEqual([]);
  const size = async (): Promise<number> => (await page.locator("parley-room").boundingBox())!.width;
  expect(await size()).toBeLessThan(80);
  expect(await faults()).toEqual([]);
  await launcher.click();
  await stands(page, "connected");
  await expect.poll(size).toBeGreaterThan(300);
  await expect.poll(() => composer.evaluate((field) => field.matches(":focus"))).toBe(true);
  expect(await faults()).toEqual([]);

  await page.keyboard.press("Escape");
  await expect.poll(() => launcher.evaluate((button) => button.matches(":focus"))).toBe(true);
  expect(await page.locator("parley-room").getAttribute("open")).toBe(null);
  const ben = await join(url, "launched", "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  for (const content of ["one", "two"]) await ask(ben, "chat-message", { content });
  await page.getByRole("button", { name: "Ask the roaster, 2 unread messages" }).waitFor();
  await expect.poll(() => page.evaluate("counts.at(-1)")).toBe(2);
  // Of a room that the visitor never opened, and of none, it counts nothing.
  const isNow = (room: string): Promise<void> =>
    page.locator("parley-room").evaluate((element, room) => element.setAttribute("room", room), room);
  await isNow("never-launched");
  await page.getByRole("button", { name: "Ask the roaster", exact: true }).waitFor();
  expect(await page.evaluate("counts.at(-1)")).toBe(0);
  await isNow("launched");
  await expect.poll(() => page.evaluate("counts.at(-1)")).toBe(2);
  await isNow("no room");
  expect(await page.evaluate("counts.at(-1)")).toBe(0);
  // The next page of the site: the visitor is told of what they have not read.
  await page.reload();
  await host.add(page, { room: "launched", launcher: "" }, [await tokenFor("ada")]);
  await page.getByRole("button", { name: "Chat, 2 unread messages" }).click();
  await page.getByText("two").first().waitFor();
  await expect.poll(() => composer.isVisible()).toBe(true);
  await page.getByTestId("dismiss").click();
  await page.getByRole("button", { name: "Chat", exact: true }).waitFor();
  ben.disconnect();
});

/** Notes the keys and other events of fields that reach the page, as shortcuts see them that skip fields. */
async function watch(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    const types = ["keydown", "keypress", "keyup", "beforeinput", "input", "paste", "copy", "compositionstart"];
    for (const type of types)
      for (const target of [globalThis, document, document.body])
        target.addEventListener(type, (event) => {
          if ((event.target as Element).matches("input, textarea")) return;
          heard.push(event instanceof KeyboardEvent ? event.key : type);
          if (event instanceof KeyboardEvent && event.key.length === 1) event.preventDefault();
        });
  });
  return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard.splice(0));
}

it("handles and lists its keys only while it has the focus; events of fields do not reach the page's shortcuts, keys outside fields do", async () => {
  const page = await host.place({ room: "embed-keys" }, [await tokenFor("ada", { name: "Ada" })]);
  await stands(page, "connected");
  await page.evaluate(`globalThis.taken = [];
    addEventListener("keydown", (event) => event.key.toLowerCase() === "m" && taken.push(event.defaultPrevented))`);
  await page.locator("body").press("Control+Shift+m");
  await page.getByTestId("composer").press("Control+Shift+m");
  await page.getByTestId("members").waitFor();
  expect(await page.evaluate("taken")).toEqual([false, true]);
  await page.getByTestId("composer").focus();
  await page.keyboard.press("Escape");
  await page.getByTestId("members").waitFor({ state: "detached" });
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitem", { name: "Keyboard shortcuts…" }).click();
  const shown = page.getByTestId("dialog").locator("kbd");
  await shown.first().waitFor();
  const keys = await shown.allTextContents();
  expect(keys).toContain("Ctrl Shift M");
  expect(keys.join()).not.toContain("Alt");
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });

  const heard = await watch(page);
  const composer = page.getByTestId("composer");
  await composer.click();
  await page.keyboard.type("Jk?/ g");
  expect(await composer.inputValue()).toBe("Jk?/ g");
  for (const key of ["Control+a", "Control+c", "End", "Control+v", "ArrowLeft", "Delete", "Control+z"])
    await page.keyboard.press(key);
  await composer.fill("sent");
  await composer.press("Enter");
  // Stored: one on its way takes no keys.
  const message = page.locator("[data-testid=message][data-seq]").filter({ hasText: "sent" });
  await message.waitFor();
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").waitFor();
  await page.keyboard.type("sea");
  expect(await page.getByTestId("search-field").inputValue()).toBe("sea");
  await page.keyboard.press("Escape");
  expect(await heard()).toEqual([]);
  await composer.press("Control+k");
  expect(await heard()).toContain("k");
  // A shortcut that the page hears go down comes up there, too, whichever key the finger leaves first.
  await page.keyboard.down("Control");
  await page.keyboard.down("j");
  await page.keyboard.up("Control");
  await page.keyboard.up("j");
  // Down at each of the three listeners, and up.
  expect((await heard()).filter((key) => key === "j")).toHaveLength(6);

  // A message takes its own keys, and the page all others; Enter and Space belong to a focused button.
  await message.focus();
  await page.keyboard.press("j");
  expect(new Set(await heard())).toEqual(new Set(["j"]));
  await page.keyboard.press("+");
  await page.getByTestId("emoji-❤️").waitFor();
  for (const key of ["ArrowDown", "ArrowRight", "Space"]) await page.keyboard.press(key);
  await message.getByRole("button", { name: /❤/ }).waitFor();
  expect(await heard()).not.toContain(" ");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("k");
  expect(new Set(await heard())).toEqual(new Set(["k"]));
});

it("Escape closes what is open in the embed; the page hears it only if nothing was", async () => {
  const page = await host.place({ room: "embed-escape" }, [await tokenFor("ada", { name: "Ada" })]);
  await stands(page, "connected");
  const heard = await watch(page);
  const { keyboard } = page;
  // The role alone does not find a menu that is hidden and about to go, which a click would not open again.
  const [composer, menu] = [page.getByTestId("composer"), page.locator("[role=menu]")];
  for (const isInside of [true, false]) {
    await page.getByTestId("room-menu").click();
    await menu.waitFor();
    // As after a press beside its items.
    if (!isInside)
      await menu.evaluate((menu) => (menu.getRootNode() as ShadowRoot).querySelector<HTMLElement>(":focus")!.blur());
    await keyboard.press("Escape");
    await menu.waitFor({ state: "detached" });
  }
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitem", { name: "Keyboard shortcuts…" }).click();
  const dialog = page.getByTestId("dialog");
  await dialog.getByRole("heading").click();
  await keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await composer.fill("a message");
  await composer.press("Enter");
  const message = page.getByTestId("message").filter({ hasText: "a message" });
  await message.and(page.locator("[data-state=sent]")).waitFor();
  await message.focus();
  await keyboard.press("+");
  await page.getByTestId("emoji-search").fill("an emoji");
  await keyboard.press("Escape");
  await page.getByTestId("emoji-search").waitFor({ state: "detached" });
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").focus();
  await keyboard.press("Escape");
  await page.getByTestId("search-field").waitFor({ state: "detached" });
  await message.focus();
  await keyboard.press("r");
  await page.getByTestId("about").waitFor();
  await composer.press("Escape");
  await page.getByTestId("about").waitFor({ state: "detached" });
  expect((await heard()).filter((key) => key === "Escape")).toEqual([]);

  // Down at each of the three listeners, and up.
  for (const focused of [composer, message, page.getByTestId("room-menu")]) {
    await focused.focus();
    await keyboard.press("Escape");
    expect((await heard()).filter((key) => key === "Escape")).toHaveLength(6);
  }
});

it("an html of any font size does not change the element's sizes", async () => {
  const page = await host.place({ room: "embed-sizes" }, [await tokenFor("ada", { name: "Ada" })]);
  await stands(page, "connected");
  await page.getByTestId("room-menu").click();
  const sizeOf = async (element: Locator): Promise<unknown> =>
    element.evaluate((box) => {
      const { fontSize, letterSpacing, textTransform, wordBreak, hyphens, tabSize, direction } = getComputedStyle(box);
      const { height } = box.getBoundingClientRect();
      const { writingMode, webkitTextStrokeWidth, caretColor, color } = getComputedStyle(box);
      const drawing = [writingMode, webkitTextStrokeWidth, caretColor === color];
      return { fontSize, height, letterSpacing, textTransform, wordBreak, hyphens, tabSize, direction, drawing };
    });
  const drawing = ["horizontal-tb", "0px", true];
  const words = { wordBreak: "normal", hyphens: "manual", tabSize: "8", direction: "ltr", drawing };
  const plain = { letterSpacing: "normal", textTransform: "none", ...words };
  for (const fontSize of ["62.5%", "100%", "20px"]) {
    await page.evaluate((fontSize) => {
      const { style } = document.documentElement;
      Object.assign(style, { fontSize, letterSpacing: "9px", textTransform: "uppercase", textAlign: "center" });
      Object.assign(style, { wordBreak: "break-all", hyphens: "auto", cursor: "wait", tabSize: "1", direction: "rtl" });
      Object.assign(document.body.style, {
        writingMode: "vertical-rl",
        webkitTextStroke: "1px red",
        caretColor: "red",
      });
    }, fontSize);
    expect(await sizeOf(page.getByRole("menuitem").first())).toEqual({ fontSize: "15px", height: 36, ...plain });
    expect(await sizeOf(page.locator(".bar").first())).toEqual({ fontSize: "15px", height: 56, ...plain });
    // With its edge.
    expect((await page.locator("parley-room").boundingBox())!.height).toBe(514);
  }
});

it("`parley-unread` counts what the visitor does not see, also in a tab behind another one, and nothing while they read", async () => {
  const page = await host.place({ room: "counted" }, [await tokenFor("ada")]);
  await page.evaluate(() => {
    const counts: number[] = [];
    Object.assign(globalThis, { counts });
    document.addEventListener("parley-unread", (event) =>
      counts.push((event as CustomEvent<{ count: number }>).detail.count),
    );
  });
  await stands(page, "connected");
  const ben = await join(url, "counted", "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const read = collect<ReadMark>(ben, "read");
  const reads = async (content: string): Promise<void> => {
    const { seq } = await ask<{ seq: number }>(ben, "chat-message", { content });
    await vi.waitFor(() => expect(read.at(-1)?.seq).toBe(seq), WAIT);
  };
  await reads("while it begins");
  await page.evaluate("counts.length = 0");
  for (const content of ["one", "two"]) await reads(content);
  expect(await page.evaluate("counts")).toEqual([]);
  await page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { configurable: true, value: "hidden" });
    globalThis.requestAnimationFrame = () => 0;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  for (const content of ["three", "four"]) await ask(ben, "chat-message", { content });
  await expect.poll(() => page.evaluate("counts")).toEqual([1, 2]);
  ben.disconnect();
  // It stays hidden.
  await page.close();
});

it("leaves the history to the page, also on a phone", async () => {
  const phone = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
  const page = await browser.newPage(phone);
  await page.goto(host.url);
  await host.add(page, { room: "embed-history" }, [await tokenFor("ada", { name: "Ada" })]);
  await stands(page, "connected");
  const before = await page.evaluate(() => history.length);
  await tap(page.getByTestId("search-toggle"));
  await page.getByTestId("search-field").waitFor();
  await tap(page.locator(".side-panel").getByRole("button", { name: "Close" }));
  await tap(page.getByTestId("room-menu"));
  await page.getByRole("menu").waitFor();
  expect(await page.evaluate(() => [history.length, history.state as unknown])).toEqual([before, null]);
  await page.close();
});
