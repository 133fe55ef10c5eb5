// One chat room = one Durable Object: the chat core over its own SQLite, behind the Socket.IO shell.
import type { RelayDoor } from "../src/access/relay-door.ts";
import type { OutsideCaller, RoomDoor } from "../src/access/room-door.ts";
import { readSettings, type Settings } from "../src/access/settings.ts";
import { TokenVerifier } from "../src/access/tokens.ts";
import { Chat } from "../src/chat/chat.ts";
import type { FileOptions } from "../src/chat/features.ts";
import type { ExportPiece, ExportPlace } from "../src/chat/export.ts";
import type { UploadAnswer } from "../src/chat/attachments.ts";
import { ROOM_DELETED, shutdownNotice } from "../src/chat/farewell.ts";
import type { ReportToLobby } from "../src/chat/lobby-report.ts";
import { keptMsMax, type Retention } from "../src/chat/segments.ts";
import type { Answer, ErrorAnswer, RoomOverview } from "../src/protocol/chat-events.ts";
import { CLOSINGS } from "../src/protocol/closings.ts";
import type { LinkName, Reached, RelayBatch, RelayOutcome, RoomLinks } from "../src/protocol/relay-batch.ts";
import { lobbyOf } from "../src/protocol/room-list.ts";
import type { Refusal } from "../src/socketio/namespace.ts";
import { Server } from "../src/socketio/server.ts";
import type { ServerPorts } from "../src/socketio/session-server.ts";
import { BucketFiles } from "./bucket-files.ts";
import type { Env } from "./env.ts";
import { relayWay } from "./relay-way.ts";
import { SocketObject, type Application } from "./socket-object.ts";
import { SqlMessageLog } from "./sql-message-log.ts";
import { SqlSearchIndex } from "./sql-search-index.ts";

const DAY_MS = 24 * 3_600_000;

interface ChatParts extends Application {
  readonly server: Server;
  readonly chat: Chat;
}

export class ChatRoom extends SocketObject<Env, ChatParts> implements RoomDoor<ExportPlace>, RelayDoor {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, createChat);
  }

  ask(event: string, caller: OutsideCaller, given: unknown): Promise<Answer<object>> {
    return new Promise((resolve, reject) => {
      this.turn(() => this.parts.chat.call(event, caller, given, resolve))?.catch(reject);
    });
  }

  permitUpload(caller: OutsideCaller, file: object): Promise<UploadAnswer> {
    return new Promise((resolve, reject) => {
      const reply = (answer: Answer<object>): void => resolve(answer as UploadAnswer);
      this.turn(() => this.parts.chat.permitUpload(caller, file, reply))?.catch(reject);
    });
  }

  async permitReading(caller: OutsideCaller, file: Parameters<RoomDoor["permitReading"]>[1]): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.permitReading(caller, file));
  }

  async refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined> {
    return this.turn(() => this.parts.chat.refuseStaff(caller));
  }

  async overview(): Promise<RoomOverview> {
    return this.turn(() => this.parts.chat.overview());
  }

  async exportPiece(place?: ExportPlace): Promise<ExportPiece | undefined> {
    return this.turn(() => this.parts.chat.exportPiece(place));
  }

  async link(to: string): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.links.add(to));
  }

  async unlink(to: string): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.links.remove(to));
  }

  async links(): Promise<RoomLinks> {
    const { links, relayed } = this.parts.chat;
    return { links: links.all, feeds: relayed.all };
  }

  async rewind(to: string, link: LinkName, reached: Reached): Promise<void> {
    this.turn(() => this.parts.chat.links.rewind(to, link, reached));
  }

  async takeRelayed(batches: readonly RelayBatch[]): Promise<RelayOutcome[]> {
    return this.turn(() => this.parts.chat.relayed.take(batches));
  }

  /** API-10. */
  async drain(withinMs: number): Promise<number> {
    const { chat, server } = this.parts;
    const { size } = server.sessions;
    this.turn(() => {
      chat.sayGoodbye(({ id }) => shutdownNotice(id, withinMs));
      for (const session of server.sessions.values()) server.closeSession(session, CLOSINGS.restart);
    });
    return size;
  }

  /** API-9. */
  async deleteRoom(): Promise<void> {
    const { chat, server } = this.parts;
    const { hasFiles } = chat;
    const { marks } = chat.relayed;
    this.turn(() => {
      chat.sayGoodbye(() => ROOM_DELETED);
      for (const session of server.sessions.values()) server.dismissSession(session);
      chat.prepareErase();
    });
    await this.erase(hasFiles ? () => chat.leaveFiles() : undefined);
    if (marks.length > 0) this.turn(() => this.parts.chat.relayed.inherit(marks));
    this.turn(() => this.parts.chat.tellLobby());
  }
}

