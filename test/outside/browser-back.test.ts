// Back on a phone, in a real Chromium: it closes what is open over the chat, and leaves the chat only if nothing is.
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it } from "vitest";

import { useBrowser } from "./stage.ts";
import { tokenFor } from "./stock-clients.ts";
import { Visitor } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** The page that the reader comes from. */
const BEFORE = `${url}/health`;

async function enter(room: string): Promise<Visitor> {
  const ada = await Visitor.open(browser, url, PHONE);
  await ada.page.goto(BEFORE);
  await ada.enterWith(await tokenFor("ada", { name: "Ada", role: "moderator" }), room, "Ada");
  await ada.isConnected();
  return ada;
}
const tap = (ada: Visitor, testId: string): Promise<void> => ada.page.getByTestId(testId).first().tap();
async function tool(ada: Visitor, testId: "react" | "more"): Promise<void> {
  await ada.message("words").locator(".content").tap();
  await ada.message("words").getByTestId(testId).tap();
}
async function fromMenu(ada: Visitor, item: string): Promise<void> {
  await tap(ada, "room-menu");
  await ada.choose(item);
}
async function back({ page }: Visitor): Promise<void> {
  await page.goBack();
}
const isAt = (ada: Visitor, address: string): Promise<void> => expect.poll(() => ada.page.url()).toBe(address);
/** Only the current entry can tell: the history has no entry of a closed layer before this one. */
async function leaves(ada: Visitor): Promise<void> {
  await expect.poll(() => ada.page.evaluate(() => history.state as unknown)).toBe(null);
  await back(ada);
  await isAt(ada, BEFORE);
}

const OPENING: Readonly<Record<string, readonly [open: (ada: Visitor) => Promise<unknown>, shown: string]>> = {
  "the list of rooms": [(ada) => tap(ada, "rooms-toggle"), ".with-rooms"],
  "the search": [(ada) => tap(ada, "search-toggle"), "[data-testid=search-field]"],
  "the members": [(ada) => ada.page.locator(".members-toggle").tap(), "[data-testid=members]"],
  "the menu": [(ada) => tap(ada, "room-menu"), "[role=menu]"],
  "a message's menu": [(ada) => tool(ada, "more"), "[role=menu]"],
  "the reactions": [(ada) => tool(ada, "react"), ".picker"],
  "the shortcuts": [(ada) => fromMenu(ada, "Keyboard shortcuts"), "dialog"],
  "the moderation of the room": [(ada) => fromMenu(ada, "Moderate this room"), "dialog"],
  "the question before a message is deleted": [
    async (ada) => {
      await tool(ada, "more");
      await ada.choose("Delete");
    },
    "dialog",
  ],
  "a picture": [(ada) => ada.page.locator(".preview").tap(), "dialog.viewer"],
};

