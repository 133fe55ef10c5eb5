// Linked rooms with the queue between them and its consumer, for tests. Each part can fail; the clock is the same for all.
import { expect } from "vitest";

import type { RelayBatch, RelayOutcome } from "../../src/protocol/relay-batch.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import type { ChatSettings } from "../../src/chat/room/room.ts";
import { ChatRoom, UNLIMITED } from "./chat-room.ts";

export type Way = "queue" | "direct" | "off";
export type Mood = "takes" | "refuses" | "takes and says it did not" | "is silent";

/** Deliveries that the platform tries before a message becomes a dead letter. */
export const TRIES_MAX = 5;
/** Early tries of a batch after which the consumer counts the batches before it as lost. */
const LOST_ATTEMPTS_MIN = 3;
const WINDOW_MS = 1000;

interface Item {
  readonly batch: RelayBatch;
  attempts: number;
}

/** One run of the consumer. */
export interface Consuming {
  /** Indexes of the queue, in the order of delivery. */
  readonly picks: readonly number[];
  /** The consumer throws after calls to so many rooms, and acknowledges nothing. */
  readonly throwsAfter?: number | undefined;
  /** Its acknowledgements are lost. */
  readonly isUnheard?: boolean;
}

export class RelayWorld {
  readonly rooms = new Map<string, ChatRoom>();
  queue: Item[] = [];
  dead: RelayBatch[] = [];
  /** Each batch that left a room. */
  readonly sent: RelayBatch[] = [];
  readonly takes: Array<{ readonly batches: readonly RelayBatch[]; readonly outcomes: readonly RelayOutcome[] }> = [];
  mood: Mood = "takes";
  readonly #way: Way;
  readonly #settings: Partial<ChatSettings>;
  /** Messages that rooms stored in lives that are over. */
  readonly #past = new Map<string, Message[]>();
  #lives = 0;

  constructor(names: readonly string[], way: Way = "queue", settings: Partial<ChatSettings> = {}) {
    this.#way = way;
    this.#settings = settings;
    for (const name of names) this.rooms.set(name, this.#make(name));
  }

  #make(name: string): ChatRoom {
    const relay =
      this.#way === "off" ? undefined : { windowMs: WINDOW_MS, sendBatch: (batch: RelayBatch) => this.#send(batch) };
    const settings = { messageRate: UNLIMITED, ...this.#settings };
    return new ChatRoom(settings, {}, { name, epoch: `life${++this.#lives}`, relay });
  }

  room(name: string): ChatRoom {
    return this.rooms.get(name)!;
  }

  // ---- the queue ------------------------------------------------------------------------------------------

  async #send(batch: RelayBatch): Promise<RelayOutcome> {
    if (this.mood === "is silent") return new Promise(() => {});
    if (this.mood === "refuses") throw new Error("the queue is down");
    // As it would travel.
    const carried = JSON.parse(JSON.stringify(batch)) as RelayBatch;
    this.sent.push(carried);
    await new Promise((resolve) => setImmediate(resolve));
    const outcome = this.#hand(carried);
    if (this.mood === "takes and says it did not") throw new Error("the line broke");
    return outcome;
  }

