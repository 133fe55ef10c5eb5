// Tests the composer in a real Chromium against the real server: words and files stay until they are sent or discarded.
import type { BrowserContextOptions } from "playwright-core";
import { expect, inject, it, vi } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { useBrowser } from "./stage.ts";
import { ask, join, tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();
let rooms = 0;
const freshRoom = (): string => `composer-${++rooms}`;
const enter = async (room: string): Promise<Visitor> => (await Visitor.open(browser, url)).enter(room, "Ada");

async function edit(ada: Visitor, text: string): Promise<void> {
  await ada.use(text, "more");
  await ada.choose("Edit");
  await ada.drafts(text);
}
const cancel = (ada: Visitor): Promise<void> => ada.page.getByTestId("about").getByRole("button").click();
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true };
const isUploaded = (ada: Visitor): Promise<void> =>
  vi.waitFor(async () => expect(await ada.page.locator(".uploads progress").count()).toBe(0), WAIT);

it("a draft waits during an edit, and the edit survives a reload and a visit to another room", async () => {
  const room = freshRoom();
  const ada = await enter(room);
  const composer = ada.page.getByTestId("composer");
  await ada.say("first words");
  await ada.sees("first words");
  await composer.fill("my draft");
  await edit(ada, "first words");
  await composer.fill("better wor");
  await ada.page.reload();
  await ada.drafts("better wor");
  await ada.reads("about", /Editing\s*first words/);
  await cancel(ada);
  await ada.drafts("my draft");

  await edit(ada, "first words");
  await ada.page.getByTestId("new-room").click();
  await ada.page.getByTestId("new-room-name").fill(`${room}-b`);
  await ada.page.keyboard.press("Enter");
  await ada.drafts("");
  // A connection that is given up halfway is a warning to the browser.
  await ada.isConnected();
  await ada.page.locator(`[data-room="${room}"]`).click();
  await ada.drafts("first words");
  await composer.fill("better words");
  await composer.press("Enter");
  await ada.sees("better words");
  await ada.drafts("my draft");
  await ada.page.reload();
  await ada.drafts("my draft");
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a selection stays while the page updates, and typing replaces it", async () => {
  const ada = await enter(freshRoom());
  const composer = ada.page.getByTestId("composer");
  await composer.pressSequentially("some words");
  await composer.press("Control+a");
  await composer.pressSequentially("other words");
  await ada.drafts("other words");
  for (let letter = 0; letter < "words".length; letter++) await composer.press("Shift+ArrowLeft");
  await composer.pressSequentially("ones");
  await ada.drafts("other ones");
  await ada.close();
});

it("an edit that cannot be saved shows the reason, and is saved later", async () => {
  const room = freshRoom();
  const ada = await enter(room);
  const composer = ada.page.getByTestId("composer");
  await ada.say("first words");
  await ada.sees("first words");
  await edit(ada, "first words");
  await composer.fill("better words");
  await ada.context.setOffline(true);
  await ada.stands("offline");
  await composer.press("Enter");
  await ada.reads("edit-problem", "Not saved. There is no connection to the room.");
  await ada.drafts("better words");
  await ada.context.setOffline(false);
  await ada.isConnected();
  await composer.press("Enter");
  await ada.sees("better words");
  await ada.drafts("");
  await ada.close();
});

it("an edit of a message that was deleted meanwhile keeps its text", async () => {
  const room = freshRoom();
  const ada = await enter(room);
  const mo = await join(url, room, "mo", { auth: { token: await tokenFor("mo", { role: "moderator" }) } });
  await ada.say("first words");
  await ada.sees("first words");
  await edit(ada, "first words");
  await ada.page.getByTestId("composer").fill("better words");
  const { messages } = await ask<{ messages: Message[] }>(mo, "history", {});
  await ask(mo, "delete-message", { id: messages[0]!.id });
  await ada.page.getByText("Message deleted").waitFor();
  await ada.page.getByTestId("composer").press("Enter");
  await ada.reads("edit-problem", /^Not saved\. /);
  await ada.drafts("better words");
  await ada.close();
});

