// Files that a user drags, drops, pastes or chooses, in a real Chromium: none replaces the page, and a refused one shows the reason;
// pictures fit their box, open large, and are no heavier than a browser can hold.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import type { CDPSession } from "playwright-core";
import { afterAll, expect, inject, it, vi } from "vitest";

import { PICTURE_PIXELS_MAX } from "../../client/page/state/image-file.ts";
import { passes } from "./axe.ts";
import { gif, photo, png } from "./pictures.ts";
import { useBrowser } from "./stage.ts";
import { tokenFor } from "./stock-clients.ts";
import { holdFrames, NO_WORKER, sharedPage, Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const COPY = 1;
const NAME = "a tool with quite a long name for a program.exe";
const LOG = "[data-testid=log]";
const FAILED_SENTENCE = "A file was not uploaded. Your message goes without it.";

const browser = await useBrowser();
const folder = mkdtempSync(path.join(tmpdir(), "parley-files-"));
writeFileSync(path.join(folder, "notes.txt"), "notes");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const textFile = (name: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(name) });
const PROGRAM = { name: NAME, mimeType: "application/x-msdownload", buffer: Buffer.from("MZ") };
const enter = sharedPage(() => Visitor.open(browser, url, NO_WORKER));
const isUploaded = ({ page }: Visitor): Promise<void> =>
  vi.waitFor(async () => expect(await page.locator(".uploads progress").count()).toBe(0), WAIT);
const attached = ({ page }: Visitor, count: number): Promise<void> =>
  vi.waitFor(async () => expect(await page.getByTestId("attachment").count()).toBe(count), WAIT);

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

