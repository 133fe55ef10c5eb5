// Random programs of a chat room: the steps that people take, and all that each client received. Called by the property tests of
// sleep, of the extensions and of bundles.
import { PacketType } from "socket.io-parser";

import {
  CHAT_EVENTS,
  type AttendAnswer,
  type ClientToServerEvents,
  type Member,
  type PostAnswer,
} from "../../src/protocol/chat-events.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import { unpacked } from "../wire/unpacked.ts";
import { ChatRoom, expiresIn, identityOf, type Person } from "./chat-room.ts";
import { EPOCH } from "./memory-log.ts";
import { START_MS, type Call, type Client } from "./harness.ts";
import { fc } from "./properties.ts";

const MODERATOR = "mia";
const USERS = ["ada", "ben", "cleo", MODERATOR] as const;

export type Step =
  | { readonly do: "connect"; readonly user: string; readonly by: "worker" | "token"; readonly ttlSeconds: number }
  | { readonly do: "open" }
  | { readonly do: "post"; readonly who: number; readonly id: number | undefined; readonly ack: boolean }
  | { readonly do: "ask"; readonly who: number; readonly event: string; readonly payload: object }
  | { readonly do: "chat"; readonly who: number; readonly times: number }
  | { readonly do: "call"; readonly user: string; readonly event: string; readonly payload: object }
  | { readonly do: "moderate"; readonly event: string; readonly payload: object }
  | { readonly do: "refresh"; readonly who: number; readonly user: string; readonly ttlSeconds: number }
  | { readonly do: "send"; readonly who: number; readonly frame: string }
  | { readonly do: "leave"; readonly who: number }
  | { readonly do: "storage"; readonly fails: boolean }
  | { readonly do: "advance"; readonly ms: number };

type Payloads<Payload> = Partial<Record<keyof ClientToServerEvents, Payload>>;

/** The payloads of the step `ask` that suit this room better than an event's examples; none where the event has a step of its own. */
const QUESTIONS: Payloads<readonly object[]> = {
  "chat-message": [],
  "refresh-token": [],
  history: [{}, { limit: 3 }, { limit: -1 }, { around: 2, limit: 2 }, { afterTime: START_MS + 1000 }],
  read: [{ seq: 1 }, { seq: 2 }, { seq: 5 }],
  "get-message": [{ id: `${EPOCH}-1` }],
  "edit-message": [
    { id: `${EPOCH}-1`, content: "better, @ben" },
    { id: `${EPOCH}-3`, content: "best" },
  ],
  "delete-message": [{ id: `${EPOCH}-2` }],
  react: [
    { id: `${EPOCH}-1`, emoji: "👍", on: true },
    { id: `${EPOCH}-1`, emoji: "👍", on: false },
    { id: `${EPOCH}-4`, emoji: "🎉", on: true },
  ],
  reactions: [{ id: `${EPOCH}-1` }],
  search: [{ query: "text" }, { query: "better", from: "ada", limit: 1 }, { query: "?" }],
};

const user = fc.constantFrom(...USERS);
const seconds = fc.constantFrom(1, 30);

/** Likewise of the step `moderate`. */
const ACTIONS: Payloads<fc.Arbitrary<object>> = {
  kick: fc.record({ user }),
  ban: fc.record({ user, seconds }),
  unban: fc.record({ user }),
  mute: fc.record({ user, seconds }),
  unmute: fc.record({ user }),
  "slow-mode": fc.record({ seconds }),
  "read-only": fc.record({ on: fc.boolean() }),
  grant: fc.record({ user, role: fc.constantFrom("moderator", "reader") }),
  revoke: fc.record({ user }),
  versions: fc.constant({ id: `${EPOCH}-1` }),
};

const actions = CHAT_EVENTS.filter(({ by }) => by === "moderators").map(({ name: event, examples }) =>
  (ACTIONS[event] ?? fc.constantFrom<object[]>(...examples)).map((payload) => ({
    do: "moderate" as const,
    event,
    payload,
  })),
);

const questions = CHAT_EVENTS.filter(({ by }) => by !== "moderators").flatMap(({ name: event, examples }) =>
  (QUESTIONS[event] ?? examples).map((payload: object) => ({ event: event as string, payload })),
);

