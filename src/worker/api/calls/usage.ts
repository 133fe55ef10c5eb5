// Calls about the use and the cost of rooms. The list of all rooms comes from the lobbies and wakes none; a single room answers itself.
import * as z from "zod/mini";

import { lobbiesOf } from "../../../rpc/lobby.ts";
import { ranked, USAGE_SORTS, type RoomUsage } from "../../../metrics/busiest-rooms.ts";
import { monthlyCost, PRICES } from "../../../metrics/cost.ts";
import { addUsage, HOUR_MS, recentHours, USAGE_NAMES, usageOf, type Usage } from "../../../metrics/usage.ts";
import { lobbyOf } from "../../../protocol/room-list.ts";
import type { RoomStats } from "../../../protocol/watching.ts";
import { call, room, type ApiCall } from "../call.ts";
import { STAFF } from "../access.ts";
import { refuseWithout } from "../../http/refusals.ts";
import { LINK_HEADER, respondPage } from "../pages.ts";
import { atMs, count, limitOf } from "../../../protocol/schemas/fields.ts";
import { overviewSchema } from "../../../protocol/schemas/presence.ts";
import { costSchema, recentUseSchema, roomUseSchema } from "../../../protocol/schemas/usage.ts";
import { described, named } from "../../../protocol/schemas/described.ts";

export const CONNECTIONS_LIMIT_DEFAULT = 100;
export const CONNECTIONS_LIMIT_MAX = 500;
export const USES_LIMIT_DEFAULT = 50;
export const USES_LIMIT_MAX = 200;

/** @param time that goes on for a month */
const costAs = (time: string) =>
  costSchema.apply(
    described,
    `Dollars in 30 days that go on as ${time} did, at the prices of ${PRICES.asOf}, before the plan's included amounts; ` +
      "`null` in the first ten minutes",
  );

const cost = costAs("the time since `since`");

const lately = z
  .object({ ...recentUseSchema.shape, monthlyCost: costAs("the last hours") })
  .apply(described, "The same by the hour: what is an hour old counts half")
  .apply(named, "RecentUse");

const connection = z.object({
  id: z.string().apply(described, "Not the session id, which stays a secret"),
  user: z.exactOptional(z.string()).apply(described, "Absent before CONNECT"),
  name: z.exactOptional(z.string()),
  role: z.exactOptional(z.string()),
  isWatching: z
    .exactOptional(z.literal(true))
    .apply(described, "Of an operator who watches the room, and is no member"),
  transport: z.literal(["websocket", "polling"]),
  isExtended: z.boolean().apply(described, "Whether it is Parley's own client, for which the room need not wake"),
  since: atMs("When it was opened"),
  lastSeen: atMs("Its last sign of life"),
});

const shard = z.object({
  region: z.string().apply(described, "As the platform names it; empty if it is unknown"),
  sockets: count,
  waitingChars: count.apply(described, "Characters on their way to it"),
});

const statsAnswer = z.object({
  ok: z.literal(true),
  room: z.string(),
  members: count,
  awake: z
    .object({ since: atMs("When it began to run"), cause: z.string(), detail: z.string() })
    .apply(described, "Why the room runs now; `call`, `stats`: this call"),
  use: roomUseSchema,
  monthlyCost: cost,
  lately,
  connectionCount: count.apply(described, "In the room itself, and in its shards"),
  shards: z.exactOptional(z.array(shard)).apply(described, "Absent where the room has none"),
  connections: z.array(connection).apply(described, "Those of the room itself"),
  hasMore: z.boolean(),
});

const usesAnswer = z.object({
  ok: z.literal(true),
  rooms: z.array(
    z.object({
      ...overviewSchema.shape,
      connections: count,
      facts: z
        .exactOptional(z.catchall(z.object({}), z.number()))
        .apply(described, "Numbers that its features report, without those that are 0"),
      use: roomUseSchema,
      monthlyCost: cost,
      lately,
    }),
  ),
});