it("files that are dropped on the form, the list, the bars or the messages replace no page, and are attached in a room", async () => {
  mkdirSync(path.join(folder, "photos"));
  const ada = await Visitor.open(browser, url, NO_WORKER);
  const { page } = ada;
  await page.goto(url);
  // Where no page prevents it, a browser with a window opens the file.
  await page.evaluate(() =>
    addEventListener("dragover", (event) =>
      setTimeout(() => Object.assign(document.body.dataset, { kept: event.defaultPrevented })),
    ),
  );
  const devtools = await ada.context.newCDPSession(page);
  await drag(ada, { devtools, over: "[data-testid=join-form]" }, "dragEnter", "dragOver", "drop");
  await page.locator("body[data-kept=true]").waitFor();
  await ada.fillIn("files-drop", "Ada");
  await ada.isConnected();
  expect(page.url()).toBe(`${url}/#files-drop`);
  const uploads = page.getByTestId("uploads");
  const zone = page.getByTestId("drop-zone");

  await dragOver(ada, { devtools, over: LOG }, "Drop to attach");
  await drag(ada, { devtools, over: LOG }, "dragCancel");
  // A late event of the drag may come after the first move; a hand moves the mouse more than once.
  let x = 400;
  await vi.waitFor(async () => {
    await page.mouse.move(x++, 300);
    expect(await zone.count()).toBe(0);
  }, WAIT);
  expect(await uploads.count()).toBe(0);

  for (const over of [LOG, ".rooms", ".talk .bar"]) {
    await dragOver(ada, { devtools, over }, "Drop to attach");
    await drag(ada, { devtools, over }, "drop");
    await page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
    await zone.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Remove notes.txt" }).click();
    await uploads.waitFor({ state: "detached" });
  }
  expect(page.url()).toBe(`${url}/#files-drop`);

  const where = { devtools, over: LOG, files: ["photos", "notes.txt"].map((name) => path.join(folder, name)) };
  await dragOver(ada, where, "Drop to attach");
  await drag(ada, where, "drop");
  await page.getByText("“photos” is a folder. Attach the files in it instead.").waitFor();
  await page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
  await isUploaded(ada);
  expect(await uploads.locator("li").count()).toBe(1);
  await page.reload();
  await ada.isConnected();
  await page.getByRole("button", { name: "Remove notes.txt" }).waitFor();
  await ada.say("the notes");
  const file = page.getByTestId("attachment").filter({ hasText: "notes.txt" });
  const [download] = await Promise.all([page.waitForEvent("download"), file.click()]);
  expect(download.suggestedFilename()).toBe("notes.txt");
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("a picture of the page that is dragged over it attaches nothing", async () => {
  const ada = await enter("files-own");
  const { page } = ada;
  const dot = { name: "dot.png", mimeType: "image/png", buffer: png(1, 1) };
  await page.getByTestId("file-input").setInputFiles(dot);
  await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  await ada.say("look");
  // The row of the message that is sent takes the place of that of the one which waits.
  await ada.message("look").and(page.locator("[data-state=sent]")).waitFor();
  await shownAs(ada, "dot.png");
  const picture = (await page.locator(".preview img").boundingBox())!;
  await page.mouse.move(picture.x + 10, picture.y + 10);
  await page.mouse.down();
  await page.mouse.move(picture.x + 100, picture.y - 100, { steps: 10 });
  // As the drag goes on in a window: the picture is given as a file, too.
  const devtools = await ada.context.newCDPSession(page);
  await drag(ada, { devtools, over: LOG }, "dragEnter", "dragOver");
  expect(await page.getByTestId("drop-zone").count()).toBe(0);
  await drag(ada, { devtools, over: LOG }, "drop");
  await page.mouse.up();
  await ada.say("after it");
  await ada.message("after it").waitFor();
  await attached(ada, 1);
  expect(await page.getByTestId("uploads").count()).toBe(0);
});

it("a reader drops a file: nothing is attached, and they stay in the room", async () => {
  const reader = await Visitor.open(browser, url, NO_WORKER);
  await reader.enterWith(await tokenFor("rea", { name: "Rea", role: "reader" }), "files-reader", "Rea");
  await reader.page.getByTestId("blocked").waitFor();
  const devtools = await reader.context.newCDPSession(reader.page);
  const before = reader.page.url();
  await dragOver(reader, { devtools, over: LOG }, "Files cannot be attached here.");
  await drag(reader, { devtools, over: LOG }, "drop");
  await reader.page.getByTestId("log").waitFor();
  expect(reader.page.url()).toBe(before);
  await reader.close();
});

it("files given before the room has answered are uploaded afterwards; one that is gone by then says so, and can be tried again", async () => {
  const ada = await Visitor.open(browser, url, NO_WORKER);
  const { page } = ada;
  const answered = Promise.withResolvers<void>();
  await page.routeWebSocket(/socket\.io/, async (line) => {
    await answered.promise;
    line.connectToServer();
  });
  await page.goto(url);
  await ada.fillIn("files-early", "Ada");
  const [gone, away] = [path.join(folder, "gone.txt"), path.join(folder, "away.txt")];
  writeFileSync(gone, "gone soon");
  const devtools = await ada.context.newCDPSession(page);
  const where = { devtools, over: LOG, files: [gone, path.join(folder, "notes.txt")] };
  await dragOver(ada, where, "Drop to attach");
  await drag(ada, where, "drop");
  await page.getByTestId("file-input").setInputFiles(textFile("more.txt"));
  const chips = page.getByTestId("uploads").locator("li");
  await vi.waitFor(async () => expect(await chips.count()).toBe(3), WAIT);
  renameSync(gone, away);
  answered.resolve();
  await ada.isConnected();
  const failed = page.getByTestId("uploads").locator("li.failed");
  await failed.getByText("It cannot be read: it was moved, changed or deleted, or is a folder.").waitFor();
  for (const name of ["notes.txt", "more.txt"])
    await page.getByTestId("uploads").locator("li:not(.failed)").getByText(name).waitFor();
  expect(await page.getByText("does not answer").count()).toBe(0);
  renameSync(away, gone);
  await failed.getByRole("button", { name: "Try again to upload gone.txt" }).click();
  await failed.waitFor({ state: "detached" });
  await isUploaded(ada);
  await page.getByTestId("send").click();
  await attached(ada, 3);
  await ada.close();
});

it("refused files alone fail, each with its reason, also in a narrow window; the message goes with the others", async () => {
  const ada = await enter("files-refused");
  const { page } = ada;
  const input = page.getByTestId("file-input");
  const chips = page.getByTestId("uploads").locator("li");
  const sentence = page.getByRole("alert").getByText(FAILED_SENTENCE);
  await input.setInputFiles({ name: "empty.txt", mimeType: "text/plain", buffer: Buffer.alloc(0) });
  await chips.getByText("The file is empty.").waitFor();
  await page.getByRole("button", { name: "Remove empty.txt" }).click();

  await input.setInputFiles([textFile("a.txt"), PROGRAM, textFile("b.txt"), textFile("c.txt")]);
  await sentence.waitFor();
  await isUploaded(ada);
  const refused = page.getByTestId("uploads").locator("li.failed");
  const remove = refused.getByRole("button", { name: `Remove ${NAME}` });
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 700 });
    expect((await refused.locator(".file-name").boundingBox())!.width).toBeGreaterThan(60);
    const button = (await remove.boundingBox())!;
    expect(button.x + button.width).toBeLessThanOrEqual(width);
  }
  await page.getByTestId("composer").click();
  const { keyboard } = page;
  await keyboard.type("three files");
  await keyboard.press("Enter");
  await attached(ada, 3);
  // It would be refused again.
  expect(await chips.getByRole("button", { name: /^Try again/ }).count()).toBe(0);
  expect(await chips.allTextContents()).toEqual([`${NAME}This kind of file is not allowed here.`]);
  // The message is gone: the next one has nothing to go without, until another file is refused.
  expect(await sentence.count()).toBe(0);
  await input.setInputFiles({ ...PROGRAM, name: "other.exe" });
  await sentence.waitFor();
  await page.getByRole("button", { name: "Remove other.exe" }).click();
  await sentence.waitFor({ state: "detached" });
  // The focus goes back to the field.
  await remove.focus();
  await keyboard.press("Enter");
  await expect.poll(() => page.locator(":focus").getAttribute("data-testid")).toBe("composer");
  await page.setViewportSize({ width: 1280, height: 720 });
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
/** Applications put a picture of a text beside it on the clipboard. */
const TEXTS: readonly Pasted[] = [
  { files: ["cells.txt"], text: "a\tb", html: "<table><td>a</td><td>b</td></table>" },
  { files: ["cells.txt"], text: "\t\r\n", html: "<table><td></td><td></td></table>" },
  { files: ["page.txt"], text: "words\r\n", html: `<p>words</p>${PICTURE}` },
  { files: ["page.txt"], text: "slide one" },
];
const FILES: readonly Pasted[] = [
  { files: ["shot.txt"] },
  { files: ["picture.txt"], html: PICTURE },
  { files: ["linked.txt"], html: `<a href="https://a.example">${PICTURE}</a>`, text: "https://a.example/x.png" },
  { files: ["name.txt"], text: "name.txt" },
  { files: ["one.txt", "two.txt"], text: "/home/ada/one.txt\n/home/ada/two.txt\n" },
  { files: ["my cat.txt"], text: "file:///home/ada/my%20cat.txt" },
];

it("a text is pasted without the picture of it, files and pictures are attached whatever text comes with them, and dropped words stay words", async () => {
  const ada = await enter("files-paste");
  for (const pasted of TEXTS) expect(await paste(ada, pasted)).toBe(true);
  for (const pasted of FILES) expect(await paste(ada, pasted)).toBe(false);
  const names = FILES.flatMap(({ files }) => files);
  for (const name of names) await ada.page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  expect(await ada.page.getByTestId("uploads").locator("li").count()).toBe(names.length);
  const isTaken = await ada.page.getByTestId("composer").evaluate((field) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.setData("text/plain", "dropped words");
    return !field.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
  });
  expect(isTaken).toBe(false);
});

