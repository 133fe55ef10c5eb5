// The relay: messages of a room in the rooms that it is linked to.
import type { RpcOf } from "../../objects/feature.ts";
import { Links } from "./links.ts";
import { Relayed } from "./relayed.ts";
import type { RoomPart } from "../../chat/room/room-part.ts";
import type { Feature } from "../../extension/extension.ts";
import type { RelayRpc } from "../../rpc/relay.ts";
import { transportOf } from "../../rpc/transport.ts";
import { RELAY_CALLS } from "./http.ts";
import type { ConsumedQueue } from "../../worker/feature.ts";
import { RELAY_QUEUES, relayWarnings } from "../../worker/queue/relay-queues.ts";
import { deliverRelay, REDELIVERY, storeDeadRelay } from "./consumer.ts";
import type { BuiltIn } from "../built-in.ts";
import { DEAD_LETTERS } from "../dead-letters/index.ts";

interface Relay extends RoomPart {
  readonly links: Links;
  readonly relayed: Relayed;
}

const rpc: RpcOf<RelayRpc, Relay> = {
  link: async ({ turn }, to) => turn(({ links }) => links.add(to), "link"),
  unlink: async ({ turn }, to) => turn(({ links }) => links.remove(to), "unlink"),
  links: async ({ turn }) => turn(({ links, relayed }) => ({ links: links.all, feeds: relayed.all }), "links"),
  rewind: async ({ turn }, to, link, reached) => turn(({ links }) => links.rewind(to, link, reached), "rewind"),
  takeRelayed: async ({ turn }, batches) => turn(({ relayed }) => relayed.take(batches), "relayed"),
};

const FEATURE: BuiltIn = {
  name: "relay",
  roomPart: (room, { changes, editing }, { env, settings }) => {
    const [links, relayed] = [new Links(room, changes, transportOf(env, settings.relay)), new Relayed(room, editing)];
    return { links, relayed, parts: [links, relayed] };
  },
  rpc,
  http: RELAY_CALLS,
  queues: {
    relay: { ...RELAY_QUEUES.relay, consume: deliverRelay as ConsumedQueue["consume"] },
    relayDead: { ...RELAY_QUEUES.relayDead, consume: storeDeadRelay as ConsumedQueue["consume"] },
  },
  deadLetters: REDELIVERY,
  shares: [DEAD_LETTERS],
  warnings: relayWarnings,
};

export const relay = (): Feature => FEATURE;
