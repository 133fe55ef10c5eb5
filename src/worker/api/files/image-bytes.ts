// What the readers of images share.

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Whether the bytes at a place are those of a text, one a character. */
export function says(view: DataView, at: number, text: string): boolean {
  if (at + text.length > view.byteLength) return false;
  for (let i = 0; i < text.length; i++) if (view.getUint8(at + i) !== text.charCodeAt(i)) return false;
  return true;
}
