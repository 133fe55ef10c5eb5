// Pictures in a real Chromium: the viewer and its keys, and pictures with more pixels than a browser should hold.
import { deflateSync, crc32 } from "node:zlib";

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

import { expect, inject, it, vi } from "vitest";

import { PICTURE_PIXELS_MAX } from "../../client/page/state/pictures.ts";
import { useBrowser } from "./stage.ts";
import { Visitor, WAIT } from "./visitor.ts";

const url = inject("serverUrl");
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const browser = await useBrowser();

/** Of one colour, one bit a pixel: the bytes are few, however many pixels there are. */
function png(width: number, height: number): Buffer {
  const chunk = (kind: string, body: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(kind, "latin1"), body]);
    const framed = Buffer.alloc(named.length + 8);
    framed.writeUInt32BE(body.length);
    named.copy(framed, 4);
    framed.writeUInt32BE(crc32(named), named.length + 4);
    return framed;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head[8] = 1;
  const lines = Buffer.alloc((Math.ceil(width / 8) + 1) * height);
  return Buffer.concat([
    Buffer.from("\u0089PNG\r\n\u001A\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(lines)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A GIF that says one size of its screen and another of its only frame. */
function gif(screen: number, frame: number): Buffer {
  const size = (side: number): number[] => [side & 255, side >> 8, side & 255, side >> 8];
  const head = [...Buffer.from("GIF89a"), ...size(screen), 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  return Buffer.from([...head, 0x2c, 0, 0, 0, 0, ...size(frame), 0, 2, 2, 0x44, 1, 0, 0x3b]);
}

async function send(visitor: Visitor, name: string, buffer: Buffer): Promise<void> {
  const mimeType = `image/${name.split(".").at(-1)}`;
  await visitor.page.getByTestId("file-input").setInputFiles({ name, mimeType, buffer });
  await visitor.page.getByRole("button", { name: `Remove ${name}` }).waitFor();
  await vi.waitFor(async () => expect(await visitor.page.locator(".uploads progress").count()).toBe(0), WAIT);
  await visitor.page.getByTestId("send").click();
  await visitor.page.getByTestId("uploads").waitFor({ state: "detached" });
}

it("a picture opens large, keys and buttons lead to the others, and closing restores the focus", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("browser-pictures", "Ada");
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
  await page.evaluate(await readFile(AXE, "utf8"));
  const found = await page.evaluate<string[]>("axe.run().then(({ violations }) => violations.map(({ id }) => id))");
  expect(found).toEqual([]);

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
  await ada.close();
});

/** A photo as a phone takes it, of random dots; `orientation` as in Exif. */
async function photo({ page }: Visitor, width: number, height: number, orientation: number): Promise<Buffer> {
  const base64 = await page.evaluate(
    async ([width, height]) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width!, height!];
      const draw = canvas.getContext("2d")!;
      for (let at = 0; at < 200; at++) {
        draw.fillStyle = `hsl(${at * 7} 60% 50%)`;
        draw.fillRect((at * 997) % width!, (at * 499) % height!, width! / 10, height! / 10);
      }
      return canvas.toDataURL("image/jpeg", 0.8).split(",")[1]!;
    },
    [width, height],
  );
  const jpeg = Buffer.from(base64, "base64");
  const entry = [1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  const body = [...Buffer.from("Exif\0\0MM\0*"), 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0];
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xe1, 0, body.length + 2, ...body]), jpeg.subarray(2)]);
}

/** The picture of a preview as the browser has it, and the box that it is shown in. */
async function shownAs({ page }: Visitor, name: string): Promise<{ natural: number[]; img: number[]; fit: string }> {
  const img = page.getByRole("button", { name: `Image ${name}` }).locator("img");
  await img.waitFor();
  await vi.waitFor(async () => expect(await img.evaluate((img: HTMLImageElement) => img.complete)).toBe(true), WAIT);
  return img.evaluate((img: HTMLImageElement) => ({
    natural: [img.naturalWidth, img.naturalHeight],
    img: [img.clientWidth, img.clientHeight],
    fit: getComputedStyle(img).objectFit,
  }));
}

