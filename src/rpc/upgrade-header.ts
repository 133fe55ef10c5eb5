// The header in which the Worker describes a connection to a room. Clients reach objects through the Worker only, which replaces any such
// header of theirs, so a room may trust it.
import type { Identity } from "../protocol/identity.ts";

export const UPGRADE_HEADER = "x-parley-upgrade";

export interface UpgradeFacts {
  /** The client's address, or `unknown` where the platform does not say. */
  readonly address: string;
  readonly query: Readonly<Record<string, string>>;
  readonly identity?: Identity;
  /** The client knows connection state recovery. */
  readonly canRecover?: boolean;
  /** The WebSocket carries the extensions (EXT-1). */
  readonly isExtended?: true;
  /** A browser or another JavaScript runtime sent the request: its polls may hold any number of packets (EIO-8). */
  readonly isJavaScript?: true;
  /** The session that the request belongs to; without it a new one is meant. */
  readonly sid?: string;
  /** The id of the request's TCP connection, if the server can end that (tcp-connections.ts). */
  readonly tcpId?: string;
  /** The WebSocket subprotocol to select, if the client offered any (EIO-11). */
  readonly subprotocol?: string;
}

/** JSON in percent-encoding: headers carry ASCII only, names do not. */
export function encodeUpgradeFacts(facts: UpgradeFacts): string {
  return encodeURIComponent(JSON.stringify(facts));
}

export function decodeUpgradeFacts(header: string): UpgradeFacts {
  return JSON.parse(decodeURIComponent(header)) as UpgradeFacts;
}