async function send(visitor: Visitor, name: string, buffer: Buffer): Promise<void> {
  const mimeType = `image/${name.split(".").at(-1)}`;
  await visitor.page.getByTestId("file-input").setInputFiles({ name, mimeType, buffer });
  await visitor.page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  await isUploaded(visitor);
  await visitor.page.getByTestId("send").click();
  await visitor.page.getByTestId("uploads").waitFor({ state: "detached" });
}

/** The picture of a preview as the browser has it, and the box that it is shown in. */
async function shownAs({ page }: Visitor, name: string): Promise<{ natural: number[]; img: number[]; fit: string }> {
  const img = page.getByRole("button", { name: `Image ${name}` }).locator("img");
  await img.waitFor();
  return vi.waitFor(async () => {
    const shown = await img.evaluate((img: HTMLImageElement) => ({
      // The stored message takes the place of the sent one.
      isThere: img.complete && img.isConnected,
      natural: [img.naturalWidth, img.naturalHeight],
      img: [img.clientWidth, img.clientHeight],
      fit: getComputedStyle(img).objectFit,
    }));
    expect(shown.isThere).toBe(true);
    return shown;
  }, WAIT);
}

it("a picture opens large, keys and buttons lead to the others, and closing restores the focus", async () => {
  const ada = await enter("files-viewer");
  const { page } = ada;
  for (const name of ["one.png", "two.png", "three.png"]) await send(ada, name, png(800, 600));
  await page.locator(".preview img").nth(2).waitFor();
  const preview = page.getByRole("button", { name: "Image two.png, show large" });
  await preview.click();
  const viewer = page.getByRole("dialog");
  const shows = async (name: string, place: string): Promise<void> => {
    await viewer.getByRole("img", { name }).waitFor();
    await viewer.getByText(`${place} of 3`).waitFor();
  };
  await shows("two.png", "2");
  const picture = (await viewer.locator("img").boundingBox())!;
  const { width, height } = page.viewportSize()!;
  expect(Math.abs(picture.x + picture.width / 2 - width / 2)).toBeLessThan(2);
  expect(picture.height).toBeLessThan(height);
  await passes(page, "picture", "dialog");

  await page.keyboard.press("ArrowRight");
  await shows("three.png", "3");
  await page.keyboard.press("ArrowRight");
  await shows("three.png", "3");
  const before = viewer.getByRole("button", { name: "Previous picture" });
  await before.click();
  await before.click();
  await shows("one.png", "1");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Previous picture");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    viewer.getByRole("button", { name: "Save" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("one.png");
  await page.keyboard.press("Escape");
  await viewer.waitFor({ state: "detached" });
  await vi.waitFor(async () => {
    const label = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    expect(label).toBe("Image two.png, show large");
  }, WAIT);
  await preview.click();
  await viewer.getByRole("button", { name: "Close" }).click();
  await viewer.waitFor({ state: "detached" });
  await preview.click();
  await viewer.waitFor();
  await page.mouse.click(5, height / 2);
  await viewer.waitFor({ state: "detached" });
  expect(ada.complaints).toEqual([]);
});

