// The two transports between rooms: the queue, and direct calls of the other objects. Used by the links of a room (RLY-2) and by the
// delivery of announcements (ANN-5).
import { inChunks, isTooLargeForQueue } from "../relay/packing.ts";
import { TakingTurns } from "../relay/taking-turns.ts";
import type { Transport } from "../relay/transport.ts";
import type { Settings } from "../settings/settings.ts";
import { announcementsOf, type Bindings } from "./bindings.ts";
import { turnPorts } from "./turn-ports.ts";

/** A busy room gathers messages for this long, in ms: a shorter window costs more calls. */
const QUEUE_WINDOW_MS = 1000;
const DIRECT_WINDOW_MS = 200;

/** The most that the queue takes in one go: messages, and bytes of all of them (256 KB). */
const SEND = { itemsMax: 100, bytesMax: 240_000 };

/** @returns `undefined` where rooms do not reach each other: RELAY is `off`, or `queue` without that binding */
export function transportOf(env: Bindings, relay: Settings["relay"]): Transport | undefined {
  switch (relay) {
    case "queue":
      return env.RELAY_QUEUE && queueTransport(env, env.RELAY_QUEUE);
    case "direct":
      return directTransport(env);
    case "off":
      return undefined;
  }
}

function directTransport(env: Bindings): Transport {
  // Rooms may share a thread with each other, and with rooms that get no call.
  const turns = new TakingTurns(turnPorts);
  return {
    windowMs: DIRECT_WINDOW_MS,
    async sendBatch(batch) {
      await turns.next();
      const outcome = (await env.CHAT_ROOM.getByName(batch.to).takeRelayed([batch]))[0]!;
      return outcome.ok ? { ok: true, isThere: true } : outcome;
    },
    async sendItems(items, delaySeconds) {
      await announcementsOf(env)!.deliver(items, delaySeconds);
    },
  };
}

function queueTransport(env: Bindings, queue: NonNullable<Bindings["RELAY_QUEUE"]>): Transport {
  const direct = directTransport(env);
  return {
    windowMs: QUEUE_WINDOW_MS,
    async sendBatch(batch) {
      if (isTooLargeForQueue(batch)) return direct.sendBatch(batch);
      await queue.send(batch);
      return { ok: true };
    },
    async sendItems(items, delaySeconds) {
      for (const some of inChunks(items, SEND)) {
        const messages = some.map((body) => ({ body }));
        await queue.sendBatch(messages, { delaySeconds });
      }
    },
  };
}