  #hand(batch: RelayBatch): RelayOutcome {
    if (this.#way === "direct") {
      const outcome = this.deliver(batch.to, [batch])[0]!;
      return outcome.ok ? { ok: true, isThere: true } : outcome;
    }
    this.queue.push({ batch, attempts: 0 });
    return { ok: true };
  }

  deliver(to: string, batches: readonly RelayBatch[]): RelayOutcome[] {
    const { shell, relay } = this.room(to);
    shell.activeAtMs = shell.nowMs;
    const outcomes = relay.relayed.take(batches);
    this.takes.push({ batches, outcomes });
    return outcomes;
  }

  /** One batch of the queue. */
  consume({ picks, throwsAfter = Infinity, isUnheard = false }: Consuming): void {
    const items = [...new Set(picks.map((pick) => this.queue[pick % this.queue.length]!))].filter(Boolean);
    for (const item of items) item.attempts++;
    const outcomes = new Map<Item, RelayOutcome>();
    [...Map.groupBy(items, ({ batch }) => batch.to)].forEach(([to, ofRoom], i) => {
      if (i >= throwsAfter) return;
      const taken = this.deliver(
        to,
        ofRoom.map(({ batch }) => batch),
      );
      ofRoom.forEach((item, at) => outcomes.set(item, taken[at]!));
    });
    const isLost = isUnheard || throwsAfter < Infinity;
    for (const item of items) this.#finish(item, isLost ? undefined : outcomes.get(item));
  }

  #finish(item: Item, outcome: RelayOutcome | undefined): void {
    if (outcome?.ok === false && outcome.reached && item.attempts >= LOST_ATTEMPTS_MIN) {
      const { from, to } = item.batch;
      this.room(from).relay.links.rewind(to, item.batch, outcome.reached);
    }
    const isBuried = outcome?.ok === false && (outcome.isFinal || item.attempts >= TRIES_MAX);
    if (isBuried) this.dead.push(item.batch);
    if (outcome?.ok || isBuried) this.queue = this.queue.filter((other) => other !== item);
  }

  /** Sends the dead letters again, as an operator does, until no room takes another. */
  replay(): void {
    for (;;) {
      const dead = this.dead;
      this.dead = dead.filter((batch) => !this.deliver(batch.to, [batch])[0]!.ok);
      if (this.dead.length === dead.length) return;
    }
  }

  /** The queue forgets everything, as one in memory does when its process ends. */
  lose(): void {
    this.queue = [];
  }

  // ---- time ------------------------------------------------------------------------------------------------

  /** Lets time pass, with the answers that come in it. */
  async pass(ms: number): Promise<void> {
    const shells = (): Array<ChatRoom["shell"]> => [...this.rooms.values()].map(({ shell }) => shell);
    const endMs = shells()[0]!.nowMs + ms;
    for (;;) {
      const [first] = shells();
      const stepMs = Math.max(0, Math.min(...shells().map(({ quietMs }) => quietMs), endMs - first!.nowMs));
      for (const shell of shells()) shell.advance(stepMs);
      await settled();
      if (first!.nowMs >= endMs && shells().every(({ quietMs }) => quietMs > 0)) return;
    }
  }

  /** Everything works again, and goes on until nothing is left to be done. */
  async settle(): Promise<void> {
    this.mood = "takes";
    for (const { state, log } of this.rooms.values()) state.failure = log.failure = undefined;
    await this.pass(320_000);
    for (let round = 0; round < 60; round++) {
      if (this.queue.length > 0) this.consume({ picks: this.queue.map((_, i) => i) });
      await this.pass(2000);
      if (this.queue.length === 0 && round > this.rooms.size) return;
    }
  }

  // ---- rooms -----------------------------------------------------------------------------------------------

  link(from: string, to: string): void {
    this.room(from).relay.links.add(to);
  }

  say(room: string, content: string, user = "ada"): void {
    this.room(room).call("chat-message", user, { content });
  }

  /** As the object does it: API-9, RLY-8. */
  delete(name: string): void {
    const { chat, shell, log, state } = this.room(name);
    chat.calls.prepareShutdown(() => ({ code: "ROOM_DELETED", message: "gone" }));
    const leave = chat.calls.prepareErase();
    const keys = [...state.list({ prefix: "" })].map(([key]) => key);
    keys.forEach((key) => state.delete(key));
    leave?.();
    this.#past.set(name, [...this.#pastOf(name), ...log.appended]);
    const room = this.#make(name);
    room.shell.nowMs = room.shell.activeAtMs = shell.nowMs;
    for (const [key, value] of state.list({ prefix: "" })) room.state.put(key, value);
    this.rooms.set(name, room);
  }

  /** Takes a backup of the room. @returns restores it, under the name of the room's next incarnation */
  backUp(name: string): (life: string) => void {
    const { state, log } = this.room(name);
    const { isNamed } = log;
    const [values, batches] = [[...state.list({ prefix: "" })], structuredClone(log.batches)];
    return (life) => {
      const keys = Array.from(state.list({ prefix: "" }), ([key]) => key);
      for (const key of keys) state.delete(key);
      for (const [key, value] of values) state.put(key, value);
      log.batches.splice(0, Infinity, ...structuredClone(batches));
      log.incarnation = life;
      if (!isNamed) log.rename(`life${++this.#lives}`);
      this.room(name).shell.crash();
    };
  }

  #pastOf(name: string): Message[] {
    return this.#past.get(name) ?? [];
  }

  /** All that was ever stored there. */
  stored(name: string): Message[] {
    return [...this.#pastOf(name), ...this.room(name).log.appended];
  }

  /** The messages that a room shows: `ada: hello`, and their room of origin. */
  story(name: string): string[] {
    return this.room(name).log.messages.map(({ sender, content, origin, deleted }) => {
      const where = origin ? ` (${origin.room} ${origin.seq})` : "";
      return deleted ? `deleted${where}` : `${sender}: ${content}${where}`;
    });
  }

  /** Places of messages that began in `root` and are stored in `room`, in the order of their coming. */
  arrived(room: string, root: string): number[] {
    return this.stored(room).flatMap(({ origin }) => (origin?.room === root ? [origin.seq] : []));
  }
}

export function linked(
  links: ReadonlyArray<readonly [string, string]> = [["a", "b"]],
  way: Way = "direct",
): RelayWorld {
  const world = new RelayWorld([...new Set(links.flat())], way);
  for (const [from, to] of links) world.link(from, to);
  return world;
}

export async function say(world: RelayWorld, room: string, ...contents: string[]): Promise<void> {
  for (const content of contents) world.say(room, content);
  await world.pass(1100);
}

/** Changes the newest message of a room, as the backend. */
export async function change(
  world: RelayWorld,
  room: string,
  event: string,
  more: object = {},
  user = "mo",
): Promise<void> {
  const { id } = world.room(room).log.messages.at(-1)!;
  expect(world.room(room).call(event, user, { id, ...more }).answer).toMatchObject({ ok: true });
  await world.pass(1100);
}

/** Everything that only waits for promises is done. */
const settled = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
};