it("a photo above 25 megapixels is made smaller, stands upright, and stays with the room it was chosen for; a photo that fits is stored as it is", async () => {
  const [here, there] = ["files-here", "files-there"];
  const ada = await enter(here);
  const { page } = ada;
  const goTo = async (room: string): Promise<void> => {
    await page.evaluate((room) => void (location.hash = room), room);
    await ada.reads("room-title", `#${room}`);
    await ada.isConnected();
  };
  const chips = page.getByTestId("uploads").locator("li");
  const heavy = await photo(page, 5800, 4350, 6);
  const small = await photo(page, 800, 600, 6);
  await page.evaluate(() => {
    const toBlob = Reflect.get(HTMLCanvasElement.prototype, "toBlob") as (this: unknown, ...given: unknown[]) => void;
    const held = new Promise<void>((resolve) => Object.assign(globalThis, { goOn: resolve }));
    HTMLCanvasElement.prototype.toBlob = function (...given) {
      void held.then(() => toBlob.apply(this, given));
    };
  });
  // One is made smaller, and the other is on its way.
  const held = Promise.withResolvers<void>();
  await page.route("**/files?name=*", async (route) => {
    await held.promise;
    await route.continue().catch(() => {});
  });
  const input = page.getByTestId("file-input");
  await input.setInputFiles({ name: "small.jpeg", mimeType: "image/jpeg", buffer: small });
  await chips.getByText("small.jpeg").waitFor();
  await input.setInputFiles({ name: "phone.jpeg", mimeType: "image/jpeg", buffer: heavy });
  await page.getByText("Preparing files…").waitFor();
  await goTo(there);
  held.resolve();
  await page.evaluate("goOn()");
  await ada.say("elsewhere");
  await ada.sees("elsewhere");
  expect(await chips.count()).toBe(0);
  await goTo(here);
  for (const name of ["small.jpeg", "phone.jpeg"]) await chips.getByText(name).waitFor();
  await isUploaded(ada);
  await page.getByTestId("send").click();
  await attached(ada, 2);
  // On its side as the sensor saw it.
  expect((await shownAs(ada, "phone.jpeg")).natural).toEqual([480, 640]);
  expect((await shownAs(ada, "small.jpeg")).natural).toEqual([600, 800]);
  await page.getByRole("button", { name: "Image phone.jpeg" }).click();
  const large = page.getByRole("dialog").getByRole("img", { name: "phone.jpeg" });
  await vi.waitFor(async () => {
    const [width, height] = await large.evaluate(
      (img: HTMLImageElement) => [img.naturalWidth, img.naturalHeight] as const,
    );
    expect(width * height).toBeLessThanOrEqual(12_000_000);
    expect(width * height).toBeGreaterThan(11_900_000);
    expect(width / height).toBeCloseTo(4350 / 5800, 2);
  }, WAIT);
  await page.keyboard.press("Escape");
  const stored = page.waitForEvent("download");
  await page.getByRole("button", { name: "Image small.jpeg" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await stored).createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).equals(small)).toBe(true);
  await page.keyboard.press("Escape");
  // They are not there twice.
  await goTo(there);
  await goTo(here);
  expect(await chips.count()).toBe(0);
  await page.unroute("**/files?name=*");
  expect(ada.complaints).toEqual([]);
});

