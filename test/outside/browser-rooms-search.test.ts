// The search over all rooms of a reader, in a real Chromium.
import { expect, inject, it, vi } from "vitest";

import { passes } from "./axe.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");
const NARROW = { width: 390, height: 780 };

const say = async (who: Awaited<ReturnType<typeof join>>, content: string): Promise<string> =>
  (await ask<{ id: string }>(who, "chat-message", { content })).id;

it("a search over all of the reader's rooms finds room by room, leads to each, and goes on in one of them, also in a narrow window", async () => {
  const user = "finding-ada";
  const [one, two, other] = ["finding-one", "finding-two", "finding-not-mine"];
  const bens = await Promise.all([one, two, other].map((room) => join(url, room, "ben")));
  // The list of her rooms knows them before they are busy.
  for (const room of [one, two]) (await join(url, room, user)).disconnect();
  const hostile = "<img src=x onerror=alert(1)> needle \u202e";
  await Promise.all(Array.from({ length: 8 }, (_, n) => say(bens[0]!, `needle ${n}`)));
  // More than a page of history.
  await Promise.all(Array.from({ length: 60 }, (_, n) => say(bens[0]!, `hay ${n}`)));
  await say(bens[1]!, hostile);
  await say(bens[2]!, "needle elsewhere");
  const ada = await Visitor.open(browser, url, NO_WORKER);
  const { page } = ada;
  await ada.enterWith(await tokenFor(user, { name: "Ada" }), one, "Ada");
  await ada.isIn(`#${one}`);
  await ada.goesTo(two);
  const field = page.getByTestId("search-field");
  const groups = page.getByTestId("found-everywhere").locator("section");
  const scope = (name: "This room" | "All my rooms") => page.getByRole("radio", { name });
  await page.getByTestId("search-toggle").click();
  await field.fill("needle");
  await page.keyboard.press("Enter");
  await ada.reads("search-outcome", "1 found");
  // With the keyboard alone.
  await page.keyboard.press("Tab");
  await scope("This room").focus();
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => scope("All my rooms").isChecked()).toBe(true);
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
  const countsLast = (count: number): Promise<void> =>
    vi.waitFor(async () => expect(await groups.last().locator("li").count()).toBe(count), WAIT);
  await groups.last().getByRole("button", { name: "More in" }).click();
  await countsLast(8);
  await passes(page, "search over all rooms", "panel");
  await groups.last().locator("li button").last().click();
  await ada.isIn(`#${one}`);
  await ada.isLedTo("needle 0");
  await countsLast(8);
  expect(await field.inputValue()).toBe("needle");
  await groups
    .first()
    .getByRole("button", { name: `#${two}` })
    .first()
    .click();
  await ada.isIn(`#${two}`);
  await scope("This room").check();
  await ada.reads("search-outcome", "1 found");

  await page.setViewportSize(NARROW);
  await scope("All my rooms").check();
  await ada.reads("search-outcome", /^6 found in 2 of \d rooms$/);
  await groups.last().getByRole("button", { name: "More in" }).click();
  await countsLast(8);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await groups.last().locator("li button").last().click();
  await ada.isIn(`#${one}`);
  await ada.isLedTo("needle 0");
  // The messages are before the panel, which has kept what was found.
  await page.getByTestId("search-toggle").click();
  await countsLast(8);
  expect(await field.inputValue()).toBe("needle");
  expect(ada.complaints).toEqual([]);
  await ada.close();
  for (const ben of bens) ben.disconnect();
});

/** What the room has answered to searches, while the test keeps it back. */
let held: Array<() => void> | undefined;
let opened: Promise<Visitor> | undefined;
/** In one page for the tests below. */
const openEve = (): Promise<Visitor> => (opened ??= enterAsEve());

async function enterAsEve(): Promise<Visitor> {
  const eve = await Visitor.open(browser, url, NO_WORKER);
  await eve.page.routeWebSocket(/socket\.io/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((frame) => {
      if (held && typeof frame === "string" && frame.includes('"matches"')) held.push(() => socket.send(frame));
      else socket.send(frame);
    });
  });
  return eve.enterWith(await tokenFor("finding-eve", { name: "Eve" }), "finding-twice", "Eve");
}

/** By a page that is loaded again. */
async function comesTo({ page }: Visitor, room: string): Promise<void> {
  await page.evaluate((room) => history.replaceState(null, "", `#${room}`), room);
  await page.reload();
}

