// The directory of rooms: rooms report their members, what is new and what they use, and the Lobby objects answer without waking a room. Off
// without the binding LOBBY.
import { noteReport } from "../../objects/analytics.ts";
import type { RoomHost, RpcOf } from "../../objects/feature.ts";
import type { Feature } from "../../extension/extension.ts";
import { isDirectRoom } from "../../protocol/direct-name.ts";
import { lobbyOf } from "../../protocol/room-list.ts";
import type { ListedRpc } from "../../rpc/lobby.ts";
import type { BuiltIn } from "../built-in.ts";
import { LIST_CALLS } from "./http.ts";
import { UNREAD_CALLS } from "./http-unread.ts";
import { USAGE_CALLS } from "./http-usage.ts";
import { Listing, type ReportToLobby } from "./listing.ts";

const rpc: RpcOf<ListedRpc, Listing> = {
  watched: async ({ turn }) => turn((listing) => listing.watched(), "watched"),
};

const FEATURE: BuiltIn = {
  name: "directory",
  roomPart: (room, chat, host) => {
    const report = reporter(host, room.name);
    return report && new Listing(room, chat, report);
  },
  rpc,
  http: [...LIST_CALLS, ...UNREAD_CALLS, ...USAGE_CALLS],
};

export const directory = (): Feature => FEATURE;

/** @returns what sends reports to the lobby of the room, if the deployment has lobbies */
function reporter({ env: { LOBBY, ANALYTICS }, settings }: RoomHost, room: string): ReportToLobby | undefined {
  if (!LOBBY) return undefined;
  return async (report) => {
    const answer = await LOBBY.getByName(lobbyOf(room, settings.lobbies)).report(report);
    // DM-3: direct rooms are in no statistics.
    if (ANALYTICS && !isDirectRoom(room)) noteReport(ANALYTICS, report);
    return answer;
  };
}
