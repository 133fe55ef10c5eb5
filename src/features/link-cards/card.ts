// Makes a link card of the tags of a page (CARD-1, CARD-4). The pages are anybody's: their texts are cleaned and cut here. Called by http-web.ts.
import type { LinkCard } from "../../protocol/schemas/link-card.ts";
import { publicAddress, type Address } from "./address.ts";

/** Characters of the texts of a card. */
export const TITLE_LENGTH_MAX = 150;
export const DESCRIPTION_LENGTH_MAX = 300;
export const SITE_LENGTH_MAX = 60;

/** The tags that a card is made of, by what it needs: the first that a page has. `title` is the element. */
const SOURCES = {
  title: ["og:title", "twitter:title", "title"],
  description: ["og:description", "twitter:description", "description"],
  site: ["og:site_name"],
  picture: ["og:image:secure_url", "og:image", "og:image:url", "twitter:image"],
} as const;

export const TAGS: ReadonlySet<string> = new Set(Object.values(SOURCES).flat());

/**
 * @param tags as they stand in the page, with entities
 * @param page the address of the page, after redirects
 * @param own the name of the server itself
 * @returns `undefined` for a page without a title
 */
export function cardOf(tags: ReadonlyMap<string, string>, page: Address, own: string): LinkCard | undefined {
  const find = (part: keyof typeof SOURCES): string =>
    SOURCES[part].map((name) => decodeEntities(tags.get(name) ?? "").trim()).find((text) => text !== "") ?? "";
  const title = cleaned(find("title"), TITLE_LENGTH_MAX);
  if (title === "") return undefined;
  const description = cleaned(find("description"), DESCRIPTION_LENGTH_MAX);
  const site = cleaned(find("site"), SITE_LENGTH_MAX);
  const picture = find("picture");
  const pictureAddress = picture === "" ? undefined : publicAddress(picture, own, page);
  return {
    url: page.href,
    title,
    ...(description !== "" && description !== title && { description }),
    ...(site !== "" && { site }),
    ...(pictureAddress && { picture: pictureAddress.href }),
  };
}

/** Controls, and characters that turn the direction of what follows them. */
const UNWANTED = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]+/gu;

function cleaned(text: string, lengthMax: number): string {
  const line = text.toWellFormed().replaceAll(/\s+/g, " ").replaceAll(UNWANTED, "").trim();
  const characters = Array.from(line);
  return characters.length > lengthMax
    ? `${characters
        .slice(0, lengthMax - 1)
        .join("")
        .trimEnd()}…`
    : line;
}

/** Those that titles have. Any other name stays as it is written. */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  (
    "amp=& lt=< gt=> quot=\" apos=' nbsp=\u00A0 shy= hellip=… mdash=— ndash=– middot=· bull=• laquo=« raquo=» " +
    "lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ copy=© reg=® trade=™ deg=° euro=€ pound=£ times=× " +
    "auml=ä ouml=ö uuml=ü Auml=Ä Ouml=Ö Uuml=Ü szlig=ß agrave=à ccedil=ç eacute=é egrave=è"
  )
    .split(" ")
    .map((pair) => pair.split("=", 2) as [string, string]),
);

const CODE_POINT_MAX = 0x10_ff_ff;

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= CODE_POINT_MAX ? String.fromCodePoint(code) : "";
  });
}
