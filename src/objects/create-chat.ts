// Makes the chat of a room from its settings, its SQLite and the bindings of the Worker. Called by durable/chat-room.ts when the object
// wakes.
import type { Meter } from "../metrics/meter.ts";
import type { Settings } from "../settings/settings.ts";
import { Chat } from "../chat/chat.ts";
import { isWatching, Watching } from "../chat/watching.ts";
import type { ChatDependencies, FileOptions, InRoom } from "../chat/parts.ts";
import { FILES_AT_ONCE, type FileStore, type ListedFiles } from "../chat/files/file-sweep.ts";
import { newUserRooms } from "../chat/people/room-bounds.ts";
import { ReadAllowance } from "../chat/room/read-allowance.ts";
import { keptMsMax, type Retention } from "../chat/log/segments.ts";
import type { Identity } from "../protocol/identity.ts";
import type { ShardObjectPorts } from "../chat/shards/shards.ts";
import { shardName } from "../protocol/shards.ts";
import { SPACE_HEADER, type ShardEnd } from "../rpc/shard.ts";
import type { UpgradeFacts } from "../rpc/upgrade-header.ts";
import {
  pageOfConnections,
  WATCH_NAMESPACE,
  WATCH_QUERY,
  WATCHED_CONNECTIONS_MAX,
  type RoomStats,
} from "../protocol/watching.ts";
import type { Refusal } from "../socketio/server/namespace.ts";
import { Server } from "../socketio/server/server.ts";
import { callShard } from "./call-shard.ts";
import { connectionsOf } from "./room-connections.ts";
import { roomTokens } from "./room-tokens.ts";
import type { Env } from "./env.ts";
import type { InObject, RoomHost } from "./feature.ts";
import { goodSettingsOf } from "./good-settings.ts";
import type { Application, ObjectPorts } from "../socketio/object/application.ts";
import { newId } from "../socketio/object/new-id.ts";
import { openStored, type StoredFormat } from "../socketio/object/stored-format.ts";
import { stateIn } from "../storage/room-state.ts";
import { SqlMessageLog } from "./sql/sql-message-log.ts";

const ROOM_FORMAT: StoredFormat = { of: "the room", migrations: [] };

const DAY_MS = 24 * 3_600_000;

export interface ChatParts extends Application {
  readonly server: Server;
  readonly chat: Chat;
  readonly settings: Settings;
  /** Closes all connections in shards; `undefined` at once where there are no shards. */
  readonly endShards: (end: ShardEnd) => Promise<EndedShards> | undefined;
}

export interface EndedShards {
  /** Connections that were closed. */
  readonly closed: number;
  /** Shards that could not be reached, or failed. */
  readonly failed: readonly number[];
}

/** The parts of the object that its chat calls, long after the chat is made. */
export interface ChatOwner {
  readonly awake: () => RoomStats["awake"];
  readonly meter: Meter;
  readonly rules: NonNullable<ChatDependencies["rules"]>;
  readonly handedIn: readonly InObject[];
  /** Makes those of its features that see the room from outside, if it has some. */
  readonly custom: () => ChatDependencies["custom"];
}

