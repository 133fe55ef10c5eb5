// Copies of a message in the page follow its edits and its deletion by others: results of a search, menus, dialogs, the field of an edit, and
// the texts that are read aloud. In a real Chromium against the real server.
import { expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const browser = await useBrowser();
const url = inject("fastServerUrl");

type Posted = PostAnswer & { readonly id: string };

it("found messages, the reply bar and announcements lose what somebody else edits or deletes", async () => {
  const room = "copies-found";
  const ben = await join(url, room, "ben");
  const post = (content: string) => ask<Posted>(ben, "chat-message", { content });
  const [kept, edited] = [await post("needle kept"), await post("needle secretone")];
  // Beyond what the page loads: found messages need not be in the list.
  for (let at = 0; at < 60; at++) await post(`hay ${at}`);
  const ada = await (await Visitor.open(browser, url)).enter(room, "Ada");
  const { page } = ada;
  await ada.message("hay 59").waitFor();
  const [deleted, aloud] = [await post("needle secrettwo"), await post("needle secretthree")];
  const log = page.getByRole("log");
  await vi.waitFor(async () => expect(await log.textContent()).toContain("secretthree"), WAIT);
  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("needle");
  await page.keyboard.press("Enter");
  await ada.reads("search-outcome", "4 found");
  await ada.use("secretthree", "reply");
  await ada.reads("about", "secretthree");

  await ask(ben, "edit-message", { id: edited.id, content: "calm needle" });
  await ask(ben, "delete-message", { id: deleted.id });
  await ask(ben, "edit-message", { id: aloud.id, content: "tame needle" });
  const found = page.getByTestId("found").locator(".excerpt");
  await vi.waitFor(
    async () =>
      expect(await found.allTextContents()).toEqual(["tame needle", "Message deleted", "calm needle", "needle kept"]),
    WAIT,
  );
  await ada.reads("about", "tame needle");
  await vi.waitFor(async () => expect(await log.textContent()).toContain("tame needle"), WAIT);
  expect(await page.locator("body").textContent()).not.toContain("secret");
  await ask(ben, "delete-message", { id: aloud.id });
  await ask(ben, "delete-message", { id: kept.id });
  await vi.waitFor(
    async () =>
      expect(await found.allTextContents()).toEqual([
        "Message deleted",
        "Message deleted",
        "calm needle",
        "Message deleted",
      ]),
    WAIT,
  );
  await ada.reads("about", "a message that was deleted");
  await vi.waitFor(async () => expect(await log.textContent()).not.toContain("needle"), WAIT);
  expect(ada.complaints).toEqual([]);
  ben.disconnect();
  await ada.close();
});

it("an open menu copies the present text; menu, dialogs and the field of an edit end with their message", async () => {
  const room = "copies-open";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
  const ada = await (
    await Visitor.open(browser, url, { permissions: ["clipboard-read", "clipboard-write"] })
  ).enter(room, "Ada");
  const { page } = ada;
  const say = async (text: string): Promise<string> => {
    await ada.say(text);
    await page.locator("[data-testid=message][data-state=sent]").filter({ hasText: text }).waitFor();
    const { messages } = await ask<{ messages: Array<{ id: string; content: string }> }>(mo, "history", {});
    return messages.find(({ content }) => content === text)!.id;
  };
  const edit = (id: string, content: string) => ask(mo, "edit-message", { id, content });
  const remove = (id: string) => ask(mo, "delete-message", { id });

  const one = await say("secret one");
  await ada.use("secret one", "more");
  await edit(one, "calm one");
  await ada.message("calm one").waitFor();
  await ada.choose("Copy text");
  await vi.waitFor(
    async () => expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("calm one"),
    WAIT,
  );

  await ada.use("calm one", "more");
  await ada.choose("Delete");
  await edit(one, "dull one");
  const dialog = page.getByRole("dialog");
  await vi.waitFor(async () => expect(await dialog.locator("blockquote").textContent()).toBe("dull one"), WAIT);
  await remove(one);
  await vi.waitFor(async () => expect(await dialog.count()).toBe(0), WAIT);

  const two = await say("secret two");
  await ada.use("secret two", "more");
  await page.getByRole("menu").waitFor();
  await remove(two);
  await vi.waitFor(async () => expect(await page.getByRole("menu").count()).toBe(0), WAIT);

  const three = await say("secret three");
  await ada.use("secret three", "more");
  await ada.choose("Edit");
  await ada.drafts("secret three");
  await edit(three, "calm three");
  await ada.drafts("calm three");
  await ada.reads("about", "calm three");
  await page.getByTestId("composer").fill("my words");
  await remove(three);
  await ada.reads("edit-problem", "The message was deleted");
  await ada.drafts("my words");
  expect(await page.locator("body").textContent()).not.toContain("secret");
  expect(ada.complaints).toEqual([]);
  mo.disconnect();
  await ada.close();
});
