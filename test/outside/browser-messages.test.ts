// Tests actions on messages on the page, in a real Chromium against the real server.
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, next, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `messages-${++rooms}`;
const open = (): Promise<Visitor> => Visitor.open(browser, url);

/** A PNG of one pixel by one. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

it("a message of a thousand lines is cut until the user expands it", async () => {
  const room = freshRoom();
  const ada = await open();
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  await ada.enter(room, "Ada");
  const long = `the first line${"\n".repeat(900)}the [last](https://chat.example/) line`;
  await ask(ben, "chat-message", { content: long });
  await ask(ben, "chat-message", { content: "a short one" });
  const [content, more] = [ada.message("the first line").locator(".content"), ada.page.getByTestId("show-more")];
  const height = async (): Promise<number> => (await content.boundingBox())!.height;
  await more.waitFor();
  expect(await height()).toBeLessThan(500);
  await expect.poll(() => more.count()).toBe(1);
  await expect.poll(() => more.getAttribute("aria-expanded")).toBe("false");

  await more.focus();
  await ada.page.keyboard.press("Enter");
  await vi.waitFor(async () => expect(await height()).toBeGreaterThan(10_000), WAIT);
  await more.waitFor({ state: "detached" });
  // The reader goes on where they were.
  const isWhereItWas = (): Promise<boolean> =>
    content.evaluate((box) => {
      const { top } = box.getBoundingClientRect();
      return top > 0 && top < innerHeight && document.activeElement === box.closest("li");
    });
  await vi.waitFor(async () => expect(await isWhereItWas()).toBe(true), WAIT);
  // It stays open while it is out of sight.
  await ada.page.getByTestId("newest").click();
  await ada.message("a short one").waitFor();
  await vi.waitFor(async () => expect(await ada.page.getByTestId("newest").count()).toBe(0), WAIT);
  expect(await more.count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("both users see a reply, an edit, a reaction and a deletion", async () => {
  const room = freshRoom();
  const [ada, ben] = [await open(), await open()];
  await ada.enter(room, "Ada");
  await ben.enter(room, "Ben");
  await ada.say("first words");
  await ben.sees("first words");

  await ben.use("first words", "reply");
  await ben.reads("about", "Ada");
  await ben.say("an answer");
  await ada.reads("quote", /Ada\s*first words/);

  await ada.use("first words", "more");
  await ada.choose("Edit");
  await ada.drafts("first words");
  await ada.say("better words");
  for (const visitor of [ada, ben]) await visitor.sees("better words", "an answer");
  await ben.reads("quote", /better words/);

  await ben.use("better words", "react");
  await ben.page.getByTestId("emoji-thumbs-up").click();
  await ada.reads("reaction", "1");
  await ada.page.getByTestId("reaction").click();
  await ben.reads("reaction", "2");
  await ben.page.getByTestId("reaction").click();
  await ada.reads("reaction", "1");

  await ben.use("an answer", "more");
  await ben.choose("Delete");
  await ben.page.getByTestId("dialog-submit").click();
  for (const visitor of [ada, ben]) await visitor.sees("better words");
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  await Promise.all([ada.close(), ben.close()]);
});

it("the other user sees typing and read marks", async () => {
  const room = freshRoom();
  const [ada, ben] = [await open(), await open()];
  await ada.enter(room, "Ada");
  await ben.enter(room, "Ben");
  await ada.page.getByTestId("composer").pressSequentially("so…");
  await ben.reads("typing", "Ada is typing…");
  await ada.page.keyboard.press("Enter");
  await ben.sees("so…");
  await ben.reads("typing", /^$/);
  const seen = ada.page.getByTestId("seen-by");
  await vi.waitFor(async () => expect(await seen.getAttribute("aria-label")).toBe("Seen by Ben"), WAIT);
  await Promise.all([ada.close(), ben.close()]);
});

it("a mention is completed by keyboard, and shown to the mentioned user", async () => {
  const room = freshRoom();
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Benedict" }) } });
  const ada = await (await open()).enter(room, "Ada");
  await ada.countsMembers(2);
  const heard = next<Message>(ben, "chat-message");
  await ada.page.getByTestId("composer").pressSequentially("hi @bene");
  await ada.page.getByTestId("suggestions").waitFor();
  await ada.page.keyboard.press("Enter");
  await ada.drafts("hi @Benedict ");
  await ada.page.keyboard.press("Enter");
  expect((await heard).mentions).toEqual(["ben"]);
  await ada.sees("hi @Benedict");
  await ada.close();
});

it("guests keep their names in mentions while they type and after they left; two of one name are distinguishable", async () => {
  const room = freshRoom();
  const [ada, ben, other] = [await open(), await open(), await open()];
  await ben.enter(room, "Ben");
  await ben.say("my words");
  await other.enter(room, "Ben");
  await ada.enter(room, "Ada");
  await ada.countsMembers(3);
  const rawIds = (): Promise<number> => ada.page.getByText(/guest-[0-9a-f]{16}/).count();
  await ada.page.getByRole("button", { name: "3 members" }).click();
  const members = ada.page.getByTestId("members").locator("li");
  await vi.waitFor(async () => expect(await members.count()).toBe(3), WAIT);
  expect(new Set(await members.allTextContents()).size).toBe(3);
  expect(await rawIds()).toBe(0);

  await ada.page.getByTestId("composer").pressSequentially("hi @be");
  const options = ada.page.getByTestId("suggestions").getByRole("option");
  await vi.waitFor(async () => expect(await options.count()).toBe(2), WAIT);
  const tag = (await ada.message("my words").locator(".tag").textContent())!.trim();
  expect(tag).toMatch(/^#[0-9a-f]{4}$/);
  await options.filter({ hasText: tag }).click();
  await ada.drafts(`hi @Ben${tag} `);
  await ada.page.keyboard.press("Enter");
  await ada.sees("my words", "hi @Ben");
  await ben.message("hi @Ben").and(ben.page.locator(".to-me")).waitFor();
  await ben.use("hi @Ben", "react");
  await ben.page.getByTestId("emoji-heart").click();
  await ada.page.getByRole("button", { name: "❤️ 1: Ben" }).waitFor();
  await ada.page.getByRole("img", { name: "Seen by Ben, Ben" }).waitFor();

  await Promise.all([ben.close(), other.close()]);
  await ada.countsMembers(1);
  await ada.page.reload();
  await ada.sees("my words", "hi @Ben");
  await ada.page.getByRole("button", { name: "❤️ 1: Ben" }).waitFor();
  await ada.page.getByRole("img", { name: /^Seen by .*Ben/ }).waitFor();
  expect(await rawIds()).toBe(0);
  // The composer shows the text as it was written.
  await ada.use("hi @Ben", "more");
  await ada.choose("Edit");
  await ada.drafts("hi @Ben ".trim());
  await ada.page.getByTestId("composer").fill("hello @Ben!");
  await ada.page.keyboard.press("Enter");
  await ada.sees("my words", "hello @Ben!");
  await ada.message("hello").locator(".mention").waitFor();
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("files are uploaded, shown by their type, and downloaded unchanged", async () => {
  const room = freshRoom();
  const [ada, ben] = [await open(), await open()];
  await ada.enter(room, "Ada");
  await ben.enter(room, "Ben");
  await ada.page.getByTestId("file-input").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: PIXEL },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("remember the milk") },
  ]);
  await vi.waitFor(async () => expect(await ada.page.locator(".uploads progress").count()).toBe(0), WAIT);
  await ada.say("two files");
  await ben.page.locator(".preview img").waitFor();
  const file = ben.page.getByTestId("attachment").filter({ hasText: "notes.txt" });
  const [download] = await Promise.all([ben.page.waitForEvent("download"), file.click()]);
  expect(download.suggestedFilename()).toBe("notes.txt");
  await ben.page.getByRole("button", { name: "Image dot.png" }).click();
  await ben.page.getByTestId("dialog").locator("img").waitFor();
  await ben.page.keyboard.press("Escape");
  await ben.page.getByTestId("dialog").waitFor({ state: "detached" });
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  await Promise.all([ada.close(), ben.close()]);
});

it("a draft and its reply survive a reload and a visit to another room", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  await ada.say("a question");
  await ada.sees("a question");
  await ada.use("a question", "reply");
  await ada.page.getByTestId("composer").fill("half an ans");
  await ada.page.reload();
  await ada.reads("about", "a question");
  const draft = ada.page.getByTestId("composer");
  await ada.drafts("half an ans");

  await ada.page.getByTestId("new-room").click();
  await ada.page.getByTestId("new-room-name").fill(`${room}-b`);
  await ada.page.keyboard.press("Enter");
  await ada.drafts("");
  // A connection that is given up halfway is a warning to the browser.
  await ada.isConnected();
  await ada.page.locator(`[data-room="${room}"]`).click();
  await ada.drafts("half an ans");
  await draft.press("Enter");
  await ada.sees("a question", "half an ans");
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

// The lobby hears of a busy room now and then only (LOB-2).
it("other rooms are listed with their unread counts", async () => {
  const room = freshRoom();
  const [ada, ben] = [await open(), await open()];
  await ada.enter(room, "Ada");
  await ben.enter(room, "Ben");
  await ben.say("one");
  await ada.sees("one");
  await ada.page.getByTestId("new-room").click();
  await ada.page.getByTestId("new-room-name").fill(`${room}-c`);
  await ada.page.keyboard.press("Enter");
  await ada.reads("room-title", `${room}-c`);
  expect(ada.page.url()).toMatch(new RegExp(`#${room}-c$`));
  await ben.say("two");
  await ben.sees("one", "two");
  const unread = ada.page.locator(`[data-room="${room}"]`).getByTestId("unread");
  await vi.waitFor(async () => expect(await unread.textContent({ timeout: 500 })).toBe("1 new message"), {
    ...WAIT,
    timeout: 120_000,
  });
  await ada.say("of mine");
  await ada.sees("of mine");
  await ada.page.keyboard.press("Alt+ArrowUp");
  await ada.sees("one", "two");
  await ada.page.getByTestId("unread-line").waitFor();
  await ada.page.goBack();
  await ada.reads("room-title", `${room}-c`);
  // The arrow alone would have begun to edit it.
  await ada.drafts("");
  await Promise.all([ada.close(), ben.close()]);
});

it("the actions of a message work without a mouse", async () => {
  const room = freshRoom();
  const ada = await (await open()).enter(room, "Ada");
  for (const text of ["one", "two", "three"]) await ada.say(text);
  await ada.sees("one", "two", "three");
  await ada.message("three").focus();
  await ada.page.keyboard.press("ArrowUp");
  await ada.page.keyboard.press("r");
  await ada.reads("about", "two");
  const focused = "document.activeElement.dataset.testid";
  await vi.waitFor(async () => expect(await ada.page.evaluate(focused)).toBe("composer"), WAIT);
  await ada.page.keyboard.press("Escape");
  await ada.page.getByTestId("about").waitFor({ state: "detached" });
  await ada.page.keyboard.press("ArrowUp");
  await ada.drafts("three");
  await ada.page.keyboard.press("Escape");
  await ada.drafts("");
  await ada.page.keyboard.press("Control+/");
  const shortcuts = ada.page.getByRole("heading", { name: "Keyboard shortcuts" });
  await shortcuts.waitFor();
  await ada.page.keyboard.press("Escape");
  // Text typed before the picture is gone goes into its dialog.
  await shortcuts.waitFor({ state: "detached" });
  await ada.page.keyboard.press("Control+Shift+M");
  await ada.page.getByTestId("members").waitFor();
  await ada.close();
});

it("copied messages have no hidden times between them", async () => {
  const ada = await (await open()).enter(freshRoom(), "Ada");
  for (const text of ["one", "two", "three"]) await ada.say(text);
  await ada.sees("one", "two", "three");
  const [first, last] = [
    (await ada.message("one").locator(".content").boundingBox())!,
    (await ada.message("three").locator(".content").boundingBox())!,
  ];
  const { mouse } = ada.page;
  await mouse.move(first.x + 2, first.y + first.height / 2);
  await mouse.down();
  await mouse.move(last.x + last.width - 2, last.y + last.height / 2, { steps: 5 });
  await mouse.up();
  expect(await ada.page.evaluate("getSelection().toString()")).toMatch(/^one\s+two\s+three$/);
  await ada.close();
});

it("a message's text is copied without https, too, and a sentence tells if the browser copies nothing", async () => {
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  // As in a page without https.
  await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined }));
  await ada.enter("messages-copy", "Ada");
  const text = "first line\n  second “line” 日本";
  await ada.say(text);
  await ada.sees(text);
  const composer = page.getByTestId("composer");
  // Other tests of this browser may copy something in between.
  await vi.waitFor(async () => {
    await ada.use("first line", "more");
    await ada.choose("Copy text");
    await page.getByRole("menu").waitFor({ state: "detached" });
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
  expect(await page.locator(":focus").getAttribute("data-testid")).toBe("more");
  expect(ada.complaints).toEqual([]);
  await ada.close();
});
