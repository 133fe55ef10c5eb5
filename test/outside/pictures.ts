// Pictures for the tests of files: of any size with few bytes, a GIF that lies about its size, a photo, a film and a sound. Called by
// browser-files.test.ts, browser-albums.test.ts and browser-phone.test.ts.
import { crc32, deflateSync } from "node:zlib";

import type { Page } from "playwright-core";

import { wavOf } from "../../scripts/screenshots/drawings.ts";

/** Of one colour, one bit a pixel: the bytes are few, however many pixels there are. */
export function png(width: number, height: number): Buffer {
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
export function gif(screen: number, frame: number): Buffer {
  const size = (side: number): number[] => [side & 255, side >> 8, side & 255, side >> 8];
  const head = [...Buffer.from("GIF89a"), ...size(screen), 0x80, 0, 0, 0, 0, 0, 255, 255, 255];
  return Buffer.from([...head, 0x2c, 0, 0, 0, 0, ...size(frame), 0, 2, 2, 0x44, 1, 0, 0x3b]);
}

/** A photo as a phone takes it, of random dots; `orientation` as in Exif. */
export async function photo(page: Page, width: number, height: number, orientation: number): Promise<Buffer> {
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

/** A second of film, 640 by 360, as browsers record it. */
export async function film(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate(async () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 360 });
    const draw = canvas.getContext("2d")!;
    let frames = 0;
    const drawing = setInterval(() => {
      draw.fillStyle = `hsl(${frames++ * 15} 60% 50%)`;
      draw.fillRect(0, 0, 640, 360);
    }, 40);
    const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: "video/webm" });
    const recorded = new Promise<Blob>((done) => (recorder.ondataavailable = ({ data }) => done(data)));
    recorder.start();
    setTimeout(() => recorder.stop(), 1000);
    const bytes = new Uint8Array(await (await recorded).arrayBuffer());
    clearInterval(drawing);
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  });
  return Buffer.from(base64, "base64");
}

/** Three seconds of a tone. */
export const sound = (): Buffer => wavOf(3, (at) => 60 * Math.sin(at / 4));