it("who looks for other words before the answer comes gets the answer to these, whichever comes first", async () => {
  const room = "finding-twice";
  const ben = await join(url, room, "ben");
  for (const text of ["an apple", "a pear"]) await say(ben, text);
  const eve = await openEve();
  const { page } = eve;
  await eve.isIn(`#${room}`);
  const answers: Array<() => void> = (held = []);
  await page.getByTestId("search-toggle").click();
  for (const [at, word] of ["apple", "pear"].entries()) {
    await page.getByTestId("search-field").fill(word);
    await page.keyboard.press("Enter");
    await vi.waitFor(() => expect(answers).toHaveLength(at + 1), WAIT);
  }
  held = undefined;
  for (const letGo of answers.toReversed()) letGo();
  await eve.reads("search-outcome", "1 found");
  expect(await page.getByTestId("found").locator("mark").allTextContents()).toEqual(["pear"]);
  expect(eve.complaints).toEqual([]);
  ben.disconnect();
});

it("a search over all rooms goes on once the list of them is there; nothing in it keeps words that were deleted here, and a refusal is no “nothing”", async () => {
  const [here, there] = ["finding-listed", "finding-listed-later"];
  const ben = await join(url, here, "ben");
  const id = await say(ben, "a needle, here");
  const eve = await openEve();
  const { page } = eve;
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
  await comesTo(eve, here);
  await eve.isIn(`#${here}`);
  await page.getByTestId("search-toggle").click();
  await page.getByRole("radio", { name: "All my rooms" }).check();
  await page.getByTestId("search-field").fill("needle");
  await page.keyboard.press("Enter");
  await eve.reads("search-outcome", "1 found in 1 of 1 room");
  listing.resolve();
  await eve.reads("search-outcome", "2 found in 2 of 2 rooms");
  const excerpts = page.getByTestId("found-everywhere").locator(".excerpt");
  expect(await excerpts.allTextContents()).toEqual(["a needle, here", "a needle"]);
  await ask(ben, "delete-message", { id });
  await expect.poll(() => excerpts.allTextContents()).toEqual(["Message deleted", "a needle"]);
  isRefusing = true;
  await page.getByTestId("search-field").press("Enter");
  await eve.reads("found-failed", `#${there}: That was a bit fast.`);
  await eve.reads("search-outcome", "Nothing found in 1 room.");
  // Words that no room can look for.
  await page.unroute("**/api/search?*");
  await page.getByTestId("search-field").fill("!!!");
  await page.keyboard.press("Enter");
  await eve.reads("search-outcome", "Look for words, numbers or emoji, 32 at most.");
  expect(await page.getByTestId("found-failed").getByRole("listitem").count()).toBe(0);
  await page.getByRole("radio", { name: "This room" }).check();
  await eve.reads("search-outcome", "Look for words, numbers or emoji, 32 at most.");
  await page.getByTestId("search-field").fill("needle ".repeat(36));
  await page.getByTestId("search-field").pressSequentially("needle ");
  expect((await page.getByTestId("search-field").inputValue()).length).toBe(256);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  ben.disconnect();
});

it("a room that cannot be searched stands beside what the others found, and a search that is stopped asks no more", async () => {
  const rooms = ["finding-a", "finding-b", "finding-c"];
  const eve = await openEve();
  const { page } = eve;
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
  await comesTo(eve, rooms[0]!);
  await eve.isIn(`#${rooms[0]!}`);
  await page.route("**/api/search?*", async (route) => {
    asked.push(new URL(route.request().url()).search);
    const answer = answers[asked.length - 1];
    if (answer) return route.fulfill({ json: { ok: true, ...answer } });
    await new Promise<void>((resolve) => (answering = resolve));
    return route.abort().catch(() => {});
  });
  await page.getByTestId("search-toggle").click();
  await page.getByRole("radio", { name: "All my rooms" }).check();
  await eve.reads("search-outcome", "Asks 20 rooms at a time, those with the newest messages first.");
  expect(asked).toEqual([]);
  await page.getByTestId("search-field").fill("needle");
  await page.keyboard.press("Enter");
  await eve.reads("search-outcome", "1 found in 1 of 3 rooms");
  await eve.reads("found-failed", "#finding-c: That was a bit fast. Try again in 2 s.");
  await page.getByTestId("found-failed").getByRole("button", { name: "Try again" }).click();
  await eve.reads("search-outcome", "2 found in 2 of 3 rooms");
  expect(new URLSearchParams(asked[1]).get("rooms")).toBe("finding-c");
  await page.getByTestId("search-field").press("Enter");
  await expect.poll(() => asked.length).toBe(3);
  await page.getByTestId("stop-search").click();
  await page.getByTestId("stop-search").waitFor({ state: "detached" });
  answering();
  // The room on the screen may have answered before the search was stopped.
  await eve.reads("more-rooms", /^Search [23] more rooms$/);
  expect(asked).toHaveLength(3);
});
