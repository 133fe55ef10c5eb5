// Files that a user drags, drops, pastes or chooses, in a real Chromium: none replaces the page, and a refused one shows
// the reason.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { CDPSession } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it, vi } from "vitest";

import { useBrowser } from "./stage.ts";
import { tokenFor } from "./stock-clients.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const COPY = 1;
const NAME = "a tool with quite a long name for a program.exe";

const browser = await useBrowser();
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "parley-attach-"));
  writeFileSync(path.join(folder, "notes.txt"), "notes");
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

interface Drag {
  readonly devtools: CDPSession;
  readonly over: string;
  /** Paths; without them, of one file. */
  readonly files?: string[];
}

/** As the browser hears it of the desktop. */
async function drag(
  ada: Visitor,
  { devtools, over, files = [path.join(folder, "notes.txt")] }: Drag,
  ...types: readonly ("dragEnter" | "dragOver" | "dragCancel" | "drop")[]
) {
  const { x, y, width, height } = (await ada.page.locator(over).boundingBox())!;
  const data = { items: [], files, dragOperationsMask: COPY };
  for (const type of types)
    await devtools.send("Input.dispatchDragEvent", { type, x: x + width / 2, y: y + height / 2, data });
}

/** Drags until the page says `text`: again and again, as browsers do, because a late pointer event of the page's own ends a drag. */
async function dragOver(visitor: Visitor, where: Drag, text: string) {
  await drag(visitor, where, "dragEnter");
  const zone = visitor.page.getByTestId("drop-zone");
  await vi.waitFor(async () => {
    await drag(visitor, where, "dragOver");
    expect(await zone.textContent({ timeout: 500 })).toBe(text);
  });
}

it.each(["[data-testid=log]", ".rooms", ".talk .bar"])("a file that is dropped on %s is attached", async (over) => {
  const ada = await (await Visitor.open(browser, url)).enter(`drop-${over.replaceAll(/\W/g, "")}`, "Ada");
  const devtools = await ada.context.newCDPSession(ada.page);
  const before = ada.page.url();
  await dragOver(ada, { devtools, over }, "Drop to attach");
  await drag(ada, { devtools, over }, "drop");
  await ada.page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
  await ada.page.getByTestId("drop-zone").waitFor({ state: "detached" });
  expect(ada.page.url()).toBe(before);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a file chosen before the room has answered is attached afterwards", async () => {
  const ada = await Visitor.open(browser, url);
  let answer!: () => void;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await ada.page.routeWebSocket(/socket\.io/, async (line) => {
    await answered;
    line.connectToServer();
  });
  await ada.page.goto(url);
  await ada.fillIn("attach-early", "Ada");
  const devtools = await ada.context.newCDPSession(ada.page);
  await dragOver(ada, { devtools, over: "[data-testid=log]" }, "Drop to attach");
  await drag(ada, { devtools, over: "[data-testid=log]" }, "drop");
  const file = { name: "more.txt", mimeType: "text/plain", buffer: Buffer.from("more") };
  await ada.page.getByTestId("file-input").setInputFiles(file);
  const chips = ada.page.getByTestId("uploads").locator("li");
  await vi.waitFor(async () => expect(await chips.count()).toBe(2), WAIT);
  answer();
  await ada.isConnected();
  await vi.waitFor(async () => expect(await chips.locator("progress").count()).toBe(0), WAIT);
  expect(await ada.page.locator(".uploads .failed").count()).toBe(0);
  await ada.page.getByTestId("send").click();
  await vi.waitFor(async () => expect(await ada.page.getByTestId("attachment").count()).toBe(2), WAIT);
  await ada.close();
});

it("dragging a file over the chat and away again attaches nothing", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("drop-cancelled", "Ada");
  const devtools = await ada.context.newCDPSession(ada.page);
  await dragOver(ada, { devtools, over: "[data-testid=log]" }, "Drop to attach");
  await drag(ada, { devtools, over: "[data-testid=log]" }, "dragCancel");
  // A late event of the drag may come after the first move; a hand moves the mouse more than once.
  let x = 400;
  await vi.waitFor(async () => {
    await ada.page.mouse.move(x++, 300);
    expect(await ada.page.getByTestId("drop-zone").count()).toBe(0);
  }, WAIT);
  expect(await ada.page.getByTestId("uploads").count()).toBe(0);
  await ada.close();
});

