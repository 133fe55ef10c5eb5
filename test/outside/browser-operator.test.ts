// The operator page in a real Chromium against the real server: an operator sees people talk, sends one away, drains and deletes a
// room, and acts on what members reported, where axe-core finds no problem.
import type { Page } from "playwright-core";
import { expect, it, onTestFailed, vi } from "vitest";

import type { Message, Notice } from "../../src/protocol/chat-events.ts";
import { passes, passesDarkToo } from "./axe.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, Visitor, WAIT } from "./visitor.ts";

/** All texts of the status line, in order: some of them are shown for a moment only. */
const OBSERVE_LINE = `globalThis.lines = [];
  new MutationObserver(() => {
    const words = document.querySelector("[data-testid=line]")?.textContent;
    if (words && words !== lines.at(-1)) lines.push(words);
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

/** Connections from the next one on are in shards. */
const MEMBERS_MAX = 6;

const browser = await useBrowser();
/** Its own: on one that others use, too, the lists of rooms and of reports are as long as they may be. */
const { url } = await useServer({ MAX_MEMBERS: String(MEMBERS_MAX) });

interface Operating {
  readonly page: Page;
  readonly complaints: string[];
  readonly reads: (testId: string, text: string | RegExp) => Promise<void>;
  readonly confirm: (typed: string) => Promise<void>;
}

let shared: Operating | undefined;
/** All tests share the operator's page. */
async function operate(): Promise<Operating> {
  onTestFailed(() => void (shared = undefined));
  shared ??= await openPage();
  shared.complaints.length = 0;
  await shared.page.goto(`${url}/admin`);
  return shared;
}

async function openPage(): Promise<Operating> {
  const page = await (await browser.newContext({ colorScheme: "light", reducedMotion: "reduce" })).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.addInitScript(OBSERVE_LINE);
  return {
    page,
    complaints,
    reads: (testId, text) =>
      vi.waitFor(
        async () => expect(await page.getByTestId(testId).first().textContent({ timeout: 500 })).toMatch(text),
        WAIT,
      ),
    confirm: async (typed) => {
      await page.getByTestId("typed-name").fill(typed);
      await page.getByTestId("dialog-submit").click();
    },
  };
}

async function signIn({ page }: Operating, token: string): Promise<void> {
  await page.getByTestId("token").fill(token);
  await page.keyboard.press("Enter");
}

const service = (): Promise<string> => tokenFor("olga", { role: "service" });

async function operateAsService(): Promise<Operating> {
  const operator = await operate();
  const [field, list] = [operator.page.getByTestId("token"), operator.page.getByTestId("tab-rooms")];
  await field.or(list).first().waitFor();
  if (await field.isVisible()) await signIn(operator, await service());
  return operator;
}

it("an operator sees the shards of a big room, and counts all connections", async () => {
  const room = "operated-big";
  const users = 2 * MEMBERS_MAX + 1;
  for (let at = 0; at < users; at++) await join(url, room, `user-${at}`);
  const operator = await operateAsService();
  const { page, reads } = operator;
  await page.locator(`[data-testid=room-row][data-room="${room}"] a`).click();
  // With the operator's own.
  await reads("connections", new RegExp(`^${users + 1}$`));
  const counts = (): Promise<string[]> => page.getByTestId("shard-connections").allTextContents();
  await vi.waitFor(
    async () => expect((await counts()).reduce((sum, text) => sum + Number(text), 0)).toBe(users - MEMBERS_MAX),
    WAIT,
  );
  expect(await page.getByTestId("shard").count()).toBeGreaterThan(1);
  expect(operator.complaints).toEqual([]);
});

it("an operator watches two members talk, kicks one, drains and deletes the room, and sees who uploaded which file", async () => {
  const room = "operated-1";
  const [ada, ben] = [await join(url, room, "ada"), await join(url, room, "ben")];
  const notices = collect<Notice>(ada, "notice");
  for (const [user, name] of [
    ["ada", "menu.txt"],
    ["ben", "<b>plan.txt"],
  ]) {
    const headers = { Authorization: `Bearer ${await tokenFor(user!)}`, "Content-Type": "text/plain" };
    const file = `${url}/api/rooms/stored-1/files?name=${encodeURIComponent(name!)}`;
    expect((await fetch(file, { method: "POST", headers, body: "x".repeat(2000) })).status).toBe(201);
  }
  const operator = await operateAsService();
  const { page, reads } = operator;
  expect(page.url()).toBe(`${url}/admin`);
  // The bar shows the whole name beside the choice of a theme.
  const isCut = page.locator(".who").evaluate((who) => who.scrollWidth > who.clientWidth);
  expect(await isCut).toBe(false);
  await page.locator(`[data-testid=room-row][data-room="${room}"] a`).click();
  await reads("line", "Live");
  await reads("people", /^2$/);
  const rows = page.getByTestId("connection");
  const users = (): Promise<unknown> => rows.evaluateAll((all) => all.map((row) => row.getAttribute("data-user")));
  await vi.waitFor(async () => expect(await users()).toEqual(["ada", "ben", "olga"]), WAIT);

  await ask<Message>(ada, "chat-message", { content: "hello ben" });
  await ask<Message>(ben, "chat-message", { content: "hello ada" });
  await reads("messages", /^2$/);
  expect(await page.content()).not.toContain("hello ben");

  const gone = new Promise((resolve) => ben.once("disconnect", resolve));
  await page.getByRole("button", { name: "Kick ben" }).click();
  await page.getByTestId("reason").fill("too loud");
  await page.keyboard.press("Enter");
  await reads("said", "ben was kicked");
  await gone;
  await vi.waitFor(async () => expect(await rows.count()).toBe(2), WAIT);

  await page.getByTestId("drain").click();
  await operator.confirm("operated");
  await reads("dialog", "This is not the room's name.");
  await operator.confirm(room);
  await reads("said", "asked to come back later");
  await vi.waitFor(() => expect(notices.map(({ code }) => code)).toContain("SERVER_SHUTDOWN"), WAIT);
  // The page comes back by itself, as all clients do.
  await vi.waitFor(async () => expect(await page.evaluate("lines")).toContain("Reconnecting…"), WAIT);
  await reads("line", "Live");

  await page.getByTestId("delete").click();
  await operator.confirm(room);
  await reads("said", `${room} was deleted`);
  await reads("line", "Not live");
  await page.getByTestId("watch-again").click();
  await reads("messages", /^0$/);

  await page.getByTestId("tab-files").click();
  const stored = page.getByTestId("stored-file");
  await vi.waitFor(async () => expect(await stored.count()).toBe(2), WAIT);
  const texts = await stored.allTextContents();
  expect(texts[0]).toMatch(/^stored-1adamenu\.txttext\/plain2\.0 kB/);
  expect(texts[1]).toContain("<b>plan.txt");
  expect(await page.getByTestId("files-sum").textContent()).toBe("2 files shown, 4.0 kB");

  await page.getByTestId("tab-dead-letters").click();
  await page.getByTestId("no-letters").waitFor();
  expect(page.url()).toBe(`${url}/admin#dead-letters`);
  expect(operator.complaints).toEqual([]);

  await page.reload();
  await page.getByTestId("no-letters").waitFor();
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
  await page.getByTestId("sign-out").click();
  await page.getByTestId("sign-in").waitFor();
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
});

