// The header in which the Worker describes a connection to an object. The object trusts it on requests to INNER_ORIGIN only, which the
// Worker makes itself: one that it passes on as it came from a client has the address of the Worker, and perhaps a forged header.
import { OtherRelease } from "./other-release.ts";
import type { Identity } from "../protocol/identity.ts";

export const UPGRADE_HEADER = "x-parley-upgrade";

/** The version of the form of the header. A change of what a field means needs another one. */
const VERSION = 1;

/**
 * No name under `.invalid` is ever registered (RFC 6761), so clients reach a Worker by this one only behind a proxy that leaves the `Host` to
 * them. That does harm only in a Worker that passes requests on to objects as they came (SECURITY.md).
 */
export const INNER_ORIGIN = "https://parley.invalid";

/** The header leaves out fields that are undefined. */
export interface UpgradeFacts {
  /** The client's address, or `unknown` where the platform does not say. */
  readonly address: string;
  readonly query: Readonly<Record<string, string>>;
  /** Origin and path as the client asked for them; its query is that of the request then. Set for servers that see requests as they came. */
  readonly url?: string | undefined;
  readonly identity?: Identity | undefined;
  /** The answer to each CONNECT of the connection, if it is refused: a WebSocket client cannot read that of an upgrade. */
  readonly refusal?: { readonly message: string; readonly data: { readonly code: string } } | undefined;
  /** The client knows connection state recovery. */
  readonly canRecover?: boolean | undefined;
  /** The WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: true;
  /** A browser or another JavaScript runtime sent the request: its polls may hold any number of packets (EIO-8). */
  readonly isJavaScript?: true | undefined;
  /** The session that the request belongs to; without it a new one is meant. */
  readonly sid?: string;
  /** The id of the request's TCP connection, if the server can end that (tcp-connections.ts). */
  readonly tcpId?: string | undefined;
  /** Where the client is, as the platform names it for objects, or empty. Set where the Worker can bring the connection to a shard. */
  readonly region?: string;
  /** Shards that refused the connection, because they are full. */
  readonly full?: readonly number[];
  /** The WebSocket subprotocol to select, if the client offered any (EIO-11). */
  readonly subprotocol?: string | undefined;
}

/** JSON in percent-encoding: headers carry ASCII only, names do not. */
export function encodeUpgradeFacts(facts: UpgradeFacts): string {
  return encodeURIComponent(JSON.stringify({ v: VERSION, ...facts }));
}

/** @throws OtherRelease: while a release is rolled out, a Worker may be of another one than the object */
export function decodeUpgradeFacts(header: string): UpgradeFacts {
  const { v, ...facts } = JSON.parse(decodeURIComponent(header)) as UpgradeFacts & { readonly v: unknown };
  if (v === VERSION) return facts;
  throw new OtherRelease(`the Worker describes connections in version ${String(v)}, and this object reads ${VERSION}`);
}