it("Back closes whatever is open, and the next one leaves the chat", async () => {
  const ada = await enter("back-all");
  const file = { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(DOT, "base64") };
  await ada.page.getByTestId("file-input").setInputFiles(file);
  await ada.page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  await ada.say("words");
  await ada.page.locator(".preview img").waitFor();
  for (const [name, [open, shown]] of Object.entries(OPENING)) {
    await open(ada);
    await ada.page.locator(shown).waitFor({ state: "attached" });
    await expect.poll(() => ada.page.evaluate(() => history.state as unknown), { message: name }).not.toBe(null);
    await back(ada);
    await ada.page.locator(shown).waitFor({ state: "detached" });
    expect(ada.page.url(), name).toBe(`${url}/#back-all`);
  }
  await leaves(ada);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("what is closed by other means leaves no entry behind", async () => {
  const ada = await enter("back-closed");
  const { page } = ada;
  await ada.say("words");
  await ada.sees("words");
  await tap(ada, "search-toggle");
  await page.locator(".side-panel").getByRole("button", { name: "Close" }).tap();
  await tap(ada, "rooms-toggle");
  await page.getByRole("button", { name: "Close the list of rooms" }).tap();
  await fromMenu(ada, "Keyboard shortcuts");
  await page.getByTestId("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  // A tap elsewhere closes a menu; one on an item does, too.
  await tap(ada, "room-menu");
  await page.touchscreen.tap(10, 300);
  await page.getByRole("menu").waitFor({ state: "detached" });
  await tool(ada, "more");
  await ada.choose("Edit");
  await ada.drafts("words");
  // From one panel to the other, and through the search to a message.
  await page.evaluate(() => document.querySelector<HTMLElement>(".members-toggle")!.click());
  await page.getByTestId("members").waitFor();
  await page.evaluate(() => document.querySelector<HTMLElement>("[data-testid=search-toggle]")!.click());
  await page.getByTestId("search-field").fill("words");
  await page.keyboard.press("Enter");
  await page.getByTestId("found").getByRole("button").first().tap();
  await page.getByTestId("search-field").waitFor({ state: "detached" });
  await leaves(ada);
  await ada.close();
});

it("a dialog over a list closes first, and a room that is chosen there takes the list's place", async () => {
  const ada = await enter("back-one");
  const { page } = ada;
  const list = page.locator(".with-rooms");
  await tap(ada, "rooms-toggle");
  await tap(ada, "new-room");
  await page.getByTestId("dialog").waitFor();
  await back(ada);
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await list.waitFor();
  await tap(ada, "new-room");
  await page.getByTestId("new-room-name").fill("back-two");
  await page.keyboard.press("Enter");
  await isAt(ada, `${url}/#back-two`);
  await ada.reads("room-title", "back-two");
  await tap(ada, "rooms-toggle");
  await page.locator("[data-room=back-one]").tap();
  await isAt(ada, `${url}/#back-one`);
  await ada.isConnected();
  for (const room of ["back-two", "back-one"]) {
    await back(ada);
    await isAt(ada, `${url}/#${room}`);
    await ada.reads("room-title", room);
    expect(await list.count()).toBe(0);
  }
  await leaves(ada);
  await ada.close();
});

it("Forward, and a reload, do not bring back what was closed", async () => {
  const ada = await enter("back-forward");
  const { page } = ada;
  await tap(ada, "search-toggle");
  await page.getByTestId("search-field").waitFor();
  await back(ada);
  await page.getByTestId("search-field").waitFor({ state: "detached" });
  await page.goForward();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  expect(await page.getByTestId("search-field").count()).toBe(0);

  await fromMenu(ada, "Keyboard shortcuts");
  await page.getByTestId("dialog").waitFor();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).not.toBe(null);
  await page.reload();
  await ada.isConnected();
  expect(await page.getByTestId("dialog").count()).toBe(0);
  await leaves(ada);
  await ada.close();
});

it("on a wide screen with a mouse, panels and dialogs have no entry", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("back-wide", "Ada");
  const length = (): Promise<number> => ada.page.evaluate(() => history.length);
  const before = await length();
  await ada.page.getByTestId("search-toggle").click();
  await ada.page.getByTestId("search-field").waitFor();
  await ada.page.keyboard.press("Control+/");
  await ada.page.getByTestId("dialog").waitFor();
  expect(await length()).toBe(before);
  await ada.close();
});

it("Back closes a dialog of the operator page, and leaves the view afterwards", async () => {
  const room = "back-operated";
  const ada = await enter(room);
  const { page } = ada;
  await page.goto(`${url}/admin`);
  await page.getByTestId("token").fill(await tokenFor("olga", { role: "service" }));
  await tap(ada, "sign-in-submit");
  await page.getByTestId("tab-rooms").waitFor();
  await page.evaluate((room) => (location.hash = `#room/${room}`), room);
  await tap(ada, "drain");
  await page.getByTestId("dialog").waitFor();
  await back(ada);
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await isAt(ada, `${url}/admin#room/${room}`);
  await tap(ada, "drain");
  await page.getByRole("button", { name: "Cancel" }).tap();
  await expect.poll(() => page.evaluate(() => history.state as unknown)).toBe(null);
  await back(ada);
  await isAt(ada, `${url}/admin`);
  await ada.close();
});
