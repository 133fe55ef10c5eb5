// The composer in a real Chromium against the real server: drafts and edits, keys of hardware, of input methods and of touch screens,
// suggestions, and what is in view once it is sent.
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, next, tokenFor } from "./stock-clients.ts";
import { NO_WORKER, sharedPage, tap, Visitor, WAIT } from "./visitor.ts";

const url = inject("fastServerUrl");
const browser = await useBrowser();
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const enter = sharedPage(() => Visitor.open(browser, url, NO_WORKER));
const enterOnPhone = sharedPage(() => Visitor.open(browser, url, { ...PHONE, ...NO_WORKER }));

async function edit(ada: Visitor, text: string): Promise<void> {
  await ada.use(text, "more");
  await ada.choose("Edit");
  await ada.drafts(text);
}
const cancel = (ada: Visitor): Promise<void> => ada.page.getByTestId("about").getByRole("button").click();

it("emoji: by codes while they are typed, and by the picker where the caret is, with what was taken last before all others", async () => {
  const ada = await enter("composer-emoji");
  const { page } = ada;
  const { keyboard } = page;
  const composer = page.getByTestId("composer");
  const focused = page.locator(":focus");
  const held = Promise.withResolvers<void>();
  await page.route("**/emoji-data-*", async (route) => {
    await held.promise;
    await route.continue();
  });
  await composer.focus();
  // Late emoji come into no other room.
  await keyboard.type(":smile:");
  await page.getByTestId("new-room").click();
  await page.getByTestId("new-room-name").fill("composer-emoji-b");
  await keyboard.press("Enter");
  await ada.drafts("");
  await ada.isConnected();
  await composer.focus();
  held.resolve();
  await keyboard.type("so :tad");
  await page.getByRole("listbox", { name: "Emoji" }).waitFor();
  await keyboard.press("Enter");
  await ada.drafts("so 🎉 ");
  await keyboard.type("at 10:30:45 `:smile:` and :smile:");
  await ada.drafts("so 🎉 at 10:30:45 `:smile:` and 😄");
  await keyboard.press("Control+z");
  await ada.drafts("so 🎉 at 10:30:45 `:smile:` and :smile:");
  await keyboard.press("Control+a");
  await keyboard.type("no :such: code");
  await ada.drafts("no :such: code");

  for (let letter = 0; letter < "code".length; letter++) await keyboard.press("ArrowLeft");
  const button = page.getByTestId("emoji");
  await button.click();
  const often = page.getByRole("group", { name: "Often used" }).getByRole("button");
  await page.getByRole("group", { name: "Smileys & emotion" }).waitFor();
  expect((await often.allTextContents()).slice(0, 2)).toEqual(["😄", "🎉"]);
  expect(await focused.getAttribute("data-testid")).toBe("emoji-search");
  // Down from the row of eight, to the right, and back up to the field.
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight"]) await keyboard.press(key);
  expect(await focused.getAttribute("aria-label")).toBe("grinning face with big eyes");
  for (const key of ["ArrowUp", "ArrowUp"]) await keyboard.press(key);
  expect(await focused.getAttribute("data-testid")).toBe("emoji-search");
  await page.getByRole("button", { name: "medium dark", exact: true }).click();
  // Letters go to the search, wherever the focus is.
  await focused.press("ArrowDown");
  await keyboard.type("clapping");
  await page.getByTestId("emoji-👏").waitFor();
  await keyboard.press("Shift+Enter");
  await keyboard.press("Enter");
  await page.locator(".picker").waitFor({ state: "detached" });
  await ada.drafts("no :such: 👏🏾👏🏾code");
  expect(await focused.getAttribute("data-testid")).toBe("composer");
  await keyboard.press("Control+z");
  await ada.drafts("no :such: 👏🏾code");

  await page.reload();
  await button.click();
  await expect.poll(async () => (await often.allTextContents())[0]).toBe("👏🏾");
  await keyboard.press("Escape");
  await page.locator(".picker").waitFor({ state: "detached" });
  expect(await focused.getAttribute("data-testid")).toBe("emoji");
  // The button that opened it closes it.
  await button.click();
  await page.locator(".picker").waitFor();
  await button.click();
  await page.locator(".picker").waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
});

