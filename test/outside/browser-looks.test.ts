// The page's look in a real Chromium: themes and style sheets as the browser computes them, motion, sizes of the window, contents that
// could cover others, and that nothing jumps while the page loads.
import type { Locator, Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
type Client = Awaited<ReturnType<typeof join>>;

const post = (writer: Client, content: string) => ask(writer, "chat-message", { content });

/** The sum of all layout shifts; up to 0.1 counts as good elsewhere. */
const SHIFT_MAX = 0.01;
const SIZES = [
  ["desktop", { viewport: { width: 1200, height: 800 } }],
  ["phone", { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true }],
] as const;
/** The size that the browser gives a window. */
const DESK = { width: 1280, height: 720 };
/** More rooms than fit in the list. */
const MANY_ROOMS = Array.from({ length: 40 }, (_, at) => ({
  room: `r${at}`,
  members: at,
  lastSeq: 1,
  lastActivity: 1,
}));

const enter = sharedPage(() =>
  Visitor.open(browser, url, {
    colorScheme: "light",
    permissions: ["clipboard-read", "clipboard-write"],
    ...NO_WORKER,
  }),
);

it("an empty room offers a first message and its link", async () => {
  const ada = await enter("looks-empty");
  const { page } = ada;
  await page.getByTestId("copy-link").click();
  await ada.reads("notice", "The link to #looks-empty is copied.");
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(`${url}/#looks-empty`);
  await page.getByTestId("say-hello").click();
  await ada.drafts("Hello! 👋");
  await page.keyboard.press("Enter");
  await ada.sees("Hello! 👋");
  await page.getByTestId("say-hello").waitFor({ state: "detached" });
  await page.getByTestId("room-menu").click();
  await page.getByRole("menuitem", { name: "Copy the invite link" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[role=menu]").waitFor({ state: "detached" });
});

it("a chosen colour scheme survives a reload, colours the bars of the browser, and the system's can be restored; menus and dialogs have a shadow", async () => {
  const ada = await enter("looks-empty");
  const { page } = ada;
  const ground = (): Promise<string> =>
    page.evaluate("getComputedStyle(document.querySelector('.parley')).backgroundColor");
  const bars = (): Promise<string> =>
    page.evaluate(() => {
      const metas = Array.from(document.querySelectorAll<HTMLMetaElement>("meta[name=theme-color]"));
      return metas.filter(({ media }) => matchMedia(media).matches).map(({ content }) => content)[0] ?? "";
    });
  const colours = async (): Promise<string[]> => [await ground(), await bars()];
  const choose = async (item: string): Promise<void> => {
    await page.getByTestId("profile").click();
    await page.getByRole("menuitemradio", { name: item }).click();
  };
  const shadowOf = (selector: string): Promise<string> =>
    page.locator(selector).evaluate((element) => getComputedStyle(element).boxShadow);
  const haveShadows = async (): Promise<void> => {
    await page.getByTestId("profile").click();
    await vi.waitFor(async () => expect(await shadowOf("[role=menu]")).toContain("28px"), WAIT);
    await ada.choose("Keyboard shortcuts…");
    await vi.waitFor(async () => expect(await shadowOf("dialog")).toContain("28px"), WAIT);
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
  };
  const light = await colours();
  await choose("Theme: Light");
  await expect.poll(colours).toEqual(light);
  await haveShadows();
  await choose("Theme: Dark");
  await expect.poll(async () => (await colours()).map((one, at) => one === light[at])).toEqual([false, false]);
  const dark = await colours();
  await haveShadows();
  await page.reload();
  await ada.isConnected();
  await expect.poll(colours).toEqual(dark);
  await page.getByTestId("profile").click();
  const chosen = page.getByRole("menuitemradio", { checked: true });
  await expect.poll(() => chosen.allTextContents()).toEqual(["Theme: Dark"]);
  await page.keyboard.press("Escape");
  await choose("Theme: System");
  await expect.poll(colours).toEqual(light);
  await page.reload();
  await ada.isConnected();
  await expect.poll(colours).toEqual(light);
  await page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(colours).toEqual(dark);
  await page.emulateMedia({ colorScheme: "light" });
});

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
    // Those of some elements only. Components set these.
    const local = new Map(["--hue", "--rows", "--digits"].map((name): [string, string] => [name, "5"]));
    for (const text of declared) {
      const [, name, value] = /^(--[\w-]+):\s*(.*)$/s.exec(text) ?? [];
      if (name !== undefined) local.set(name, value!);
    }
    const valueOf = (name: string): string => computed.getPropertyValue(name) || (local.get(name) ?? "");
    const filled = (text: string): string =>
      /var\(/.test(text) ? filled(text.replaceAll(/var\((--[\w-]+)\)/g, (_, name: string) => valueOf(name))) : text;
    const used = declared
      .filter((text) => /var\(/.test(text) && !text.startsWith("--"))
      .map((declaration) => {
        const [, property, value] = /^([\w-]+):\s*(.*?)(?: !important)?$/s.exec(declaration)!;
        probe.style.cssText = declaration;
        const shadow = property === "box-shadow" ? computed.boxShadow : "";
        return { declaration, isValid: CSS.supports(property!, filled(value!)), shadow };
      });
    probe.remove();
    return used;
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

it("the browser can read each value with a custom property, and draws all shadows, in light and in dark, on the chat page, the operator page and in the embed", async () => {
  const page = await browser.newPage(NO_WORKER);
  for (const [name, open, shadows] of PAGES) {
    await open(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const used = await usedIn(page);
      expect(used.length, name).toBeGreaterThan(40);
      expect(used.filter(({ isValid }) => !isValid).map(({ declaration }) => declaration)).toEqual([]);
      const drawn = used.filter(({ declaration }) => declaration.startsWith("box-shadow: var(--shadow)"));
      expect(drawn.length, name).toBeGreaterThanOrEqual(shadows);
      for (const { shadow } of drawn)
        expect(shadow).toMatch(/^rgba\(.+\) 0px 1px 2px 0px, rgba\(.+\) 0px 8px 28px 0px$/);
    }
  }
  await page.close();
});

it("the target of a jump is highlighted, without motion where the reader wants none, until the next jump", async () => {
  const ada = await enter("looks-motion");
  const { page } = ada;
  await ada.say("a question");
  await ada.sees("a question");
  await ada.use("a question", "reply");
  await ada.say("an answer");
  const target = page.locator(".message.target");
  const animation = (): Promise<string> => target.evaluate((row) => getComputedStyle(row).animationName);
  await page.getByTestId("quote").click();
  await target.waitFor();
  expect(await animation()).toBe("found");

  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.getByTestId("quote").click();
  await target.waitFor();
  expect(await animation()).toBe("none");
  expect(await page.evaluate("document.getAnimations().length")).toBe(0);
  const groundOf = (row: Locator): Promise<string> => row.evaluate((row) => getComputedStyle(row).backgroundColor);
  const plain = "rgba(0, 0, 0, 0)";
  await vi.waitFor(async () => expect(await groundOf(target)).not.toBe(plain), WAIT);
  // The next jump takes the mark with it.
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("answer");
  await page.keyboard.press("Enter");
  await page.getByTestId("found").locator("button").click();
  await page.locator(".message.target").filter({ hasText: "an answer" }).waitFor();
  const first = page.locator('[data-seq="1"]');
  await vi.waitFor(async () => expect(await groundOf(first)).toBe(plain), WAIT);
  await page.emulateMedia({ reducedMotion: null });
  await page.locator(".side-panel").getByRole("button", { name: "Close" }).click();
  await page.locator(".side-panel").waitFor({ state: "detached" });
});

it("in forced colours what is chosen has an outline, and bubbles and fields have an edge", async () => {
  const ada = await enter("looks-forced");
  const { page } = ada;
  await ada.say("hello");
  await ada.sees("hello");
  await page.emulateMedia({ forcedColors: "active" });
  await page.getByTestId("profile").click();
  await page.getByRole("menuitemradio").first().waitFor();
  const widthOf = (part: Locator, property: "outlineWidth" | "borderTopWidth"): Promise<string> =>
    part.evaluate((part, property) => getComputedStyle(part)[property], property);
  for (const chosen of [page.getByRole("menuitemradio", { checked: true }), page.locator("[aria-current=page]")])
    expect(await widthOf(chosen, "outlineWidth")).toBe("2px");
  expect(await widthOf(page.getByRole("menuitemradio", { checked: false }).last(), "outlineWidth")).not.toBe("2px");
  await page.keyboard.press("Escape");
  expect(await widthOf(page.getByTestId("room-filter"), "borderTopWidth")).not.toBe("0px");
  // Where the window is narrow, messages are bubbles.
  await page.setViewportSize({ width: 390, height: 780 });
  await expect.poll(() => widthOf(page.locator(".body"), "borderTopWidth")).not.toBe("0px");
  await page.emulateMedia({ forcedColors: null });
  await page.setViewportSize(DESK);
});

it("a wide window shows messages within a measure of 64 rem, with tools and readers beside them; times are those of the clock", async () => {
  const room = "looks-measure";
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  await post(ben, "short");
  await post(ben, "words and words ".repeat(40));
  const ada = await enter(room);
  const { page } = ada;
  await page.setViewportSize({ width: 1920, height: 900 });
  await ada.say("mine");
  await ada.sees("short", "words and words ".repeat(40).trim(), "mine");
  await ask(ben, "read", { seq: 3 });
  const boxOf = async (part: Locator) => (await part.boundingBox())!;
  const [log, first, field] = await Promise.all(
    [page.getByTestId("log"), ada.message("short"), page.locator(".composer")].map(boxOf),
  );
  for (const box of [first!, field!]) {
    expect(box.width).toBe(1024);
    expect(Math.abs(box.x - log!.x - (log!.x + log!.width - box.x - box.width))).toBeLessThan(20);
  }
  const seen = await boxOf(page.getByTestId("seen-by"));
  const mine = await boxOf(ada.message("mine").locator(".body"));
  expect(seen.x - mine.x - mine.width).toBeLessThan(16);
  await ada.message("short").hover();
  const tools = await boxOf(ada.message("short").locator(".tools"));
  expect(tools.x + tools.width).toBeLessThan(first!.x + first!.width);
  const time = ada.message("short").locator("time");
  expect(await time.textContent()).toMatch(/^\d{1,2}:\d\d(\s[AP]M)?$/);
  expect(await time.getAttribute("title")).toContain(String(new Date().getFullYear()));
  ben.disconnect();
  await page.setViewportSize(DESK);
});

it("stacked combining characters in a name or a text cover no other message", async () => {
  const room = "looks-tower";
  const ada = await enter(room);
  await ada.say("calm words");
  await ada.sees("calm words");
  const tower = "\u0301".repeat(60);
  const mallory = await join(url, room, "mallory", {
    auth: { token: await tokenFor("mallory", { name: `M${tower}` }) },
  });
  for (const content of ["one", `two x${tower}`, "three"]) await post(mallory, content);
  await ada.message("three").waitFor();
  const looks = async (of: string, towers: string): Promise<string> => {
    for (const text of ["one", "two"])
      await ada
        .message(text)
        .evaluate((row, towers) => void ((row as HTMLElement).style.visibility = towers), text === of ? "" : towers);
    return (await ada.message(of).screenshot()).toString("base64");
  };
  for (const text of ["calm words", "one"])
    await vi.waitFor(async () => expect((await looks(text, "")) === (await looks(text, "hidden"))).toBe(true), WAIT);
  mallory.disconnect();
});

it("a link's card fills a place that is there before it comes, and nothing moves; an address without a card keeps its place", async () => {
  const ada = await enter("cards");
  const { page } = ada;
  const held: Array<() => void> = [];
  await page.route("**/api/link-card?*", async (route) => {
    await new Promise<void>((go) => held.push(go));
    await route.continue();
  });
  await page.setViewportSize(SIZES[0][1].viewport);
  const links = ["See https://example.com/keys", "https://nobody.example/a?b=1", "https://evil.example/moved"];
  const texts = [...links, ...Array.from("abcdef")];
  for (const text of texts) await ada.say(text);
  await ada.sees(...texts);
  const cards = page.getByTestId("link-card");
  await vi.waitFor(() => expect(held).toHaveLength(3), WAIT);
  const boxes = () =>
    page
      .locator("[data-testid=message], [data-testid=link-card]")
      .evaluateAll((all) => all.map((one) => Object.values(one.getBoundingClientRect().toJSON() as object)));
  const before = await boxes();
  const none = "nobody.example\nnobody.example/a?b=1";
  const waiting = ["example.com\nexample.com/keys", none, "evil.example\nevil.example/moved"];
  expect(await cards.allInnerTexts()).toEqual(waiting);
  for (const go of held) go();
  const picture = cards.first().locator("img");
  await picture.waitFor();
  await cards.last().locator("img").waitFor();
  const about = "Where the keys are\nEach room has a drawer, each drawer a key, and each key a room.";
  // Where the server is led to another site, a reader may not be.
  const shown = [`example.com · Example\n${about}`, none, `evil.example · Example\n${about}`];
  expect(await cards.allInnerTexts()).toEqual(shown);
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(64);
  expect(await picture.getAttribute("src")).toMatch(/^blob:/);
  expect(await boxes()).toEqual(before);
  expect(await cards.first().getAttribute("href")).toBe("https://example.com/keys");

  expect(ada.complaints).toEqual([]);
});

it("resizing the window keeps what is read in view, and the end at the end; the day stands over messages that are scrolled; the button to the newest covers no tools", async () => {
  const room = "looks-resize";
  const ben = await join(url, room, "ben");
  for (let n = 0; n < 27; n++) await post(ben, `m${n} ${"many words ".repeat(30)}`);
  const ada = await enter(room);
  const { page } = ada;
  await page.setViewportSize(SIZES[0][1].viewport);
  await ada.message("m26").waitFor();
  expect(await page.getByTestId("day").count()).toBe(0);
  const yOf = async (seq: string): Promise<number> => {
    const { y } = (await page.locator(`[data-seq="${seq}"]`).boundingBox({ timeout: 500 }))!;
    return y - (await page.getByTestId("log").boundingBox())!.y;
  };
  const fromEnd = (): Promise<number> =>
    page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  const sizes = [
    { width: 700, height: 800 },
    { width: 1200, height: 500 },
    { width: 390, height: 700 },
    { width: 1200, height: 800 },
  ];
  for (const size of sizes) {
    await page.setViewportSize(size);
    await vi.waitFor(async () => expect(await fromEnd()).toBeLessThan(2), WAIT);
    await vi.waitFor(async () => expect(await page.locator('[data-seq="27"]').isVisible()).toBe(true), WAIT);
  }
  expect(await page.getByTestId("newest").count()).toBe(0);

  await page.getByTestId("log").hover();
  await vi.waitFor(async () => {
    await page.mouse.wheel(0, -300);
    expect(await page.getByTestId("day").textContent({ timeout: 500 })).toBe("Today");
  }, WAIT);
  await page.mouse.wheel(0, -700);
  await page.getByTestId("newest").waitFor();
  await comesToRest(page);
  await page.getByTestId("day").waitFor({ state: "detached" });
  // The first that begins in view.
  const seq = await page.getByTestId("log").evaluate((log) => {
    const { top } = log.getBoundingClientRect();
    const rows = Array.from(log.querySelectorAll<HTMLElement>("[data-seq]"));
    return rows.find((row) => row.getBoundingClientRect().top >= top)!.dataset["seq"]!;
  });
  for (const size of sizes) {
    await page.setViewportSize(size);
    await vi.waitFor(async () => {
      const y = await yOf(seq);
      expect(y).toBeGreaterThan(-1);
      expect(y).toBeLessThan(size.height - 150);
    }, WAIT);
  }
  const newest = page.getByTestId("newest");
  await post(ben, "news");
  await ada.reads("newest", "1 new message");
  const button = (await newest.boundingBox())!;
  await page.mouse.move(button.x - 200, button.y + button.height / 2);
  const tools = (await page.locator(".message:hover .tools").boundingBox())!;
  expect(tools.x).toBeGreaterThanOrEqual(button.x + button.width);
  await ada.close();
  ben.disconnect();
});

/** Elements that moved, each with its place in the document and on the screen, or "gone" if it was removed. */
const OBSERVE = `globalThis.shifts = [];
  const nameOf = (node) => node.nodeName.toLowerCase() + (node.className?.length > 0 ? "." + node.className.trim().replaceAll(/ +/g, ".") : "");
  const pathTo = (node) => node === null ? "gone" : [node, node.parentNode, node.parentNode?.parentNode].filter(Boolean).map(nameOf).join(" in ");
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(" ");
  new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push({ value, atMs: Math.round(startTime), moved: sources.map(({ node, previousRect, currentRect }) =>
        pathTo(node) + ": " + place(previousRect) + " → " + place(currentRect)) });
  }).observe({ type: "layout-shift", buffered: true });`;

interface Shift {
  readonly value: number;
  readonly atMs: number;
  readonly moved: readonly string[];
}

async function staysPut(page: Page): Promise<void> {
  // Two frames: by then the layout observer has seen the last drawing.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const shifts = await page.evaluate<Shift[]>("shifts");
  const sum = shifts.reduce((sum, { value }) => sum + value, 0);
  // Whole, and not as a difference of objects, which is cut.
  expect(sum, JSON.stringify(shifts, undefined, 1)).toBeLessThan(SHIFT_MAX);
}

/** Ten messages that fill the view, of which the last is sent. */
async function talk(ada: Visitor): Promise<void> {
  const texts = Array.from({ length: 10 }, (_, at) => `line ${at} ${"and so on ".repeat(at * 3)}`.trim());
  for (const text of texts) await ada.say(text);
  // On a phone not all of them are in view, and so not in the document.
  await vi.waitFor(
    async () => expect(await ada.message("line 9").getAttribute("data-state", { timeout: 500 })).toBe("sent"),
    WAIT,
  );
}

it.each(SIZES)(
  "%s: nothing jumps while the form, a room or the list of rooms loads, the connection is lost and comes back, or a notice appears",
  async (size, view) => {
    const room = `still-${size}`;
    const ada = await Visitor.open(browser, url, { ...view, ...NO_WORKER });
    const { page } = ada;
    const told = Promise.withResolvers<void>();
    let rooms = MANY_ROOMS;
    await page.route("**/api/rooms?*", async (route) => {
      await told.promise;
      await route.fulfill({ json: { rooms } });
    });
    const roomsCome = () => page.locator('[data-room="r39"]').waitFor({ state: "attached" });
    const comesBack = async (): Promise<void> => {
      await page.reload();
      await ada.message("line 9").waitFor();
      await ada.isConnected();
    };
    await page.addInitScript(OBSERVE);
    await page.goto(url);
    await page.getByTestId("join").waitFor();
    await staysPut(page);
    await ada.fillIn(room, "Ada");
    await talk(ada);
    // The rooms come long after the messages.
    await comesBack();
    await staysPut(page);
    told.resolve();
    await roomsCome();
    await staysPut(page);
    if (size === "desktop") {
      // This time they are there before the room is.
      await comesBack();
      await roomsCome();
      await staysPut(page);
    }

    // A moment after a click is no reason either.
    await page.evaluate(OBSERVE.replace("!hadRecentInput", "true").replace("buffered: true", "buffered: false"));
    // Notices appear in a live region that was there before.
    const line = page.getByRole("status").and(page.getByTestId("notice"));
    expect(await line.evaluate((element) => element.checkVisibility())).toBe(true);
    await line.evaluate((element) => (element.id = "before"));
    await ada.context.setOffline(true);
    await ada.stands("offline");
    await staysPut(page);
    await ada.context.setOffline(false);
    await ada.isConnected();
    const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
    const dismiss = page.locator(".notice").getByRole("button", { name: "Close" });
    expect(await dismiss.count()).toBe(0);
    await ask(mo, "slow-mode", { seconds: 1 });
    await ada.reads("notice", /slow mode/);
    await expect.poll(() => line.getAttribute("id")).toBe("before");
    await dismiss.click();
    await ada.reads("notice", /^$/);
    expect(await line.evaluate((element) => element.checkVisibility())).toBe(true);
    await staysPut(page);
    if (size === "phone") return ada.close();

    // Nor do rooms change places under the pointer: new ones come below, and move later.
    const order = (): Promise<string[]> => page.locator("[data-room] .room-name").allTextContents();
    const look = (): Promise<boolean> => page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    const before = await order();
    await page.locator('[data-room="r1"]').hover();
    rooms = [...MANY_ROOMS, { ...MANY_ROOMS[0]!, room: "a-new-one" }];
    await look();
    await vi.waitFor(async () => expect(await order()).toEqual([...before, "a-new-one"]), WAIT);
    await page.getByTestId("log").hover();
    await look();
    await vi.waitFor(async () => expect(await order()).toEqual([before[0], "a-new-one", ...before.slice(1)]), WAIT);
    mo.disconnect();
    await ada.close();
  },
);

/** A connection that can be cut, and one that holds the room's history back until the test asks for it. */
async function holdHistory(page: Page) {
  const line = { isCut: false, holdsHistory: false, held: [] as (() => void)[] };
  await page.routeWebSocket(/socket\.io/, (socket) => {
    if (line.isCut) return;
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      const isHistory = line.holdsHistory && typeof frame === "string" && frame.includes('"hasMore"');
      if (isHistory) line.held.push(() => socket.send(frame));
      else socket.send(frame);
    });
  });
  return line;
}

it("nothing jumps when a history arrives after unsent messages, be it short or long", async () => {
  const room = "still-unsent";
  const ada = await Visitor.open(browser, url, { ...SIZES[0][1], ...NO_WORKER });
  const { page } = ada;
  const line = await holdHistory(page);
  await page.addInitScript(OBSERVE);
  await ada.enter(room, "Ada");
  await ada.say("line 1");
  await ada.sees("line 1");
  const left = { v: 1, clientMsgId: "x", content: "not sent", user: "guest-00000000000000bb", order: Date.now() };
  await page.evaluate(
    ({ room, left }) => localStorage.setItem(`parley.outbox ${location.origin} ${room} x`, JSON.stringify(left)),
    { room, left },
  );
  const comesBackHeld = async (): Promise<void> => {
    line.holdsHistory = true;
    await page.reload();
    await vi.waitFor(() => expect(line.held.length).toBeGreaterThan(0), WAIT);
  };
  const arrives = (): void => {
    line.holdsHistory = false;
    for (const give of line.held.splice(0)) give();
  };
  await comesBackHeld();
  await ada.shows("failed", ["not sent"]);
  const button = page.getByRole("button", { name: "Send as Ada" });
  const before = await button.boundingBox();
  arrives();
  await ada.sees("line 1");
  await expect.poll(() => button.boundingBox()).toEqual(before);
  await staysPut(page);
  // It is sent under the new name only when the user agrees.
  await button.click();
  await ada.sees("line 1", "not sent");

  await talk(ada);
  line.isCut = true;
  await page.reload();
  await ada.say("from before");
  await ada.shows("pending", ["from before"]);
  line.isCut = false;
  await comesBackHeld();
  await ada.isConnected();
  await ada.shows("pending", []);
  arrives();
  await ada.message("line 9").waitFor();
  await ada.message("from before").waitFor();
  await staysPut(page);
  await ada.close();
});
