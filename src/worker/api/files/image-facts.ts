// Reads the kind of an image, and the size at which it is shown, from its first bytes. Called by upload.ts (FILE-1) and by link cards. Knows
// only kinds that every browser shows. Never reads beyond the bytes, and every loop moves forward.
//
// Sources: PNG (W3C), GIF89a, JPEG (ITU T.81, Exif 3.0), WebP (RFC 9649), AVIF (ISO/IEC 23008-12).

interface PixelSize {
  readonly width: number;
  readonly height: number;
}

export interface ImageFacts extends Partial<PixelSize> {
  readonly type: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";
}

/** Bytes that are looked at: pictures of cameras begin with a preview and colour profiles of this order. */
export const IMAGE_HEAD_BYTES = 262_144;

/** Pixels on a side beyond which a size is not believed; no browser shows so many. */
const PIXELS_MAX = 1_000_000;

/** @returns `undefined` for no image of a known kind; no size where the bytes do not have it */
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
  "image/png": pngSize,
  "image/gif": (view) =>
    view.byteLength >= 10 ? { width: view.getUint16(6, true), height: view.getUint16(8, true) } : undefined,
  "image/webp": webpSize,
  "image/jpeg": jpegSize,
  "image/avif": avifSize,
};

/** The first chunk says it; a chunk with an orientation, which comes before the pixels, turns it. */
function pngSize(view: DataView): PixelSize | undefined {
  if (view.byteLength < 24 || !says(view, 12, "IHDR")) return undefined;
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  let at = 8;
  while (at + 12 <= view.byteLength && !says(view, at + 4, "IDAT")) {
    const end = at + 8 + view.getUint32(at);
    if (end + 4 > view.byteLength) break;
    // Browsers pass over a chunk whose checksum is wrong.
    if (says(view, at + 4, "eXIf") && view.getUint32(end) === crc32(view, at + 4, end))
      return turned(size, tiffOrientation(view, at + 8, end));
    at = end + 4;
  }
  return size;
}

function crc32(view: DataView, from: number, end: number): number {
  let crc = -1;
  for (let at = from; at < end; at++) {
    crc ^= view.getUint8(at);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

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

// ---- JPEG: the frame header, turned as Exif says: phones write pictures as the sensor lies -----------------

const START_OF_SCAN = 0xda;
const EXIF = 0xe1;
const ORIENTATION_TAG = 0x0112;
/** From this orientation on the image lies on its side. */
const ON_ITS_SIDE = 5;
const ORIENTATION_MAX = 8;

/** Frame headers are C0 to CF, but for the tables C4, CC and the reserved C8. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** Markers without a length: TEM and the restarts. */
const isBare = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7);

function jpegSize(view: DataView): PixelSize | undefined {
  let orientation: number | undefined;
  let size: PixelSize | undefined;
  for (const { marker, at, end } of segments(view)) {
    // Of several Exif segments browsers read the first alone, whatever it holds; it may stand behind the frame header.
    if (marker === EXIF && says(view, at, "Exif\u0000")) orientation ??= tiffOrientation(view, at + 6, end);
    if (!isFrame(marker) || size) continue;
    if (at + 5 > end) return undefined;
    size = { width: view.getUint16(at + 3), height: view.getUint16(at + 1) };
  }
  return size && turned(size, orientation ?? 1);
}

const turned = ({ width, height }: PixelSize, orientation: number): PixelSize =>
  orientation >= ON_ITS_SIDE ? { width: height, height: width } : { width, height };

/** The segments before the picture itself, as far as they are there whole. */
function* segments(view: DataView): Iterable<{ marker: number; at: number; end: number }> {
  let at = 2;
  while (at + 4 <= view.byteLength && view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1);
    // Any number of FF may stand before a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    // Decoders pass over markers without a length, and so does this code: a size hidden behind one would not be the shown one.
    if (isBare(marker)) {
      at += 2;
      continue;
    }
    const end = at + 2 + view.getUint16(at + 2);
    if (marker === START_OF_SCAN || end < at + 4 || end > view.byteLength) return;
    yield { marker, at: at + 4, end };
    at = end;
  }
}

const SHORT = 3;

/** From the first directory of a TIFF structure: its first entry that is right, as browsers read it; 1 without one. */
function tiffOrientation(view: DataView, tiff: number, end: number): number {
  const isLittle = says(view, tiff, "II*\u0000");
  if (!(isLittle || says(view, tiff, "MM\u0000*")) || tiff + 8 > end) return 1;
  const directory = tiff + view.getUint32(tiff + 4, isLittle);
  if (directory + 2 > end) return 1;
  const count = view.getUint16(directory, isLittle);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + i * 12;
    if (entry + 12 > end) return 1;
    const [tag, type] = [view.getUint16(entry, isLittle), view.getUint16(entry + 2, isLittle)];
    const orientation = view.getUint16(entry + 8, isLittle);
    const isOne = type === SHORT && view.getUint32(entry + 4, isLittle) === 1;
    if (tag === ORIENTATION_TAG && isOne && orientation >= 1 && orientation <= ORIENTATION_MAX) return orientation;
  }
  return 1;
}

// ---- AVIF: the properties `ispe` (size) and `irot` (turn). Of several items the largest is the image --------

/** Boxes looked at in all: a head has some tens of them. */
const BOXES_MAX = 1000;

interface Box {
  readonly at: number;
  readonly end: number;
}

function avifSize(view: DataView): PixelSize | undefined {
  const whole = { at: 0, end: view.byteLength };
  const [meta] = boxes(view, whole, "meta");
  // `meta` is a full box: a version and flags come first.
  const [properties] = meta ? boxes(view, { at: meta.at + 4, end: meta.end }, "iprp") : [];
  const [container] = properties ? boxes(view, properties, "ipco") : [];
  if (!container) return undefined;
  let largest: PixelSize | undefined;
  for (const { at, end } of boxes(view, container, "ispe")) {
    if (at + 12 > end) continue;
    const size = { width: view.getUint32(at + 4), height: view.getUint32(at + 8) };
    if (!largest || size.width * size.height > largest.width * largest.height) largest = size;
  }
  const [turn] = boxes(view, container, "irot");
  const isOnItsSide = turn !== undefined && turn.at < turn.end && view.getUint8(turn.at) % 2 === 1;
  return largest && isOnItsSide ? { width: largest.height, height: largest.width } : largest;
}

/** Yields the contents of all boxes of a kind that stand side by side within another one. */
function* boxes(view: DataView, within: Box, kind: string): Iterable<Box> {
  let { at } = within;
  for (let count = 0; count < BOXES_MAX && at + 8 <= within.end; count++) {
    const bytes = view.getUint32(at);
    const end = Math.min(at + bytes, within.end);
    // 0 (up to the end) and 1 (a size of 64 bits) are of the picture's own data, which comes later.
    if (bytes < 8) return;
    if (says(view, at + 4, kind)) yield { at: at + 8, end };
    at += bytes;
  }
}

/** Compares the bytes at a place with a text, one byte a character. */
function says(view: DataView, at: number, text: string): boolean {
  if (at + text.length > view.byteLength) return false;
  for (let i = 0; i < text.length; i++) if (view.getUint8(at + i) !== text.charCodeAt(i)) return false;
  return true;
}
