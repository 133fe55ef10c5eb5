// Reports of abuse in a real Chromium against the real server: a member reports a message, operators see it in the queue and act.
import type { Page } from "playwright-core";
import { expect, it, vi } from "vitest";

import { useBrowser, useServer } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

type Client = Awaited<ReturnType<typeof join>>;

const browser = await useBrowser();
/** Its own: the queue has the rooms of this file alone. */
const { url } = await useServer();

async function report(visitor: Visitor, text: string, reason: string): Promise<void> {
  await visitor.use(text, "more");
  await visitor.choose("Report…");
  await visitor.page.getByTestId("report-reason").fill(reason);
  await visitor.page.getByTestId("dialog-submit").click();
  await visitor.reads("notice", "Thank you. The moderators will look at the message.");
}

async function operate(token: string, complaints: string[]): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  await page.goto(`${url}/admin`);
  await page.getByTestId("token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByTestId("tab-reports").waitFor();
  return page;
}

/** The text of the page at this moment, or a little later. */
const reads = async (page: Page, testId: string, text: string | RegExp): Promise<void> =>
  expect(await page.getByTestId(testId).first().textContent({ timeout: 1000 })).toMatch(text);

const comes = (page: Page, testId: string, text: string | RegExp): Promise<void> =>
  vi.waitFor(() => reads(page, testId, text), WAIT);

/** Loads the page until it shows that. The room reports to its lobby with its next wake. */
const comesUp = (page: Page, member: Client, check: () => Promise<void>): Promise<void> =>
  vi.waitFor(async () => {
    await ask(member, "presence", {});
    await page.reload();
    await check();
  }, WAIT);

const reportsOf = (page: Page, room: string) =>
  page.locator(`[data-testid=reported-room][data-room="${room}"] [data-testid=report]`);

it("a member reports messages; an operator dismisses one, deletes one, and mutes an author", async () => {
  const room = "reported";
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const ben = await (await Visitor.open(browser, url)).enter(room, "Ben");
  const zoe = await join(url, room, "zoe");
  const told = collect(zoe, "message-reported");
  for (const text of ["fine words", "buy my pills", "you fool", "nice day"]) {
    await ben.say(text);
    await ada.message(text).waitFor();
  }
  await ada.say("hello");
  await ada.message("hello").waitFor();
  // Not one's own message, and not without a reason.
  await ada.use("hello", "more");
  await ada.page.getByRole("menuitem", { name: "Delete" }).waitFor();
  expect(await ada.page.getByRole("menuitem", { name: "Report…" }).count()).toBe(0);
  await ada.page.keyboard.press("Escape");
  await ada.use("fine words", "more");
  await ada.choose("Report…");
  await ada.page.getByTestId("dialog-submit").click();
  await ada.reads("dialog", "Give a reason");
  await ada.page.keyboard.press("Escape");

  await report(ada, "fine words", "I do not like it");
  await report(ada, "buy my pills", "spam");
  await report(ada, "you fool", "insult <b>me</b>");

  const complaints: string[] = [];
  const page = await operate(await tokenFor("olga", { role: "service" }), complaints);
  await comesUp(page, zoe, () => reads(page, "open-reports", /^3 reports$/));
  await page.getByTestId("tab-reports").click();
  const cards = reportsOf(page, room);
  await vi.waitFor(async () => expect(await cards.count()).toBe(3), WAIT);
  await comes(page, "report", /Ben.*fine words.*Ada.*I do not like it/);
  await cards.filter({ hasText: "fine words" }).getByTestId("dismiss").click();
  await comes(page, "said", "The report was dismissed");
  await vi.waitFor(async () => expect(await cards.count()).toBe(2), WAIT);

  await cards.filter({ hasText: "buy my pills" }).getByTestId("delete-message").click();
  await page.getByTestId("dialog-submit").click();
  await comes(page, "said", "The message was deleted");
  await ben.page.getByText("Message deleted by olga").waitFor();

  await cards.filter({ hasText: "insult <b>me</b>" }).getByTestId("mute").click();
  await page.getByTestId("reason").fill("be kind");
  await page.getByTestId("dialog-submit").click();
  await comes(page, "said", "Ben was muted");
  await page.getByTestId("no-reports").waitFor();
  await ben.reads("notice", /muted.*be kind/);
  await vi.waitFor(() => ada.sees("fine words", "nice day", "hello"), WAIT);

  // A room's own page has them, too.
  await report(ada, "nice day", "it rains");
  await page.goto(`${url}/admin#room/${room}`);
  await comesUp(page, zoe, () => reads(page, "report", "nice day"));
  const card = page.getByTestId("report");
  await card.getByTestId("ban").click();
  await page.getByTestId("delete-too").uncheck();
  await page.getByTestId("dialog-submit").click();
  await comes(page, "said", "Ben was banned");
  await card.waitFor({ state: "detached" });
  await ben.stands("banned");
  await ada.sees("fine words", "nice day", "hello");

  expect(told, "other members hear nothing").toEqual([]);
  expect([...complaints, ...ada.complaints]).toEqual([]);
  await ada.close();
  await ben.close();
  await page.context().close();
});

