// The Durable Object of a shard: holds a part of the sockets of a big room, named ROOM/NUMBER. The room (chat-room.ts) decides and stores;
// a shard passes requests to it and sends on what the room says. Each call runs as a turn of the object.
import { RpcTarget } from "cloudflare:workers";

import { Meter } from "../src/metrics/meter.ts";
import { shutdownNotice, ROOM_DELETED } from "../src/chat/room/notices.ts";
import type { StreamAnswer, StreamCall } from "../src/protocol/shards.ts";
import { bindingsOf, type BindingNames } from "../src/rpc/bindings.ts";
import type { ShardEnd, ShardRpc, ShardSession } from "../src/rpc/shard.ts";
import { CLOSINGS } from "../src/socketio/wire/closings.ts";
import { createShard, type ShardParts } from "../src/objects/create-shard.ts";
import type { Env } from "../src/objects/env.ts";
import { countedStorage } from "../src/socketio/object/counted-storage.ts";
import { internalsOf, type Internals } from "../src/socketio/object/internals.ts";
import { SocketObject } from "../src/socketio/object/socket-object.ts";

/** @typeParam Own the bindings that a subclass uses */
export class RoomShard<Own = Cloudflare.Env> extends SocketObject<Own> implements ShardRpc {
  /** Yours to override, where the Worker has its bindings under other names; as `bindings` of createParley. */
  static readonly bindings: BindingNames = {};

  constructor(ctx: DurableObjectState, env: Own) {
    const own = bindingsOf(env as Env, new.target.bindings);
    const meter = new Meter();
    super(ctx, env, (ports) => createShard(ctx, own, ports, meter), {
      meter,
      storage: countedStorage(ctx.storage, meter),
    });
  }

  get #internals(): Internals<ShardParts> {
    return internalsOf(this);
  }

  /** @internal */
  async takePieces(call: StreamCall, holds = false): Promise<StreamAnswer & { readonly session?: ShardSession }> {
    const { activity } = this.#internals;
    activity.request("call", "pieces");
    const take = (each: StreamCall): Promise<StreamAnswer> =>
      activity.during(this.#internals.parts.receiver.take(each));
    const answer = await take(call);
    return holds ? { ...answer, session: new FurtherCalls(take, activity.hold()) } : answer;
  }

  /** @internal */
  async endShard({ withinMs }: ShardEnd): Promise<number> {
    const { server, members, streams } = this.#internals.parts;
    const { size } = server.sessions;
    const end = (): undefined => {
      this.#internals.turn(() => {
        for (const client of members.sockets.values())
          client.emit("notice", withinMs === undefined ? ROOM_DELETED : shutdownNotice(client.id, withinMs));
        for (const session of server.sessions.values()) {
          if (withinMs === undefined) server.dismissSession(session);
          else server.close(session, CLOSINGS.restart);
        }
      }, "end");
    };
    if (withinMs !== undefined) end();
    else {
      streams.stop();
      // The position is one in a log that is deleted.
      await this.erase(end);
      members.stop();
    }
    return size;
  }
}

/** Takes the further calls of a session, which keeps the shard awake. */
class FurtherCalls extends RpcTarget implements ShardSession {
  readonly #take: (call: StreamCall) => Promise<StreamAnswer>;
  readonly #release: () => void;

  constructor(take: (call: StreamCall) => Promise<StreamAnswer>, release: () => void) {
    super();
    this.#take = take;
    this.#release = release;
  }

  takePieces(call: StreamCall): Promise<StreamAnswer> {
    return this.#take(call);
  }

  [Symbol.dispose](): void {
    this.#release();
  }
}
