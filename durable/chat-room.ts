// One chat room = one Durable Object: the chat core over its own SQLite, behind the Socket.IO shell.
import type { AnnounceRpc, RelayRpc } from "../src/rpc/relay.ts";
import type { OutsideCaller, RoomRpc } from "../src/rpc/room.ts";
import { turnPorts } from "../src/rpc/turn-ports.ts";
import { maybeLog, type LogFacts } from "../src/settings/log.ts";
import type { Settings } from "../src/settings/settings.ts";
import { Chat } from "../src/chat/chat.ts";
import { isWatching, Watching } from "../src/chat/watching.ts";
import type { FileOptions } from "../src/chat/features.ts";
import { SearchAllowance } from "../src/chat/search/search-allowance.ts";
import { directOpenings } from "../src/rpc/direct-openings.ts";
import type { ExportPiece, ExportPlace } from "../src/chat/log/export.ts";
import type { UploadAnswer } from "../src/chat/files/attachments.ts";
import { outcomeOfPost } from "../src/chat/announce/announced.ts";
import { ROOM_DELETED, shutdownNotice } from "../src/chat/room/farewell.ts";
import type { ReportToLobby } from "../src/chat/listing/lobby-report.ts";
import { keptMsMax, type Retention } from "../src/chat/log/segments.ts";
import { POSTED_EVENT, type AnnouncedHere, type AnnounceOutcome } from "../src/protocol/announcement.ts";
import { isDirectRoom } from "../src/protocol/direct-name.ts";
import type { Answer, ErrorAnswer, RoomOverview } from "../src/protocol/chat-events.ts";
import { CLOSINGS } from "../src/socketio/wire/closings.ts";
import type { DirectUsers } from "../src/protocol/direct-room.ts";
import type { OpenDirectAnswer } from "../src/protocol/direct-events.ts";
import type { LinkName, Reached, RelayBatch, RelayOutcome, RoomLinks } from "../src/protocol/relay-batch.ts";
import { lobbyOf } from "../src/protocol/room-list.ts";
import { WATCH_NAMESPACE, WATCHED_CONNECTIONS_MAX } from "../src/protocol/watching.ts";
import { pageOf, type RoomStats, type StatsQuery } from "../src/metrics/room-stats.ts";
import type { Refusal } from "../src/socketio/server/namespace.ts";
import { Server } from "../src/socketio/server/server.ts";
import type { ServerPorts } from "../src/socketio/server/session-server.ts";
import type { Wake } from "./socketio/activity.ts";
import { noteReport } from "./analytics.ts";
import { connectionsOf } from "./room-connections.ts";
import { BucketFiles } from "./bucket-files.ts";
import { countedStorage } from "./socketio/counted-storage.ts";
import type { Env } from "./env.ts";
import type { Leave } from "./socketio/erasing.ts";
import { goodSettingsOf } from "./good-settings.ts";
import { transportOf } from "../src/rpc/transport.ts";
import type { Application } from "./socketio/application.ts";
import { SocketObject } from "./socketio/socket-object.ts";
import { SqlMessageLog } from "./sql/sql-message-log.ts";
import { SqlSearchIndex } from "./sql/sql-search-index.ts";

const DAY_MS = 24 * 3_600_000;

interface ChatParts extends Application {
  readonly server: Server;
  readonly chat: Chat;
  readonly settings: Settings;
}

export class ChatRoom extends SocketObject<Env, ChatParts> implements RoomRpc<ExportPlace>, RelayRpc, AnnounceRpc {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, (...given) => createChat(...given, () => this.#awake));
  }

  ask(event: string, caller: OutsideCaller, given: unknown): Promise<Answer<object>> {
    this.activity.request("call", event);
    return this.#ask(event, caller, given);
  }

