// The operator page in a real Chromium against the real server: an operator sees people talk, sends one away, drains and
// deletes a room, and looks for dead letters.
import type { Page } from "playwright-core";
import { expect, it, vi } from "vitest";

import type { Message, Notice } from "../../src/protocol/chat-events.ts";
import { useBrowser, useServer } from "./stage.ts";
import { ask, collect, join, tokenFor } from "./stock-clients.ts";
import { WAIT } from "./visitor.ts";

/** All texts of the status line, in order: some of them are shown for a moment only. */
const OBSERVE_LINE = `globalThis.lines = [];
  new MutationObserver(() => {
    const words = document.querySelector("[data-testid=line]")?.textContent;
    if (words && words !== lines.at(-1)) lines.push(words);
  }).observe(document, { subtree: true, childList: true, characterData: true });`;

const browser = await useBrowser();
/** Its own: on one that others use, too, the list of rooms is as long as it may be. */
const { url } = await useServer();
/** Its rooms have shards from the third member on. */
const crowded = await useServer({ MAX_MEMBERS: "2" });

interface Operating {
  readonly page: Page;
  readonly complaints: string[];
  readonly reads: (testId: string, text: string | RegExp) => Promise<void>;
  readonly confirm: (typed: string) => Promise<void>;
}

async function operate(at = url): Promise<Operating> {
  const page = await (await browser.newContext()).newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.addInitScript(OBSERVE_LINE);
  await page.goto(`${at}/admin`);
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

it("an operator sees the shards of a big room, and counts all connections", async () => {
  const room = "operated-big";
  for (const user of ["ada", "ben", "cyd", "dan", "eve"]) await join(crowded.url, room, user);
  const operator = await operate(crowded.url);
  const { page, reads } = operator;
  await signIn(operator, await tokenFor("olga", { role: "service" }));
  await page.locator(`[data-testid=room-row][data-room="${room}"] a`).click();
  await reads("connections", /^6$/);
  const counts = (): Promise<string[]> => page.getByTestId("shard-connections").allTextContents();
  await vi.waitFor(async () => expect((await counts()).reduce((sum, text) => sum + Number(text), 0)).toBe(3), WAIT);
  expect(await page.getByTestId("shard").count()).toBeGreaterThan(1);
  expect(operator.complaints).toEqual([]);
});

it("an operator sees who uploaded which file, and how large they are", async () => {
  const operator = await operate();
  const { page } = operator;
  for (const [user, name] of [
    ["ada", "menu.txt"],
    ["ben", "<b>plan.txt"],
  ]) {
    const headers = { Authorization: `Bearer ${await tokenFor(user!)}`, "Content-Type": "text/plain" };
    const file = `${url}/api/rooms/stored-1/files?name=${encodeURIComponent(name!)}`;
    expect((await fetch(file, { method: "POST", headers, body: "x".repeat(2000) })).status).toBe(201);
  }
  await signIn(operator, await tokenFor("olga", { role: "service" }));
  await page.getByTestId("tab-files").click();
  const rows = page.getByTestId("stored-file");
  await vi.waitFor(async () => expect(await rows.count()).toBe(2), WAIT);
  const texts = await rows.allTextContents();
  expect(texts[0]).toMatch(/^stored-1adamenu\.txttext\/plain2\.0 kB/);
  expect(texts[1]).toContain("<b>plan.txt");
  expect(await page.getByTestId("files-sum").textContent()).toBe("2 files shown, 4.0 kB");
  expect(operator.complaints).toEqual([]);
});

it("an operator watches two members talk, kicks one, drains and deletes the room", async () => {
  const room = "operated-1";
  const [ada, ben] = [await join(url, room, "ada"), await join(url, room, "ben")];
  const notices = collect<Notice>(ada, "notice");
  const operator = await operate();
  const { page, reads } = operator;
  await signIn(operator, await tokenFor("olga", { role: "service" }));
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

it("shows the API's reason when it refuses a token", async () => {
  const operator = await operate();
  await signIn(operator, "nonsense");
  await operator.reads("sign-in-problem", /^UNAUTHORIZED: /);
  await signIn(operator, await tokenFor("ada", { role: "member" }));
  await operator.reads("sign-in-problem", /^FORBIDDEN: /);
  await operator.page.context().close();
});

it("a moderator sees their rooms, without the actions that only a service may take", async () => {
  const room = "operated-2";
  await join(url, room, "ada");
  const operator = await operate();
  await signIn(operator, await tokenFor("mia", { role: "moderator", rooms: [room] }));
  const { page, reads } = operator;
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
  await page.context().close();
});

it("Enter of an input method does not sign in", async () => {
  const operator = await operate();
  const { page } = operator;
  await page.getByTestId("token").fill("half a token");
  const devtools = await page.context().newCDPSession(page);
  const key = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 229 };
  for (const type of ["rawKeyDown", "keyUp"] as const) await devtools.send("Input.dispatchKeyEvent", { type, ...key });
  await page.getByTestId("token").fill("");
  await page.keyboard.press("Enter");
  await operator.reads("sign-in-problem", "Paste a token.");
  expect(operator.complaints).toEqual([]);
});