it("a file dropped on the join form does not replace the page", async () => {
  const ada = await Visitor.open(browser, url);
  await ada.page.goto(url);
  // Where no page prevents it, a browser with a window opens the file.
  await ada.page.evaluate(() =>
    addEventListener("dragover", (event) =>
      setTimeout(() => Object.assign(document.body.dataset, { kept: event.defaultPrevented })),
    ),
  );
  const devtools = await ada.context.newCDPSession(ada.page);
  await drag(ada, { devtools, over: "[data-testid=join-form]" }, "dragEnter", "dragOver", "drop");
  await ada.page.locator("body[data-kept=true]").waitFor();
  await ada.fillIn("drop-way-in", "Ada");
  expect(ada.page.url()).toBe(`${url}/#drop-way-in`);
  await ada.close();
});

it("dragging a picture of the page attaches nothing", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("drop-own", "Ada");
  const { page } = ada;
  const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const file = { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") };
  await page.getByTestId("file-input").setInputFiles(file);
  await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  await ada.say("look");
  const picture = (await page.locator(".preview img").boundingBox())!;
  await page.mouse.move(picture.x + 10, picture.y + 10);
  await page.mouse.down();
  await page.mouse.move(picture.x + 100, picture.y - 100, { steps: 10 });
  // As the drag goes on in a window: the picture is given as a file, too.
  const devtools = await ada.context.newCDPSession(page);
  await drag(ada, { devtools, over: "[data-testid=log]" }, "dragEnter", "dragOver");
  expect(await page.getByTestId("drop-zone").count()).toBe(0);
  await drag(ada, { devtools, over: "[data-testid=log]" }, "drop");
  await page.mouse.up();
  await ada.say("after it");
  await ada.message("after it").waitFor();
  await expect.poll(() => page.getByTestId("attachment").count()).toBe(1);
  expect(await page.getByTestId("uploads").count()).toBe(0);
  await ada.close();
});

it("a reader drops a file: nothing is attached, and they stay in the room", async () => {
  const reader = await Visitor.open(browser, url);
  await reader.enterWith(await tokenFor("rea", { name: "Rea", role: "reader" }), "drop-reader", "Rea");
  await reader.page.getByTestId("blocked").waitFor();
  const devtools = await reader.context.newCDPSession(reader.page);
  const before = reader.page.url();
  await dragOver(reader, { devtools, over: "[data-testid=log]" }, "Files cannot be attached here");
  await drag(reader, { devtools, over: "[data-testid=log]" }, "drop");
  await reader.page.getByTestId("log").waitFor();
  expect(reader.page.url()).toBe(before);
  await reader.close();
});

it.each([1280, 320])("a refused file shows the reason and can be removed, %i px wide", async (width) => {
  const ada = await Visitor.open(browser, url, { viewport: { width, height: 700 } });
  await ada.enter(`refused-${width}`, "Ada");
  const file = { name: NAME, mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") };
  await ada.page.getByTestId("file-input").setInputFiles(file);
  const chip = ada.page.getByTestId("uploads").locator("li.failed");
  await chip.getByText("This kind of file is not allowed here.").waitFor();
  const name = (await chip.locator(".file-name").boundingBox())!;
  expect(name.width).toBeGreaterThan(60);
  const remove = chip.getByRole("button", { name: `Remove ${NAME}` });
  const { x, width: wide } = (await remove.boundingBox())!;
  expect(x + wide).toBeLessThanOrEqual(width);
  await remove.click();
  await chip.waitFor({ state: "detached" });
  await ada.close();
});

it("an empty file is refused with a sentence", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("refused-empty", "Ada");
  const file = { name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) };
  await ada.page.getByTestId("file-input").setInputFiles(file);
  await ada.page.getByTestId("uploads").locator("li.failed").getByText("The file is empty.").waitFor();
  await ada.close();
});