it("an edit moves no text of the field, takes no file, needs a text, and lets the draft wait; both survive a reload and a visit to another room; Shift+Tab leads from the field to the messages", async () => {
  const room = "composer-field";
  const ada = await enter(room);
  const { page } = ada;
  const { keyboard } = page;
  const composer = page.getByTestId("composer");
  const focused = page.locator(":focus");
  await ada.say("first words");
  await ada.sees("first words");
  const { x, width } = (await composer.boundingBox())!;
  await composer.fill("my draft");
  await edit(ada, "first words");
  expect(await composer.boundingBox()).toMatchObject({ x, width });
  expect(await page.getByTestId("attach").isDisabled()).toBe(true);
  await composer.evaluate((field) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(["bytes"], "shot.txt", { type: "text/plain" }));
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
  });
  await page.getByText("Files cannot be attached here.").waitFor();
  expect(await page.getByTestId("uploads").count()).toBe(0);
  await composer.fill("better wor");
  await page.reload();
  await ada.drafts("better wor");
  await ada.reads("about", /Editing\s*first words/);
  await cancel(ada);
  await ada.drafts("my draft");

  await edit(ada, "first words");
  await ada.goesTo(`${room}-b`);
  await ada.drafts("");
  await ada.goesTo(room);
  await ada.drafts("first words");
  await composer.click();
  await keyboard.press("Control+A");
  await keyboard.press("Delete");
  await keyboard.press("Enter");
  await ada.reads("edit-problem", "Write a text to save, or delete the message.");
  expect(await composer.getAttribute("placeholder")).toBe("Edit the message");
  await keyboard.type("better words");
  await ada.reads("edit-problem", /^$/);
  await keyboard.press("Enter");
  await ada.sees("better words");
  await ada.drafts("my draft");

  await composer.focus();
  await keyboard.press("Shift+Tab");
  expect(await focused.getAttribute("data-testid")).toBe("message");
  await composer.focus();
  await keyboard.press("Tab");
  expect(await focused.getAttribute("data-testid")).toBe("attach");
  expect((await page.getByTestId("attach").boundingBox())!.x).toBeLessThan(x);
  expect(ada.complaints).toEqual([]);
});

it("typing replaces a selection; a suggestion that was taken can be undone, and what was typed before it, and redone; the mentioned user gets the mention", async () => {
  const room = "composer-undo";
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Benedict" }) } });
  const ada = await enter(room);
  await ada.countsMembers(2);
  const { page } = ada;
  const { keyboard } = page;
  const composer = page.getByTestId("composer");
  await composer.pressSequentially("some words");
  await composer.press("Control+a");
  await composer.pressSequentially("other words");
  await ada.drafts("other words");
  for (let letter = 0; letter < "words".length; letter++) await composer.press("Shift+ArrowLeft");
  await composer.pressSequentially("ones");
  await ada.drafts("other ones");
  await composer.fill("");
  // What follows is all that can be undone.
  await page.reload();
  await ada.isConnected();
  await composer.focus();

  await keyboard.type("hello there");
  for (let letter = 0; letter < "there".length; letter++) await keyboard.press("ArrowLeft");
  await keyboard.type("@be");
  await page.getByTestId("suggestions").waitFor();
  await keyboard.press("Enter");
  await ada.drafts("hello @Benedict there");
  await keyboard.type("and ");
  await ada.drafts("hello @Benedict and there");
  const undone: string[] = [];
  const text = (): Promise<string> => composer.inputValue();
  // How many letters the browser takes back at once, or brings back, depends on how fast they were typed.
  for (let tries = 0; tries < 40 && (await text()) !== ""; tries++) {
    await keyboard.press("Control+z");
    undone.push(await text());
  }
  expect(undone).toContain("hello @Benedict there");
  expect(undone).toContain("hello @bethere");
  expect(undone.at(-1)).toBe("");
  for (let tries = 0; tries < 40 && (await text()) !== "hello @Benedict and there"; tries++)
    await keyboard.press("Control+Shift+z");
  await ada.drafts("hello @Benedict and there");
  // By a tap or a click, too.
  await composer.fill("");
  await keyboard.type("@be");
  await page.getByRole("option").first().click();
  await ada.drafts("@Benedict ");
  await keyboard.press("Control+z");
  await ada.drafts("@be");
  // Shift+Tab chooses none of them.
  await composer.fill("");
  await keyboard.type("@bene");
  await page.getByTestId("suggestions").waitFor();
  await keyboard.press("Shift+Tab");
  await ada.drafts("@bene");
  expect(await page.locator(":focus").getAttribute("data-testid")).not.toBe("composer");

  const heard = next<Message>(ben, "chat-message");
  await composer.focus();
  await composer.press("End");
  await keyboard.type("d");
  await page.getByTestId("suggestions").waitFor();
  await keyboard.press("Enter");
  await ada.drafts("@Benedict ");
  await keyboard.press("Enter");
  expect((await heard).mentions).toEqual(["ben"]);
  await ada.sees("@Benedict");
  ben.disconnect();
});