it("the form says why a token is refused, and takes no Enter of an input method; a moderator sees their rooms, without the actions of a service", async () => {
  const room = "operated-2";
  await join(url, room, "ada");
  const operator = await operate();
  const { page, reads } = operator;
  await page.getByTestId("token").fill("half a token");
  const devtools = await page.context().newCDPSession(page);
  const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
  for (const type of ["rawKeyDown", "keyUp"] as const) await devtools.send("Input.dispatchKeyEvent", { type, ...key });
  await page.getByTestId("token").fill("");
  await page.keyboard.press("Enter");
  await reads("sign-in-problem", "Paste a token.");
  expect(operator.complaints).toEqual([]);
  await signIn(operator, "nonsense");
  await reads("sign-in-problem", /^UNAUTHORIZED: /);
  await signIn(operator, await tokenFor("ada", { role: "member" }));
  await reads("sign-in-problem", /^FORBIDDEN: /);

  await signIn(operator, await tokenFor("mia", { role: "moderator", rooms: [room] }));
  await page.getByTestId("find").fill("operated-3");
  await page.keyboard.press("Enter");
  await reads("line", "Not live");
  await reads("problem", "FORBIDDEN_ROOM");
  expect(await page.getByTestId("tab-dead-letters").count()).toBe(0);
  await page.goto(`${url}/admin#dead-letters`);
  await reads("problem", /^FORBIDDEN /);
  await page.getByTestId("tab-rooms").click();
  await page.getByTestId("room-row").first().waitFor();
  const listed = (): Promise<unknown> =>
    page.getByTestId("room-row").evaluateAll((all) => all.map((row) => row.getAttribute("data-room")));
  await expect.poll(() => listed()).toEqual([room]);
  await page.locator(`[data-testid=room-row][data-room="${room}"] a`).click();
  await reads("line", "Live");
  await page.getByRole("button", { name: "Kick ada" }).waitFor();
  for (const action of ["drain", "delete"]) expect(await page.getByTestId(action).count()).toBe(0);
  await page.getByTestId("sign-out").click();
  await page.getByTestId("sign-in").waitFor();
});

