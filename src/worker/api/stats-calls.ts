// Calls about what rooms use and cost: the list of all from the lobbies, which wakes none, and one room from itself.
import { z } from "zod";

import type { LobbyDoor } from "../../access/lobby-door.ts";
import { monthlyCost } from "../../metrics/cost.ts";
import type { RoomStats } from "../../metrics/room-stats.ts";
import { rankOf, USE_SORTS, type RoomUse } from "../../metrics/room-use.ts";
import { addUsage, USAGE_NAMES, usageOf, type Usage } from "../../metrics/room-usage.ts";
import { lobbyNames, lobbyOf } from "../../protocol/room-list.ts";
import { call, room, type ApiCall } from "./call.ts";
import { STAFF } from "./callers.ts";
import { refuseWithoutLobby } from "./lobby-calls.ts";
import { LINK_HEADER, linkFrom } from "./responses.ts";
import * as answers from "./stats-answers.ts";

export const CONNECTIONS_LIMIT_DEFAULT = 100;
export const CONNECTIONS_LIMIT_MAX = 500;
export const USES_LIMIT_DEFAULT = 50;
export const USES_LIMIT_MAX = 200;

export const STATS_CALLS: readonly ApiCall[] = [
  call({
    id: "getRoomStats",
    method: "get",
    path: "/api/rooms/{room}/stats",
    summary: "Why a room is awake, who is connected, what it uses and costs",
    description: "Asking wakes the room, which is counted as a wake by `call`.",
    roles: STAFF,
    given: z.object({
      room,
      limit: z.int().min(1).max(CONNECTIONS_LIMIT_MAX).default(CONNECTIONS_LIMIT_DEFAULT),
      after: z.string().max(64).optional().describe("The last `sid` of the page before; `Link` has it"),
    }),
    answers: { 200: { description: "The room", schema: answers.stats, headers: LINK_HEADER } },
    run: async ({ given: { room: name, limit, after }, url, doorOf, env, deployment }) => {
      const { unreported, awake, ...stats } = await doorOf(name).stats({ limit, after });
      const lobby = env.LOBBY?.getByName(lobbyOf(name, deployment.settings.lobbies)) as unknown as
        | LobbyDoor
        | undefined;
      // Without what it used before, there is still what it does now.
      const [known] = (await lobby?.uses({ sort: "rows", limit: 1, room: name })) ?? [];
      const usage = wholeUsage(known, unreported);
      const body = { ok: true, room: name, awake, ...shown(usage, known?.sinceMs ?? awake.since), ...stats };
      const last = stats.connections.at(-1);
      return Response.json(body, { headers: stats.hasMore && last ? linkFrom(url, "after", last.sid) : {} });
    },
  }),
  call({
    id: "listRoomUse",
    method: "get",
    path: "/api/stats",
    summary: "The rooms that use most",
    description: "Of those that the token opens, as they last said; no room is woken for it.",
    roles: STAFF,
    given: z.object({
      sort: z
        .enum(USE_SORTS)
        .default("traffic")
        .describe(
          "By deliveries and frames, connections, rows and alarms set, wakes, time awake, each since it is counted, or what all that costs in a month",
        ),
      limit: z.int().min(1).max(USES_LIMIT_MAX).default(USES_LIMIT_DEFAULT),
    }),
    answers: { 200: { description: "The rooms, the one that uses most first", schema: answers.uses } },
    run: async ({ identity, given: { sort, limit }, env: { LOBBY }, deployment: { settings } }) => {
      if (!LOBBY) return refuseWithoutLobby();
      const doors = lobbyNames(settings.lobbies).map((name) => LOBBY.getByName(name) as unknown as LobbyDoor);
      const query = { sort, limit, rooms: identity.rooms };
      const uses = (await Promise.all(doors.map((door) => door.uses(query)))).flat();
      const nowMs = Date.now();
      uses.sort((a, b) => rankOf(b, sort, nowMs) - rankOf(a, sort, nowMs));
      const rooms = uses.slice(0, limit).map(({ sinceMs, usage, lately: _lately, tallyId: _tallyId, ...told }) => ({
        ...told,
        ...shown(usage, sinceMs),
      }));
      return Response.json({ ok: true, rooms });
    },
  }),
];

/** What the lobby knows, and what the room has counted since: of what was told, only what had not arrived by then. */
function wholeUsage(known: RoomUse | undefined, { told, counts }: RoomStats["unreported"]): Usage {
  const before: readonly number[] = known ? USAGE_NAMES.map((name) => known.usage[name]) : [];
  const missing = told.filter(({ id }) => id > (known?.tallyId ?? 0));
  return usageOf([...missing, { counts }].reduce((usage, tally) => addUsage(usage, tally.counts), before));
}

/** As the answers say it. */
function shown(usage: Usage, sinceMs: number): object {
  const { awakeMs, wokenByConnect, wokenByMessage, wokenByClose, wokenByAlarm, wokenByCall, wokenByWatch, ...counts } =
    usage;
  const wakes = {
    connect: wokenByConnect,
    message: wokenByMessage,
    close: wokenByClose,
    alarm: wokenByAlarm,
    call: wokenByCall,
    watch: wokenByWatch,
  };
  return {
    use: { since: sinceMs, ...counts, awakeSeconds: awakeMs / 1000, wakes },
    monthlyCost: monthlyCost(usage, Date.now() - sinceMs) ?? null,
  };
}
