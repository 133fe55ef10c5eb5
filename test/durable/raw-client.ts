// Opens a WebSocket to the Worker from inside workerd, and a wire client over it. Called by all tests of objects and of the Worker.
import { exports } from "cloudflare:workers";

import * as wire from "../wire/raw-client.ts";
import type { AnyAnswer } from "../wire/wire-client.ts";

/** The Worker that answers is that of the tests, unless another is named: one with other settings, for example. */
export type UpgradeOptions = wire.UpgradeOptions;
export type RawClientOptions = wire.RawClientOptions;

export const ORIGIN = "http://parley.test";

const OWN = { fetcher: exports.default, url: ORIGIN };

/** The request of a stock client that opens a WebSocket, and its answer. */
export const upgrade = (options: UpgradeOptions = {}): Promise<Response> => wire.upgrade({ ...OWN, ...options });

export class RawClient extends wire.RawClient<AnyAnswer> {
  /** @throws Error when the upgrade is refused */
  static async open(options: RawClientOptions = {}): Promise<RawClient> {
    const client = RawClient.over((await wire.openSocket({ ...OWN, ...options })) as unknown as WebSocket, options);
    await client.until("the handshake", () => client.frames[0]);
    return client;
  }

  /** For a session that exists already: nothing has to come first. */
  static over(ws: WebSocket, options: RawClientOptions = {}): RawClient {
    return new RawClient(ws, options);
  }

  /** From the probe to the moment when the client may complete the upgrade (EIO-9). */
  async probe(): Promise<void> {
    this.send("2probe");
    await this.until("the answer to the probe", () => this.frames.includes("3probe") || undefined);
  }
}
