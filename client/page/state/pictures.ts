// Decides which files of messages are shown as pictures, makes large photos fit before they are uploaded, and fetches the bytes of
// pictures once. The preview, the viewer and the room view call it.
import type { Attachment } from "parley-rooms/client";

import type { RoomView } from "./room-view.ts";

/** Images that the server knew by their bytes; none of them can carry a script. */
const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
const BYTES_MAX = 10_000_000;
/** A browser needs four bytes for each pixel, however small the file is. A larger picture is shown as a file. */
export const PICTURE_PIXELS_MAX = 25_000_000;
/** No phone takes larger photos; to make one smaller the browser has to hold all of it. */
const PHOTO_PIXELS_MAX = 220_000_000;
/** 4,000 by 3,000. */
const SMALLER_PIXELS = 12_000_000;
const SMALLER_QUALITY = 0.88;
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

async function expectSmall(url: string): Promise<void> {
  if (pixelsOf(await loadImage(url)) > PICTURE_PIXELS_MAX) throw new Error("The picture has too many pixels.");
}

const pixelsOf = ({ naturalWidth, naturalHeight }: HTMLImageElement): number => naturalWidth * naturalHeight;

/** A browser reads an image's size when it loads it, and its pixels once it is drawn. */
function loadImage(url: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener("load", () => resolve(image));
    image.addEventListener("error", () => reject(new Error("The picture cannot be read.")));
    image.src = url;
  });
}

/** A photo that is too large to be shown as a picture is made smaller before it is uploaded; any other file stays as it is. */
export async function fitPhoto(file: File): Promise<File> {
  if (file.type !== "image/jpeg") return file;
  const url = URL.createObjectURL(file);
  try {
    const image = await loadImage(url);
    const pixels = pixelsOf(image);
    const isFit = pixels <= PICTURE_PIXELS_MAX && file.size <= BYTES_MAX;
    return isFit || pixels > PHOTO_PIXELS_MAX ? file : await smaller(image, file);
  } catch {
    return file;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Drawn as it is shown: the copy needs no orientation. */
async function smaller(image: HTMLImageElement, file: File): Promise<File> {
  const scale = Math.min(1, Math.sqrt(SMALLER_PIXELS / pixelsOf(image)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(image.naturalWidth * scale);
  canvas.height = Math.floor(image.naturalHeight * scale);
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, file.type, SMALLER_QUALITY));
  return blob ? new File([blob], file.name, { type: file.type, lastModified: file.lastModified }) : file;
}