it("an upload shows its progress and can be cancelled", async () => {
  const ada = await enter(freshRoom());
  const network = await ada.context.newCDPSession(ada.page);
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 50_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  const calledOff = ada.page.waitForEvent("requestfailed", (request) => request.url().includes("/files?name="));
  await ada.page
    .getByTestId("file-input")
    .setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer: Buffer.alloc(4_000_000, "long ") });
  const progress = ada.page.locator(".uploads progress");
  await progress.waitFor();
  await expect.poll(() => ada.page.getByTestId("send").isDisabled()).toBe(true);
  const isUnderWay = async (): Promise<boolean> =>
    progress.evaluate((bar: HTMLProgressElement) => bar.value > 0 && bar.value < 1, undefined, { timeout: 500 });
  await vi.waitFor(async () => expect(await isUnderWay()).toBe(true), WAIT);
  await ada.page.getByRole("button", { name: "Remove long.txt" }).click();
  await calledOff;
  await ada.page.getByTestId("uploads").waitFor({ state: "detached" });
  await ada.page.getByTestId("composer").fill("without it");
  await expect.poll(() => ada.page.getByTestId("send").isEnabled()).toBe(true);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("files can be pasted and dropped", async () => {
  const room = freshRoom();
  const ada = await enter(room);
  const ben = await (await Visitor.open(browser, url)).enter(room, "Ben");
  const give = (event: "paste" | "drop", name: string): Promise<void> =>
    ada.page.getByTestId("composer").evaluate(
      (field, [event, name]) => {
        const data = new DataTransfer();
        data.items.add(new File([`${event}ed`], name!, { type: "text/plain" }));
        const how = { bubbles: true, cancelable: true };
        if (event === "paste") field.dispatchEvent(new ClipboardEvent(event, { ...how, clipboardData: data }));
        else field.dispatchEvent(new DragEvent("drop", { ...how, dataTransfer: data }));
      },
      [event, name],
    );
  await give("paste", "pasted.txt");
  await give("drop", "dropped.txt");
  await ada.page.getByRole("button", { name: "Remove dropped.txt" }).waitFor();
  await isUploaded(ada);
  await ada.say("two files");
  for (const name of ["pasted.txt", "dropped.txt"])
    await ben.page.getByTestId("attachment").filter({ hasText: name }).waitFor();
  const isTaken = await ada.page.getByTestId("composer").evaluate((field) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.setData("text/plain", "dropped words");
    return !field.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  });
  expect(isTaken).toBe(false);
  expect([...ada.complaints, ...ben.complaints]).toEqual([]);
  await Promise.all([ada.close(), ben.close()]);
});

it("an edit without a text shows why it is not saved", async () => {
  const ada = await enter(freshRoom());
  await ada.say("first words");
  await ada.sees("first words");
  await edit(ada, "first words");
  const { keyboard } = ada.page;
  await ada.page.getByTestId("composer").click();
  await keyboard.press("Control+A");
  await keyboard.press("Delete");
  await keyboard.press("Enter");
  await ada.reads("edit-problem", "Write a text to save, or delete the message.");
  expect(await ada.page.getByTestId("composer").getAttribute("placeholder")).toBe("Edit the message");
  await keyboard.type("better words");
  await ada.reads("edit-problem", /^$/);
  await keyboard.press("Enter");
  await ada.sees("better words");
  await ada.close();
});

it("a reply shows that its message was deleted meanwhile", async () => {
  const room = freshRoom();
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Ben" }) } });
  const ada = await enter(room);
  const { id } = await ask<{ id: string }>(ben, "chat-message", { content: "a question" });
  await ada.use("a question", "reply");
  await ada.reads("about", /Replying to Ben a question/);
  await ask(ben, "delete-message", { id });
  await ada.reads("about", /Replying to a message that was deleted/);
  ben.disconnect();
  await ada.close();
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

it("a key that belongs to an input method neither sends nor cancels, nor closes what is open", async () => {
  const ada = await enter(freshRoom());
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

  await page.getByTestId("search-toggle").click();
  await page.getByTestId("search-field").fill("日本");
  await pressInInputMethod(ada, "Escape");
  // The page takes this key after the one before.
  await page.keyboard.press("Control+/");
  await page.getByTestId("dialog").waitFor();
  expect(await page.getByTestId("search-field").count()).toBe(1);
  await ada.close();
});

it("while a word is composed, Enter and the arrow keys choose nobody from the suggestions", async () => {
  const room = freshRoom();
  const tanaka = await join(url, room, "tanaka", { auth: { token: await tokenFor("tanaka", { name: "たなか" }) } });
  const ada = await enter(room);
  await ada.countsMembers(2);
  const devtools = await ada.context.newCDPSession(ada.page);
  await ada.page.getByTestId("composer").click();
  await ada.page.keyboard.insertText("@た");
  await ada.page.getByTestId("suggestions").waitFor();
  await devtools.send("Input.imeSetComposition", { text: "な", selectionStart: 1, selectionEnd: 1 });
  await ada.drafts("@たな");
  await pressInInputMethod(ada, "ArrowDown", "Tab", "Enter");
  await ada.drafts("@たな");
  await devtools.send("Input.insertText", { text: "な" });
  await ada.page.keyboard.press("Enter");
  await ada.drafts("@たなか ");
  tanaka.disconnect();
  await ada.close();
});

it("on a touch screen Enter begins a line, also in an edit, and the button or Ctrl+Enter sends", async () => {
  const ada = await (await Visitor.open(browser, url, PHONE)).enter(freshRoom(), "Ada");
  const composer = ada.page.getByTestId("composer");
  const { keyboard } = ada.page;
  expect(await composer.getAttribute("enterkeyhint")).toBe("enter");
  await composer.tap();
  await keyboard.type("first");
  await keyboard.press("Enter");
  await keyboard.type("second");
  await ada.drafts("first\nsecond");
  await ada.page.getByTestId("send").tap();
  await ada.sees("first\nsecond");
  await ada.message("second").tap();
  await ada.message("second").getByTestId("more").tap();
  await ada.choose("Edit");
  await composer.press("End");
  await keyboard.press("Enter");
  await keyboard.type("third");
  await ada.drafts("first\nsecond\nthird");
  // A keyboard that is connected to a tablet.
  await keyboard.press("Control+Enter");
  await ada.sees("first\nsecond\nthird");
  await ada.close();
});

it("on a touch screen no field has letters that are small enough for a phone to zoom in", async () => {
  const ada = await Visitor.open(browser, url, PHONE);
  const sizes = (): Promise<number[]> =>
    ada.page
      .locator("input:not([type=checkbox], [type=file]), textarea, select")
      .evaluateAll((fields) => fields.map((field) => Number.parseFloat(getComputedStyle(field).fontSize)));
  const isLarge = async (count: number): Promise<void> => {
    await expect.poll(async () => (await sizes()).length).toBeGreaterThanOrEqual(count);
    expect(Math.min(...(await sizes()))).toBeGreaterThanOrEqual(16);
  };
  await ada.page.goto(url);
  await isLarge(2);
  await ada.fillIn(freshRoom(), "Ada");
  await ada.page.getByTestId("search-toggle").tap();
  await isLarge(3);
  await ada.page.goto(`${url}/admin`);
  await isLarge(1);
  await ada.close();
});

it("a file pasted into an edit is not attached, and the reader is told", async () => {
  const ada = await enter(freshRoom());
  await ada.say("first words");
  await ada.sees("first words");
  await edit(ada, "first words");
  await ada.page.getByTestId("composer").evaluate((field) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(["bytes"], "shot.txt", { type: "text/plain" }));
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
  });
  await ada.page.getByText("Files cannot be attached here.").waitFor();
  expect(await ada.page.getByTestId("uploads").count()).toBe(0);
  await ada.close();
});

