// Checks every state of the page with axe-core: no serious accessibility problem.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const ROOM = "accessible";
const DESKTOP = { viewport: { width: 1200, height: 800 } };
const PHONE = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
const VIEWS = [
  ["desktop, light", { ...DESKTOP, colorScheme: "light" }],
  ["desktop, dark", { ...DESKTOP, colorScheme: "dark" }],
  ["phone, light", { ...PHONE, colorScheme: "light" }],
  ["phone, dark", { ...PHONE, colorScheme: "dark" }],
] as const;

const browser = await useBrowser();
const moderator = await tokenFor("mo", { role: "moderator", name: "Mo" });

let ben: Awaited<ReturnType<typeof join>>;

beforeAll(talk);

/** One of everything that a message can have in it. */
async function talk(): Promise<void> {
  ben = await join(url, ROOM, "ben", { auth: { token: await tokenFor("ben", { name: "Ben Okafor" }) } });
  const mo = await join(url, ROOM, "mo", { auth: { token: moderator } });
  const said = async (by: typeof ben, content: string, replyTo?: string): Promise<string> => {
    const payload = { content, ...(replyTo !== undefined && { replyTo }) };
    const answer = await ask<PostAnswer>(by, "chat-message", payload);
    if (!("ok" in answer)) throw new Error(answer.error.message);
    return answer.id;
  };
  const question = await said(ben, "Who has **the key** to `room 4`? See https://example.com/keys, @mo.");
  const answer = await said(mo, "I do.\n> the key\n```\nleft drawer\n```", question);
  await ask(ben, "react", { id: answer, emoji: "❤", on: true });
  await ask(mo, "react", { id: answer, emoji: "❤", on: true });
  await ask(ben, "edit-message", {
    id: question,
    content: "Who has **the key** to `room 4`? https://example.com, @mo",
  });
  const wrong = await said(ben, "not this one");
  await ask(ben, "delete-message", { id: wrong });
  await said(mo, "Anything else?");
  for (const id of [question, answer]) await ask(mo, "pin", { id });
  await ask(ben, "report-message", { id: answer, reason: "not his key" });
  mo.disconnect();
}

async function findings(page: Page): Promise<string[][]> {
  await page.evaluate(axe.source);
  return page.evaluate(`axe.run().then(({ violations }) =>
    violations.filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => [id, ...nodes.map(({ html, failureSummary }) => html + " " + failureSummary)]))`);
}

async function passes(page: Page, state: string): Promise<void> {
  const violations = await findings(page);
  expect({ state, violations }).toEqual({ state, violations: [] });
}

it("axe finds a planted fault", async () => {
  const { page } = await Visitor.open(browser, url);
  await page.goto(url);
  await page.getByTestId("join").evaluate((button) => (button.textContent = ""));
  expect((await findings(page)).map(([rule]) => rule)).toEqual(["button-name"]);
  await page.context().close();
});

describe.each(VIEWS)("%s", (_, view) => {
  it("the join form, with and without errors", async () => {
    const ada = await Visitor.open(browser, url, { ...view, reducedMotion: "reduce" });
    await ada.page.goto(url);
    await ada.page.getByTestId("join").waitFor();
    await passes(ada.page, "join");
    await ada.page.getByTestId("room").fill("no spaces");
    await ada.page.getByTestId("join").click();
    await passes(ada.page, "join with problems");
    await ada.close();
  });

  it("the room, its panels, menus and dialogs, online and offline", async () => {
    const mo = await Visitor.open(browser, url, { ...view, reducedMotion: "reduce" });
    await mo.enterWith(moderator, ROOM, "Mo");
    await mo.isConnected();
    const { page } = mo;
    const isPhone = view.viewport.width < 500;
    await mo.message("Anything else?").waitFor();
    await page.getByTestId("pinned").waitFor();
    await passes(page, "room with pinned messages");

    await mo.message("Who has the key").focus();
    await passes(page, "message with the focus");
    await page.keyboard.press("+");
    await page.getByTestId("emoji-heart").waitFor();
    await passes(page, "reaction picker");
    await page.keyboard.press("Escape");
    const dialog = page.getByTestId("dialog");
    await mo.use("Who has the key", "more");
    await passes(page, "menu of a message");
    await mo.choose("Ban");
    await dialog.waitFor();
    await passes(page, "ban dialog");
    await page.keyboard.press("Escape");
    await mo.use("Anything else?", "more");
    await mo.choose("Delete");
    await dialog.waitFor();
    await passes(page, "delete dialog");
    await page.keyboard.press("Escape");
    await mo.use("Who has the key", "reply");
    await page.getByTestId("composer").fill("hm @b");
    await page.getByTestId("suggestions").waitFor();
    await passes(page, "reply with a completion");
    await page.keyboard.press("Escape");

    for (const item of ["Moderate this room", "Keyboard shortcuts"]) {
      await page.getByTestId("room-menu").click();
      await page.getByRole("menuitem", { name: item }).click();
      await dialog.waitFor();
      await passes(page, item);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }

    if (isPhone) {
      await page.getByTestId("rooms-toggle").click();
      await passes(page, "list of rooms");
    }
    await page.getByTestId("new-room").click();
    await dialog.waitFor();
    await passes(page, "new room");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    if (isPhone) await page.getByRole("button", { name: "Close the list of rooms" }).click();

    await page.getByRole("button", { name: /members?$/ }).click();
    await page.getByTestId("members").waitFor();
    await passes(page, "members");
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await page.getByTestId("search-toggle").click();
    await page.getByTestId("search-field").fill("key");
    await page.keyboard.press("Enter");
    await mo.reads("search-outcome", /found$/);
    await passes(page, "search");
    await page.getByRole("button", { name: "Close", exact: true }).click();

    await mo.context.setOffline(true);
    await mo.stands("offline");
    await mo.say("**when** I am back: `soon`, https://example.com/train\n> the key\n```sh\nopen\n```");
    await page.locator("[data-testid=message][data-state=pending] a").waitFor();
    await passes(page, "offline, with a message that waits");
    await mo.close();
  });

  it("the dialog that reports a message, and the operators' list of reports", async () => {
    const ada = await Visitor.open(browser, url, { ...view, reducedMotion: "reduce" });
    await ada.enter(ROOM, "Ada");
    await ada.use("Who has the key", "more");
    await ada.choose("Report…");
    await ada.page.getByTestId("dialog-submit").click();
    await passes(ada.page, "report without a reason");
    await ada.close();
    const operator = await Visitor.open(browser, url, { ...view, reducedMotion: "reduce" });
    const { page } = operator;
    await page.goto(`${url}/admin#room/${ROOM}`);
    await page.getByTestId("token").fill(await tokenFor("olga", { role: "service" }));
    await page.keyboard.press("Enter");
    await page.getByTestId("tab-reports").waitFor();
    // The room reports to its lobby with its next wake.
    await vi.waitFor(async () => {
      await ask(ben, "presence", {});
      await page.reload();
      await page.getByTestId("report").waitFor({ timeout: 2000 });
    }, WAIT);
    await passes(page, "a room with reports");
    await page.getByTestId("tab-reports").click();
    await page.getByTestId("report").first().waitFor();
    await passes(page, "reports over all rooms");
    await operator.close();
  });
});