it("a moderator has no tool to report, and a reader neither", async () => {
  const room = "reported-roles";
  const zoe = await join(url, room, "zoe");
  await ask(zoe, "chat-message", { content: "something" });
  for (const role of ["moderator", "reader", "member"] as const) {
    const visitor = await Visitor.open(browser, url);
    await visitor.enterWith(await tokenFor(role, { name: role, role }), room, role);
    await visitor.isConnected();
    await visitor.use("something", "more");
    await visitor.page.getByRole("menuitem", { name: "Copy text" }).waitFor();
    const items = visitor.page.getByRole("menuitem", { name: "Report…" });
    expect(await items.count(), role).toBe(role === "member" ? 1 : 0);
    await visitor.close();
  }
});

it("a moderator in the room learns of a report, looks at it, and dismisses it; a deleted message says why it has no text", async () => {
  const room = "reported-here";
  const mo = await Visitor.open(browser, url);
  await mo.enterWith(await tokenFor("mo", { role: "moderator", name: "Mo" }), room, "Mo");
  await mo.isConnected();
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const ben = await (await Visitor.open(browser, url)).enter(room, "Ben");
  await ben.say("buy my pills");
  await ada.message("buy my pills").waitFor();
  const bar = mo.page.getByTestId("reports-bar");
  expect(await bar.count()).toBe(0);
  await report(ada, "buy my pills", "spam");
  await mo.reads("reports-bar", /1 report.*Ben: buy my pills.*Ada: spam/);
  expect(await mo.page.getByRole("log").textContent()).toContain("A message of Ben was reported");
  await bar.getByTestId("report-show").click();
  await mo.message("buy my pills").waitFor();
  expect(await ada.page.getByTestId("reports-bar").count(), "members hear nothing").toBe(0);
  await ben.use("buy my pills", "more");
  await ben.choose("Delete");
  await ben.page.getByTestId("dialog-submit").click();
  await mo.reads("reports-bar", /deleted by Ben; the room keeps no text of deleted messages/);
  await bar.getByTestId("report-dismiss").click();
  await bar.waitFor({ state: "detached" });

  // All reports of one reporter at once, on the operator page.
  for (const text of ["one", "two", "three"]) {
    await ben.say(text);
    await ada.message(text).waitFor();
    await report(ada, text, "nonsense");
  }
  await mo.reads("reports-bar", /3 reports/);
  const complaints: string[] = [];
  const page = await operate(await tokenFor("olga", { role: "service" }), complaints);
  await page.goto(`${url}/admin#room/${room}`);
  await page.getByTestId("dismiss-reporter").first().click();
  await comes(page, "said", /only Ada made were dismissed/);
  await page.getByTestId("report").first().waitFor({ state: "detached" });
  await bar.waitFor({ state: "detached" });
  expect([...complaints, ...mo.complaints, ...ada.complaints, ...ben.complaints]).toEqual([]);
  for (const visitor of [mo, ada, ben]) await visitor.close();
  await page.context().close();
});