it("of four files the refused one alone fails, with its reason; the message goes with the others", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("refused-one", "Ada");
  const { page } = ada;
  const fileOf = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
  const refused = { name: NAME, mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") };
  await page.getByTestId("file-input").setInputFiles([fileOf("a.txt"), refused, fileOf("b.txt"), fileOf("c.txt")]);
  await page.getByRole("alert").getByText("A file was not uploaded. Your message goes without it.").waitFor();
  const chips = page.getByTestId("uploads").locator("li");
  await vi.waitFor(async () => expect(await chips.locator("progress").count()).toBe(0), WAIT);
  await page.getByTestId("composer").click();
  const { keyboard } = page;
  await keyboard.type("three files");
  await keyboard.press("Enter");
  await vi.waitFor(async () => expect(await page.getByTestId("attachment").count()).toBe(3), WAIT);
  // It would be refused again.
  expect(await chips.getByRole("button", { name: /^Try again/ }).count()).toBe(0);
  expect(await chips.allTextContents()).toEqual([`${NAME}This kind of file is not allowed here.`]);
  // The message is gone: the next one has nothing to go without, until another file is refused.
  const sentence = page.getByRole("alert").getByText("A file was not uploaded. Your message goes without it.");
  expect(await sentence.count()).toBe(0);
  await page.getByTestId("file-input").setInputFiles({ ...refused, name: "other.exe" });
  await sentence.waitFor();
  await page.getByRole("button", { name: "Remove other.exe" }).click();
  await sentence.waitFor({ state: "detached" });
  // The focus goes back to the field.
  await page.getByRole("button", { name: `Remove ${NAME}` }).focus();
  await keyboard.press("Enter");
  await expect.poll(() => page.locator(":focus").getAttribute("data-testid")).toBe("composer");
  await ada.close();
});

it("a folder that is dropped with files is named, and the files are attached", async () => {
  mkdirSync(path.join(folder, "photos"));
  const ada = await (await Visitor.open(browser, url)).enter("drop-folder", "Ada");
  const devtools = await ada.context.newCDPSession(ada.page);
  const files = ["photos", "notes.txt"].map((name) => path.join(folder, name));
  const where = { devtools, over: "[data-testid=log]", files };
  await dragOver(ada, where, "Drop to attach");
  await drag(ada, where, "drop");
  await ada.page.getByText("“photos” is a folder. Attach the files in it instead.").waitFor();
  await ada.page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
  const chips = ada.page.getByTestId("uploads").locator("li");
  await vi.waitFor(async () => expect(await chips.locator("progress").count()).toBe(0), WAIT);
  expect(await chips.count()).toBe(1);
  await ada.say("the notes");
  await ada.page.getByTestId("attachment").filter({ hasText: "notes.txt" }).waitFor();
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a file that is gone before it is sent says so, the others go on, and it can be tried again", async () => {
  const ada = await Visitor.open(browser, url);
  const { page } = ada;
  const answered = Promise.withResolvers<void>();
  await page.routeWebSocket(/socket\.io/, async (line) => {
    await answered.promise;
    line.connectToServer();
  });
  await page.goto(url);
  await ada.fillIn("attach-gone", "Ada");
  const gone = path.join(folder, "gone.txt");
  const away = path.join(folder, "away.txt");
  writeFileSync(gone, "gone soon");
  const devtools = await ada.context.newCDPSession(page);
  const where = { devtools, over: "[data-testid=log]", files: [gone, path.join(folder, "notes.txt")] };
  await dragOver(ada, where, "Drop to attach");
  await drag(ada, where, "drop");
  await page.getByRole("button", { name: "Remove gone.txt" }).waitFor();
  renameSync(gone, away);
  answered.resolve();
  await ada.isConnected();
  const failed = page.getByTestId("uploads").locator("li.failed");
  await failed.getByText("It cannot be read: it was moved, changed or deleted, or is a folder.").waitFor();
  await page.getByTestId("uploads").locator("li:not(.failed)").getByText("notes.txt").waitFor();
  expect(await page.getByText("does not answer").count()).toBe(0);
  renameSync(away, gone);
  await failed.getByRole("button", { name: "Try again to upload gone.txt" }).click();
  await failed.waitFor({ state: "detached" });
  await vi.waitFor(async () => expect(await page.locator(".uploads progress").count()).toBe(0), WAIT);
  await page.getByTestId("send").click();
  await vi.waitFor(async () => expect(await page.getByTestId("attachment").count()).toBe(2), WAIT);
  await ada.close();
});