it("small pictures are neither cut nor enlarged, and thin ones are seen whole", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("browser-small", "Ada");
  for (const [width, height] of [
    [32, 32],
    [16, 16],
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
  await ada.close();
});

it("a photo above 25 megapixels is made smaller before its upload, stays a picture, and stands upright", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("browser-photo", "Ada");
  await send(ada, "phone.jpeg", await photo(ada, 6120, 4590, 6));
  const { natural, img } = await shownAs(ada, "phone.jpeg");
  expect(natural[0]! * natural[1]!).toBeLessThanOrEqual(12_000_000);
  expect(natural[0]! * natural[1]!).toBeGreaterThan(11_900_000);
  // On its side as the sensor saw it.
  expect(natural[0]! / natural[1]!).toBeCloseTo(4590 / 6120, 2);
  expect(img[0]! / img[1]!).toBeCloseTo(4590 / 6120, 1);
  // A photo that fits stays as it is.
  const small = await photo(ada, 800, 600, 6);
  await send(ada, "small.jpeg", small);
  expect((await shownAs(ada, "small.jpeg")).natural).toEqual([600, 800]);
  const stored = ada.page.waitForEvent("download");
  await ada.page.getByRole("button", { name: "Image small.jpeg" }).click();
  await ada.page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  const chunks: Buffer[] = [];
  for await (const chunk of await (await stored).createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).equals(small)).toBe(true);
  await ada.close();
});

it("files stay with the room they were chosen for, if the reader goes to another one before they are there", async () => {
  const [here, there] = ["browser-files-here", "browser-files-there"];
  const ada = await (await Visitor.open(browser, url)).enter(here, "Ada");
  const { page } = ada;
  const goTo = async (room: string): Promise<void> => {
    await page.evaluate((room) => void (location.hash = room), room);
    await ada.reads("room-title", `#${room}`);
    await ada.isConnected();
  };
  const chips = page.getByTestId("uploads").locator("li");
  const large = await photo(ada, 6120, 4590, 1);
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
  await input.setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") });
  await chips.getByText("notes.txt").waitFor();
  await input.setInputFiles({ name: "phone.jpeg", mimeType: "image/jpeg", buffer: large });
  await page.getByText("Preparing files…").waitFor();
  await goTo(there);
  held.resolve();
  await page.evaluate("goOn()");
  await ada.say("elsewhere");
  await ada.sees("elsewhere");
  expect(await chips.count()).toBe(0);
  await goTo(here);
  for (const name of ["notes.txt", "phone.jpeg"]) await chips.getByText(name).waitFor();
  await vi.waitFor(async () => expect(await page.locator(".uploads progress").count()).toBe(0), WAIT);
  await page.getByTestId("send").click();
  await vi.waitFor(async () => expect(await page.getByTestId("attachment").count()).toBe(2), WAIT);
  const { natural } = await shownAs(ada, "phone.jpeg");
  expect(natural[0]! * natural[1]!).toBeLessThanOrEqual(12_000_000);
  // They are not there twice.
  await goTo(there);
  await goTo(here);
  expect(await chips.count()).toBe(0);
  expect(ada.complaints).toEqual([]);
  await ada.close();
});

it("pictures with too many pixels are shown as files, by their header and by their decoded size", async () => {
  const ada = await (await Visitor.open(browser, url)).enter("browser-bombs", "Ada");
  const side = Math.sqrt(PICTURE_PIXELS_MAX);
  await send(ada, "most.png", png(side, side));
  await send(ada, "more.png", png(side + 1, side));
  await send(ada, "bomb.png", png(20_000, 20_000));
  await send(ada, "liar.gif", gif(1, 20_000));
  const buttonOf = (name: string) => ada.page.getByTestId("attachment").and(ada.page.locator(`[title="Save ${name}"]`));
  for (const name of ["more.png", "bomb.png", "liar.gif"]) await buttonOf(name).waitFor();
  await ada.page.getByRole("button", { name: "Image most.png" }).locator("img").waitFor();
  await ada.close();
});
