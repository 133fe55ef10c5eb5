// How large a JPEG is shown: its frame header, turned as its Exif data says. Phones write pictures as the sensor lies,
// and say in Exif which side is up.
import { says, type PixelSize } from "./image-bytes.ts";

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

export function jpegSize(view: DataView): PixelSize | undefined {
  let orientation = 1;
  for (const { marker, at, end } of segments(view)) {
    if (marker === EXIF) orientation = exifOrientation(view, at, end) ?? orientation;
    if (!isFrame(marker)) continue;
    if (at + 5 > end) return undefined;
    const [height, width] = [view.getUint16(at + 1), view.getUint16(at + 3)];
    return orientation >= ON_ITS_SIDE ? { width: height, height: width } : { width, height };
  }
  return undefined;
}

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
    // Decoders pass over what has no length, and so does this: a size hidden behind it would be another one than is shown.
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

/** From the first directory of the TIFF structure in the segment. */
function exifOrientation(view: DataView, at: number, end: number): number | undefined {
  if (!says(view, at, "Exif\u0000\u0000") || at + 14 > end) return undefined;
  const tiff = at + 6;
  const isLittle = says(view, tiff, "II");
  const directory = tiff + view.getUint32(tiff + 4, isLittle);
  if (directory + 2 > end) return undefined;
  const count = view.getUint16(directory, isLittle);
  for (let i = 0; i < count; i++) {
    const entry = directory + 2 + i * 12;
    if (entry + 12 > end) return undefined;
    if (view.getUint16(entry, isLittle) !== ORIENTATION_TAG) continue;
    const orientation = view.getUint16(entry + 8, isLittle);
    return orientation <= ORIENTATION_MAX ? orientation : undefined;
  }
  return undefined;
}