  #ask(event: string, caller: OutsideCaller, given: unknown): Promise<Answer<object>> {
    return new Promise((resolve, reject) => {
      this.furtherTurn(() => this.parts.chat.calls.call(event, caller, given, resolve))?.catch(reject);
    });
  }

  permitUpload(caller: OutsideCaller, file: object): Promise<UploadAnswer> {
    return new Promise((resolve, reject) => {
      const reply = (answer: Answer<object>): void => resolve(answer as UploadAnswer);
      this.turn(() => this.parts.chat.calls.permitUpload(caller, file, reply), "upload")?.catch(reject);
    });
  }

  async permitReading(caller: OutsideCaller, file: Parameters<RoomRpc["permitReading"]>[1]): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.calls.permitReading(caller, file), "read-file");
  }

  async refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined> {
    return this.turn(() => this.parts.chat.calls.refuseStaff(caller), "staff");
  }

  async openDirect(users: DirectUsers): Promise<OpenDirectAnswer> {
    return this.turn(() => {
      const { direct } = this.parts.chat.features;
      const answer = direct.begin(users);
      if ("ok" in answer && answer.isNew) this.parts.chat.calls.tellLobby();
      return answer;
    }, "open-dm");
  }

  async overview(): Promise<RoomOverview> {
    return this.turn(() => this.parts.chat.calls.overview(), "overview");
  }

  #tell(event: string, facts: LogFacts): void {
    maybeLog(this.parts.settings, "info", event, { room: this.ctx.id.name, ...facts });
  }

  protected override onWoken({ cause, detail }: Wake): void {
    maybeLog(this.parts.settings, "debug", "room.woke", { room: this.ctx.id.name, cause, detail });
  }

  async stats(query: StatsQuery): Promise<RoomStats> {
    return this.turn(() => {
      const { chat, server } = this.parts;
      const all = connectionsOf(server, (session) => this.lastSeenAtMs(session));
      return {
        awake: this.#awake,
        members: chat.calls.overview().members,
        connectionCount: all.length,
        ...pageOf(all, query),
        unreported: chat.calls.unreported,
      };
    }, "stats");
  }

  get #awake(): RoomStats["awake"] {
    const { atMs: since, cause, detail } = this.activity.wake!;
    return { since, cause, detail };
  }

  async exportPiece(place?: ExportPlace): Promise<ExportPiece | undefined> {
    return this.turn(() => this.parts.chat.calls.exportPiece(place), "export");
  }

  async link(to: string): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.features.links.add(to), "link");
  }

  async unlink(to: string): Promise<Answer<object>> {
    return this.turn(() => this.parts.chat.features.links.remove(to), "unlink");
  }

  async links(): Promise<RoomLinks> {
    return this.turn(() => {
      const { links, relayed } = this.parts.chat.features;
      return { links: links.all, feeds: relayed.all };
    }, "links");
  }

  async rewind(to: string, link: LinkName, reached: Reached): Promise<void> {
    this.turn(() => this.parts.chat.features.links.rewind(to, link, reached), "rewind");
  }

  async takeRelayed(batches: readonly RelayBatch[]): Promise<RelayOutcome[]> {
    return this.turn(() => this.parts.chat.features.relayed.take(batches), "relayed");
  }

  /** Several may come at once, and each is answered when it is done. */
  takeAnnounced(announcements: readonly AnnouncedHere[]): Promise<AnnounceOutcome[]> {
    this.activity.request("call", "announced");
    // What cannot be said is no reason to say the others again.
    return Promise.all(
      announcements.map((announced) => this.#announce(announced).catch((error) => this.#unsaid(error))),
    );
  }

  #unsaid(error: unknown): AnnounceOutcome {
    const problem = "the room could not say what was announced";
    this.report(problem, error);
    return { ok: false, isFinal: false, reason: problem };
  }

  async #announce(announced: AnnouncedHere): Promise<AnnounceOutcome> {
    if (announced.event !== POSTED_EVENT)
      return this.furtherTurn(() => this.parts.chat.features.announced.take(announced));
    const known = await this.#announcedBefore(announced);
    if (known) return known;
    const { id, data, by } = announced;
    const answer = await this.#ask(POSTED_EVENT, { ...by, role: "service" }, { ...(data as object), clientMsgId: id });
    return outcomeOfPost(answer);
  }

  /** ANN-3. */
  async #announcedBefore(announced: AnnouncedHere): Promise<AnnounceOutcome | undefined> {
    const before = this.furtherTurn(() => this.parts.chat.features.announced.lookFor(announced));
    for (;;) {
      const outcome = this.furtherTurn(() => before.look());
      if (outcome !== "go on") return outcome === "new" ? undefined : outcome;
      await turnPorts.giveWay();
    }
  }

  /** API-10. */
  async drain(withinMs: number): Promise<number> {
    const { chat, server } = this.parts;
    const { size } = server.sessions;
    this.#tell("room.drained", { connections: size, withinMs });
    this.turn(() => {
      chat.calls.sayGoodbye(({ id }) => shutdownNotice(id, withinMs));
      for (const session of server.sessions.values()) server.closeSession(session, CLOSINGS.restart);
    }, "drain");
    return size;
  }

  /** API-9. */
  async deleteRoom(): Promise<void> {
    const { chat, server } = this.parts;
    this.#tell("room.deleted", { connections: server.sessions.size });
    const prepare = (): Leave | undefined =>
      this.turn(() => {
        chat.calls.sayGoodbye(() => ROOM_DELETED);
        for (const session of server.sessions.values()) server.dismissSession(session);
        return chat.calls.prepareErase();
      }, "delete");
    await this.erase(prepare);
    this.furtherTurn(() => this.parts.chat.calls.tellLobby());
  }
}