/** As Safari reports the key that ends a composition: after `compositionend`, with the code of an input method. */
async function pressInInputMethod({ context, page }: Visitor, ...keys: readonly string[]): Promise<void> {
  const devtools = await context.newCDPSession(page);
  const code = { windowsVirtualKeyCode: 229, nativeVirtualKeyCode: 229 };
  for (const key of keys)
    for (const type of ["rawKeyDown", "keyUp"] as const)
      await devtools.send("Input.dispatchKeyEvent", { type, key, code: key, ...code });
  await devtools.detach();
}

it("a key that belongs to an input method neither sends nor cancels, closes nothing that is open, and chooses nobody from the suggestions", async () => {
  const room = "composer-ime";
  const tanaka = await join(url, room, "tanaka", { auth: { token: await tokenFor("tanaka", { name: "たなか" }) } });
  const ada = await enter(room);
  await ada.countsMembers(2);
  const { page } = ada;
  await ada.say("first words");
  await ada.sees("first words");
  await page.getByTestId("composer").click();
  await page.keyboard.insertText("にほん");
  await pressInInputMethod(ada, "Enter");
  await ada.drafts("にほん");
  await ada.sees("first words");

  await edit(ada, "first words");
  await page.getByTestId("composer").fill("别的话");
  await pressInInputMethod(ada, "Escape", "Enter");
  await ada.reads("about", /Editing\s*first words/);
  await ada.drafts("别的话");
  await page.keyboard.press("Escape");
  await ada.drafts("にほん");

  const devtools = await ada.context.newCDPSession(page);
  await page.getByTestId("composer").fill("");
  await page.keyboard.insertText("@た");
  await page.getByTestId("suggestions").waitFor();
  await devtools.send("Input.imeSetComposition", { text: "な", selectionStart: 1, selectionEnd: 1 });
  await ada.drafts("@たな");
  await pressInInputMethod(ada, "ArrowDown", "Tab", "Enter");
  await ada.drafts("@たな");
  await devtools.send("Input.insertText", { text: "な" });
  await page.keyboard.press("Enter");
  await ada.drafts("@たなか ");

  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("日本");
  await pressInInputMethod(ada, "Escape");
  // The page takes this key after the one before.
  await page.keyboard.press("Control+/");
  await page.getByTestId("dialog").waitFor();
  expect(await page.getByTestId("search-field").count()).toBe(1);
  await page.keyboard.press("Escape");
  await page.getByTestId("dialog").waitFor({ state: "detached" });
  await page.getByTestId("search-toggle").click();
  tanaka.disconnect();
});

it("two tabs of one user share the draft until it is sent", async () => {
  const ada = await enter("composer-tabs");
  const other = await ada.tab();
  await ada.page.getByTestId("composer").fill("half an");
  await other.page.goto(`${url}/#composer-tabs`);
  await other.drafts("half an");
  const field = other.page.getByTestId("composer");
  await field.press("End");
  await field.pressSequentially(" answer");
  await ada.drafts("half an answer");
  await ada.page.getByTestId("composer").press("End");
  await ada.page.getByTestId("composer").pressSequentially(" more");
  await other.drafts("half an answer more");
  await field.press("Enter");
  await ada.sees("half an answer more");
  for (const tab of [ada, other]) await tab.drafts("");
  await other.page.close();
});

