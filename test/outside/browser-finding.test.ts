// Finding a message in a real Chromium: by a link to it, by its day, and by a search over all rooms; and the way back to where one was.
import axe from "axe-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const CLIPBOARD: BrowserContextOptions = { permissions: ["clipboard-read", "clipboard-write"] };
/** More than a page of history. */
const MESSAGES = 150;

type Client = Awaited<ReturnType<typeof join>>;

const person = async (room: string, user: string, role: "member" | "moderator" = "member"): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name: user, role }) } });
const say = async (who: Client, content: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content })).id;

/** A room whose first message is far back. @returns its `id` */
async function fill(room: string, first = "the first of all"): Promise<string> {
  const ben = await person(room, "ben");
  const id = await say(ben, first);
  await Promise.all(Array.from({ length: MESSAGES }, (_, n) => say(ben, `m${n}`)));
  ben.disconnect();
  return id;
}

const isAt = (visitor: Visitor, address: string): Promise<void> =>
  vi.waitFor(() => expect(visitor.page.url()).toBe(address), WAIT);
/** In the room, with a connection: who leaves it earlier has a complaint of the browser. */
async function isIn(visitor: Visitor, room: string): Promise<void> {
  await visitor.reads("room-title", room);
  await visitor.isConnected();
}
/** The message that the reader was led to, in view. */
const isLedTo = async ({ page }: Visitor, text: string): Promise<void> => {
  const target = page.locator(".message.target").filter({ hasText: text });
  await target.waitFor();
  await vi.waitFor(async () => {
    const [box, log] = [await target.boundingBox(), (await page.getByTestId("log").boundingBox())!];
    expect(box!.y).toBeGreaterThan(log.y);
    expect(box!.y + box!.height).toBeLessThan(log.y + log.height);
  }, WAIT);
};

it("the link of a message leads a visitor through the form to it, however far back it is, and the reader of another room at once", async () => {
  const room = "finding-link";
  await fill(room);
  const ada = await (await Visitor.open(browser, url, CLIPBOARD)).enter(room, "Ada");
  await ada.message("m100").waitFor();
  await ada.page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  await ada.page.getByTestId("jump-first").click();
  await isLedTo(ada, "the first of all");
  await ada.use("the first of all", "more");
  await ada.choose("Copy link");
  await ada.reads("notice", "The link to the message is copied.");
  const link = await ada.page.evaluate<string>("navigator.clipboard.readText()");
  expect(link).toMatch(new RegExp(`^${url}/#${room}/[\\w-]+$`));

  const eve = await Visitor.open(browser, url);
  // As the end of a sentence has it.
  await eve.page.goto(`${link}.`);
  await eve.page.getByTestId("name").fill("Eve");
  await eve.page.getByRole("button", { name: `Enter #${room}` }).click();
  await isLedTo(eve, "the first of all");
  await isAt(eve, `${url}/#${room}`);
  // Whom the browser knows comes there without the form, and after a reload stays in the room.
  await eve.page.goto("about:blank");
  await eve.page.goto(link);
  await isLedTo(eve, "the first of all");
  await isAt(eve, `${url}/#${room}`);
  await eve.page.evaluate(() => void (location.hash = "finding-elsewhere"));
  await isIn(eve, "#finding-elsewhere");
  await eve.page.evaluate((link) => void (location.href = link), link);
  await isLedTo(eve, "the first of all");
  await isAt(eve, `${url}/#${room}`);
  // Another room than that of the link.
  const dan = await Visitor.open(browser, url);
  await dan.page.goto(link);
  await dan.fillIn("finding-elsewhere", "Dan");
  await dan.isConnected();
  expect([ada, eve, dan].flatMap(({ complaints }) => complaints)).toEqual([]);
  for (const visitor of [ada, eve, dan]) await visitor.close();
});

