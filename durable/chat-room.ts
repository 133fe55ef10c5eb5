// The Durable Object of one chat room: the shell of Socket.IO (src/socketio/object/socket-object.ts), with the chat in it (create-chat.ts) and
// the RPC calls of the Worker and of other objects. Each call runs as a turn of the object.
import type { FileOfLog } from "../src/protocol/file-key.ts";
import type { OutsideCaller, RoomRpc } from "../src/rpc/room.ts";
import { Meter } from "../src/metrics/meter.ts";
import { writeLog, type LogFacts } from "../src/settings/log.ts";
import type { UploadAnswer } from "../src/chat/files/attachments.ts";
import type { AnyFeature, RoomHandle } from "../src/extension/extension.ts";
import { withHandedIn } from "../src/chat/custom/custom-features.ts";
import type { ExportPosition, ChunkAnswer } from "../src/chat/messages/exporting.ts";
import type { PostContext, PostDraft, PostRules, PostVerdict } from "../src/chat/room/post-decision.ts";
import type { Reply } from "../src/chat/room/operation.ts";
import { ROOM_DELETED, shutdownNotice } from "../src/chat/room/notices.ts";
import type {
  Answer,
  AnswerTo,
  ClientToServerEvents,
  ErrorAnswer,
  FilePassGiven,
} from "../src/protocol/chat-events.ts";
import { CLOSINGS } from "../src/socketio/wire/closings.ts";
import type { Shards } from "../src/chat/shards/shards.ts";
import type { LogPosition, ShardItem, ShardReport } from "../src/protocol/shards.ts";
import type { SequencerRpc } from "../src/rpc/shard.ts";
import { pageOfConnections, type RoomStats, type StatsQuery } from "../src/protocol/watching.ts";
import type { Wake } from "../src/socketio/object/activity.ts";
import { answerOf, askRoom } from "../src/objects/asking.ts";
import { connectionsOf } from "../src/objects/room-connections.ts";
import type { Env } from "../src/objects/env.ts";
import type { InObject } from "../src/objects/feature.ts";
import type { StoreAfterErase } from "../src/socketio/object/erasing.ts";
import { SocketObject } from "../src/socketio/object/socket-object.ts";
import type { BindingNames } from "../src/rpc/bindings.ts";
import { internalsOf, type Internals } from "../src/socketio/object/internals.ts";
import { objectBindings } from "../src/objects/object-bindings.ts";
import type { Chat } from "../src/chat/chat.ts";
import { createChat, shardsOf, type ChatParts } from "../src/objects/create-chat.ts";
import { countedStorage } from "../src/socketio/object/counted-storage.ts";
import { FREE_BYTES_FILLED_MAX, fillFreePages } from "../src/objects/sql/free-pages.ts";
import { refuseTakenNames } from "../src/socketio/object/taken-names.ts";

/** @typeParam Own the bindings that a subclass uses */
export class ChatRoom<Own = Cloudflare.Env> extends SocketObject<Own> implements RoomRpc<ExportPosition>, SequencerRpc {
  /** Yours to override, where the Worker has its bindings under other names; as `bindings` of createParley. */
  static readonly bindings: BindingNames = {};

  /** The features that the class was made with, and that class (room-class.ts). @internal */
  static readonly made: { readonly with: readonly InObject[]; readonly as: { readonly prototype: object } } = {
    with: [],
    as: ChatRoom,
  };

  constructor(ctx: DurableObjectState, env: Own) {
    const own = objectBindings(ctx, env as Env, new.target);
    const meter = new Meter();
    const { made } = new.target;
    // `this` is there when they are called: long after this constructor.
    super(
      ctx,
      env,
      (ports) => {
        refuseTakenNames(this, made.as);
        return createChat(ctx, own, ports, {
          meter,
          awake: () => this.#lastWake,
          rules: () => (this.beforePost ? this.#rules : undefined),
          handedIn: made.with,
          custom: () => withHandedIn(made.with, this.features && ((room) => this.features!(room))),
        });
      },
      { meter, storage: countedStorage(ctx.storage, meter), onWoken: (wake) => this.#logWake(wake) },
    );
  }

  get #internals(): Internals<ChatParts> {
    return internalsOf(this);
  }

  get #chat(): Chat {
    return this.#internals.parts.chat;
  }

  // ---- the moderation hook ----------------------------------------------------------------------------------

  /**
   * Yours to override: decides on each post and edit before any member sees it. Return nothing to accept, `{ reject: "reason" }`, or
   * `{ content: "other text" }`; or a promise of that.
   */
  beforePost?(message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict>;

  /** Milliseconds that a decision of `beforePost` may take, at most a minute; the room stays awake meanwhile. */
  beforePostTimeoutMs = 5000;

  /** A post for which `beforePost` throws or takes too long is refused, and the sender may try again, or is accepted unseen. */
  beforePostOnFailure: PostRules["onFailure"] = "refuse";

  /**
   * Yours to override: features that this room has besides those of the chat, in the order in which they are called. Called when the room
   * starts or wakes, and when it was deleted; each room has features of its own.
   */
  features?(room: RoomHandle): readonly AnyFeature[];

  get #rules(): PostRules {
    const { beforePostTimeoutMs: timeoutMs, beforePostOnFailure: onFailure } = this;
    return { beforePost: (...given) => this.beforePost!(...given), timeoutMs, onFailure };
  }

  // ---- calls of the Worker and of other objects ------------------------------------------------------------

