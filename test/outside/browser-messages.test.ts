// Messages in a real Chromium against the real server: two people talk, and what the page shows, copies and reads aloud of a message
// follows its edits and its deletion.
import type { Locator } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const enter = sharedPage(() =>
  Visitor.open(browser, url, { permissions: ["clipboard-read", "clipboard-write"], ...NO_WORKER }),
);
/** Another reader, of the first tests. */
const enterToo = sharedPage(() => Visitor.open(browser, url, NO_WORKER));
type Client = Awaited<ReturnType<typeof join>>;
const person = async (room: string, user: string, name: string): Promise<Client> =>
  join(url, room, user, { auth: { token: await tokenFor(user, { name }) } });

it("keys mark what is selected and can be undone, an address becomes a link of a text, and lists, links and code with colours are drawn", async () => {
  const room = "messages-marks";
  const ada = await enter(room);
  const ben = await enterToo(room, "Ben");
  const { page } = ada;
  const field = page.getByTestId("composer");
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await field.pressSequentially("a word");
  await press("Control+Shift+ArrowLeft", "Control+b");
  await ada.drafts("a **word**");
  await press("Control+b", "Control+i");
  await ada.drafts("a _word_");
  await press("Control+z");
  await ada.drafts("a word");
  await press("Control+Shift+x");
  await ada.drafts("a ~~word~~");
  // At a caret: the mark's end by the same key.
  await press("End", "Space", "Control+e");
  await page.keyboard.type("code");
  await press("Control+e", "Space", "Control+b", "Control+b");
  await ada.drafts("a ~~word~~ `code` ");
  await page.keyboard.type("docs");
  await press("Control+Shift+ArrowLeft");
  await paste(field, "https://docs.example/x");
  await ada.drafts("a ~~word~~ `code` [docs](https://docs.example/x)");
  await press("Control+z");
  await ada.drafts("a ~~word~~ `code` docs");
  await paste(field, "https://docs.example/x");
  await press("Control+/");
  await page.getByText("Ctrl B / Ctrl I").waitFor();
  await press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await press("Enter");
  const words = ben.page.locator(".content");
  const link = words.getByRole("link", { name: "docs" });
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe("https://docs.example/x");

  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await ben.page.route("**/assets/coloured-code-*.js", (route) => held.then(() => route.continue()));
  await ada.say("Mail ada@a.example:\n3. three\n4. four\n   - below\n```ts\nconst four = 4; // not 5\n```");
  const [list, code] = [ben.page.locator(".content ol"), ben.page.locator(".content pre")];
  await code.waitFor();
  expect(await words.getByRole("link", { name: "ada@a.example" }).getAttribute("href")).toBe("mailto:ada@a.example");
  expect([await list.getAttribute("start"), await list.locator("> li").count()]).toEqual(["3", 2]);
  expect(await list.locator("ul li").allTextContents()).toEqual(["below"]);
  // The text is there, and moves nothing when its colours come.
  const place = async (): Promise<number[]> => Object.values((await code.boundingBox())!).map(Math.round);
  const before = await place();
  expect(await code.textContent()).toBe("const four = 4; // not 5");
  release();
  await ben.page.locator(".code-keyword").filter({ hasText: "const" }).waitFor();
  expect(await code.textContent()).toBe("const four = 4; // not 5");
  expect(await place()).toEqual(before);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

it("two people chat, reply, edit, react and delete, see each other type, read, come and go, and one reloads", async () => {
  const room = "messages-talk";
  const ada = await enter(room);
  const ben = await enterToo(room, "Ben");
  await Promise.all([ada.countsMembers(2), ben.countsMembers(2)]);
  await ada.page.getByTestId("composer").pressSequentially("first words…");
  await ben.reads("typing", "Ada is typing…");
  await ada.page.keyboard.press("Enter");
  await ben.sees("first words…");
  await ben.reads("typing", /^$/);
  const seen = ada.page.getByTestId("seen-by");
  await vi.waitFor(async () => expect(await seen.getAttribute("aria-label")).toBe("Seen by Ben"), WAIT);

  await ben.use("first words", "reply");
  await ben.reads("about", "Ada");
  await ben.say("an answer\nin two lines");
  await ada.reads("quote", /Ada\s*first words/);

  await ada.use("first words", "more");
  await ada.choose("Edit");
  await ada.drafts("first words…");
  await ada.say("better words");
  for (const visitor of [ada, ben]) await visitor.sees("better words", "an answer\nin two lines");
  await ben.reads("quote", /better words/);

  await ben.use("better words", "react");
  await ben.page.getByTestId("emoji-👍").first().click();
  await ada.reads("reaction", "1");
  await ada.page.getByTestId("reaction").click();
  await ben.reads("reaction", "2");
  await ben.page.getByTestId("reaction").click();
  await ada.reads("reaction", "1");

  // Straight back into the room, as the same guest as before.
  await ben.page.reload();
  await ben.sees("better words", "an answer\nin two lines");
  await Promise.all([ada.countsMembers(2), ben.countsMembers(2)]);
  await expect.poll(() => ben.page.locator("[data-testid=message].own").count()).toBe(1);
  await ben.use("an answer", "more");
  await ben.choose("Delete");
  await ben.page.getByTestId("dialog-submit").click();
  for (const visitor of [ada, ben]) await visitor.sees("better words");
  await ben.close();
  await ada.countsMembers(1);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
});

it("guests keep their names in mentions while they type and after they left; two of one name are distinguishable", async () => {
  const room = "messages-guests";
  const guest = (digit: string): string => `guest-${digit.repeat(16)}`;
  const [ben, other] = [await person(room, guest("b"), "Ben"), await person(room, guest("c"), "Ben")];
  await ask(ben, "chat-message", { content: "my words" });
  const ada = await enter(room);
  const { page } = ada;
  await ada.countsMembers(3);
  const rawIds = (): Promise<number> => page.getByText(/guest-[0-9a-f]{16}/).count();
  await page.getByRole("button", { name: "3 members" }).click();
  const members = page.getByTestId("members").locator("li");
  await vi.waitFor(async () => expect(await members.count()).toBe(3), WAIT);
  expect(new Set(await members.allTextContents()).size).toBe(3);
  expect(await rawIds()).toBe(0);

  await page.getByTestId("composer").pressSequentially("hi @be");
  const options = page.getByTestId("suggestions").getByRole("option");
  await vi.waitFor(async () => expect(await options.count()).toBe(2), WAIT);
  const tag = (await ada.message("my words").locator(".tag").textContent())!.trim();
  expect(tag).toMatch(/^#[0-9a-f]{4}$/);
  await options.filter({ hasText: tag }).click();
  await ada.drafts(`hi @Ben${tag} `);
  await page.keyboard.press("Enter");
  await ada.sees("my words", "hi @Ben");
  const { messages } = await ask<{ messages: ReadonlyArray<{ id: string; mentions?: string[] }> }>(ben, "history", {});
  expect(messages[1]!.mentions).toEqual([guest("b")]);
  await ask(ben, "react", { id: messages[1]!.id, emoji: "❤️", on: true });
  for (const reader of [ben, other]) await ask(reader, "read", { seq: 2 });
  const hasNames = async (): Promise<void> => {
    await page.getByRole("button", { name: "❤️ 1: Ben" }).waitFor();
    await page.getByRole("img", { name: /^Seen by .*Ben/ }).waitFor();
  };
  await hasNames();
  for (const each of [ben, other]) each.disconnect();
  await ada.countsMembers(1);
  await page.reload();
  await ada.sees("my words", "hi @Ben");
  await hasNames();
  expect(await rawIds()).toBe(0);
  // The composer shows the text as it was written.
  await ada.use("hi @Ben", "more");
  await ada.choose("Edit");
  await ada.drafts("hi @Ben");
  await page.getByTestId("composer").fill("hello @Ben!");
  await page.keyboard.press("Enter");
  await ada.sees("my words", "hello @Ben!");
  await ada.message("hello").locator(".mention").waitFor();
  expect(ada.complaints).toEqual([]);
});

const paste = (field: Locator, text: string): Promise<void> =>
  field.evaluate((field, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
  }, text);

it("a pasted text that is too long for a message becomes a file, and a note says so while it is there", async () => {
  const ada = await enter("messages-pasted");
  const field = ada.page.getByTestId("composer");
  const note = ada.page.locator("#composer-note");
  await ada.say("first");
  await ada.sees("first");
  const text = "long ".repeat(250);
  await paste(field, text);
  await ada.reads("uploads", /pasted\.txt/);
  await vi.waitFor(async () => expect(await note.textContent()).toContain("attached as pasted.txt"), WAIT);
  await ada.drafts("");
  await ada.page.getByRole("button", { name: "Remove pasted.txt" }).click();
  await vi.waitFor(async () => expect(await note.textContent()).toBe(""), WAIT);
  await paste(field, text);
  await ada.page.locator(".uploads progress").waitFor({ state: "detached" });
  await ada.page.getByTestId("send").click();
  await ada.page.getByTestId("attachment").filter({ hasText: "pasted.txt" }).waitFor();
  await vi.waitFor(async () => expect(await note.textContent()).toBe(""), WAIT);
  expect(ada.complaints).toEqual([]);
});

it("a message of a thousand lines is cut until the user expands it", async () => {
  const room = "messages-long";
  const ada = await enter(room);
  const ben = await person(room, "ben", "Ben");
  const long = `the first line${"\n".repeat(900)}the [last](https://chat.example/) line`;
  await ask(ben, "chat-message", { content: long });
  await ask(ben, "chat-message", { content: "a short one" });
  const [content, more] = [ada.message("the first line").locator(".content"), ada.page.getByTestId("show-more")];
  const height = async (): Promise<number> => (await content.boundingBox())!.height;
  await more.waitFor();
  expect(await height()).toBeLessThan(500);
  await expect.poll(() => more.count()).toBe(1);
  await expect.poll(() => more.getAttribute("aria-expanded")).toBe("false");

  // The list still follows a message that comes.
  await ada.message("a short one").waitFor();
  await more.focus();
  await comesToRest(ada.page);
  const topOf = (): Promise<number> => content.evaluate((box) => box.getBoundingClientRect().top);
  const before = await topOf();
  await ada.page.keyboard.press("Enter");
  await vi.waitFor(async () => expect(await height()).toBeGreaterThan(10_000), WAIT);
  await more.waitFor({ state: "detached" });
  // The reader goes on where they were.
  await vi.waitFor(async () => expect(Math.abs((await topOf()) - before)).toBeLessThan(1), WAIT);
  await expect.poll(() => content.evaluate((box) => document.activeElement === box.closest("li"))).toBe(true);
  // It stays open while it is out of sight.
  await ada.page.getByTestId("newest").click();
  await ada.message("a short one").waitFor();
  await vi.waitFor(async () => expect(await ada.page.getByTestId("newest").count()).toBe(0), WAIT);
  expect(await more.count()).toBe(0);
  expect(ada.complaints).toEqual([]);
});

type Posted = PostAnswer & { readonly id: string };

it("found messages, the reply bar and announcements lose what somebody else edits or deletes", async () => {
  const room = "copies-found";
  const ben = await join(url, room, "ben");
  const post = (content: string) => ask<Posted>(ben, "chat-message", { content });
  const [kept, edited] = [await post("needle kept"), await post("needle secretone")];
  // Beyond what the page loads: found messages need not be in the list.
  for (let at = 0; at < 60; at++) await post(`hay ${at}`);
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("hay 59").waitFor();
  const [deleted, aloud] = [await post("needle secrettwo"), await post("needle secretthree")];
  await ask(ben, "chat-message", { content: "an answer", replyTo: aloud.id });
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
  await expect.poll(() => page.locator("body").textContent()).not.toContain("secret");
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
  await page.getByText("Deleted message").waitFor();
  expect(await page.getByTestId("quote").count()).toBe(0);
  await found.nth(3).click();
  await page.locator(".message.target").getByText("Message deleted").waitFor();
  expect(ada.complaints).toEqual([]);
  await page.getByTestId("search-toggle").click();
  ben.disconnect();
});

it("an open menu copies the present text; menu, dialogs and the field of an edit end with their message", async () => {
  const room = "copies-open";
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
  const ada = await enter(room);
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
  await expect.poll(() => page.locator("body").textContent()).not.toContain("secret");
  expect(ada.complaints).toEqual([]);
  mo.disconnect();
});

it("several copied messages have their authors and times, a part of one is copied as it is, and each has its author for a screen reader", async () => {
  const room = "messages-copy";
  const [ben, eve] = [await person(room, "ben", "Ben"), await person(room, "eve", "Eve")];
  await ask(ben, "chat-message", { content: "one **bold**" });
  await ask(ben, "chat-message", { content: "two @eve" });
  await ask(eve, "chat-message", { content: "three" });
  const ada = await enter(room);
  const { page } = ada;
  await ada.message("three").waitFor();
  const copied = async (from: string, to: string): Promise<string> => {
    const [first, last] = [ada.message(from).locator(".content"), ada.message(to).locator(".content")];
    const start = (await first.boundingBox())!;
    const end = (await last.boundingBox())!;
    // A press on selected text would drag it.
    await page.getByTestId("composer").click();
    await page.mouse.move(start.x + 4, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width - 10, end.y + end.height / 2, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.press("Control+c");
    return page.evaluate("navigator.clipboard.readText()");
  };
  await vi.waitFor(async () => {
    expect(await copied("one", "three")).toMatch(
      /^Ben, \d{1,2}:\d\d(\s[AP]M)?\none \*\*bold\*\*\ntwo @Eve\n\nEve, \d{1,2}:\d\d(\s[AP]M)?\nthree$/,
    );
  }, WAIT);
  // The times that are shown to a pointer are no part of a selection.
  await copied("one", "two");
  expect(await page.evaluate("getSelection().toString()")).toMatch(/bold\s+two @Eve$/);
  expect(await page.evaluate("getSelection().toString()")).not.toMatch(/\d:\d\d/);
  await ada.message("two").locator(".content").click({ clickCount: 3 });
  await page.keyboard.press("Control+c");
  expect((await page.evaluate<string>("navigator.clipboard.readText()")).trim()).toBe("two @Eve");
  await vi.waitFor(async () => expect(await copied("three", "three")).toMatch(/^t?hre?e?$/), WAIT);

  const tree = await page.getByTestId("messages").ariaSnapshot();
  const items = tree.split(/^\s*- listitem/m).filter((item) => /one|two|three/.test(item));
  expect(items.length).toBe(3);
  for (const item of items) expect(item).toMatch(/Ben|Eve/);
  // Read aloud, not seen.
  expect((await ada.message("two").locator(".unseen").boundingBox())!.width).toBeLessThan(2);

  // Without https, too; and a sentence tells if the browser copies nothing.
  await page.evaluate(() => Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined }));
  const text = "first line\n  second “line” 日本";
  await ada.say(text);
  await ada.message("first line").and(page.locator("[data-state=sent]")).waitFor();
  const composer = page.getByTestId("composer");
  // Other tests of this browser may copy something in between.
  await vi.waitFor(async () => {
    await ada.use("first line", "more");
    await ada.choose("Copy text");
    await page.locator("[role=menu]").waitFor({ state: "detached" });
    await composer.fill("");
    await composer.press("Control+v");
    expect(await composer.inputValue()).toBe(text);
  }, WAIT);
  await ada.use("first line", "more");
  await page.evaluate(() => (document.execCommand = () => false));
  await ada.choose("Copy text");
  await page
    .getByText("The browser did not copy the text. Select it in the message, and copy it from there.")
    .waitFor();
  // The focus is where it was.
  await expect.poll(() => page.locator(":focus").getAttribute("data-testid")).toBe("more");
  for (const each of [ben, eve]) each.disconnect();
});
