// Files that a user drags, drops, pastes or chooses, in a real Chromium: none replaces the page, and a refused one shows
// the reason.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
}

/** As the browser hears it of the desktop. */
async function drag(
  ada: Visitor,
  { devtools, over }: Drag,
  ...types: readonly ("dragEnter" | "dragOver" | "dragCancel" | "drop")[]
) {
  const { x, y, width, height } = (await ada.page.locator(over).boundingBox())!;
  const data = { items: [], files: [path.join(folder, "notes.txt")], dragOperationsMask: COPY };
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

it("a file dropped before the page has loaded is attached, and the browser does not open it", async () => {
  const ada = await Visitor.open(browser, url);
  const dropped = Promise.withResolvers<void>();
  await ada.page.route("**/page-later.js", async (route) => {
    await dropped.promise;
    await route.continue();
  });
  await ada.enter("drop-early", "Ada");
  const devtools = await ada.context.newCDPSession(ada.page);
  await drag(ada, { devtools, over: "[data-testid=log]" }, "dragEnter", "dragOver", "drop");
  dropped.resolve();
  await ada.page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
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

it("a message waits until its failed file is removed", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("refused-waits", "Ada");
  const file = { name: NAME, mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") };
  await ada.page.getByTestId("file-input").setInputFiles(file);
  await ada.page.getByRole("alert").getByText("Remove the file that was not uploaded").waitFor();
  await ada.page.getByTestId("composer").click();
  const { keyboard } = ada.page;
  await keyboard.type("see the file");
  await keyboard.press("Enter");
  expect(await ada.page.getByTestId("send").isDisabled()).toBe(true);
  await ada.drafts("see the file");
  // The focus goes back to the field.
  await ada.page.getByRole("button", { name: `Remove ${NAME}` }).focus();
  await keyboard.press("Enter");
  await expect.poll(() => ada.page.locator(":focus").getAttribute("data-testid")).toBe("composer");
  await keyboard.press("Enter");
  await ada.sees("see the file");
  await ada.close();
});
