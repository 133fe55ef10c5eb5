// Fetches pages and pictures of the public web, within bounds of addresses, redirects, time and bytes (CARD-2, CARD-3). Called by http.ts.
import { TimedBody } from "../../http/timed-body.ts";
import type { Bindings } from "../../rpc/bindings.ts";
import type { LinkCard } from "../../protocol/schemas/link-card.ts";
import { imageFacts, type ImageFacts } from "../../worker/api/files/image-facts.ts";
import { VERSION } from "../../worker/version.ts";
import { publicAddress, type Address } from "./address.ts";
import { cardOf, TAGS } from "./card.ts";

/** Redirects that are followed. */
export const REDIRECTS_MAX = 3;
/** For all of them and the bytes. */
export const WEB_MS_MAX = 5000;
/** Of a page, as far as its head may reach. */
export const PAGE_BYTES_MAX = 512 * 1024;
export const PICTURE_BYTES_MAX = 2 * 1024 * 1024;
/** Parts that a body comes in: each costs time, however small it is. Packets of the usual size make 1,500 of the largest picture. */
export const CHUNKS_MAX = 2048;
/** A browser needs four bytes for each, however few the picture has itself: 4,000 by 3,000. */
const PICTURE_PIXELS_MAX = 12_000_000;
/** Characters of a tag as it stands in the page. */
const TAG_LENGTH_MAX = 4096;
/** Characters of one chunk that the next one may complete to the end of the head. */
const TAIL_LENGTH = 6;
/** Bytes in which a page names its charset (HTML Standard). */
const CHARSET_BYTES = 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const USER_AGENT = `Mozilla/5.0 (compatible; Parley/${VERSION}; link cards)`;

export interface Web {
  readonly env: Bindings;
  /** The name of the server itself. */
  readonly own: string;
}

export interface Picture extends Pick<ImageFacts, "type"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** @returns `undefined` if the address has no card, or if the fetch fails */
export async function fetchCard(address: Address, web: Web): Promise<LinkCard | undefined> {
  const found = await fetchBytes(address, web, PAGE);
  return found && cardOf(await tagsOf(headOf(textOf(found))), found.address, web.own);
}

/** @returns nothing for an address without a picture of a kind that every browser shows, and for a larger picture */
export async function fetchPicture(address: Address, web: Web): Promise<Picture | undefined> {
  const found = await fetchBytes(address, web, PICTURE);
  const facts = found && imageFacts(found.bytes);
  if (!facts || (facts.width ?? Infinity) * (facts.height ?? Infinity) > PICTURE_PIXELS_MAX) return undefined;
  return { type: facts.type, bytes: found.bytes };
}

interface Wanted {
  readonly accept: string;
  /** Media types that are read. */
  readonly types: RegExp;
  readonly bytesMax: number;
  /** Matches where no more is needed: what comes after that, or after the most bytes, is left. Absent: all is needed. */
  readonly end?: RegExp;
}

const PAGE = {
  accept: "text/html,application/xhtml+xml",
  types: /^(text\/html|application\/xhtml\+xml)\s*(;|$)/i,
  bytesMax: PAGE_BYTES_MAX,
  end: /<\/head/i,
} satisfies Wanted;

/** What it is, its bytes say. */
const PICTURE: Wanted = {
  accept: "image/avif,image/webp,image/png,image/jpeg,image/gif",
  types: /^image\/|^application\/octet-stream/i,
  bytesMax: PICTURE_BYTES_MAX,
};

interface Found {
  readonly address: Address;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

async function fetchBytes(address: Address, web: Web, wanted: Wanted): Promise<Found | undefined> {
  const untilMs = Date.now() + WEB_MS_MAX;
  try {
    const found = await follow(address, web, wanted);
    const bytes = found && (await bytesOf(found.response, wanted, Math.max(1, untilMs - Date.now())));
    return bytes && { address: found.address, type: found.response.headers.get("Content-Type")!, bytes };
  } catch {
    // Names that nobody has, servers that do not answer, bodies that break off: none of it is a fault of this server.
    return undefined;
  }
}

/** Follows redirects, and checks the address of each. @returns the answer that has the wanted type */
async function follow(
  first: Address,
  { env, own }: Web,
  { accept, types }: Wanted,
): Promise<{ readonly address: Address; readonly response: Response } | undefined> {
  const signal = AbortSignal.timeout(WEB_MS_MAX);
  const headers = { Accept: accept, "User-Agent": USER_AGENT };
  let address: Address | undefined = first;
  for (let redirects = 0; address && redirects <= REDIRECTS_MAX; redirects++) {
    const init = { headers, signal, redirect: "manual" } as const;
    const response: Response = await (env.PUBLIC_WEB?.fetch(address.href, init) ?? fetch(address.href, init));
    if (response.status === 200 && types.test(response.headers.get("Content-Type") ?? "")) return { address, response };
    await response.body?.cancel();
    const location: string | null = REDIRECTS.has(response.status) ? response.headers.get("Location") : null;
    address = location === null ? undefined : publicAddress(location, own, address);
  }
  return undefined;
}

async function bytesOf(
  { body }: Response,
  { bytesMax, end }: Wanted,
  msMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (!body) return undefined;
  const timed = new TimedBody(body as ReadableStream<Uint8Array>, msMax);
  const chunks: Uint8Array[] = [];
  let tail = "";
  try {
    for (let chunk = await timed.next(); chunk; chunk = await timed.next()) {
      chunks.push(chunk);
      const isFull = timed.bytes > bytesMax || chunks.length > CHUNKS_MAX;
      if (isFull && !end) return undefined;
      const text = end ? tail + new TextDecoder("latin1").decode(chunk) : "";
      if (isFull || end?.test(text)) break;
      tail = text.slice(-TAIL_LENGTH);
    }
    return joined(chunks, Math.min(bytesMax, timed.bytes));
  } finally {
    timed.end();
    await timed.cancel().catch(() => {});
  }
}

/** @param length of the result; more is cut off */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk.subarray(0, length - at), at);
    at += chunk.byteLength;
  }
  return bytes;
}

/** By the charset of the header, or else of the page, or else UTF-8. */
function textOf({ bytes, type }: Found): string {
  const beginning = new TextDecoder("latin1").decode(bytes.subarray(0, CHARSET_BYTES));
  const [, charset] = /charset\s*=\s*["']?([\w-]+)/i.exec(`${type}\n${beginning}`) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // There is no such charset.
    return new TextDecoder().decode(bytes);
  }
}

/** What comes after the end of the head may have come with it. */
function headOf(html: string): string {
  const end = html.search(PAGE.end);
  return end === -1 ? html : html.slice(0, end);
}

/** The first tag of each name, with its entities. */
async function tagsOf(html: string): Promise<ReadonlyMap<string, string>> {
  const tags = new Map<string, string>();
  const note = (name: string, text: string): void => {
    if (TAGS.has(name) && !tags.has(name) && text !== "") tags.set(name, text.slice(0, TAG_LENGTH_MAX));
  };
  let title: string | undefined;
  const page = new HTMLRewriter()
    .on("meta", {
      element: (tag) => {
        const name = tag.getAttribute("property") ?? tag.getAttribute("name") ?? "";
        note(name.toLowerCase(), tag.getAttribute("content") ?? "");
      },
    })
    .on("title", {
      text: ({ text, lastInTextNode }) => {
        title = (title ?? "") + text;
        if (lastInTextNode) note("title", title);
      },
    })
    .transform(new Response(html));
  // A page that the parser refuses has the tags that came before.
  await page.arrayBuffer().catch(() => {});
  return tags;
}
