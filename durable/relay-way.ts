// How batches leave a room: by way of the queue, or by a call of the other room's object (RLY-2).
import { turnPorts } from "../src/rpc/turn-ports.ts";
import type { Settings } from "../src/settings/settings.ts";
import type { RelayWay } from "../src/chat/links/links.ts";
import type { RelayBatch, RelayOutcome } from "../src/protocol/relay-batch.ts";
import { isTooLargeForQueue } from "../src/relay/packing.ts";
import { TakingTurns } from "../src/relay/taking-turns.ts";
import type { Env } from "./env.ts";

/** A busy room gathers for this long, in ms; who wants it quick pays for more calls. */
const QUEUE_WINDOW_MS = 1000;
const DIRECT_WINDOW_MS = 200;

export function relayWay({ CHAT_ROOM, RELAY_QUEUE }: Env, relay: Settings["relay"]): RelayWay | undefined {
  // The rooms may share a thread with each other, and with rooms that nothing is relayed to.
  const turns = new TakingTurns(turnPorts);
  const direct = async (batch: RelayBatch): Promise<RelayOutcome> => {
    await turns.next();
    const outcome = (await CHAT_ROOM.getByName(batch.to).takeRelayed([batch]))[0]!;
    return outcome.ok ? { ok: true, isThere: true } : outcome;
  };
  const queued = async (batch: RelayBatch): Promise<RelayOutcome> => {
    if (!RELAY_QUEUE) throw new Error("RELAY: needs the queue binding RELAY_QUEUE, which wrangler.toml does not give");
    if (isTooLargeForQueue(batch)) return direct(batch);
    await RELAY_QUEUE.send(batch);
    return { ok: true };
  };
  switch (relay) {
    case "queue":
      return { send: queued, windowMs: QUEUE_WINDOW_MS };
    case "direct":
      return { send: direct, windowMs: DIRECT_WINDOW_MS };
    case "off":
      return undefined;
  }
}