export const STATS_CALLS: readonly ApiCall[] = [
  call({
    id: "getRoomStats",
    method: "get",
    path: "/api/rooms/{room}/stats",
    summary: "Why a room is awake, who is connected, what it uses and costs",
    description: "Wakes the room, which counts as a wake by `call`.",
    roles: STAFF,
    given: z.object({
      room,
      limit: limitOf({ byDefault: CONNECTIONS_LIMIT_DEFAULT, max: CONNECTIONS_LIMIT_MAX }),
      after: z
        .optional(z.string().check(z.maxLength(64)))
        .apply(described, "The last `id` of the page before; `Link` has it"),
    }),
    answers: { 200: { description: "The room", schema: statsAnswer, headers: LINK_HEADER } },
    run: async ({ given: { room: name, limit, after }, url, roomRpc, env, deployment }) => {
      const { unreported, awake, ...stats } = await roomRpc(name).stats({ limit, after });
      const lobby = env.LOBBY?.getByName(lobbyOf(name, deployment.settings.lobbies));
      // Without its earlier use, its present use is still there.
      const [known] = (await lobby?.usage({ sort: "rows", limit: 1, room: name })) ?? [];
      const whole = { ...withUnreported(known, unreported), sinceMs: known?.sinceMs ?? awake.since };
      const body = { ok: true, room: name, awake, ...shown(whole, Date.now()), ...stats };
      return respondPage(url, body, { after: stats.connections.at(-1)?.id });
    },
  }),
  call({
    id: "listRoomUse",
    method: "get",
    path: "/api/stats",
    summary: "The rooms that use most",
    description: "From their last reports; wakes no room.",
    roles: STAFF,
    given: z.object({
      sort: z
        ._default(z.literal(USAGE_SORTS), "traffic")
        .apply(
          described,
          "By deliveries and frames, rows and alarms, wakes, time awake or cost, lately; or by connections",
        ),
      limit: limitOf({ byDefault: USES_LIMIT_DEFAULT, max: USES_LIMIT_MAX }),
      having: z
        .optional(z.string().check(z.minLength(1), z.maxLength(64)))
        .apply(described, "Only rooms that have a number of that name in `facts`"),
    }),
    answers: { 200: { description: "The rooms, the one that uses most first", schema: usesAnswer } },
    run: async ({ identity, given: { sort, limit, having }, env: { LOBBY }, deployment: { settings } }) => {
      if (!LOBBY) return refuseWithout("LOBBY");
      const query = { sort, limit, having, rooms: identity.rooms };
      const uses = (await Promise.all(lobbiesOf(LOBBY, settings.lobbies).map((lobby) => lobby.usage(query)))).flat();
      const nowMs = Date.now();
      const rooms = ranked(uses, sort)
        .slice(0, limit)
        .map(({ sinceMs, usage, recent, deltaId: _deltaId, ...overview }) => ({
          ...overview,
          ...shown({ sinceMs, usage, recent }, nowMs),
        }));
      return Response.json({ ok: true, rooms });
    },
  }),
];

type Used = Pick<RoomUsage, "usage" | "recent">;

/** Adds the counts that the lobby does not have yet to its sums: the delta that is under way, and the counts that were not sent. */
function withUnreported(known: RoomUsage | undefined, { sent, counts }: RoomStats["unreported"]): Used {
  const missing = sent && sent.id > (known?.deltaId ?? 0) ? sent.counts : {};
  const whole = (before: Usage | undefined): Usage => {
    const numbers = before ? USAGE_NAMES.map((name) => before[name]) : [];
    return usageOf([missing, counts].reduce(addUsage, numbers));
  };
  return { usage: whole(known?.usage), recent: whole(known?.recent) };
}

/** As the answers say it. */
function shown({ usage, recent, sinceMs }: Used & Pick<RoomUsage, "sinceMs">, nowMs: number): object {
  const countedMs = nowMs - sinceMs;
  const hours = recentHours(countedMs);
  return {
    use: { since: sinceMs, ...counted(usage) },
    monthlyCost: monthlyCost(usage, countedMs) ?? null,
    lately: { ...counted(recent, hours), monthlyCost: monthlyCost(recent, countedMs, hours * HOUR_MS) ?? null },
  };
}

/** @param hours of the use, where it is shown by the hour */
function counted(usage: Usage, hours?: number): object {
  const { awakeMs, wokenByConnect, wokenByMessage, wokenByClose, wokenByAlarm, wokenByCall, wokenByWatch, ...counts } =
    hours === undefined ? usage : hourly(usage, hours);
  const wakes = {
    connect: wokenByConnect,
    message: wokenByMessage,
    close: wokenByClose,
    alarm: wokenByAlarm,
    call: wokenByCall,
    watch: wokenByWatch,
  };
  return { ...counts, awakeSeconds: awakeMs / 1000, wakes };
}

function hourly(usage: Usage, hours: number): Usage {
  return usageOf(USAGE_NAMES.map((name) => Math.round((usage[name] / hours) * 100) / 100));
}