it("small pictures are neither cut nor enlarged, thin ones are seen whole, and those with too many pixels are shown as files", async () => {
  const ada = await enter("files-small");
  for (const [width, height] of [
    [32, 32],
    [8, 200],
    [4000, 10],
    [600, 400],
  ] as const) {
    const name = `${width}x${height}.png`;
    await send(ada, name, png(width, height));
    const { natural, img, fit } = await shownAs(ada, name);
    expect(natural).toEqual([width, height]);
    expect(fit).toBe("scale-down");
    const scale = Math.min(1, 320 / width, 240 / height);
    // The box has room for all of it, so nothing is cut and nothing is smaller than it has to be.
    expect(img[0]).toBeGreaterThanOrEqual(Math.floor(width * scale));
    expect(img[1]).toBeGreaterThanOrEqual(Math.floor(height * scale));
  }
  // By the header of a picture, and by its decoded size.
  const side = Math.sqrt(PICTURE_PIXELS_MAX);
  await send(ada, "more.png", png(side + 1, side));
  await send(ada, "liar.gif", gif(1, 20_000));
  const buttonOf = (name: string) => ada.page.getByTestId("attachment").and(ada.page.locator(`[title="Save ${name}"]`));
  for (const name of ["more.png", "liar.gif"]) await buttonOf(name).waitFor();
});

it("an upload shows its progress and can be cancelled, also at its end; one that does not arrive can be tried again", async () => {
  const ada = await enter("files-progress");
  const { page } = ada;
  const network = await ada.context.newCDPSession(page);
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 50_000 };
  await network.send("Network.emulateNetworkConditions", slow);
  const calledOff = page.waitForEvent("requestfailed", (request) => request.url().includes("/files?name="));
  const buffer = Buffer.alloc(4_000_000, "long ");
  await page.getByTestId("file-input").setInputFiles({ name: "long.txt", mimeType: "text/plain", buffer });
  const progress = page.locator(".uploads progress");
  await progress.waitFor();
  await expect.poll(() => page.getByTestId("send").isDisabled()).toBe(true);
  const isUnderWay = async (): Promise<boolean> =>
    progress.evaluate((bar: HTMLProgressElement) => bar.value > 0 && bar.value < 1, undefined, { timeout: 500 });
  await vi.waitFor(async () => expect(await isUnderWay()).toBe(true), WAIT);
  await page.getByRole("button", { name: "Remove long.txt" }).click();
  await calledOff;
  await page.getByTestId("uploads").waitFor({ state: "detached" });
  await page.getByTestId("composer").fill("without it");
  await expect.poll(() => page.getByTestId("send").isEnabled()).toBe(true);
  expect(ada.complaints).toEqual([]);

  // A button that is held while the upload ends does what it says.
  await page.getByTestId("file-input").setInputFiles({ name: "held.txt", mimeType: "text/plain", buffer });
  await progress.waitFor();
  await page.getByRole("button", { name: "Remove held.txt" }).hover();
  await page.mouse.down();
  await network.send("Network.emulateNetworkConditions", { ...slow, uploadThroughput: -1 });
  await progress.waitFor({ state: "detached" });
  await page.mouse.up();
  await page.getByTestId("uploads").waitFor({ state: "detached" });

  // So does one that is pressed after the end, before the page draws the end.
  let goOn: (() => Promise<void>) | undefined;
  const remove = page.getByRole("button", { name: "Remove late.txt" });
  await page.route("**/files?name=*", async (route) => {
    // The upload begins before the page draws it.
    await remove.waitFor();
    goOn = await holdFrames(page);
    await route.continue();
  });
  await page.getByTestId("file-input").setInputFiles(textFile("late.txt"));
  await page.waitForFunction(() => JSON.stringify(localStorage).includes("late.txt"), undefined, { polling: 50 });
  await remove.dispatchEvent("click");
  await goOn!();
  await page.getByTestId("uploads").waitFor({ state: "detached" });
  await page.unroute("**/files?name=*");

  await page.clock.install();
  await page.route("**/files?name=*", (route) => route.abort());
  await page.getByTestId("file-input").setInputFiles(textFile("a.txt"));
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
