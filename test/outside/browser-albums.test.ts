// Several files in one message, in a real Chromium: small pictures in the draft and in the album, players that load what they play, and a
// PDF in a tab.
import { expect, inject, it, vi } from "vitest";

import { passes } from "./axe.ts";
import { film, photo, png, sound } from "./pictures.ts";
import { comesToRest } from "./scroll-meter.ts";
import { useBrowser } from "./stage.ts";
import { NO_WORKER, Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const browser = await useBrowser();

it("pictures, films, sound and a PDF are one message: small pictures in draft and album, players that load what they play, a tab", async () => {
  const ada = await Visitor.open(browser, url, NO_WORKER);
  const { page } = ada;
  // This one has no viewer, and saves what it is given to open.
  await page.addInitScript(() => Object.defineProperty(navigator, "pdfViewerEnabled", { value: true }));
  await ada.enter("files-album", "Ada");
  const hostile = '"><img src=x onerror=alert(1)>.png';
  const heavy = await photo(page, 3000, 2000, 1);
  expect(heavy.length).toBeGreaterThan(100_000);
  const pictures = ["a.png", "b.png", "c.png", hostile];
  await page
    .getByTestId("file-input")
    .setInputFiles([
      { name: "photo.jpeg", mimeType: "image/jpeg", buffer: heavy },
      ...pictures.map((name) => ({ name, mimeType: "image/png", buffer: png(400, 300) })),
      { name: "film.webm", mimeType: "video/webm", buffer: await film(page) },
      { name: "no film.mp4", mimeType: "video/mp4", buffer: Buffer.from("<script>alert(1)</script>") },
      { name: "tone.wav", mimeType: "audio/wav", buffer: sound() },
      { name: "paper.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4") },
    ]);
  const chips = page.getByTestId("uploads").locator("li");
  await vi.waitFor(async () => expect(await chips.count()).toBe(9), WAIT);
  await vi.waitFor(async () => expect(await page.locator(".uploads progress").count()).toBe(0), WAIT);
  // Five pictures and the beginning of the film.
  await vi.waitFor(async () => expect(await chips.locator("img").count()).toBe(6), WAIT);
  const thumb = (await chips.first().boundingBox())!;
  expect([thumb.width, thumb.height]).toEqual([64, 64]);
  await ada.say("from the trip");
  await vi.waitFor(async () => expect(await page.getByTestId("attachment").count()).toBe(9), WAIT);
  expect(await page.getByTestId("message").count()).toBe(1);
  // The row of the message that is sent takes the place of that of the one which waits, with its pictures and players.
  await ada.message("from the trip").and(page.locator("[data-state=sent]")).waitFor();
  await page.locator(".album img").nth(4).waitFor();
  const shown = page.getByRole("button", { name: "Image photo.jpeg" }).locator("img");
  const sizeOf = (): Promise<number[]> =>
    shown.evaluate((img: HTMLImageElement) => [img.naturalWidth, img.naturalHeight]);
  await expect.poll(sizeOf).toEqual([640, 426]);

  // A player that gets nothing can be tried again.
  await page.route(/pass=/, (route) => route.abort());
  await page.getByRole("button", { name: "Play tone.wav" }).click();
  await page.getByText("The file could not be loaded").waitFor();
  await page.unroute(/pass=/);

  const clip = page.locator("video");
  await page.getByRole("button", { name: "Play film.webm" }).click();
  await vi.waitFor(
    async () => expect(await clip.evaluate((film: HTMLVideoElement) => film.currentTime)).toBeGreaterThan(0.1),
    WAIT,
  );
  await expect.poll(() => clip.evaluate((film) => film === document.activeElement)).toBe(true);
  const [part] = await Promise.all([
    page.waitForResponse((response) => response.url().includes("pass=")),
    page.getByRole("button", { name: "Play tone.wav" }).click(),
  ]);
  expect(part.status()).toBe(206);
  await vi.waitFor(
    async () => expect(await page.locator("audio").evaluate((tone: HTMLAudioElement) => tone.duration)).toBe(3),
    WAIT,
  );
  await page.getByRole("button", { name: "Play no film.mp4" }).click();
  await page.getByText("Cannot be played here").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save no film.mp4" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("no film.mp4");
  await passes(page, "message with files of all kinds", "message");

  const opened = ada.context.waitForEvent("page").then((tab) => tab.waitForEvent("download"));
  await page.locator('[title="Open paper.pdf"]').click();
  expect((await opened).url()).toMatch(/^blob:/);

  // The viewer goes through the album, and shows all of a picture.
  await page.getByRole("button", { name: "Image photo.jpeg" }).click();
  const viewer = page.getByRole("dialog");
  const large = viewer.getByRole("img", { name: "photo.jpeg" });
  await vi.waitFor(
    async () => expect(await large.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(3000),
    WAIT,
  );
  await viewer.getByText("1 of 5").waitFor();
  for (const name of pictures) {
    await page.keyboard.press("ArrowRight");
    await viewer.getByRole("img", { name, exact: true }).waitFor();
  }
  await page.keyboard.press("Escape");

  // Every picture has its place before it is loaded, and no row has a hole.
  const held = Promise.withResolvers<void>();
  await page.route("**/files/*", async (route) => {
    await held.promise;
    await route.continue().catch(() => {});
  });
  await page.reload();
  const album = page.locator(".album");
  await album.waitFor();
  await ada.isConnected();
  await comesToRest(page);
  const before = (await album.boundingBox())!;
  held.resolve();
  await page.locator(".album img").nth(4).waitFor();
  expect((await album.boundingBox())!).toEqual(before);
  const areas = await album
    .locator(".preview")
    .evaluateAll((all) => all.map(({ clientWidth, clientHeight }) => clientWidth * clientHeight));
  const filled = areas.reduce((sum, area) => sum + area) / (before.width * before.height);
  expect(filled).toBeGreaterThan(0.97);
  // The browser itself speaks of each aborted request, and of files over the rate, which the page sends again.
  const ownWords = /^Failed to load resource: .*(?:net::ERR_FAILED|429)/;
  expect(ada.complaints.filter((complaint) => !ownWords.test(complaint))).toEqual([]);

  // A picture that cannot be had stands in the album as a file, as wide as it.
  await page.unroute("**/files/*");
  await page.route("**/files/*", (route) => route.fulfill({ status: 404, json: { error: { code: "NOT_FOUND" } } }));
  await page.reload();
  const lost = album.locator(".file").first();
  await lost.waitFor();
  expect((await lost.boundingBox())!.width).toBeGreaterThan(100);

  // Messages that are copied together have the names of all their files.
  await page
    .getByTestId("file-input")
    .setInputFiles(["1.txt", "2.txt"].map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("text") })));
  await vi.waitFor(async () => expect(await chips.count()).toBe(2), WAIT);
  await vi.waitFor(async () => expect(await page.locator(".uploads progress").count()).toBe(0), WAIT);
  await ada.say("");
  await vi.waitFor(async () => expect(await page.locator("li[data-seq]").count()).toBe(2), WAIT);
  const copied = await page.getByTestId("messages").evaluate((list) => {
    getSelection()!.selectAllChildren(list);
    const clipboardData = new DataTransfer();
    const copy = new ClipboardEvent("copy", { bubbles: true, cancelable: true, clipboardData });
    list.querySelector("li[data-seq]")!.dispatchEvent(copy);
    return clipboardData.getData("text/plain");
  });
  expect(copied).toMatch(/from the trip\n1\.txt, 2\.txt$/);
  await ada.close();
});
