// Decides which files of messages are shown as pictures, and fetches their bytes once. The preview and the viewer call it.
import type { Attachment } from "parley-rooms/client";

import type { RoomView } from "./room-view.ts";

/** Images that the server knew by their bytes; none of them can carry a script. */
const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const BYTES_MAX = 10_000_000;
/** A browser needs four bytes for each pixel, however small the file is. A larger picture is shown as a file. */
export const PICTURE_PIXELS_MAX = 25_000_000;
/** Pictures kept in memory, also when they are out of sight. */
const URLS_MAX = 40;

export interface Picture extends Attachment {
  readonly width: number;
  readonly height: number;
}

const urls = new Map<string, string>();

export function isPicture(attachment: Attachment | undefined): attachment is Picture {
  if (!attachment) return false;
  const { type, size, width, height } = attachment;
  const isSized = width !== undefined && height !== undefined && width * height <= PICTURE_PIXELS_MAX;
  return isSized && SHOWN.has(type) && size <= BYTES_MAX;
}

/** The pictures of the loaded messages, in their order. */
export const picturesOf = ({ state }: RoomView): Picture[] =>
  state.messages.stored.map(({ attachment }) => attachment).filter(isPicture);

/** @returns the object URL of its bytes, if they are loaded */
export const urlOf = ({ key }: Picture): string | undefined => urls.get(key);

/** Rejects where the download fails, and where the picture has more pixels than the server said. */
export async function fetchPicture(view: RoomView, picture: Picture, signal: AbortSignal): Promise<string> {
  const known = urls.get(picture.key);
  if (known !== undefined) return known;
  const url = URL.createObjectURL(await view.store.room.download(picture, { signal }));
  try {
    await expectSmall(url);
  } catch (error) {
    URL.revokeObjectURL(url);
    throw error;
  }
  urls.set(picture.key, url);
  for (const [oldest, old] of urls) {
    if (urls.size <= URLS_MAX) break;
    urls.delete(oldest);
    URL.revokeObjectURL(old);
  }
  return url;
}

/** A browser reads an image's size when it loads it, and its pixels once it is drawn. */
function expectSmall(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener("load", () => {
      const isSmall = image.naturalWidth * image.naturalHeight <= PICTURE_PIXELS_MAX;
      if (isSmall) resolve();
      else reject(new Error("The picture has too many pixels."));
    });
    image.addEventListener("error", () => reject(new Error("The picture cannot be read.")));
    image.src = url;
  });
}
