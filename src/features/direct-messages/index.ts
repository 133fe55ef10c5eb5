// Direct messages: rooms between two people, which either opens, by the event `open-dm` or by HTTP, and a user's list of them.
import type { Feature } from "../../extension/extension.ts";
import type { RpcOf } from "../../objects/feature.ts";
import type { DirectRpc } from "../../rpc/direct-messages.ts";
import type { BuiltIn } from "../built-in.ts";
import { DirectMessages } from "./direct-messages.ts";
import { DIRECT_CALLS, directOpenings } from "./http.ts";

const rpc: RpcOf<DirectRpc, DirectMessages> = {
  openDirect: async ({ turn }, users, names) => turn((part) => part.begin(users, names), "open-dm"),
};

const FEATURE: BuiltIn = {
  name: "direct-messages",
  roomPart: (room, chat, { env }) =>
    new DirectMessages(room, chat, {
      open: async (name, users, names) => env.CHAT_ROOM.getByName(name).openDirect(users, names),
      openings: directOpenings,
    }),
  rpc,
  http: DIRECT_CALLS,
};

export const directMessages = (): Feature => FEATURE;
