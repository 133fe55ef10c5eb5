// The image types and sizes that the page draws, and the loader of an image element. pictures.ts, fitting.ts and the draft's uploads call it. It imports
// nothing, because the browser loads fitting.ts on demand.

/** Images that the server knew by their bytes; none of them can carry a script. */
const DRAWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);
export const PICTURE_BYTES_MAX = 10_000_000;
/** A browser needs four bytes for each pixel, however small the file is. A larger picture is shown as a file. */
export const PICTURE_PIXELS_MAX = 25_000_000;

export const isDrawn = (type: string): boolean => DRAWN.has(type);

export const pixelsOf = ({ naturalWidth, naturalHeight }: HTMLImageElement): number => naturalWidth * naturalHeight;

/** A browser reads an image's size when it loads it, and its pixels once it is drawn. */
export function loadImage(url: string): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.addEventListener("load", () => resolve(image));
    image.addEventListener("error", () => reject(new Error("The picture cannot be read.")));
    image.src = url;
  });
}
