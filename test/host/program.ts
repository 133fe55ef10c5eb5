// Random programs of a chat room's life: what people do, step by step, and what each of them saw of it.
import { PacketType } from "socket.io-parser";

import type { Member, PostAnswer } from "../../src/protocol/chat-events.ts";
import type { Handshake } from "../../src/socketio/engine/session.ts";
import { ChatRoom, EPOCH, expiresIn, identityOf, type Person } from "./chat-room.ts";
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

/** What is asked besides posting. */
const QUESTIONS: ReadonlyArray<readonly [event: string, payload: object]> = [
  ["presence", {}],
  ["history", {}],
  ["history", { limit: 3 }],
  ["history", { limit: -1 }],
  ["dance", {}],
  ["typing", { on: true }],
  ["typing", { on: true }],
  ["typing", { on: false }],
  ["read", { seq: 1 }],
  ["read", { seq: 2 }],
  ["read", { seq: 5 }],
  ["read-marks", {}],
  ["edit-message", { id: `${EPOCH}-1`, content: "better, @ben" }],
  ["edit-message", { id: `${EPOCH}-3`, content: "best" }],
  ["delete-message", { id: `${EPOCH}-2` }],
  ["react", { id: `${EPOCH}-1`, emoji: "👍", on: true }],
  ["react", { id: `${EPOCH}-1`, emoji: "👍", on: false }],
  ["react", { id: `${EPOCH}-4`, emoji: "🎉", on: true }],
  ["reactions", { id: `${EPOCH}-1` }],
  ["versions", { id: `${EPOCH}-1` }],
  ["changes", { after: 0 }],
  ["search", { query: "text" }],
  ["search", { query: "better", from: "ada", limit: 1 }],
  ["search", { query: "?" }],
  ["history", { around: 2, limit: 2 }],
  ["history", { afterTime: START_MS + 1000 }],
];

const who = fc.nat(7);
const user = fc.constantFrom(...USERS);
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
      .tuple(who, fc.constantFrom(...QUESTIONS))
      .map(([who, [event, payload]]) => ({ do: "ask" as const, who, event, payload })),
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
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("moderate"),
      event: fc.constantFrom("kick", "ban", "unban", "mute", "slow-mode", "grant", "audit", "moderation-state"),
      payload: fc.record({
        user,
        seconds: fc.constantFrom(1, 30),
        role: fc.constantFrom("moderator", "reader"),
      }),
    }),
  },
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

/** A post with its good answer: what the client may rely on from then on. */
export interface Acked {
  readonly sender: string;
  readonly content: string;
  readonly id: string;
  readonly seq: number;
  readonly duplicate?: true;
}

/** People in a room who do as the steps say. */
export class Run {
  readonly room: ChatRoom;
  readonly clients: Client[] = [];
  /** Those who went, or left the namespace, by their own will. */
  readonly departed = new Set<Client>();
  /** What was asked from outside, each with its answer. */
  readonly calls: Array<ReturnType<ChatRoom["ask"]>> = [];
  readonly #posts: Array<{ sender: string; content: string; call: Call<PostAnswer> }> = [];
  #posted = 0;

  readonly #isExtended: (index: number) => boolean;

  /** @param isExtended which of the connections, in the order of their coming, use the extensions */
  constructor(room = new ChatRoom(), isExtended: (index: number) => boolean = () => false) {
    this.room = room;
    this.#isExtended = isExtended;
  }

  /** Does one step; steps of somebody who is not there do nothing. */
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
      case "ask":
        return void client?.call(step.event, step.payload);
      case "call":
        return void this.calls.push(this.room.ask(step.user, step.event, step.payload));
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
    return this.room.shell.open(handshake, { isExtended: this.#isExtended(this.clients.length) });
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

/** What a call was answered with, members in an order that means something. */
export function answerOf({ answer }: { readonly answer: unknown }): unknown {
  return sorted(answer);
}

/** What one client saw, without what only measures time (pings) and without an order that means nothing (members). */
export function sightOf(client: Client): unknown {
  const packets = client.packets.map((packet) => {
    return packet.type === PacketType.ACK ? { ...packet, data: (packet.data as unknown[]).map(sorted) } : packet;
  });
  return { packets, closing: client.closing };
}

function sorted(answer: unknown): unknown {
  const { members } = (answer ?? {}) as { members?: Member[] };
  if (!members) return answer;
  return { ...(answer as object), members: members.toSorted((a, b) => a.user.localeCompare(b.user)) };
}
