// Decides which files of messages are shown as pictures, and fetches the bytes of pictures once. Messages, the draft, the viewer and the
// room view call it.
import { attachmentsOf, type Attachment } from "parley-rooms/client";

import { isDrawn, loadImage, PICTURE_BYTES_MAX, PICTURE_PIXELS_MAX, pixelsOf } from "./image-file.ts";
import type { RoomView } from "./room-view.ts";

/** Pictures kept in memory, also when they are out of sight. */
const URLS_MAX = 40;

export interface Picture extends Attachment {
  readonly width: number;
  readonly height: number;
}

const urls = new Map<string, string>();

export function isPicture(attachment: Omit<Attachment, "preview"> | undefined): attachment is Picture {
  if (!attachment) return false;
  const { type, size, width, height } = attachment;
  const isSized = width !== undefined && height !== undefined && width * height <= PICTURE_PIXELS_MAX;
  return isSized && isDrawn(type) && size <= PICTURE_BYTES_MAX;
}

/** The picture that stands for a file in lists: its preview, or itself. */
export const smallOf = (file: Attachment): Picture | undefined => [file.preview, file].find(isPicture);

/** The pictures of the loaded messages, in their order. */
export const picturesOf = ({ state: { messages } }: RoomView): Picture[] =>
  [...messages.stored, ...messages.outgoing].flatMap(attachmentsOf).filter(isPicture);

/** @returns the object URL of its bytes, if they are loaded */
export const urlOf = ({ key }: Picture): string | undefined => urls.get(key);

/** Bytes of a picture that this page made itself need not be fetched. */
export function notePicture({ key }: Pick<Attachment, "key">, bytes: Blob): void {
  if (!urls.has(key)) hold(key, URL.createObjectURL(bytes));
}

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
  return hold(picture.key, url);
}

/** Another row may have fetched the same picture meanwhile: its URL stays. */
function hold(key: string, url: string): string {
  const known = urls.get(key);
  if (known !== undefined) URL.revokeObjectURL(url);
  urls.set(key, known ?? url);
  for (const [oldest, old] of urls) {
    if (urls.size <= URLS_MAX) break;
    urls.delete(oldest);
    URL.revokeObjectURL(old);
  }
  return known ?? url;
}

async function expectSmall(url: string): Promise<void> {
  if (pixelsOf(await loadImage(url)) > PICTURE_PIXELS_MAX) throw new Error("The picture has too many pixels.");
}

const MADE_SMALL = /^(?:image|video)\//;

/** A photo that is too large to be shown as a picture is made smaller before it is uploaded; any other file stays as it is. */
export async function fitPhoto(file: File): Promise<File> {
  if (!MADE_SMALL.test(file.type)) return file;
  // Without the code for it, it goes as it is.
  return import("./fitting.ts").then(
    (fitting) => fitting.fitPhoto(file),
    () => file,
  );
}

/** The preview that the page uploads with a picture or video; `undefined` if the file needs none. */
export async function previewOf(file: File): Promise<Blob | undefined> {
  return MADE_SMALL.test(file.type) ? (await import("./fitting.ts")).previewOf(file) : undefined;
}
