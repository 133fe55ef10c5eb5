// The call about the connections, the use and the cost of one room, which answers itself. Its earlier use comes from the lobby.
import * as z from "zod/mini";

import type { RoomUsage } from "../../../metrics/busiest-rooms.ts";
import { addUsage, USAGE_NAMES, usageOf, type Usage } from "../../../metrics/usage.ts";
import { lobbyOf } from "../../../protocol/room-list.ts";
import type { RoomStats } from "../../../protocol/watching.ts";
import { call, room, type ApiCall } from "../call.ts";
import { STAFF } from "../access.ts";
import { LINK_HEADER, respondPage } from "../pages.ts";
import { shownUse, fieldsOfUse, type Used } from "../room-use.ts";
import { atMs, count, limitOf } from "../../../protocol/schemas/fields.ts";
import { described } from "../../../protocol/schemas/described.ts";

export const CONNECTIONS_LIMIT_DEFAULT = 100;
export const CONNECTIONS_LIMIT_MAX = 500;

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
  ...fieldsOfUse,
  connectionCount: count.apply(described, "In the room itself, and in its shards"),
  shards: z.exactOptional(z.array(shard)).apply(described, "Absent where the room has none"),
  connections: z.array(connection).apply(described, "Those of the room itself"),
  hasMore: z.boolean(),
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
      const body = { ok: true, room: name, awake, ...shownUse(whole, Date.now()), ...stats };
      return respondPage(url, body, { after: stats.connections.at(-1)?.id });
    },
  }),
];

/**
 * Adds the counts that the lobby does not have yet to its sums: the delta that is under way, and the counts that were not sent, unless the
 * room has sent them since it answered.
 */
function withUnreported(
  known: RoomUsage | undefined,
  { sent, counts: unsent, lastId = Infinity }: RoomStats["unreported"],
): Used {
  const reachedId = known?.deltaId ?? 0;
  const missing = sent && sent.id > reachedId ? sent.counts : {};
  const counts = reachedId > lastId ? {} : unsent;
  const whole = (before: Usage | undefined): Usage => {
    const numbers = before ? USAGE_NAMES.map((name) => before[name]) : [];
    return usageOf([missing, counts].reduce(addUsage, numbers));
  };
  return { usage: whole(known?.usage), recent: whole(known?.recent) };
}
