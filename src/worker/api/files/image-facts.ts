// What the first bytes of an image say: which kind it is, and how large it will be shown. Only the kinds that every
// browser shows. Whatever the bytes are, nothing is read beyond them and every loop moves forward.
//
// Sources: PNG (W3C), GIF89a, JPEG (ITU T.81, Exif 3.0), WebP (RFC 9649), AVIF (ISO/IEC 23008-12).
import { avifSize } from "./image-avif.ts";
import { says, type PixelSize } from "./image-bytes.ts";
import { jpegSize } from "./image-jpeg.ts";

export interface ImageFacts extends Partial<PixelSize> {
  readonly type: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";
}

/** Bytes that are looked at: pictures of cameras begin with a preview and colour profiles of this order. */
export const IMAGE_HEAD_BYTES = 262_144;

/** Pixels on a side beyond which a size is not believed; no browser shows so many. */
const PIXELS_MAX = 1_000_000;

/** @returns `undefined` for what is no image of a known kind; without a size where the bytes do not tell it */
export function imageFacts(head: Uint8Array): ImageFacts | undefined {
  const view = new DataView(head.buffer, head.byteOffset, Math.min(head.byteLength, IMAGE_HEAD_BYTES));
  const type = kindOf(view);
  if (!type) return undefined;
  const size = SIZES[type](view);
  const isSane = size !== undefined && [size.width, size.height].every((side) => side > 0 && side <= PIXELS_MAX);
  return { type, ...(isSane && { width: size.width, height: size.height }) };
}

function kindOf(view: DataView): ImageFacts["type"] | undefined {
  if (says(view, 0, "\u0089PNG\r\n\u001A\n")) return "image/png";
  if (says(view, 0, "\u00FF\u00D8\u00FF")) return "image/jpeg";
  if (says(view, 0, "GIF87a") || says(view, 0, "GIF89a")) return "image/gif";
  if (says(view, 0, "RIFF") && says(view, 8, "WEBP")) return "image/webp";
  if (says(view, 4, "ftyp") && (says(view, 8, "avif") || says(view, 8, "avis"))) return "image/avif";
  return undefined;
}

const SIZES: Readonly<Record<ImageFacts["type"], (view: DataView) => PixelSize | undefined>> = {
  "image/png": (view) =>
    view.byteLength >= 24 && says(view, 12, "IHDR")
      ? { width: view.getUint32(16), height: view.getUint32(20) }
      : undefined,
  "image/gif": (view) =>
    view.byteLength >= 10 ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : undefined,
  "image/webp": webpSize,
  "image/jpeg": jpegSize,
  "image/avif": avifSize,
};

/** The first chunk says it: lossy, lossless or extended. */
function webpSize(view: DataView): PixelSize | undefined {
  if (view.byteLength < 30) return undefined;
  if (says(view, 12, "VP8 ") && says(view, 23, "\u009D\u0001\u002A"))
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  if (says(view, 12, "VP8L") && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (says(view, 12, "VP8X")) return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
  return undefined;
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
