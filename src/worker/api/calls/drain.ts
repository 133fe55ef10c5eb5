// The call that disconnects everyone for a while, from some rooms or from all. Which rooms there are the lobby knows.
import * as z from "zod/mini";

import { isDirectRoom } from "../../../protocol/direct-name.ts";
import { mayOpenDirect } from "../../../protocol/direct-room.ts";
import type { RoomPage, RoomQuery } from "../../../protocol/room-list.ts";
import { described } from "../../../protocol/schemas/described.ts";
import { listRooms } from "../../../rpc/lobby.ts";
import { refuseWithout } from "../../http/refusals.ts";
import { refuseRoom, SERVICE } from "../access.ts";
import { answering, call, room, type ApiCall } from "../call.ts";

/** Rooms that one call may name. */
export const DRAIN_ROOMS_MAX = 100;
/** Rooms that one call drains where it names none: the platform limits the calls of one request. */
export const DRAIN_ALL_MAX = 500;
/** And so many of them at once. */
const DRAIN_AT_ONCE = 25;
/** Ten minutes: within it everyone is back after a drain. */
export const RECONNECT_WITHIN_MS_MAX = 600_000;

const drainedAnswer = answering(
  z.object({
    rooms: z.array(
      z.object({
        room: z.string(),
        connections: z.int().check(z.minimum(0)).apply(described, "Those that were closed"),
      }),
    ),
    failed: z
      .exactOptional(z.array(z.string()))
      .apply(described, "Rooms not reached with all shards; ask again for these"),
    hasMore: z.exactOptional(z.literal(true)).apply(described, "There are more; ask again with `after`"),
    after: z.exactOptional(z.string()).apply(described, "The last room of this call"),
  }),
);

export const DRAIN_CALLS: readonly ApiCall[] = [
  call({
    id: "drainRooms",
    method: "post",
    path: "/api/drain",
    summary: "Disconnect everyone for a while",
    description:
      "Everyone gets a notice SERVER_SHUTDOWN with a moment within the window. Without `rooms`: all rooms with members, " +
      `${DRAIN_ALL_MAX} per call, but perhaps one that was entered within the last second: name it.`,
    roles: SERVICE,
    given: z.object({
      rooms: z.optional(z.array(room).check(z.minLength(1), z.maxLength(DRAIN_ROOMS_MAX))),
      reconnectWithinMs: z.int().check(z.minimum(0), z.maximum(RECONNECT_WITHIN_MS_MAX)),
      after: z.optional(room).apply(described, "Without `rooms`: the last room of the call before"),
    }),
    answers: { 200: { description: "All of these rooms are empty now", schema: drainedAnswer } },
    run: async ({ identity, given: { rooms, reconnectWithinMs, after }, roomRpc, env, deployment }) => {
      const drain = (name: string): Promise<number> => roomRpc(name).drain(reconnectWithinMs);
      if (!rooms) {
        const { LOBBY } = env;
        if (!LOBBY) return refuseWithout("LOBBY");
        const list = (query: RoomQuery): Promise<RoomPage> => listRooms(LOBBY, deployment.settings.lobbies, query);
        return drainAll(list, drain, { rooms: identity.rooms, after });
      }
      for (const name of rooms) {
        const refusal = refuseRoom(identity, name);
        if (refusal) return refusal;
      }
      return Response.json({ ok: true, ...(await drainEach([...new Set(rooms)], drain)) });
    },
  }),
];

async function drainAll(
  list: (query: RoomQuery) => Promise<RoomPage>,
  drain: (room: string) => Promise<number>,
  { rooms: allowed, after }: { readonly rooms: readonly string[] | undefined; readonly after: string | undefined },
): Promise<Response> {
  const { rooms, hasMore } = await list({
    sort: "name",
    limit: DRAIN_ALL_MAX,
    after: after === undefined ? undefined : { value: 0, room: after },
    rooms: allowed,
    isOccupied: true,
    isForMembers: !mayOpenDirect(allowed),
  });
  const names = rooms.map(({ room }) => room);
  const drained = await drainEach(names, drain);
  return Response.json({ ok: true, ...drained, ...(hasMore && { hasMore, after: names.at(-1)! }) });
}

/** A few rooms at a time; one that cannot be reached keeps no other from being drained. */
async function drainEach(names: readonly string[], drain: (room: string) => Promise<number>): Promise<object> {
  const drained: Array<{ room: string; connections: number }> = [];
  const failed: string[] = [];
  for (let from = 0; from < names.length; from += DRAIN_AT_ONCE) {
    const step = names.slice(from, from + DRAIN_AT_ONCE);
    const results = await Promise.allSettled(step.map(drain));
    for (const [i, result] of results.entries()) {
      const room = step[i]!;
      // DM-3: rooms between two people are drained with the others, and not named.
      if (isDirectRoom(room)) continue;
      if (result.status === "fulfilled") drained.push({ room, connections: result.value });
      else failed.push(room);
    }
  }
  return { rooms: drained, ...(failed.length > 0 && { failed }) };
}
