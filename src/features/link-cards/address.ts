// The addresses that the server fetches for link cards (CARD-2): those of the public web. Called for the link, each redirect and the picture.
// It judges names alone; that no name leads to an inner address is the network's part (docs/features.md, global_fetch_strictly_public).

export const ADDRESS_LENGTH_MAX = 2048;

/** An address as the platform parses it; the types of a core are those of the language alone. */
export interface Address {
  hash: string;
  readonly href: string;
  readonly hostname: string;
  readonly password: string;
  readonly port: string;
  readonly protocol: string;
  readonly username: string;
}

declare const URL: { parse(text: string, base?: string): Address | null };

/** What an address must be, for errors. */
export const ADDRESS_RULE =
  "must be an http or https address with a public name: no IP address, port, user or password, and not this server's own";

/** A domain at the top of public names: letters, or one of another script. So a host that is an IPv4 address in any spelling has none. */
const TOP = /\.([a-z]{2,}|xn--[a-z0-9-]+)$/;

/**
 * Ends of names that are no public ones: of RFC 6761, 6762, 7686, 8375 and 9476, those that ICANN keeps out of the root because networks use
 * them inside, and those of clusters.
 */
const INNER = new Set(
  (
    "alt arpa invalid local localhost onion test corp home internal mail " +
    "cluster consul domain intra intranet lan localdomain private svc workgroup"
  ).split(" "),
);

/**
 * @param base of a relative address
 * @param own the name of the server itself, which does not call itself
 * @returns the address without its fragment; `undefined` for one that is not fetched
 */
export function publicAddress(text: string, own: string, base?: Address): Address | undefined {
  if (text.length > ADDRESS_LENGTH_MAX) return undefined;
  const url = URL.parse(text, base?.href);
  if (!url || !/^https?:$/.test(url.protocol) || url.port !== "" || url.username !== "" || url.password !== "")
    return undefined;
  const name = nameIn(url.hostname);
  const [, top] = TOP.exec(name) ?? [];
  if (top === undefined || INNER.has(top) || name === nameIn(own)) return undefined;
  url.hash = "";
  return url;
}

/** A name may end with a dot, and is the same one. */
const nameIn = (host: string): string => host.replace(/\.$/, "");
