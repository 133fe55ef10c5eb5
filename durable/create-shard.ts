// Makes the parts of a shard from the settings, its storage and the bindings of the Worker. Called by room-shard.ts when the object wakes.
import { parseShardName, shardName, shardSession } from "../src/protocol/shards.ts";
import type { Meter } from "../src/metrics/meter.ts";
import { SPACE_HEADER } from "../src/rpc/shard.ts";
import { turnPorts } from "../src/rpc/turn-ports.ts";
import { Audience } from "../src/shards/audience.ts";
import { Feeds } from "../src/shards/feeds.ts";
import type { KeptPlace } from "../src/shards/follower.ts";
import { Intake } from "../src/shards/intake.ts";
import { Server } from "../src/socketio/server/server.ts";
import type { Env } from "./env.ts";
import { goodSettingsOf } from "./good-settings.ts";
import { roomTokens } from "./room-tokens.ts";
import type { Application, ObjectPorts } from "./socketio/application.ts";
import { newId } from "./socketio/new-id.ts";
import { openStored, type StoredFormat } from "./socketio/stored-format.ts";

const SHARD_FORMAT: StoredFormat = { of: "the shard", migrations: [] };

const PLACE_KEY = "place";

export interface ShardParts extends Application {
  readonly server: Server;
  readonly intake: Intake;
  readonly audience: Audience;
  /** Of the shards below it. */
  readonly feeds: Feeds;
}

export function createShard(ctx: DurableObjectState, env: Env, ports: ObjectPorts, meter: Meter): ShardParts {
  const settings = goodSettingsOf(env);
  const { room, shard } = parseShardName(ctx.id.name!);
  const { kv } = openStored(ports.storage, SHARD_FORMAT);
  const ofRoom = env.CHAT_ROOM.getByName(room);
  const audience = new Audience({
    settings: { ...settings, recoveryWindowMs: settings.recoveryWindowSeconds * 1000 },
    kept: kv.get<KeptPlace>(PLACE_KEY),
    keep: (kept) => kv.put(PLACE_KEY, kept),
    report: (report) =>
      ofRoom.takeShardReport({ shard, ...report }).catch((error: unknown) => {
        meter.count("shard_failures:report");
        throw error;
      }),
    count: (series, by) => meter.count(series, by),
    takeCounts: () => (meter.isEmpty ? undefined : meter.take()),
    close: ({ session }, closing) => server.close(session, closing),
  });
  const server: Server = new Server(
    settings,
    { static: { "/": audience } },
    { ...ports, newId: () => shardSession(shard, ports.newId()), tokens: roomTokens(env, room) },
  );
  const feeds = new Feeds(
    { self: shard, fanOut: settings.shardFanOut },
    {
      send: (to, call) => env.ROOM_SHARD!.getByName(shardName(room, to)).takePieces(call),
      missed: (from, to) => ofRoom.missedByShard(from, to),
      newId,
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      report: (problem, error) => ports.report(problem, error),
      count: (series, by) => meter.count(series, by),
    },
  );
  const intake = new Intake({ self: shard, audience, feeds, giveWay: turnPorts.giveWay });
  const redirect = (): Response | undefined =>
    server.sessions.size < settings.maxMembers
      ? undefined
      : new Response(null, { status: 503, headers: { [SPACE_HEADER]: "" } });
  return { server, limits: settings, intake, audience, feeds, redirect };
}
