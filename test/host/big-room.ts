// A big room for tests: a room and its shards in memory, and the calls between them, which a test can break. Each object has its own clock
// that the test turns together with the others.
import { setImmediate } from "node:timers/promises";

import { Meter } from "../../src/metrics/meter.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { Identity } from "../../src/protocol/identity.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import { shardSession, type StreamAnswer, type StreamCall, type ShardReport } from "../../src/protocol/shards.ts";
import type { Session, SessionsPorts } from "../../src/shards/sessions.ts";
import { ShardMembers } from "../../src/shards/shard-members.ts";
import { Streams } from "../../src/shards/streams.ts";
import type { StoredPosition } from "../../src/shards/replica.ts";
import { Receiver } from "../../src/shards/receiver.ts";
import { CONTEXT } from "../../src/socketio/server/namespace.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import type { ServerPorts } from "../../src/socketio/server/server.ts";
import { ChatRoom, identityOf, ROOM, SETTINGS, UNLIMITED, type Person, type RoomParts } from "./chat-room.ts";
import { FakeShell, type Client } from "./harness.ts";

/** Rounds of calls of which each may cause the next. */
const ROUNDS = 30;

export class Shard {
  readonly shell: FakeShell;
  readonly number: number;
  members!: ShardMembers;
  receiver!: Receiver;
  /** As its storage holds it. */
  kept: StoredPosition | undefined;
  isStorageBroken = false;
  /** While set, calls to it fail with it. */
  failure: Error | undefined;
  readonly meter = new Meter();
  /** Calls that it got. */
  readonly calls: StreamCall[] = [];
  /** Calls that the platform bills: those that are no further ones of a session. */
  requests = 0;
  /** Those that are open, and the shard that holds each; `undefined`: the room. */
  readonly sessions = new Map<Session, number | undefined>();
  #lives = 0;

  constructor(number: number, big: BigRoom, fanOut: number) {
    this.number = number;
    let ids = 0;
    const create = (): ShardMembers => {
      const life = ++this.#lives;
      this.sessions.clear();
      big.drop(number);
      this.members = new ShardMembers({
        settings: { maxMembers: 1000, maxConnectionsPerUser: 2, recoveryWindowMs: SETTINGS.recoveryWindowMs },
        kept: structuredClone(this.kept),
        keep: (kept) => {
          if (this.isStorageBroken) throw new Error("disk I/O error");
          this.kept = structuredClone(kept);
        },
        report: (report) => big.report({ shard: number, ...report }),
        takeCounts: () => (this.meter.isEmpty ? undefined : this.meter.take()),
        count: (series, by) => this.meter.count(series, by),
      });
      const streams = new Streams(
        { self: number, fanOut },
        {
          // One that died calls nobody any more.
          send: (to, call, holds) =>
            life === this.#lives ? big.shard(to).take(call, holds, number) : new Promise(() => {}),
          missed: async (from, to) => big.room.chat.parts.shards!.missed(from, to),
          newId: () => `life-${number}-${++ids}`,
          wait: () => big.wait(),
          report: (problem, error) => void this.shell.problems.push({ problem, error }),
          count: (series, by) => this.meter.count(series, by),
          now: () => this.shell.nowMs,
          deadline: (name, run, options) => this.members[CONTEXT].deadlines.add(name, run, options),
        },
      );
      const giveWay = (): Promise<void> => setImmediate();
      this.receiver = new Receiver({ self: number, members: this.members, streams, giveWay });
      return this.members;
    };
    this.shell = new FakeShell(() => ({ "/": create() }), { prefix: shardSession(number, ""), tokens: big.tokens });
    this.shell.nowMs = big.room.shell.nowMs;
  }

  /** @param by the shard that calls; absent: the room */
  async take(call: StreamCall, holds = false, by?: number): ReturnType<SessionsPorts["send"]> {
    this.requests++;
    const answer = await this.#take(call);
    return holds ? { ...answer, session: this.#begin(by) } : answer;
  }

  #begin(by: number | undefined): Session {
    const life = this.#lives;
    const session: Session = {
      send: async (call) => {
        await setImmediate();
        if (life !== this.#lives) throw new Error("the session ended with the shard");
        // It ended with its caller.
        if (!this.sessions.has(session)) return new Promise(() => {});
        return this.#take(call);
      },
      end: () => void this.sessions.delete(session),
    };
    this.sessions.set(session, by);
    return session;
  }

  async #take(call: StreamCall): Promise<StreamAnswer> {
    await setImmediate();
    if (this.failure) throw this.failure;
    this.calls.push(call);
    const answer = await this.receiver.take(structuredClone(call));
    await setImmediate();
    return answer;
  }
}

