// Drafts in a real Chromium against the real server: no typed text is lost, and no user sees the draft
// of another one.
import type { Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `drafts-${++rooms}`;
const open = (): Promise<Visitor> => Visitor.open(browser, url);

async function field(page: Page, text: string): Promise<void> {
  const composer = page.getByTestId("composer");
  await vi.waitFor(async () => expect(await composer.inputValue({ timeout: 500 })).toBe(text), WAIT);
}

it("another user's token shows no draft of the user before, for whom it is kept", async () => {
  const room = freshRoom();
  const visitor = await open();
  const comesBack = async (user: string): Promise<void> => {
    await visitor.enterWith(await tokenFor(user, { name: "Ada" }), room, "Ada");
    await visitor.page.reload();
    await visitor.isConnected();
  };
  await comesBack("ada");
  await visitor.page.getByTestId("composer").fill("dear diary");
  await comesBack("ben");
  await visitor.drafts("");
  await visitor.page.getByTestId("composer").fill("of ben");
  await comesBack("ada");
  await visitor.drafts("dear diary");
  await visitor.close();
});

it("two tabs of one user share the draft until it is sent", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  const other = await ada.context.newPage();
  await ada.page.getByTestId("composer").fill("half an");
  await other.goto(`${url}/#${room}`);
  await field(other, "half an");
  await other.getByTestId("composer").focus();
  await other.keyboard.press("End");
  await other.keyboard.type(" answer");
  await ada.drafts("half an answer");
  await ada.page.getByTestId("composer").press("End");
  await ada.page.getByTestId("composer").pressSequentially(" more");
  await field(other, "half an answer more");
  await other.getByTestId("composer").press("Enter");
  await ada.sees("half an answer more");
  await ada.drafts("");
  await field(other, "");
  await ada.close();
});

it("uploaded files that were not sent survive a reload, and can be removed or sent", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  const files = ["kept.txt", "dropped.txt"].map((name) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(name),
  }));
  await ada.page.getByTestId("file-input").setInputFiles(files);
  const chips = ada.page.getByTestId("uploads").locator(".file-name");
  const carries = (...names: string[]): Promise<void> =>
    vi.waitFor(async () => expect(await chips.allTextContents()).toEqual(names), WAIT);
  await carries("kept.txt", "dropped.txt");
  // A reload cancels uploads that are under way.
  await vi.waitFor(async () => expect(await ada.page.locator(".uploads progress").count()).toBe(0), WAIT);
  await ada.page.reload();
  await ada.isConnected();
  await carries("kept.txt", "dropped.txt");
  await ada.page.getByRole("button", { name: "Remove dropped.txt" }).click();
  await carries("kept.txt");
  await ada.page.reload();
  await ada.isConnected();
  await carries("kept.txt");
  await ada.say("see this");
  await ada.page.getByTestId("attachment").filter({ hasText: "kept.txt" }).waitFor();
  await ada.sees("see this");
  await ada.page.reload();
  await ada.sees("see this");
  await carries();
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("an unfinished edit waits while a reply is written, and continues once it is sent", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  const ben = await join(url, room, "ben");
  await ada.say("first words");
  await ada.sees("first words");
  await ask(ben, "chat-message", { content: "a question" });
  await ada.use("first words", "more");
  await ada.choose("Edit");
  await ada.drafts("first words");
  await ada.page.getByTestId("composer").fill("better words");
  await ada.use("a question", "reply");
  await ada.drafts("");
  await ada.reads("about", "Your edit waits");
  await ada.page.reload();
  await ada.reads("about", "Your edit waits");
  await ada.say("an answer");
  await ada.sees("first words", "a question", "an answer");
  await ada.drafts("better words");
  await ada.page.getByTestId("composer").press("Enter");
  await ada.sees("better words", "a question", "an answer");
  await ada.drafts("");
  await ada.close();
});
