// Finds the networks of an address, because limits per address would not stop a client that has a whole network (LIM-1). Called by the
// limits of the engine and of the Worker.

/** The 16-bit groups of an IPv6 address that name its network; each machine chooses the others itself. */
const NETWORK_GROUPS = 4;
/** The groups that name the site of the network: the owner of a /48 has 65,536 networks. */
const SITE_GROUPS = 3;
/** The limit of a site, as a multiple of the limit of one network. */
export const NETWORKS_PER_SITE = 16;
const GROUPS = 8;

// Part of all runtimes of this code (browsers, Node, workerd), but not of the language.
declare const URL: { new (url: string): { readonly hostname: string }; canParse(url: string): boolean };

/**
 * Some proxies add the port, which differs for each connection. An address with a port is in brackets, or has one colon, where IPv6 has two or
 * more, or ends as IPv4 does (`::ffff:192.0.2.1:80`).
 */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d*)?|([^:]*|.*\.\d+):\d*)$/;

/** A network or site whose limit an address counts against. */
export interface Bound {
  readonly name: string;
  /** Its limit, as a multiple of the limit of one network. */
  readonly times: number;
}

/** The key under which the guests of a network count as one user, because anyone gets another guest token. No user id has a line break in it. */
export const guestsOf = (address: string): string => `\n${networkOf(address)}`;

/** @returns the network of an address and, for IPv6, its site */
export function boundsOf(address: string): readonly Bound[] {
  const network = networkOf(address);
  const groups = network.endsWith(NETWORK_ENDING) ? network.split(":").slice(0, SITE_GROUPS) : undefined;
  const own = { name: network, times: 1 };
  return groups ? [own, { name: `${groups.join(":")}::/48`, times: NETWORKS_PER_SITE }] : [own];
}

const NETWORK_ENDING = "::/64";

/** @returns IPv4 as it is, the /64 of IPv6, and any other text as it is, in lower case; without a port */
export function networkOf(address: string): string {
  const given = address.trim().toLowerCase();
  const [, inBrackets, beforePort] = WITH_PORT.exec(given) ?? [];
  const [bare = ""] = (inBrackets ?? beforePort ?? given).split("%", 1);
  const groups = groupsOf(bare);
  if (!groups) return bare;
  // IPv4 as IPv6 writes it.
  const [, high, low] = /^0,0,0,0,0,65535,(\d+),(\d+)$/.exec(groups.join()) ?? [];
  if (low !== undefined) return [+high! >> 8, +high! & 0xff, +low >> 8, +low & 0xff].join(".");
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(":")}${NETWORK_ENDING}`;
}

/** @returns the eight groups of an IPv6 address, or `undefined` for other text */
function groupsOf(address: string): number[] | undefined {
  // In one form: groups in hexadecimal digits, and at most one `::`.
  const url = `http://[${address}]`;
  if (!URL.canParse(url)) return undefined;
  const [head = [], tail = []] = new URL(url).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}