const isAtEnd = async ({ page }: Visitor): Promise<void> => {
  const left = await page.getByTestId("log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  expect(left).toBeLessThan(1);
  expect(await page.getByTestId("newest").count()).toBe(0);
};

/** Several lines, each typed. */
async function typeLines(page: Page, lines: readonly string[]): Promise<void> {
  for (const [at, line] of lines.entries()) {
    if (at > 0) await page.keyboard.press("Shift+Enter");
    await page.keyboard.type(line);
  }
}

it.each(["desktop", "phone"] as const)(
  "%s: lines, replies and pasted text are in view once sent, and the list still follows",
  async (device) => {
    const room = `composer-follow-${device}`;
    const ben = await join(url, room, "ben");
    let seq = 20;
    for (let n = 1; n <= seq; n++) await ask(ben, "chat-message", { content: `m${n}` });
    const ada = await (device === "phone" ? enterOnPhone : enter)(room);
    const { page } = ada;
    const press = (control: Locator): Promise<void> => (device === "phone" ? tap(control) : control.click());
    const isFollowed = async (): Promise<void> => {
      await page.locator(`[data-seq="${seq}"][data-state=sent]`).waitFor();
      await vi.waitFor(() => isAtEnd(ada), WAIT);
    };
    const reply = async (): Promise<void> => {
      const last = page.locator(`[data-seq="${seq}"]`);
      if (device === "phone") await tap(last.locator(".content"));
      else await last.hover();
      await press(last.getByTestId("reply"));
      await ada.reads("about", /^Replying to/);
      await page.keyboard.type("a reply");
    };
    await isFollowed();
    for (const write of [
      () => typeLines(page, ["one", "two", "three", "four", "five"]),
      reply,
      () => page.keyboard.insertText("pasted\n".repeat(120)),
    ]) {
      await press(page.getByTestId("composer"));
      await write();
      // On a touch screen Enter begins a line.
      if (device === "phone") await tap(page.getByTestId("send"));
      else await page.keyboard.press("Enter");
      seq += 1;
      await isFollowed();
      await ask(ben, "chat-message", { content: "an answer" });
      seq += 1;
      await isFollowed();
    }
    expect(ada.complaints).toEqual([]);
    ben.disconnect();
  },
);

it("on a touch screen Enter begins a line, also in an edit, the button or Ctrl+Enter sends, and no field makes a phone zoom in", async () => {
  const ada = await enterOnPhone("composer-touch");
  const { page } = ada;
  const sizes = (): Promise<number[]> =>
    page
      .locator("input:not([type=checkbox], [type=radio], [type=file]), textarea, select")
      .evaluateAll((fields) => fields.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)));
  const isLarge = async (count: number): Promise<void> => {
    await expect.poll(async () => (await sizes()).length).toBeGreaterThanOrEqual(count);
    expect(Math.min(...(await sizes()))).toBeGreaterThanOrEqual(16);
  };
  const composer = page.getByTestId("composer");
  const { keyboard } = page;
  expect(await composer.getAttribute("enterkeyhint")).toBe("enter");
  await tap(composer);
  await keyboard.type("first");
  await keyboard.press("Enter");
  await keyboard.type("second");
  await ada.drafts("first\nsecond");
  await tap(page.getByTestId("send"));
  await ada.sees("first\nsecond");
  await tap(ada.message("second"));
  await tap(ada.message("second").getByTestId("more"));
  await ada.choose("Edit");
  await ada.drafts("first\nsecond");
  await composer.press("End");
  await keyboard.press("Enter");
  await keyboard.type("third");
  await ada.drafts("first\nsecond\nthird");
  // A keyboard that is connected to a tablet.
  await keyboard.press("Control+Enter");
  await ada.sees("first\nsecond\nthird");
  await tap(page.getByTestId("search-toggle"));
  await isLarge(3);
  await page.goto(url);
  await tap(page.getByTestId("other-name"));
  await tap(page.getByTestId("other-room"));
  await isLarge(2);
  await page.goto(`${url}/admin`);
  await isLarge(1);
});