function createChat(ctx: DurableObjectState, env: Env, ports: ServerPorts): ChatParts {
  const settings = settingsOf(env);
  // Objects are always addressed by room name, and the platform remembers it through sleep and restarts.
  const room = ctx.id.name!;
  const tokens = new TokenVerifier(settings);
  const retention = { messages: settings.historyMessages, ageMs: settings.historyDays * DAY_MS };
  const log = new SqlMessageLog(ctx.storage, {
    room,
    retention,
    nowMs: ports.now(),
    newName,
  });
  const chat = new Chat({
    room,
    log,
    state: ctx.storage.kv,
    index: new SqlSearchIndex(ctx.storage),
    authenticate: (token) => tokens.verify(token),
    ...(env.FILES && { files: fileOptions(env.FILES, settings, retention) }),
    // Without its binding the Worker refuses everything.
    ...(settings.webhook && { deliver: async (events) => void (await env.WEBHOOKS!.send({ room, events })) }),
    reportToLobby: lobbyPort(env, room, settings.lobbies),
    relay: relayWay(env, settings.relay),
    settings: {
      messageRate: { perSecond: settings.messageRate, burst: settings.messageBurst },
      maxContentLength: settings.maxContentLength,
      editWindowMs: settings.editWindowSeconds * 1000,
      flushWindowMs: settings.flushWindowMs,
      durability: settings.durability,
      maxMembers: settings.maxMembers,
      recoveryWindowMs: settings.recoveryWindowSeconds * 1000,
    },
  });
  const turnAway: Application["turnAway"] = (identity) => forbidden(chat.refuseBearer(identity));
  return { server: new Server(settings, { static: { "/": chat } }, ports), limits: settings, chat, turnAway };
}

function fileOptions(bucket: R2Bucket, settings: Settings, retention: Retention): FileOptions {
  const limits = { bytesMax: settings.fileBytesMax, types: settings.fileTypes };
  return { store: new BucketFiles(bucket), limits, keptMs: keptMsMax(retention) };
}

/** The way to the lobby that lists the room, where there is one. */
function lobbyPort({ LOBBY }: Env, room: string, lobbies: number): ReportToLobby | undefined {
  return LOBBY && (async (report) => LOBBY.getByName(lobbyOf(room, lobbies)).report(report));
}

/** A refusal of the room's as an answer to the request of a connection: 403, and when to try again (MOD-3). */
function forbidden(refusal: Refusal | undefined): Response | undefined {
  if (!refusal) return undefined;
  const { code, ...more } = refusal.data as { readonly code: string; readonly retryAfterMs?: number };
  const { retryAfterMs } = more;
  const headers = retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) };
  return Response.json({ error: { code, message: refusal.message, ...more } }, { status: 403, headers });
}

function settingsOf(env: Env): Settings {
  const result = readSettings(env);
  // The Worker refuses everything while a setting is wrong, so no room is ever asked then.
  if (!result.ok) throw new Error(`bad settings: ${result.problems.join("; ")}`);
  return result.settings;
}

/** Names a room's log, and makes its key: unique, short, and nothing that separates the parts of an id. */
function newName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 20);
}
