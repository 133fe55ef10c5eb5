// How large an AVIF image is shown: the properties `ispe` (size) and `irot` (turn) in the boxes of its head. Of several
// items (thumbnails, tiles, the alpha plane) the largest is the image.
import { says, type PixelSize } from "./image-bytes.ts";

/** Boxes looked at in all: a head has some tens of them. */
const BOXES_MAX = 1000;

interface Box {
  readonly at: number;
  readonly end: number;
}

export function avifSize(view: DataView): PixelSize | undefined {
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

/** What is in the boxes of that kind, side by side within another one, as far as they are there. */
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
