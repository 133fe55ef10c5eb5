// Announcements: a service's event for many rooms, or for users in any room. The relay's queue or the Announcements object carries them.
import type { RoomCall, RpcOf } from "../../objects/feature.ts";
import type { Feature } from "../../extension/extension.ts";
import { POSTED_EVENT, type AnnouncedHere, type AnnounceOutcome } from "../../protocol/announcement.ts";
import { isReadableItem } from "../../relay/readable-batch.ts";
import type { AnnounceRpc } from "../../rpc/announcements.ts";
import { turnPorts } from "../../rpc/turn-ports.ts";
import type { ConsumedQueue } from "../../worker/feature.ts";
import { RELAY_QUEUES, relayWarnings } from "../../worker/queue/relay-queues.ts";
import type { BuiltIn } from "../built-in.ts";
import { DEAD_LETTERS } from "../dead-letters/index.ts";
import { Announced, outcomeOfPost } from "./announced.ts";
import { deliverAnnounced, REDELIVERY, storeDeadAnnounced } from "./consumer.ts";
import { ANNOUNCE_CALLS } from "./http.ts";

const rpc: RpcOf<AnnounceRpc, Announced> = {
  /** Several may come at once, and each is answered when it is done. */
  takeAnnounced: (call, announcements) => {
    call.request("announced");
    // A failure of one does not repeat the others.
    return Promise.all(
      announcements.map(async (announced): Promise<AnnounceOutcome> => {
        try {
          return await take(announced, call);
        } catch (error) {
          const reason = "the room could not send an announcement";
          call.report(reason, error);
          return { ok: false, isFinal: false, reason };
        }
      }),
    );
  },
};

async function take(announced: AnnouncedHere, { furtherTurn, ask }: RoomCall<Announced>): Promise<AnnounceOutcome> {
  if (announced.event !== POSTED_EVENT) return furtherTurn((part) => part.take(announced));
  // ANN-3: looks whether it is stored already.
  const before = furtherTurn((part) => part.lookFor(announced));
  for (;;) {
    const outcome = furtherTurn(() => before.look());
    if (outcome === "new") break;
    if (outcome !== "go on") return outcome;
    await turnPorts.giveWay();
  }
  const { id, data, by } = announced;
  return outcomeOfPost(await ask(POSTED_EVENT, { ...by, role: "service" }, { ...(data as object), clientMsgId: id }));
}

const FEATURE: BuiltIn = {
  name: "announcements",
  roomPart: (room, chat) => new Announced(room, chat),
  rpc,
  http: ANNOUNCE_CALLS,
  queues: {
    relay: { ...RELAY_QUEUES.relay, takes: isReadableItem, consume: deliverAnnounced as ConsumedQueue["consume"] },
    relayDead: {
      ...RELAY_QUEUES.relayDead,
      takes: isReadableItem,
      consume: storeDeadAnnounced as ConsumedQueue["consume"],
    },
  },
  deadLetters: REDELIVERY,
  shares: [DEAD_LETTERS],
  warnings: relayWarnings,
};

export const announcements = (): Feature => FEATURE;