  /** @internal */
  ask<Event extends keyof ClientToServerEvents>(
    event: Event,
    caller: OutsideCaller,
    given: unknown,
  ): Promise<AnswerTo<Event>> {
    this.#internals.activity.request("call", event);
    return askRoom(this.#internals, event, caller, given);
  }

  /** @internal */
  askOwn(event: string, bearer: OutsideCaller, given: unknown): Promise<Answer<object>> {
    const { calls } = this.#chat;
    // Metrics have few names, and this one comes from outside.
    this.#internals.activity.request("call", calls.takesCustom(event) ? event : "unknown");
    return answerOf((reply) => this.#internals.furtherTurn(() => calls.askCustom({ event, bearer, given, reply })));
  }

  /** @internal */
  permitUpload(caller: OutsideCaller, file: object): Promise<UploadAnswer> {
    return answerOf<UploadAnswer>((reply) =>
      this.#internals.turn(() => this.#chat.calls.permitUpload(caller, file, reply as Reply<Answer<object>>), "upload"),
    );
  }

  /** @internal */
  async permitReading(caller: OutsideCaller, file: FileOfLog): Promise<Answer<object>> {
    return this.#internals.turn(() => this.#chat.calls.permitReading(caller, file), "read-file");
  }

  /** @internal */
  async passTo(caller: OutsideCaller, file: FileOfLog): Promise<Answer<FilePassGiven>> {
    return this.#internals.turn(() => this.#chat.calls.passTo(caller, file), "read-file");
  }

  /** @internal */
  async permitPass(pass: string, file: FileOfLog): Promise<Answer<object>> {
    return this.#internals.turn(() => this.#chat.calls.permitPass(pass, file), "read-file");
  }

  /** @internal */
  async refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined> {
    return this.#internals.turn(() => this.#chat.calls.refuseStaff(caller), "staff");
  }

  /** @internal */
  async overview(): ReturnType<RoomRpc["overview"]> {
    return this.#internals.turn(() => this.#chat.calls.overview(), "overview");
  }

  #logInfo(event: string, facts: LogFacts): void {
    writeLog(this.#internals.parts.settings, "info", event, { room: this.ctx.id.name, ...facts });
  }

  #logWake({ cause, detail }: Wake): void {
    writeLog(this.#internals.parts.settings, "debug", "room.woke", { room: this.ctx.id.name, cause, detail });
  }

  /** @internal */
  async stats(query: StatsQuery): Promise<RoomStats> {
    return this.#internals.turn(() => {
      const { chat, server } = this.#internals.parts;
      const all = connectionsOf(server, (session) => this.#internals.lastSeenAtMs(session));
      return {
        awake: this.#lastWake,
        members: chat.calls.overview().members,
        connectionCount: all.length + (chat.room.remote?.connections ?? 0),
        ...shardsOf(chat),
        ...pageOfConnections(all, query),
        unreported: chat.parts.counters.unreported(chat.room.now()),
      };
    }, "stats");
  }

  get #lastWake(): RoomStats["awake"] {
    const { atMs: since, cause, detail } = this.#internals.activity.wake!;
    return { since, cause, detail };
  }

  /** @internal */
  exportPiece(caller: OutsideCaller, position?: ExportPosition): Promise<ChunkAnswer> {
    return answerOf<ChunkAnswer>((reply) =>
      this.#internals.turn(() => this.#chat.calls.exportChunk(caller, position, reply), "export"),
    );
  }

  get #shards(): Shards {
    const { shards } = this.#chat.parts;
    if (!shards) throw new Error("the room has no shards (MAX_SHARDS)");
    return shards;
  }

  /** @internal */
  async takeShardReport(report: ShardReport): Promise<string> {
    return this.#internals.turn(() => this.#shards.take(report), "shard");
  }

  /** @internal */
  async missedByShard(from: LogPosition, to: LogPosition): Promise<ShardItem[]> {
    return this.#internals.turn(() => this.#shards.missed(from, to), "shard-missed");
  }

  /** API-10. @internal */
  async drain(withinMs: number): Promise<number> {
    const { chat, server, endShards } = this.#internals.parts;
    const { closed = 0, failed = [] } = (await endShards({ withinMs })) ?? {};
    const size = server.sessions.size + closed;
    this.#logInfo("room.drained", { connections: size, withinMs });
    this.#internals.turn(() => {
      chat.calls.prepareShutdown(({ id }) => shutdownNotice(id, withinMs));
      for (const session of server.sessions.values()) server.close(session, CLOSINGS.restart);
    }, "drain");
    if (failed.length > 0) throw new Error(`the connections of shards ${failed.join()} are not closed`);
    return size;
  }

  /** API-9. @internal */
  async deleteRoom(): Promise<void> {
    const { chat, server, endShards } = this.#internals.parts;
    chat.parts.shards?.stop();
    const ending = endShards({});
    const ended = ending && (await ending);
    this.#logInfo("room.deleted", { connections: server.sessions.size });
    const prepare = (): StoreAfterErase | undefined =>
      this.#internals.turn(() => {
        chat.calls.prepareShutdown(() => ROOM_DELETED);
        for (const session of server.sessions.values()) server.dismissSession(session);
        chat.parts.shards?.outlive(ended?.failed ?? []);
        const storeAfter = chat.calls.prepareErase();
        if (!storeAfter) return undefined;
        // The tables will be dropped, which leaves their text in free pages.
        const { storage } = this.ctx;
        const bytes = storage.sql.databaseSize;
        return () => {
          storeAfter();
          fillFreePages(storage, bytes, FREE_BYTES_FILLED_MAX.room);
        };
      }, "delete");
    await this.erase(prepare);
    // An erased room is a new one, although nothing has changed in it.
    this.#internals.furtherTurn(() => this.#chat.parts.hooks.tell("onReportChanged"));
  }
}