const who = fc.nat(7);
const ttlSeconds = fc.constantFrom(0, 30, 100, 900, 1_000_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("connect"), user, by: fc.constantFrom("worker", "token"), ttlSeconds }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("open") }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("post"),
      who,
      id: fc.option(fc.nat(3), { nil: undefined }),
      ack: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(who, fc.constantFrom(...questions, { event: "dance", payload: {} }))
      .map(([who, question]) => ({ do: "ask" as const, who, ...question })),
  },
  // Busy enough for a room that may run ahead of its storage.
  { weight: 2, arbitrary: fc.record({ do: fc.constant("chat"), who, times: fc.integer({ min: 3, max: 9 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("call"),
      user: fc.constantFrom("ada", "backend"),
      event: fc.constantFrom("chat-message", "presence", "history"),
      payload: fc.constantFrom({ content: "from outside" }, { content: "again", clientMsgId: "c0" }, { limit: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.oneof(...actions) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("refresh"), who, user, ttlSeconds }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("send"), who, frame: fc.constantFrom("40", "41", "1", "2", "3", "4x") }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave"), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("storage"), fails: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("advance"),
      ms: fc.constantFrom(0, 7, 60, 300, 1500, 1500, 4500, 12_000, 70_000, 700_000),
    }),
  },
);

export const programs = fc.array(step, { minLength: 1, maxLength: 60 });

/** A post that the room acked: the client relies on it from then on. */
export interface Acked {
  readonly sender: string;
  readonly content: string;
  readonly id: string;
  readonly seq: number;
  readonly duplicate?: true;
}

/** What each connection, in the order of their coming, asks for: the extensions, bundles, or neither. */
export type KindOf = (index: number) => "plain" | "extended" | "bundling";

/** People in a room who do as the steps say. */
export class Run {
  readonly room: ChatRoom;
  readonly clients: Client[] = [];
  /** Clients that disconnected, or left the namespace, by themselves. */
  readonly departed = new Set<Client>();
  /** The calls of `attend`, with what they asked for. */
  readonly attending: Array<{ readonly call: Call<AttendAnswer>; readonly to: "all" | "counts" }> = [];
  /** Requests from outside, each with its answer. */
  readonly calls: Array<ReturnType<ChatRoom["call"]>> = [];
  readonly #posts: Array<{ sender: string; content: string; call: Call<PostAnswer> }> = [];
  #posted = 0;

  readonly #kindOf: KindOf;

  constructor(room = new ChatRoom(), kindOf: KindOf = () => "plain") {
    this.room = room;
    this.#kindOf = kindOf;
  }

  /** Does one step; steps of an absent client do nothing. */
  async take(step: Step): Promise<void> {
    const { shell, log } = this.room;
    const client = "who" in step ? this.clients[step.who % Math.max(1, this.clients.length)] : undefined;
    switch (step.do) {
      case "connect":
        return this.#connect(step);
      case "open":
        return void this.clients.push(this.#open({}));
      case "post":
        return client && this.#post(client, step.id, step.ack);
      case "chat":
        if (!client) return;
        for (let turn = 0; turn < step.times; turn++) {
          this.#post(client, undefined, turn % 2 === 0);
          shell.advance(60);
        }
        return;
      case "ask": {
        const call = client?.call<AttendAnswer>(step.event, step.payload);
        if (call && step.event === "attend")
          this.attending.push({ call, ...(step.payload as { to: "all" | "counts" }) });
        return;
      }
      case "call":
        return void this.calls.push(this.room.call(step.event, step.user, step.payload));
      case "moderate":
        return void this.clients.findLast(({ name }) => name === MODERATOR)?.call(step.event, step.payload);
      case "refresh": {
        client?.call("refresh-token", { token: this.room.token(this.#person(step)) });
        return shell.settle();
      }
      case "send":
        if (client && step.frame === "41") this.departed.add(client);
        client?.send(step.frame);
        return shell.settle();
      case "leave":
        if (client) this.departed.add(client);
        return client?.leave();
      case "storage":
        log.failure = step.fails ? new Error("disk full") : undefined;
        return;
      case "advance":
        return shell.advance(step.ms);
    }
  }

  #person({ user, ttlSeconds }: { user: string; ttlSeconds: number }): Person {
    const exp = expiresIn((this.room.shell.nowMs - START_MS) / 1000 + ttlSeconds);
    return { user, exp, role: user === MODERATOR ? "moderator" : "member" };
  }

  async #connect(step: Step & { do: "connect" }): Promise<void> {
    const person = this.#person(step);
    const byToken = step.by === "token";
    const client = this.#open({
      // One of them knows connection state recovery, so both kinds of client are in the room.
      canRecover: step.user === "ben",
      ...(!byToken && { identity: identityOf(person) }),
    });
    client.name = step.user;
    this.clients.push(client);
    await client.connect(byToken ? { token: this.room.token(person) } : undefined);
  }

  #open(handshake: Partial<Handshake>): Client {
    const kind = this.#kindOf(this.clients.length);
    const query = kind === "bundling" ? { bundle: "1" } : {};
    return this.room.shell.open({ ...handshake, query }, { isExtended: kind === "extended" });
  }

  #post(client: Client, id: number | undefined, ack: boolean): void {
    const content = `text ${++this.#posted}`;
    const payload = { content, ...(id !== undefined && { clientMsgId: `c${id}` }) };
    if (ack) this.#posts.push({ sender: client.name, content, call: client.call("chat-message", payload) });
    else client.emit("chat-message", payload);
  }

  /** Good answers to posts so far. */
  get acked(): Acked[] {
    return this.#posts.flatMap(({ sender, content, call }) => {
      const answers = call.acks.map(([answer]) => answer as PostAnswer);
      return answers.flatMap((answer) => ("ok" in answer ? [{ sender, content, ...answer }] : []));
    });
  }
}

/** The answer to a call, with members in a fixed order. */
export function answerOf({ answer }: { readonly answer: unknown }): unknown {
  return sorted(answer);
}

/** The packets that one client received, unpacked, without pings, which only measure time, and with members in a fixed order. */
export function sightOf(client: Client): unknown {
  const packets = client.packets.flatMap(unpacked).map((packet) => {
    return packet.type === PacketType.ACK ? { ...packet, data: (packet.data as unknown[]).map(sorted) } : packet;
  });
  return { packets, closing: client.closing };
}

function sorted(answer: unknown): unknown {
  const { members } = (answer ?? {}) as { members?: Member[] };
  if (!members) return answer;
  return { ...(answer as object), members: members.toSorted((a, b) => a.user.localeCompare(b.user)) };
}