it("a press on such a link in a message goes there within the page, Back leads back, and other links open as ever", async () => {
  const [room, other] = ["finding-press", "finding-press-other"];
  const first = await fill(other);
  const ben = await person(room, "ben");
  const here = await say(ben, "where it began");
  for (let n = 0; n < 40; n++) await say(ben, `between ${n}`);
  await say(ben, `there: ${url}/#${other}/${first}`);
  await say(ben, `back: ${url}/#${room}/${here}`);
  await say(ben, `room: ${url}/#${other}`);
  await say(ben, `none: ${url}/#${other}/%3Cimg%20src=x%20onerror=alert(1)%3E`);
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  // A press on a link that moves away meanwhile is none.
  const rest = async (text: string): Promise<void> => {
    await ada.message(text).waitFor();
    await comesToRest(page);
  };
  const press = async (text: string): Promise<void> => {
    await rest(text);
    await ada.message(text).locator(".content a").click();
  };
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  await press("back:");
  await isLedTo(ada, "where it began");
  await isAt(ada, `${url}/#${room}`);
  await page.getByTestId("newest").click();
  await press("there:");
  await isLedTo(ada, "the first of all");
  await isAt(ada, `${url}/#${other}`);
  await page.goBack();
  await isIn(ada, `#${room}`);
  await press("room:");
  await isIn(ada, `#${other}`);
  await page.goBack();
  await isIn(ada, `#${room}`);
  expect(await page.evaluate("isSamePage")).toBe(true);
  for (const [text, modifiers] of [
    ["none:", []],
    ["there:", ["Control"]],
  ] as const) {
    await rest(text);
    const link = ada.message(text).locator(".content a");
    const tabs = (): Page[] => page.context().pages().slice(1);
    // A press comes to nothing if its row moves between down and up: then a reader presses again.
    await vi.waitFor(async () => {
      await link.click({ modifiers: [...modifiers] });
      await expect.poll(() => tabs().length, { timeout: 20_000 }).toBeGreaterThan(0);
    }, WAIT);
    for (const tab of tabs()) await tab.close();
  }
  await isIn(ada, `#${room}`);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("the page says of a link's message that it was deleted, or is not there; a conversation has no such links", async () => {
  const room = "finding-gone";
  const gone = await fill(room, "I will go");
  const mo = await person(room, "mo", "moderator");
  await ask(mo, "delete-message", { id: gone });
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  const follow = (message: string): Promise<void> =>
    page.evaluate((hash) => void (location.hash = hash), `#${room}/${message}`);
  // Has seen the newest: the room opens there again.
  await ada.message("m149").waitFor();
  await follow(gone);
  await isLedTo(ada, "Message deleted");
  await ada.reads("notice", "That message was deleted.");
  await follow(`${gone}zz`);
  await ada.reads("notice", "That message is not there any more.");
  await follow("<img src=x onerror=alert(1)>");
  await ada.reads("notice", `“${room}/<img src=x onerror=alert(1`);
  await isAt(ada, `${url}/#${room}`);
  await page.goto("about:blank");
  await page.goto(`${url}/#${room}/never-was`);
  await ada.reads("notice", "That message is not there any more.");

  await ada.use("m149", "more");
  await ada.choose("Message ben");
  await isIn(ada, "ben");
  await ada.say("between us");
  await ada.sees("between us");
  await ada.use("between us", "more");
  await page.getByRole("menuitem", { name: "Copy text" }).waitFor();
  expect(await page.getByRole("menuitem", { name: "Copy link" }).count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("the day over the messages, a key and the menu lead to another day; the browser refuses what is none", async () => {
  const room = "finding-day";
  await fill(room);
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  const field = page.getByTestId("jump-date");
  const dialog = page.getByTestId("dialog");
  await ada.message("m149").waitFor();
  await page.getByTestId("log").hover();
  await vi.waitFor(async () => {
    await page.mouse.wheel(0, -300);
    await page.getByTestId("day").hover({ timeout: 500 });
  }, WAIT);
  // It stays while the reader points at it.
  await page.getByTestId("day").click();
  const today = await field.inputValue();
  expect(today).toMatch(/^\d{4}-\d\d-\d\d$/);
  await page.keyboard.press("Enter");
  await isLedTo(ada, "the first of all");
  await dialog.waitFor({ state: "detached" });

  // With the keyboard alone, and to a day without messages.
  await page.getByTestId("newest").click();
  await ada.message("m149").waitFor();
  await ada.message("m149").focus();
  await page.keyboard.press("d");
  await vi.waitFor(() => expect(field.evaluate((one) => one === document.activeElement)).resolves.toBe(true), WAIT);
  await field.fill("2020-02-29");
  await page.keyboard.press("Enter");
  await isLedTo(ada, "the first of all");
  await ada.reads("notice", /^That day has no messages\. The next day with messages: (?:Today|Yesterday)\.$/);

  await page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  for (const none of ["", "9999-12-31", "0001-01-01"]) {
    await field.fill(none);
    await page.keyboard.press("Enter");
    expect(await field.evaluate((one) => (one as HTMLInputElement).validity.valid), none).toBe(false);
    await dialog.waitFor();
  }
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("on a phone: the heading of a day leads to another one, and a link to its message", async () => {
  const room = "finding-phone";
  const first = await fill(room);
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  const { page } = ada;
  await page.goto("about:blank");
  await page.goto(`${url}/#${room}/${first}`);
  await isLedTo(ada, "the first of all");
  await page.locator(".day .day-button").first().tap();
  await page.getByTestId("jump-date").waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  await page.getByTestId("dialog-submit").tap();
  await isLedTo(ada, "the first of all");
  await isAt(ada, `${url}/#${room}`);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("who comes back to a room, also by a reload, stands where they were to the pixel; at what is new, if something is", async () => {
  const [room, other] = ["finding-back", "finding-back-other"];
  await fill(room);
  const ben = await person(room, "ben");
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  await ada.message("m149").waitFor();
  await page.getByTestId("log").hover();
  await vi.waitFor(async () => {
    await page.mouse.wheel(0, -2777);
    await page.locator("[data-seq='60']").waitFor({ timeout: 1000 });
  }, WAIT);
  await comesToRest(page);
  const first = async (): Promise<readonly [seq: string | undefined, y: number]> =>
    page.getByTestId("log").evaluate((log) => {
      const { top } = log.getBoundingClientRect();
      const rows = Array.from(log.querySelectorAll<HTMLElement>("li[data-seq]"));
      const row = rows.find((one) => one.getBoundingClientRect().bottom > top + 1)!;
      return [row.dataset["seq"], Math.round(row.getBoundingClientRect().top - top)] as const;
    });
  const stood = await first();
  const isBack = async (): Promise<void> => {
    await vi.waitFor(async () => expect(await first()).toEqual(stood), WAIT);
    expect(await page.locator(".message.target").count()).toBe(0);
  };
  await page.evaluate((hash) => void (location.hash = hash), other);
  await isIn(ada, `#${other}`);
  await page.goBack();
  await isIn(ada, `#${room}`);
  await isBack();
  for (let reloads = 0; reloads < 2; reloads++) {
    await page.reload();
    await ada.isConnected();
    await isBack();
  }
  // In another room, the first one keeps its place over a reload.
  await page.evaluate((hash) => void (location.hash = hash), other);
  await isIn(ada, `#${other}`);
  await page.reload();
  await ada.isConnected();
  await page.evaluate((hash) => void (location.hash = hash), room);
  await isBack();

  // With something new the reader goes on there.
  await page.evaluate((hash) => void (location.hash = hash), other);
  await isIn(ada, `#${other}`);
  await say(ben, "something new");
  await page.goBack();
  await isIn(ada, `#${room}`);
  await ada.message("something new").waitFor();
  await page.getByTestId("newest").waitFor({ state: "detached" });
  await page.reload();
  await ada.message("something new").waitFor();
  // Another tab begins at the newest.
  const tab = await ada.tab();
  await tab.page.goto(`${url}/#${room}`);
  await tab.message("something new").waitFor();
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

it("a search over all of the reader's rooms finds room by room, leads to each, and goes on in one of them", async () => {
  const user = "finding-ada";
  const [one, two, other] = ["finding-one", "finding-two", "finding-not-mine"];
  const bens = await Promise.all([one, two, other].map((room) => person(room, "ben")));
  // The list of her rooms knows them before they are busy.
  for (const room of [one, two]) (await person(room, user)).disconnect();
  const hostile = "<img src=x onerror=alert(1)> needle \u202e";
  for (let n = 0; n < 8; n++) await say(bens[0]!, `needle ${n}`);
  for (let n = 0; n < 120; n++) await say(bens[0]!, `hay ${n}`);
  await say(bens[1]!, hostile);
  await say(bens[2]!, "needle elsewhere");
  for (const options of [{}, PHONE]) {
    const isPhone = options === PHONE;
    const ada = await Visitor.open(browser, url, options);
    const { page } = ada;
    await ada.enterWith(await tokenFor(user, { name: "Ada" }), one, "Ada");
    await isIn(ada, `#${one}`);
    await page.evaluate((room) => void (location.hash = room), two);
    await isIn(ada, `#${two}`);
    const field = page.getByTestId("search-field");
    const groups = page.getByTestId("found-everywhere").locator("section");
    await page.getByTestId("search-toggle").click();
    await field.fill("needle");
    await page.keyboard.press("Enter");
    await ada.reads("search-outcome", "1 found");
    // With the keyboard alone.
    await page.keyboard.press("Tab");
    await page.getByRole("radio", { name: "This room" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.getByRole("radio", { name: "All my rooms" }).isChecked()).toBe(true);
    await ada.reads("search-outcome", / of \d rooms?$/);
    // The list of rooms may be a while behind: she searches again.
    await vi.waitFor(
      async () => {
        const outcome = await page.getByTestId("search-outcome").textContent();
        if (!outcome!.startsWith("6 found in 2 of ")) await field.press("Enter");
        expect(outcome).toMatch(/^6 found in 2 of \d rooms$/);
      },
      { interval: 2000 },
    );
    expect(await groups.evaluateAll((all) => all.map((group) => group.getAttribute("aria-label")))).toEqual([
      `#${two}`,
      `#${one}`,
    ]);
    expect(await groups.first().locator("mark").allTextContents()).toEqual(["needle"]);
    expect(await groups.first().locator("img").count()).toBe(0);
    expect(await groups.first().locator(".excerpt").textContent()).toContain("<img src=x onerror=alert(1)> needle");
    await groups.last().getByRole("button", { name: "More in" }).click();
    await vi.waitFor(async () => expect(await groups.last().locator("li").count()).toBe(8), WAIT);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.evaluate(axe.source);
    const violations = "axe.run('.side-panel').then(({ violations }) => violations.map(({ id }) => id))";
    expect(await page.evaluate(violations)).toEqual([]);
    await groups.last().locator("li button").last().click();
    await isIn(ada, `#${one}`);
    await isLedTo(ada, "needle 0");
    // On a phone the messages are before the panel, which has kept what was found.
    if (isPhone) await page.getByTestId("search-toggle").click();
    await vi.waitFor(async () => expect(await groups.last().locator("li").count()).toBe(8), WAIT);
    expect(await field.inputValue()).toBe("needle");
    await groups
      .first()
      .getByRole("button", { name: `#${two}` })
      .first()
      .click();
    await isIn(ada, `#${two}`);
    if (isPhone) await page.getByTestId("search-toggle").click();
    await page.getByRole("radio", { name: "This room" }).check();
    await ada.reads("search-outcome", "1 found");
    expect(ada.complaints).toEqual([]);
    await ada.close();
  }
  for (const ben of bens) ben.disconnect();
});

it("a room that cannot be searched stands beside what the others found, and a search that is stopped asks no more", async () => {
  const rooms = ["finding-a", "finding-b", "finding-c"];
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  await ada.enterWith(await tokenFor("finding-eve", { name: "Eve" }), rooms[0]!, "Eve");
  await isIn(ada, `#${rooms[0]!}`);
  let answering = (): void => {};
  const found = {
    id: "x-1",
    seq: 1,
    room: rooms[0],
    sender: "ben",
    name: "Ben\u202e",
    content: "a needle",
    timestamp: 1,
    matches: [[2, 8]],
  };
  const answers: Array<object | undefined> = [
    {
      rooms: [
        { room: rooms[1], messages: [{ ...found, room: rooms[1] }], hasMore: false, before: 1 },
        { room: rooms[2], error: { code: "RATE_LIMITED", message: "Slower", retryAfterMs: 2000 } },
      ],
    },
    { rooms: [{ room: rooms[2], messages: [{ ...found, room: rooms[2] }], hasMore: false, before: 1 }] },
    undefined,
  ];
  const asked: string[] = [];
  await page.route("**/api/unread?*", (route) =>
    route.request().url().includes("wait=0")
      ? route.fulfill({
          json: { ok: true, version: "1", rooms: rooms.map((room) => ({ room, unread: 0, mentions: 0 })) },
        })
      : undefined,
  );
  await page.reload();
  await ada.isConnected();
  await page.route("**/api/search?*", async (route) => {
    asked.push(new URL(route.request().url()).search);
    const answer = answers[asked.length - 1];
    if (answer) return route.fulfill({ json: { ok: true, ...answer } });
    await new Promise<void>((resolve) => (answering = resolve));
    return route.abort().catch(() => {});
  });
  await page.getByTestId("search-toggle").click();
  await page.getByRole("radio", { name: "All my rooms" }).check();
  await ada.reads("search-outcome", "Asks 20 rooms at a time, those with the newest messages first.");
  expect(asked).toEqual([]);
  await page.getByTestId("search-field").fill("needle");
  await page.keyboard.press("Enter");
  await ada.reads("search-outcome", "1 found in 1 of 3 rooms");
  await ada.reads("found-failed", "#finding-c: That was a bit fast. Try again in 2 s.");
  await page.getByTestId("found-failed").getByRole("button", { name: "Try again" }).click();
  await ada.reads("search-outcome", "2 found in 2 of 3 rooms");
  expect(new URLSearchParams(asked[1]).get("rooms")).toBe("finding-c");
  await page.getByTestId("search-field").press("Enter");
  await expect.poll(() => asked.length).toBe(3);
  await page.getByTestId("stop-search").click();
  await page.getByTestId("stop-search").waitFor({ state: "detached" });
  answering();
  // The room on the screen may have answered before the search was stopped.
  await ada.reads("more-rooms", /^Search [23] more rooms$/);
  expect(asked).toHaveLength(3);
  await ada.close();
});

/** Keeps back what the room answers to searches, until the test lets it go. */
async function holdSearches({ page }: Visitor): Promise<Array<() => void>> {
  const held: Array<() => void> = [];
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      if (typeof frame === "string" && frame.includes('"matches"')) held.push(() => socket.send(frame));
      else socket.send(frame);
    });
  });
  return held;
}

it("who looks for other words before the answer comes gets the answer to these, whichever comes first", async () => {
  const room = "finding-twice";
  const ben = await person(room, "ben");
  for (const text of ["an apple", "a pear"]) await say(ben, text);
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  const held = await holdSearches(ada);
  await ada.enter(room, "Ada");
  await page.getByTestId("search-toggle").click();
  for (const [at, word] of ["apple", "pear"].entries()) {
    await page.getByTestId("search-field").fill(word);
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(held).toHaveLength(at + 1), WAIT);
  }
  for (const letGo of held.toReversed()) letGo();
  await ada.reads("search-outcome", "1 found");
  expect(await page.getByTestId("found").locator("mark").allTextContents()).toEqual(["pear"]);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a search over all rooms goes on once the list of them is there; nothing in it keeps words that were deleted here, and a refusal is no “nothing”", async () => {
  const [here, there] = ["finding-listed", "finding-listed-later"];
  const ben = await person(here, "ben");
  const id = await say(ben, "a needle, here");
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  const found = { id: "x-1", seq: 1, room: there, sender: "ben", name: "Ben", content: "a needle", timestamp: 1 };
  const listing = Promise.withResolvers<void>();
  const rooms = [here, there].map((room) => ({ room, unread: 0, mentions: 0 }));
  await page.route("**/api/unread?*", async (route) => {
    await listing.promise;
    return route.fulfill({ json: { ok: true, version: "1", rooms } }).catch(() => {});
  });
  let isRefusing = false;
  await page.route("**/api/search?*", (route) =>
    isRefusing
      ? route.fulfill({ status: 429, json: { ok: false, error: { code: "RATE_LIMITED", message: "Slower" } } })
      : route.fulfill({
          json: {
            ok: true,
            rooms: [{ room: there, messages: [{ ...found, matches: [[2, 8]] }], hasMore: false, before: 1 }],
          },
        }),
  );
  await ada.enterWith(await tokenFor("finding-list-ada", { name: "Ada" }), here, "Ada");
  await isIn(ada, `#${here}`);
  await page.getByTestId("search-toggle").click();
  await page.getByRole("radio", { name: "All my rooms" }).check();
  await page.getByTestId("search-field").fill("needle");
  await page.keyboard.press("Enter");
  await ada.reads("search-outcome", "1 found in 1 of 1 room");
  listing.resolve();
  await ada.reads("search-outcome", "2 found in 2 of 2 rooms");
  const excerpts = page.getByTestId("found-everywhere").locator(".excerpt");
  expect(await excerpts.allTextContents()).toEqual(["a needle, here", "a needle"]);
  await ask(ben, "delete-message", { id });
  await expect.poll(() => excerpts.allTextContents()).toEqual(["Message deleted", "a needle"]);
  isRefusing = true;
  await page.getByTestId("search-field").press("Enter");
  await ada.reads("found-failed", `#${there}: That was a bit fast.`);
  await ada.reads("search-outcome", "Nothing found in 1 room.");
  // Words that no room can look for.
  await page.unroute("**/api/search?*");
  await page.getByTestId("search-field").fill("!!!");
  await page.keyboard.press("Enter");
  await ada.reads("search-outcome", "Look for words, numbers or emoji, 32 at most.");
  expect(await page.getByTestId("found-failed").getByRole("listitem").count()).toBe(0);
  await page.getByRole("radio", { name: "This room" }).check();
  await ada.reads("search-outcome", "Look for words, numbers or emoji, 32 at most.");
  await page.getByTestId("search-field").fill("");
  await page.getByTestId("search-field").pressSequentially("needle ".repeat(40), { delay: 0 });
  expect((await page.getByTestId("search-field").inputValue()).length).toBe(256);
  await ada.close();
  ben.disconnect();
});

it("the menu of the room leads to other days from the one that is read, and from today where the newest are read", async () => {
  const room = "finding-menu-day";
  const ben = await person(room, "ben");
  for (let n = 0; n < 40; n++) await say(ben, `old ${n}`);
  for (let n = 0; n < 40; n++) await say(ben, `new ${n}`);
  const ada = await Visitor.open(browser, url, { timezoneId: "UTC" });
  const { page } = ada;
  // The first ones are of another day.
  const OLD = Date.UTC(2026, 2, 3, 12);
  await page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) =>
      socket.send(
        typeof frame === "string"
          ? frame.replaceAll(/\{[^{}]*"content":"old [^{}]*\}/g, (message) =>
              message.replace(/"timestamp":\d+/, `"timestamp":${OLD}`),
            )
          : frame,
      ),
    );
  });
  await ada.enter(room, "Ada");
  await ada.message("new 39").waitFor();
  const opens = async (): Promise<string> => {
    await page.getByTestId("room-menu").click();
    await ada.choose("Jump to a date");
    const date = await page.getByTestId("jump-date").inputValue();
    await page.keyboard.press("Escape");
    await page.getByTestId("dialog").waitFor({ state: "detached" });
    return date;
  };
  expect(await opens()).not.toBe("2026-03-03");
  await page.getByTestId("room-menu").click();
  await ada.choose("Jump to a date");
  await page.getByTestId("jump-first").click();
  await isLedTo(ada, "old 0");
  expect(await opens()).toBe("2026-03-03");
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

it("on a phone, a link in a thread leads to its message before the thread", async () => {
  const room = "finding-thread";
  const first = await fill(room);
  const ben = await person(room, "ben");
  const id = await say(ben, "in a thread");
  await ask(ben, "chat-message", { content: `see ${url}/#${room}/${first}`, replyTo: id });
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(room, "Ada");
  const { page } = ada;
  await page.getByTestId("thread-line").tap();
  await page.getByTestId("thread").locator(".content a").tap();
  await isLedTo(ada, "the first of all");
  await page.getByTestId("thread").waitFor({ state: "detached" });
  await isAt(ada, `${url}/#${room}`);
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});