export function createChat(
  ctx: DurableObjectState,
  env: Env,
  ports: ObjectPorts,
  { awake, meter, rules, handedIn, custom }: ChatOwner,
): ChatParts {
  const settings = goodSettingsOf(env);
  // Objects are always addressed by room name, and the platform remembers it through sleep and restarts.
  const room = ctx.id.name!;
  const retention = { messages: settings.historyMessages, ageMs: settings.historyDays * DAY_MS };
  const storage = openStored(ports.storage, ROOM_FORMAT);
  const log = new SqlMessageLog(storage, { room, retention, nowMs: ports.now(), newName });
  const chat = new Chat({
    room,
    log,
    state: stateIn(storage.kv),
    handedIn: handedIn.map((feature) => inRoom(feature, { env, settings, storage })),
    ...sharedOf(env),
    rules,
    custom: custom(),
    meter,
    durable: () => storage.sync(),
    ...(env.FILES && { files: fileOptions(env.FILES, settings, retention) }),
    ...(env.ROOM_SHARD &&
      settings.maxShards > 0 && {
        shards: shardPorts(env.ROOM_SHARD, room, settings),
      }),
    settings: {
      messageRate: { perSecond: settings.messageRate, burst: settings.messageBurst },
      maxContentLength: settings.maxContentLength,
      editWindowMs: settings.editWindowSeconds * 1000,
      historyMs: retention.ageMs,
      flushWindowMs: settings.flushWindowMs,
      flushBurst: settings.flushBurst,
      durability: settings.durability,
      guestRatePerIp: settings.guestRatePerIp,
      maxMembers: settings.maxMembers,
      crowdMembers: settings.crowdMembers,
      crowdShownRate: settings.crowdShownRate,
      maxConnectionsPerUser: settings.maxConnectionsPerUser,
      maxRoomsPerUser: settings.maxRoomsPerUser,
      newRoomsPerUser: settings.newRoomsPerUser,
      recoveryWindowMs: settings.recoveryWindowSeconds * 1000,
    },
  });
  const refuseConnection = (identity: Identity): Response | undefined => forbidden(chat.calls.refuseBearer(identity));
  const watching = new Watching(chat, {
    look: (sessions) => {
      const all = connectionsOf({ sessions }, (session) =>
        Math.max(session.seenAtMs, ports.lastPongAtMs(session) ?? 0),
      );
      return { awake: awake(), ...shardsOf(chat), ...pageOfConnections(all, { limit: WATCHED_CONNECTIONS_MAX }) };
    },
  });
  const server = new Server(
    settings,
    { static: { "/": chat, [WATCH_NAMESPACE]: watching } },
    {
      ...ports,
      tokens: roomTokens(env, room),
    },
  );
  const wakeCause: Application["wakeCause"] = ({ sid, handshake }) =>
    isWatching(handshake, server.sessions.get(sid)?.sockets) ? "watch" : undefined;
  const afterTurn = [() => chat.room.endTurn(), () => watching.look()];
  const redirect = ({ region, full, query }: UpgradeFacts): Response | undefined => {
    const isFull = server.sessions.size >= settings.maxMembers;
    if (!isFull || region === undefined || query[WATCH_QUERY] !== undefined) return undefined;
    const space = server.effects.turn(() => chat.parts.shards?.growth.growFor(region, full));
    if (space === undefined) return undefined;
    return new Response(null, { status: 503, headers: { [SPACE_HEADER]: space } });
  };
  const endShards = (end: ShardEnd): Promise<EndedShards> | undefined => {
    const shards = chat.parts.shards?.everCount ?? 0;
    if (shards === 0) return undefined;
    const failed: number[] = [];
    const calls = Array.from({ length: shards }, async (_, shard) => {
      try {
        return await env.ROOM_SHARD!.getByName(shardName(room, shard)).endShard(end);
      } catch (error) {
        ports.report(`shard ${shard} could not close its connections`, error);
        failed.push(shard);
        return 0;
      }
    });
    return Promise.all(calls).then((ended) => ({ closed: ended.reduce((sum, closed) => sum + closed, 0), failed }));
  };
  return { server, limits: settings, settings, chat, endShards, redirect, refuseConnection, wakeCause, afterTurn };
}

const inRoom = ({ name, roomPart }: InObject, host: RoomHost): InRoom => ({
  name,
  ...(roomPart && { roomPart: (room, chat) => roomPart(room, chat, host) }),
});

function shardPorts(
  shards: NonNullable<Env["ROOM_SHARD"]>,
  room: string,
  { maxShards, maxMembers, shardFanOut: fanOut }: Settings,
): ShardObjectPorts {
  return {
    maxShards,
    maxMembers,
    fanOut,
    send: (shard, ...given) => callShard(shards.getByName(shardName(room, shard)), ...given),
    newId,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** As the room's stats have them. */
export function shardsOf({ parts }: Chat): Pick<RoomStats, "shards"> {
  const shards = parts.shards?.facts ?? [];
  return shards.length > 0 ? { shards } : {};
}

type Shared = Required<Pick<ChatDependencies, "readAllowance" | "userRooms">>;

/** One for all rooms of the isolate, which share its environment. */
function sharedOf(env: Env): Shared {
  const known = shared.get(env) ?? { readAllowance: new ReadAllowance(), userRooms: newUserRooms() };
  shared.set(env, known);
  return known;
}

const shared = new WeakMap<Env, Shared>();

function fileOptions(bucket: R2Bucket, settings: Settings, retention: Retention): FileOptions {
  const limits = { bytesMax: settings.fileBytesMax, types: settings.fileTypes };
  return { store: new BucketFiles(bucket), limits, keptMs: keptMsMax(retention) };
}

/**
 * The files of a room in R2. The room only finds and deletes them; the Worker stores and reads them.
 * Source: https://developers.cloudflare.com/r2/api/workers/workers-api-reference/
 */
class BucketFiles implements FileStore {
  readonly #bucket: R2Bucket;

  constructor(bucket: R2Bucket) {
    this.#bucket = bucket;
  }

  async list(prefix: string, startAfter?: string): Promise<ListedFiles> {
    const { objects, truncated } = await this.#bucket.list({
      prefix,
      limit: FILES_AT_ONCE,
      ...(startAfter !== undefined && { startAfter }),
    });
    return { keys: objects.map(({ key }) => key), sizes: objects.map(({ size }) => size), isEnd: !truncated };
  }

  delete(keys: readonly string[]): Promise<void> {
    return this.#bucket.delete([...keys]);
  }
}

/** Answers the request of a connection with a refusal of the room: 403, and `Retry-After` (MOD-3). */
function forbidden(refusal: Refusal | undefined): Response | undefined {
  if (!refusal) return undefined;
  const { code, ...more } = refusal.data as { readonly code: string; readonly retryAfterMs?: number };
  const { retryAfterMs } = more;
  const headers = retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) };
  return Response.json({ error: { code, message: refusal.message, ...more } }, { status: 403, headers });
}

/** Names a room's log, and makes its key: unique, short, and nothing that separates the parts of an id. */
function newName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 20);
}
