// The Durable Object of one chat room: the shell of Socket.IO (socketio/socket-object.ts), with the chat in it (create-chat.ts) and
// the RPC calls of the Worker and of other objects. Each call runs as a turn of the object.
import type { AnnounceRpc, RelayRpc } from "../src/rpc/relay.ts";
import type { FileOfLog, OutsideCaller, RoomRpc } from "../src/rpc/room.ts";
import { turnPorts } from "../src/rpc/turn-ports.ts";
import { Meter } from "../src/metrics/meter.ts";
import { maybeLog, type LogFacts } from "../src/settings/log.ts";
import type { UploadAnswer } from "../src/chat/files/attachments.ts";
import type { AnyFeature, RoomHandle } from "../src/extension/extension.ts";
import { outcomeOfPost } from "../src/chat/announce/announced.ts";
import type { ExportPlace, PieceAnswer } from "../src/chat/search/exporting.ts";
import type { PostContext, PostDraft, PostRules, PostVerdict } from "../src/chat/room/verdict.ts";
import type { Reply } from "../src/chat/room/operation.ts";
import { ROOM_DELETED, shutdownNotice } from "../src/chat/room/notices.ts";
import { POSTED_EVENT, type AnnouncedHere, type AnnounceOutcome } from "../src/protocol/announcement.ts";
import type {
  Answer,
  AnswerTo,
  ClientToServerEvents,
  ErrorAnswer,
  OpenDirectAnswer,
  RoomOverview,
} from "../src/protocol/chat-events.ts";
import { CLOSINGS } from "../src/socketio/wire/closings.ts";
import type { Shards } from "../src/chat/shards/shards.ts";
import type { LogPlace, ShardItem, ShardReport } from "../src/protocol/shards.ts";
import type { SequencerRpc } from "../src/rpc/shard.ts";
import type { LinkName, Reached, RelayBatch, RelayOutcome, RoomLinks } from "../src/protocol/relay-batch.ts";
import { pageOfConnections, type RoomStats, type StatsQuery } from "../src/protocol/watching.ts";
import type { Wake } from "./socketio/activity.ts";
import { connectionsOf } from "./room-connections.ts";
import type { Env } from "./env.ts";
import type { StoreAfterErase } from "./socketio/erasing.ts";
import { SocketObject } from "./socketio/socket-object.ts";
import type { BindingNames } from "../src/rpc/bindings.ts";
import { insideOf, type Inside } from "./socketio/inside.ts";
import { objectBindings } from "./object-bindings.ts";
import type { Chat } from "../src/chat/chat.ts";
import { createChat, shardsOf, type ChatParts } from "./create-chat.ts";
import { countedStorage } from "./socketio/counted-storage.ts";
import { FREE_BYTES_FILLED_MAX, fillFreePages } from "./sql/overwriting.ts";
import { refuseTakenNames } from "./socketio/taken-names.ts";

