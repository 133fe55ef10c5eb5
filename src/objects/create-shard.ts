// Makes the parts of a shard from the settings, its storage and the bindings of the Worker. Called by room-shard.ts when the object wakes.
import { parseShardName, shardName, shardSession } from "../protocol/shards.ts";
import type { Meter } from "../metrics/meter.ts";
import { SPACE_HEADER, type SequencerRpc } from "../rpc/shard.ts";
import { turnPorts } from "../rpc/turn-ports.ts";
import { ShardMembers } from "../shards/shard-members.ts";
import { Streams } from "../shards/streams.ts";
import type { StoredPosition } from "../shards/replica.ts";
import { Receiver } from "../shards/receiver.ts";
import { Server } from "../socketio/server/server.ts";
import { callShard } from "./call-shard.ts";
import type { Env } from "./env.ts";
import { goodSettingsOf } from "./good-settings.ts";
import { roomTokens } from "./room-tokens.ts";
import type { Application, ObjectPorts } from "../socketio/object/application.ts";
import { newId } from "../socketio/object/new-id.ts";
import { openStored, type StoredFormat } from "../socketio/object/stored-format.ts";

const SHARD_FORMAT: StoredFormat = { of: "the shard", migrations: [] };

const PLACE_KEY = "place";

export interface ShardParts extends Application {
  readonly server: Server;
  readonly receiver: Receiver;
  readonly members: ShardMembers;
  /** Of the shards below it. */
  readonly streams: Streams;
}

export function createShard(ctx: DurableObjectState, env: Env, ports: ObjectPorts, meter: Meter): ShardParts {
  const settings = goodSettingsOf(env);
  const { room, shard } = parseShardName(ctx.id.name!);
  const { kv } = openStored(ports.storage, SHARD_FORMAT);
  // Anew for each call: once the room has died under a stub, all further calls of that stub fail.
  const ofRoom = (): SequencerRpc => env.CHAT_ROOM.getByName(room);
  const members = new ShardMembers({
    settings: { ...settings, recoveryWindowMs: settings.recoveryWindowSeconds * 1000 },
    kept: kv.get<StoredPosition>(PLACE_KEY),
    keep: (kept) => kv.put(PLACE_KEY, kept),
    report: (report) =>
      ofRoom()
        .takeShardReport({ shard, ...report })
        .catch((error: unknown) => {
          meter.count("shard_failures:report");
          throw error;
        }),
    count: (series, by) => meter.count(series, by),
    takeCounts: () => (meter.isEmpty ? undefined : meter.take()),
  });
  const server = new Server(
    settings,
    { static: { "/": members } },
    { ...ports, newId: () => shardSession(shard, ports.newId()), tokens: roomTokens(env, room) },
  );
  const streams = new Streams(
    { self: shard, fanOut: settings.shardFanOut },
    {
      send: (to, ...given) => callShard(env.ROOM_SHARD!.getByName(shardName(room, to)), ...given),
      missed: (from, to) => ofRoom().missedByShard(from, to),
      newId,
      wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      report: (problem, error) => ports.report(problem, error),
      count: (series, by) => meter.count(series, by),
      now: () => ports.now(),
      deadline: (name, run, options) => server.deadlines.add(name, run, options),
    },
  );
  const receiver = new Receiver({ self: shard, members, streams, giveWay: turnPorts.giveWay });
  const redirect = (): Response | undefined =>
    server.sessions.size < settings.maxMembers
      ? undefined
      : new Response(null, { status: 503, headers: { [SPACE_HEADER]: "" } });
  return { server, limits: settings, receiver, members, streams, redirect };
}
