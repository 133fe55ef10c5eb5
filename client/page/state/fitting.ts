// Makes large photos fit before they are uploaded, and small pictures for lists. The browser loads this when the reader attaches the first
// picture or film: pictures.ts imports it then.
import { isDrawn, loadImage, PICTURE_BYTES_MAX, PICTURE_PIXELS_MAX, pixelsOf } from "./image-file.ts";

/** No phone takes larger photos; to make one smaller the browser has to hold all of it. */
const PHOTO_PIXELS_MAX = 220_000_000;
/** 4,000 by 3,000. */
const SMALLER_PIXELS = 12_000_000;
const SMALLER_QUALITY = 0.88;

/** A list shows pictures at half of that; screens of phones have more than one pixel in each. */
const PREVIEW_SIDE = 640;
const PREVIEW_QUALITY = 0.8;
/** A picture of fewer bytes is its own preview. */
const PREVIEWED_BYTES_MIN = 100_000;
/** The first picture of a film that does not come by then is not waited for. */
const FILM_MS = 5000;
/** Films often begin in the dark. */
const FILM_SECONDS = 0.5;

interface Drawable {
  readonly source: CanvasImageSource;
  readonly width: number;
  readonly height: number;
}

/** A photo that is too large to be shown as a picture is made smaller; any other file stays as it is. */
export async function fitPhoto(file: File): Promise<File> {
  if (file.type !== "image/jpeg") return file;
  return withUrl(file, async (url) => {
    const image = await loadImage(url);
    const pixels = pixelsOf(image);
    if ((pixels <= PICTURE_PIXELS_MAX && file.size <= PICTURE_BYTES_MAX) || pixels > PHOTO_PIXELS_MAX) return file;
    const canvas = draw(drawableOf(image), Math.min(1, Math.sqrt(SMALLER_PIXELS / pixels)));
    const blob = await encode(canvas, file.type, SMALLER_QUALITY);
    return blob ? new File([blob], file.name, { type: file.type, lastModified: file.lastModified }) : file;
  }).catch(() => file);
}

/** Makes the preview of a picture or video, without the metadata (EXIF) of the file. @returns `undefined` if the file needs no preview */
export async function previewOf(file: File): Promise<Blob | undefined> {
  const isFilm = file.type.startsWith("video/");
  // A still picture would stand for one that moves.
  const isSmall = !isFilm && (file.size < PREVIEWED_BYTES_MIN || file.type === "image/gif" || !isDrawn(file.type));
  if (isSmall) return undefined;
  return withUrl(file, async (url) => {
    const drawable = isFilm ? await loadFilm(url) : drawableOf(await loadImage(url));
    const { width, height } = drawable;
    if (width === 0 || width * height > PICTURE_PIXELS_MAX) return undefined;
    const canvas = draw(drawable, Math.min(1, PREVIEW_SIDE / Math.max(width, height)));
    const small = (await encode(canvas, "image/webp", PREVIEW_QUALITY)) ?? (await encodeOpaque(canvas));
    return small && small.size < file.size ? small : undefined;
  });
}

async function withUrl<Made>(file: File, make: (url: string) => Promise<Made>): Promise<Made> {
  const url = URL.createObjectURL(file);
  try {
    return await make(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

const drawableOf = (image: HTMLImageElement): Drawable => ({
  source: image,
  width: image.naturalWidth,
  height: image.naturalHeight,
});

/** Rejects for a film that this browser cannot play. */
function loadFilm(url: string): Promise<Drawable> {
  const film = document.createElement("video");
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("The film took too long.")), FILM_MS);
    film.addEventListener("seeked", () => resolve({ source: film, width: film.videoWidth, height: film.videoHeight }));
    film.addEventListener("loadeddata", () => (film.currentTime = Math.min(FILM_SECONDS, film.duration / 2)));
    film.addEventListener("error", () => reject(new Error("The film cannot be read.")));
    Object.assign(film, { muted: true, playsInline: true, preload: "auto", src: url });
  });
}

/** Drawn as it is shown: the copy needs no orientation. */
function draw({ source, width, height }: Drawable, scale: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.floor(width * scale));
  canvas.height = Math.max(1, Math.floor(height * scale));
  canvas.getContext("2d")!.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** @returns `undefined` where the browser does not write that type */
async function encode(canvas: HTMLCanvasElement, type: string, quality: number): Promise<Blob | undefined> {
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, quality));
  return blob?.type === type ? blob : undefined;
}

function encodeOpaque(canvas: HTMLCanvasElement): Promise<Blob | undefined> {
  const context = canvas.getContext("2d")!;
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  return encode(canvas, "image/jpeg", PREVIEW_QUALITY);
}
