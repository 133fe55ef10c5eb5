// What the Worker tells a room about a connection, in a header of its own. Objects are reached through the
// Worker only, and it replaces whatever a client put there, so a room may believe it.
import type { Identity } from "../protocol/identity.ts";

export const UPGRADE_HEADER = "x-parley-upgrade";

export interface UpgradeFacts {
  /** The client's address, or `unknown` where the platform does not say. */
  readonly address: string;
  readonly query: Readonly<Record<string, string>>;
  readonly identity?: Identity;
  /** Whether the client knows connection state recovery. */
  readonly canRecover?: boolean;
  /** Whether the WebSocket is to carry the extensions (EXT-1). */
  readonly isExtended?: true;
  /** Whether a browser or another JavaScript runtime sent the request: its polls may hold any number of packets (EIO-8). */
  readonly isJavaScript?: true;
  /** The session that the request belongs to; without it a new one is meant. */
  readonly sid?: string;
  /** The TCP connection that the request came over, where it can be cut (lines.ts). */
  readonly line?: string;
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