async function report(visitor: Visitor, text: string, reason: string): Promise<void> {
  await visitor.use(text, "more");
  await visitor.choose("Report…");
  await visitor.page.getByTestId("report-reason").fill(reason);
  await visitor.page.getByTestId("dialog-submit").click();
  await visitor.reads("notice", "Thank you. The moderators will look at the message.");
}

interface Reported {
  readonly member: Awaited<ReturnType<typeof join>>;
  /** Open reports. */
  readonly open: number;
  readonly testId: string;
  readonly text: string;
}

/** Loads the page until it shows that, once the lobby knows: the room reports to it with its next wake. */
async function comesUp(page: Page, { member, open, testId, text }: Reported): Promise<void> {
  const headers = { Authorization: `Bearer ${await service()}` };
  await vi.waitFor(
    async () => {
      await ask(member, "presence", {});
      const answer = await fetch(`${url}/api/stats?having=openReports`, { headers });
      expect(await answer.json()).toMatchObject({ rooms: [{ facts: { openReports: open } }] });
    },
    { interval: 200 },
  );
  await vi.waitFor(async () => {
    await page.reload();
    expect(await page.getByTestId(testId).first().textContent({ timeout: 5000 })).toContain(text);
  }, WAIT);
}

it("a member reports messages; a moderator in the room and an operator learn of them, dismiss, delete, mute and ban", async () => {
  const room = "reported";
  const enter = async (user: string, name: string, role: "member" | "moderator" = "member"): Promise<Visitor> => {
    const visitor = await (
      await Visitor.open(browser, url, NO_WORKER)
    ).enterWith(await tokenFor(user, { name, role }), room, name);
    await visitor.isConnected();
    return visitor;
  };
  const [ada, mo] = [await enter("ada", "Ada"), await enter("mo", "Mo", "moderator")];
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const moderated = collect(ben, "moderation");
  const zoe = await join(url, room, "zoe");
  const told = collect(zoe, "message-reported");
  const say = (content: string) => ask<{ id: string }>(ben, "chat-message", { content });
  for (const text of ["fine words", "buy my pills", "you fool"]) await say(text);
  const { id } = await say("nice day");
  await say("bad joke");
  await ada.sees("fine words", "buy my pills", "you fool", "nice day", "bad joke");
  await ada.use("fine words", "more");
  await ada.choose("Report…");
  await ada.page.getByTestId("dialog-submit").click();
  await ada.reads("dialog", "Give a reason");
  await ada.page.keyboard.press("Escape");

  // In the room.
  const bar = mo.page.getByTestId("reports-bar");
  expect(await bar.count()).toBe(0);
  await report(ada, "nice day", "spam");
  await mo.reads("reports-bar", /1 report.*Ben: nice day.*Ada: spam/);
  await expect.poll(() => mo.page.getByRole("log").textContent()).toContain("A message of Ben was reported");
  await bar.getByTestId("report-show").click();
  await mo.message("nice day").waitFor();
  expect(await ada.page.getByTestId("reports-bar").count(), "members hear nothing").toBe(0);
  await ask(ben, "delete-message", { id });
  await mo.reads("reports-bar", /deleted by Ben; the room keeps no text of deleted messages/);
  await bar.getByTestId("report-dismiss").click();
  await bar.waitFor({ state: "detached" });

  // On the operator page.
  await report(ada, "fine words", "I do not like it");
  await report(ada, "buy my pills", "spam");
  await report(ada, "you fool", "insult <b>me</b>");
  await mo.reads("reports-bar", /3 reports/);
  const operator = await operateAsService();
  const { page, reads } = operator;
  await page.getByTestId("tab-reports").waitFor();
  await comesUp(page, { member: zoe, open: 3, testId: "open-reports", text: "3 reports" });
  await page.getByTestId("tab-reports").click();
  const cards = page.locator(`[data-testid=reported-room][data-room="${room}"] [data-testid=report]`);
  const areThere = (count: number): Promise<void> =>
    vi.waitFor(async () => expect(await cards.count()).toBe(count), WAIT);
  await areThere(3);
  await passes(page, "reports over all rooms");
  await reads("report", /Ben.*fine words.*Ada.*I do not like it/);
  await cards.filter({ hasText: "fine words" }).getByTestId("dismiss").click();
  await reads("said", "The report was dismissed");
  await areThere(2);
  await cards.filter({ hasText: "buy my pills" }).getByTestId("delete-message").click();
  await page.getByTestId("dialog-submit").click();
  await reads("said", "The message was deleted");
  await ada.page.getByText("Message deleted by olga").waitFor();
  await cards.filter({ hasText: "insult <b>me</b>" }).getByTestId("mute").click();
  await page.getByTestId("reason").fill("be kind");
  await page.getByTestId("dialog-submit").click();
  await reads("said", "Ben was muted");
  await page.getByTestId("no-reports").waitFor();
  const mute = expect.objectContaining({ action: "mute", user: "ben", reason: "be kind" }) as unknown;
  await vi.waitFor(() => expect(moderated).toContainEqual(mute), WAIT);
  await bar.waitFor({ state: "detached" });

  // A room's own page has them, too: all of one reporter at once, or one that ends in a ban.
  await ask(zoe, "chat-message", { content: "it rains" });
  await ada.message("it rains").waitFor();
  await report(ada, "it rains", "nonsense");
  await page.goto(`${url}/admin#room/${room}`);
  await comesUp(page, { member: zoe, open: 1, testId: "report", text: "it rains" });
  await passesDarkToo(page, "a room with reports");
  await page.getByTestId("dismiss-reporter").first().click();
  await reads("said", /only Ada made were dismissed/);
  const card = page.getByTestId("report");
  await card.waitFor({ state: "detached" });
  await report(ada, "bad joke", "not funny");
  await comesUp(page, { member: zoe, open: 1, testId: "report", text: "bad joke" });
  const banned = new Promise((resolve) => ben.once("disconnect", resolve));
  await card.getByTestId("ban").click();
  await page.getByTestId("delete-too").uncheck();
  await page.getByTestId("dialog-submit").click();
  await reads("said", "Ben was banned");
  await card.waitFor({ state: "detached" });
  await banned;
  await ada.sees("fine words", "bad joke", "it rains");

  expect(told, "other members hear nothing").toEqual([]);
  expect([ada, mo, operator].flatMap(({ complaints }) => complaints)).toEqual([]);
  for (const visitor of [ada, mo]) await visitor.close();
});