it("a suggestion that was taken can be undone, and what was typed before it, and redone", async () => {
  const room = freshRoom();
  const ben = await join(url, room, "ben", { auth: { token: await tokenFor("ben", { name: "Benedict" }) } });
  const ada = await enter(room);
  await ada.countsMembers(2);
  const { page } = ada;
  const { keyboard } = page;
  await page.getByTestId("composer").click();
  await keyboard.type("hello there");
  for (let letter = 0; letter < "there".length; letter++) await keyboard.press("ArrowLeft");
  await keyboard.type("@be");
  await page.getByTestId("suggestions").waitFor();
  await keyboard.press("Enter");
  await ada.drafts("hello @Benedict there");
  await keyboard.type("and ");
  await ada.drafts("hello @Benedict and there");
  const undone: string[] = [];
  const text = (): Promise<string> => page.getByTestId("composer").inputValue();
  // How many letters the browser takes back at once depends on how fast they were typed.
  for (let tries = 0; tries < 40 && (await text()) !== ""; tries++) {
    await keyboard.press("Control+z");
    undone.push(await text());
  }
  expect(undone).toContain("hello @Benedict there");
  expect(undone).toContain("hello @bethere");
  expect(undone.at(-1)).toBe("");
  for (let steps = 0; steps < undone.length; steps++) await keyboard.press("Control+Shift+z");
  await ada.drafts("hello @Benedict and there");
  // By a tap or a click, too.
  await page.getByTestId("composer").fill("");
  await keyboard.type("@be");
  await page.getByRole("option").first().click();
  await ada.drafts("@Benedict ");
  await keyboard.press("Control+z");
  await ada.drafts("@be");
  ben.disconnect();
  await ada.close();
});

it("an edit moves no text of the field, and Shift+Tab leads from the field to the messages at once", async () => {
  const ada = await enter(freshRoom());
  await ada.say("first words");
  await ada.sees("first words");
  const composer = ada.page.getByTestId("composer");
  const { x, width } = (await composer.boundingBox())!;
  await edit(ada, "first words");
  expect(await composer.boundingBox()).toMatchObject({ x, width });
  expect(await ada.page.getByTestId("attach").isDisabled()).toBe(true);
  await cancel(ada);
  await composer.focus();
  await ada.page.keyboard.press("Shift+Tab");
  const focused = ada.page.locator(":focus");
  expect(await focused.getAttribute("data-testid")).toBe("message");
  await ada.page.keyboard.press("Tab");
  await composer.focus();
  await ada.page.keyboard.press("Tab");
  expect(await focused.getAttribute("data-testid")).toBe("attach");
  expect((await ada.page.getByTestId("attach").boundingBox())!.x).toBeLessThan(x);
  await ada.close();
});
