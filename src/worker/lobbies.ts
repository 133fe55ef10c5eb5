// All lobbies of a deployment as one: each is asked the same, and their lists merge in the order that they share (LOB-5).
import { lobbiesOf } from "../rpc/lobby.ts";
import { mergePages, type RoomPage, type RoomQuery } from "../protocol/room-list.ts";
import type { Bindings } from "../rpc/bindings.ts";

export type RoomList = (query: RoomQuery) => Promise<RoomPage>;

/** @returns `undefined` where the deployment has no lobby */
export function listOf({ LOBBY }: Bindings, lobbies: number): RoomList | undefined {
  if (!LOBBY) return undefined;
  return async (query) => {
    return mergePages(await Promise.all(lobbiesOf(LOBBY, lobbies).map((lobby) => lobby.list(query))), query);
  };
}