export class BigRoom {
  readonly room: ChatRoom;
  readonly shards: Shard[] = [];
  readonly #fanOut: number;
  /** While set, reports of shards fail with it. */
  failure: Error | undefined;
  /** Tokens with which members of shards refresh theirs. */
  readonly issued = new Map<string, Identity>();
  /** Reports that the room got. */
  readonly reports: ShardReport[] = [];
  #waiting: Array<() => void> = [];
  #deaths = 0;

  constructor(
    settings: Partial<ChatSettings> = {},
    { maxShards = 8, fanOut = 8, ...parts }: { maxShards?: number; fanOut?: number } & RoomParts = {},
  ) {
    this.#fanOut = fanOut;
    let ids = 0;
    this.room = new ChatRoom(
      settings,
      {},
      {
        ...parts,
        shards: {
          maxShards,
          maxMembers: settings.maxMembers ?? 2,
          fanOut,
          send: (shard, call, holds) => this.#send(shard, call, holds),
          newId: () => `life-${++ids}`,
          wait: () => this.wait(),
        },
      },
    );
  }

  /** Of a shard: its connections come with an identity. */
  readonly tokens: NonNullable<ServerPorts["tokens"]> = {
    room: ROOM,
    opens: () => true,
    authenticate: async (token) => {
      const identity = this.issued.get(token);
      return identity ? { ok: true, identity } : { ok: false, code: "UNAUTHORIZED", message: "no keys here" };
    },
  };

  shard(number: number): Shard {
    return (this.shards[number] ??= new Shard(number, this, this.#fanOut));
  }

  async report(report: ShardReport): Promise<string> {
    await setImmediate();
    if (this.failure) throw this.failure;
    this.reports.push(report);
    let by = "";
    this.room.turn(() => (by = this.room.chat.parts.shards!.take(structuredClone(report))));
    return by;
  }

  /** A call that is under way while the room dies never comes back to it, and may not arrive. */
  async #send(shard: number, call: StreamCall, holds: boolean): ReturnType<SessionsPorts["send"]> {
    const deaths = this.#deaths;
    await setImmediate();
    if (deaths !== this.#deaths) return new Promise(() => {});
    return this.shard(shard).take(call, holds);
  }

  /** The wait before a call is tried again ends with `pass`. */
  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The sessions of an object that died end. @param shard absent: the room */
  drop(shard?: number): void {
    for (const { sessions } of this.shards.filter(Boolean))
      for (const [session, by] of sessions) if (by === shard) sessions.delete(session);
  }

  /** The room dies: its connections and its memory are lost, and calls under way with it. */
  crash(): void {
    this.#waiting = [];
    this.#deaths++;
    this.drop();
    this.room.shell.crash();
  }

  /** Connects a person to a shard. */
  async join(
    person: string | Person,
    shard: number,
    handshake: Partial<Handshake> = {},
    auth?: object,
  ): Promise<Client> {
    const identity = identityOf(person);
    const client = this.shard(shard).shell.open({ identity, canRecover: true, ...handshake });
    client.name = identity.user;
    void client.connect(auth);
    await this.pass(0);
    return client;
  }

  /** Lets time pass everywhere, and all calls arrive. */
  async pass(ms: number): Promise<void> {
    const all = [this.room.shell, ...this.shards.filter(Boolean).map(({ shell }) => shell)];
    await this.#settle(all);
    for (let left = ms; left > 0;) {
      const step = Math.max(1, Math.min(left, ...all.map(({ quietMs }) => quietMs)));
      for (const shell of all) shell.advance(step);
      left -= step;
      await this.#settle(all);
    }
  }

  async #settle(all: readonly FakeShell[]): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      for (const shell of all) shell.advance(0);
      for (const resolve of this.#waiting.splice(0)) resolve();
      await setImmediate();
    }
  }
}

export const seen = (client: Client): string[] =>
  client.received<Message>("chat-message").map(({ content }) => content);

/** The offset of the newest event that a client got. */
export const lastOffset = (client: Client): unknown => client.events().at(-1)?.event.at(-1);

/** The client of a connection that is gone comes back to a shard, and asks for recovery. */
export function back(big: BigRoom, gone: Client, shard: number, offset: unknown): Promise<Client> {
  const { pid } = gone.accepted("/") as { pid?: string };
  return big.join(gone.name, shard, {}, { pid, offset });
}

/** One member in the room, and one in each of two shards. */
export async function hall(options: ConstructorParameters<typeof BigRoom>[1] = {}): Promise<{
  big: BigRoom;
  ada: Client;
  ben: Client;
  cyd: Client;
}> {
  const big = new BigRoom({ messageRate: UNLIMITED, maxMembers: 1 }, options);
  const ada = await big.room.join({ user: "ada", role: "moderator" }, { canRecover: true });
  const ben = await big.join("ben", 0);
  const cyd = await big.join("cyd", 1);
  return { big, ada, ben, cyd };
}
