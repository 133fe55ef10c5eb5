// Media types and names of files: allowed types, types that are safe to show, and the header for both. Used by rooms and the Worker.
// Source: RFC 9110 section 8.3 (types), RFC 6266 and 8187 (Content-Disposition).

const TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}$/;

export const FILE_NAME_LENGTH_MAX = 200;
/** The name of a file that was given none. */
const NAMELESS = "file";

/** @returns the type without parameters, in lower case; `undefined` for a text that is none */
export function mediaTypeOf(header: string | null): string | undefined {
  const type = header?.split(";", 1)[0]!.trim().toLowerCase();
  return type !== undefined && TYPE.test(type) ? type : undefined;
}

/** @param allowed whole types, or kinds with a star: `audio/*` */
export function isTypeAllowed(type: string, allowed: readonly string[]): boolean {
  const kind = type.slice(0, type.indexOf("/"));
  return [type, `${kind}/*`, "*/*"].some((rule) => allowed.includes(rule));
}

/** Types that a browser shows without running anything in them. No SVG: it has scripts. */
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif)|(audio|video)\/[\w.+-]+)$/;

/** The header that makes a browser show the file in place, or save it. */
export function contentDisposition(type: string, name: string): string {
  const how = SHOWN.test(type) ? "inline" : "attachment";
  const ascii = name.replaceAll(/[^\u0020-\u007E]|["\\%]/g, "_");
  if (ascii === name) return `${how}; filename="${ascii}"`;
  return `${how}; filename="${ascii}"; filename*=UTF-8''${percentEncoded(name)}`;
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Control characters, and those that turn the direction of writing: `exe.gpj` must not look like a picture. */
// oxlint-disable-next-line eslint/no-control-regex -- these are what must not be there
const UNPRINTABLE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g;

/** Makes a name to show and to save under of any text: the last part of a path, without deceptive characters. */
export function fileNameOf(given: string): string {
  const last = given.toWellFormed().replaceAll(UNPRINTABLE, "").split(/[/\\]/).at(-1)!.trim();
  const name = Array.from(last).slice(0, FILE_NAME_LENGTH_MAX).join("").trim();
  return /^\.*$/.test(name) ? NAMELESS : name;
}