function createChat(ctx: DurableObjectState, env: Env, ports: ServerPorts, awake: () => RoomStats["awake"]): ChatParts {
  const settings = goodSettingsOf(env);
  // Objects are always addressed by room name, and the platform remembers it through sleep and restarts.
  const room = ctx.id.name!;
  const retention = { messages: settings.historyMessages, ageMs: settings.historyDays * DAY_MS };
  const storage = ports.meter ? countedStorage(ctx.storage, ports.meter) : ctx.storage;
  const log = new SqlMessageLog(storage, {
    room,
    retention,
    nowMs: ports.now(),
    newName,
  });
  const chat = new Chat({
    room,
    log,
    state: storage.kv,
    index: new SqlSearchIndex(storage),
    searchAllowance: searchAllowanceOf(env),
    ...(ports.meter && { meter: ports.meter }),
    durable: () => storage.sync(),
    ...(env.FILES && { files: fileOptions(env.FILES, settings, retention) }),
    // Without its binding the Worker refuses everything.
    ...(settings.webhook && { deliver: async (events) => void (await env.WEBHOOKS!.send({ room, events })) }),
    reportToLobby: lobbyPort(env, room, settings.lobbies),
    openings: directOpenings,
    openDirect: async (name, users) => env.CHAT_ROOM.getByName(name).openDirect(users),
    relay: transportOf(env, settings.relay),
    settings: {
      messageRate: { perSecond: settings.messageRate, burst: settings.messageBurst },
      maxContentLength: settings.maxContentLength,
      editWindowMs: settings.editWindowSeconds * 1000,
      flushWindowMs: settings.flushWindowMs,
      durability: settings.durability,
      guestRatePerIp: settings.guestRatePerIp,
      maxMembers: settings.maxMembers,
      maxConnectionsPerUser: settings.maxConnectionsPerUser,
      recoveryWindowMs: settings.recoveryWindowSeconds * 1000,
    },
  });
  const turnAway: Application["turnAway"] = (identity) => forbidden(chat.calls.refuseBearer(identity));
  const watching = new Watching(chat, {
    connectionCount: () => server.sessions.size,
    look: () => {
      const all = connectionsOf(server, (session) => Math.max(session.seenAtMs, ports.lastPongAtMs(session) ?? 0));
      return { awake: awake(), ...pageOf(all, { limit: WATCHED_CONNECTIONS_MAX }) };
    },
  });
  const server = new Server(settings, { static: { "/": chat, [WATCH_NAMESPACE]: watching } }, ports);
  const onInput = (): void =>
    server.outbox.turn(() => {
      chat.room.endTurn();
      watching.look();
    });
  return { server, limits: settings, settings, chat, turnAway, isWatching, onInput };
}

/** One for all rooms of the isolate, which share its environment. */
function searchAllowanceOf(env: Env): SearchAllowance {
  const known = searchAllowances.get(env) ?? new SearchAllowance();
  searchAllowances.set(env, known);
  return known;
}

const searchAllowances = new WeakMap<Env, SearchAllowance>();

function fileOptions(bucket: R2Bucket, settings: Settings, retention: Retention): FileOptions {
  const limits = { bytesMax: settings.fileBytesMax, types: settings.fileTypes };
  return { store: new BucketFiles(bucket), limits, keptMs: keptMsMax(retention) };
}

/** The way to the lobby that lists the room, where there is one. */
function lobbyPort({ LOBBY, ANALYTICS }: Env, room: string, lobbies: number): ReportToLobby | undefined {
  if (!LOBBY) return undefined;
  return async (report) => {
    const answer = await LOBBY.getByName(lobbyOf(room, lobbies)).report(report);
    // DM-3: who talks to whom is nobody's statistics.
    if (ANALYTICS && !isDirectRoom(room)) noteReport(ANALYTICS, report);
    return answer;
  };
}

/** A refusal of the room's as an answer to the request of a connection: 403, and when to try again (MOD-3). */
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