/** @typeParam Own the bindings that a subclass uses */
export class ChatRoom<Own = Cloudflare.Env>
  extends SocketObject<Own>
  implements RoomRpc<ExportPlace>, RelayRpc, AnnounceRpc, SequencerRpc
{
  /** Yours to override, where the Worker has its bindings under other names; as `bindings` of createParley. */
  static readonly bindings: BindingNames = {};

  constructor(ctx: DurableObjectState, env: Own) {
    const own = objectBindings(ctx, env as Env, new.target);
    const meter = new Meter();
    // `this` is there when they are called: long after this constructor.
    super(
      ctx,
      env,
      (ports) => {
        refuseTakenNames(this, ChatRoom);
        return createChat(ctx, own, ports, {
          meter,
          awake: () => this.#lastWake,
          rules: () => (this.beforePost ? this.#rules : undefined),
          features: () => this.features && ((room) => this.features!(room)),
        });
      },
      { meter, storage: countedStorage(ctx.storage, meter), onWoken: (wake) => this.#logWake(wake) },
    );
  }

  get #inside(): Inside<ChatParts> {
    return insideOf(this);
  }

  get #chat(): Chat {
    return this.#inside.parts.chat;
  }

  // ---- rules of one's own ----------------------------------------------------------------------------------

  /**
   * Yours to override: decides on each post and edit before any member sees it. Return nothing to accept, `{ reject: "reason" }`, or
   * `{ content: "other text" }`; or a promise of that.
   */
  beforePost?(message: PostDraft, context: PostContext): PostVerdict | Promise<PostVerdict>;

  /** Milliseconds that a verdict of `beforePost` may take, at most a minute; the room stays awake meanwhile. */
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
    this.#inside.activity.request("call", event);
    return this.#ask(event, caller, given);
  }

  #ask(event: string, bearer: OutsideCaller, given: unknown): Promise<Answer<object>> {
    return answerOf((reply) =>
      this.#inside.furtherTurn(() => this.#chat.requests.perform({ event, bearer, given, reply })),
    );
  }

  /** @internal */
  askOwn(event: string, bearer: OutsideCaller, given: unknown): Promise<Answer<object>> {
    const { calls } = this.#chat;
    // Metrics have few names, and this one comes from outside.
    this.#inside.activity.request("call", calls.takesOwn(event) ? event : "unknown");
    return answerOf((reply) => this.#inside.furtherTurn(() => calls.askOwn({ event, bearer, given, reply })));
  }

  /** @internal */
  permitUpload(caller: OutsideCaller, file: object): Promise<UploadAnswer> {
    return answerOf<UploadAnswer>((reply) =>
      this.#inside.turn(() => this.#chat.calls.permitUpload(caller, file, reply as Reply<Answer<object>>), "upload"),
    );
  }

  /** @internal */
  async permitReading(caller: OutsideCaller, file: FileOfLog): Promise<Answer<object>> {
    return this.#inside.turn(() => this.#chat.calls.permitReading(caller, file), "read-file");
  }

  /** @internal */
  async refuseStaff(caller: OutsideCaller): Promise<ErrorAnswer | undefined> {
    return this.#inside.turn(() => this.#chat.calls.refuseStaff(caller), "staff");
  }

  /** @internal */
  async openDirect(...opened: Parameters<RoomRpc["openDirect"]>): Promise<OpenDirectAnswer> {
    return this.#inside.turn(() => {
      const { direct, listing } = this.#chat.features;
      const answer = direct.begin(...opened);
      if ("ok" in answer && answer.isNew) listing?.reportAgain();
      return answer;
    }, "open-dm");
  }

  /** @internal */
  async watched(): Promise<void> {
    this.#inside.turn(() => this.#chat.features.listing?.watched(), "watched");
  }

  /** @internal */
  async overview(): Promise<RoomOverview> {
    return this.#inside.turn(() => this.#chat.calls.overview(), "overview");
  }

  #logInfo(event: string, facts: LogFacts): void {
    maybeLog(this.#inside.parts.settings, "info", event, { room: this.ctx.id.name, ...facts });
  }

  #logWake({ cause, detail }: Wake): void {
    maybeLog(this.#inside.parts.settings, "debug", "room.woke", { room: this.ctx.id.name, cause, detail });
  }

  /** @internal */
  async stats(query: StatsQuery): Promise<RoomStats> {
    return this.#inside.turn(() => {
      const { chat, server } = this.#inside.parts;
      const all = connectionsOf(server, (session) => this.#inside.lastSeenAtMs(session));
      return {
        awake: this.#lastWake,
        members: chat.calls.overview().members,
        connectionCount: all.length + (chat.room.elsewhere?.connections ?? 0),
        ...shardsOf(chat),
        ...pageOfConnections(all, query),
        unreported: chat.features.counters.unreported,
      };
    }, "stats");
  }

  get #lastWake(): RoomStats["awake"] {
    const { atMs: since, cause, detail } = this.#inside.activity.wake!;
    return { since, cause, detail };
  }

  /** @internal */
  exportPiece(caller: OutsideCaller, place?: ExportPlace): Promise<PieceAnswer> {
    return answerOf<PieceAnswer>((reply) =>
      this.#inside.turn(() => this.#chat.calls.exportPiece(caller, place, reply), "export"),
    );
  }

  /** @internal */
  async link(to: string): Promise<Answer<object>> {
    return this.#inside.turn(() => this.#chat.features.links.add(to), "link");
  }

  /** @internal */
  async unlink(to: string): Promise<Answer<object>> {
    return this.#inside.turn(() => this.#chat.features.links.remove(to), "unlink");
  }

  /** @internal */
  async links(): Promise<RoomLinks> {
    return this.#inside.turn(() => {
      const { links, relayed } = this.#chat.features;
      return { links: links.all, feeds: relayed.all };
    }, "links");
  }

  /** @internal */
  async rewind(to: string, link: LinkName, reached: Reached): Promise<void> {
    this.#inside.turn(() => this.#chat.features.links.rewind(to, link, reached), "rewind");
  }

  /** @internal */
  async takeRelayed(batches: readonly RelayBatch[]): Promise<RelayOutcome[]> {
    return this.#inside.turn(() => this.#chat.features.relayed.take(batches), "relayed");
  }

  /** Several may come at once, and each is answered when it is done. @internal */
  takeAnnounced(announcements: readonly AnnouncedHere[]): Promise<AnnounceOutcome[]> {
    this.#inside.activity.request("call", "announced");
    // A failure of one does not repeat the others.
    return Promise.all(
      announcements.map(async (announced) => {
        try {
          return await this.#announce(announced);
        } catch (error) {
          const reason = "the room could not send an announcement";
          this.#inside.report(reason, error);
          return { ok: false, isFinal: false, reason };
        }
      }),
    );
  }

  async #announce(announced: AnnouncedHere): Promise<AnnounceOutcome> {
    if (announced.event !== POSTED_EVENT)
      return this.#inside.furtherTurn(() => this.#chat.features.announced.take(announced));
    // ANN-3: looks whether it is stored already.
    const before = this.#inside.furtherTurn(() => this.#chat.features.announced.lookFor(announced));
    for (;;) {
      const outcome = this.#inside.furtherTurn(() => before.look());
      if (outcome === "new") break;
      if (outcome !== "go on") return outcome;
      await turnPorts.giveWay();
    }
    const { id, data, by } = announced;
    const answer = await this.#ask(POSTED_EVENT, { ...by, role: "service" }, { ...(data as object), clientMsgId: id });
    return outcomeOfPost(answer);
  }

  get #shards(): Shards {
    const { shards } = this.#chat.features;
    if (!shards) throw new Error("the room has no shards (MAX_SHARDS)");
    return shards;
  }

  /** @internal */
  async takeShardReport(report: ShardReport): Promise<string> {
    return this.#inside.turn(() => this.#shards.take(report), "shard");
  }

  /** @internal */
  async missedByShard(from: LogPlace, to: LogPlace): Promise<ShardItem[]> {
    return this.#inside.turn(() => this.#shards.missed(from, to), "shard-missed");
  }

  /** API-10. @internal */
  async drain(withinMs: number): Promise<number> {
    const { chat, server, endShards } = this.#inside.parts;
    const { closed = 0, failed = [] } = (await endShards({ withinMs })) ?? {};
    const size = server.sessions.size + closed;
    this.#logInfo("room.drained", { connections: size, withinMs });
    this.#inside.turn(() => {
      chat.calls.prepareShutdown(({ id }) => shutdownNotice(id, withinMs));
      for (const session of server.sessions.values()) server.close(session, CLOSINGS.restart);
    }, "drain");
    if (failed.length > 0) throw new Error(`the connections of shards ${failed.join()} are not closed`);
    return size;
  }

  /** API-9. @internal */
  async deleteRoom(): Promise<void> {
    const { chat, server, endShards } = this.#inside.parts;
    chat.features.shards?.stop();
    const ending = endShards({});
    const ended = ending && (await ending);
    this.#logInfo("room.deleted", { connections: server.sessions.size });
    const prepare = (): StoreAfterErase | undefined =>
      this.#inside.turn(() => {
        chat.calls.prepareShutdown(() => ROOM_DELETED);
        for (const session of server.sessions.values()) server.dismissSession(session);
        chat.features.shards?.outlive(ended?.failed ?? []);
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
    this.#inside.furtherTurn(() => this.#chat.features.listing?.reportAgain());
  }
}

/** @param ask makes the request, whose answer may come later */
function answerOf<Given>(ask: (reply: Reply<Given>) => void | Promise<void>): Promise<Given> {
  return new Promise((resolve, reject) => {
    ask(resolve)?.catch(reject);
  });
}