it("an upload that does not arrive blames no room, and can be tried again", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("attach-offline", "Ada");
  const { page } = ada;
  await page.clock.install();
  await page.route("**/files?name=*", (route) => route.abort());
  await page
    .getByTestId("file-input")
    .setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
  const failed = page.getByTestId("uploads").locator("li.failed");
  await vi.waitFor(async () => {
    await page.clock.runFor(10_000);
    expect(await failed.textContent({ timeout: 500 })).toMatch("The upload did not arrive.");
  }, WAIT);
  await page.unroute("**/files?name=*");
  await failed.getByRole("button", { name: /^Try again/ }).click();
  await failed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Remove a.txt" }).waitFor();
  await ada.close();
});

interface Pasted {
  readonly files: readonly string[];
  readonly text?: string;
  readonly html?: string;
}

/** @returns whether the browser would go on and paste the text */
const paste = (ada: Visitor, { files, text = "", html = "" }: Pasted): Promise<boolean> =>
  ada.page.getByTestId("composer").evaluate(
    (field, { files, text, html }) => {
      const clipboardData = new DataTransfer();
      for (const name of files) clipboardData.items.add(new File(["bytes"], name, { type: "text/plain" }));
      if (text !== "") clipboardData.setData("text/plain", text);
      if (html !== "") clipboardData.setData("text/html", html);
      return field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData }));
    },
    { files, text, html },
  );

const PICTURE = '<meta charset="utf-8"><img src="https://a.example/x.png" alt="a cat">';
it.each<[string, Pasted]>([
  ["cells", { files: ["cells.txt"], text: "a\tb", html: "<table><td>a</td><td>b</td></table>" }],
  ["empty cells", { files: ["cells.txt"], text: "\t\r\n", html: "<table><td></td><td></td></table>" }],
  ["a word processor's text", { files: ["page.txt"], text: "words\r\n", html: `<p>words</p>${PICTURE}` }],
  ["a text without HTML", { files: ["page.txt"], text: "slide one" }],
])("%s with a picture of it on the clipboard: the text alone is pasted", async (what, pasted) => {
  const ada = await (await Visitor.open(browser, url)).enter(`paste-${what.replaceAll(/\W/g, "-")}`, "Ada");
  expect(await paste(ada, pasted)).toBe(true);
  // A file that is pasted afterwards is the only one.
  await paste(ada, { files: ["after.txt"] });
  await ada.page.getByRole("button", { name: "Remove after.txt" }).waitFor();
  expect(await ada.page.getByTestId("uploads").locator("li").count()).toBe(1);
  await ada.close();
});

it("a picture of a page and copied files are attached, whatever text comes with them", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("paste-files", "Ada");
  const given: readonly Pasted[] = [
    { files: ["shot.txt"] },
    { files: ["picture.txt"], html: PICTURE },
    { files: ["linked.txt"], html: `<a href="https://a.example">${PICTURE}</a>`, text: "https://a.example/x.png" },
    { files: ["name.txt"], text: "name.txt" },
    { files: ["one.txt", "two.txt"], text: "/home/ada/one.txt\n/home/ada/two.txt\n" },
    { files: ["my cat.txt"], text: "file:///home/ada/my%20cat.txt" },
  ];
  for (const pasted of given) expect(await paste(ada, pasted)).toBe(false);
  for (const name of given.flatMap(({ files }) => files))
    await ada.page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  await ada.close();
});
