// A queue: it delivers at least once and in no order. Made by deployment.ts.
import type { Chance } from "./chance.ts";
import type { World, Zone } from "./world.ts";

/** Takes batches, as a Worker's `queue` does. */
export type Consumer = (batch: Batch) => Promise<void>;

/** A batch of the platform's, as far as there is one here. */
export interface Batch {
  readonly queue: string;
  readonly messages: readonly BatchMessage[];
  ackAll(): void;
  retryAll(options?: { readonly delaySeconds?: number }): void;
}

export interface BatchMessage {
  readonly id: string;
  readonly timestamp: Date;
  readonly body: unknown;
  readonly attempts: number;
  ack(): void;
  retry(options?: { readonly delaySeconds?: number }): void;
}

interface Item {
  readonly id: string;
  readonly body: unknown;
  readonly sentAtMs: number;
  attempts: number;
}

export class Queue {
  /** Producers may fail, though the queue has taken their message. */
  fails = false;
  /** Messages are doubled and late more often. */
  isChaos = false;
  /** Messages that are not settled yet: waiting, or with a consumer. */
  underWay = 0;
  readonly name: string;
  readonly #world: World;
  readonly #zone: Zone;
  readonly #consume: Consumer;
  readonly #ready: Item[] = [];
  #isPumping = false;
  #ids = 0;

  constructor(name: string, world: World, consume: Consumer) {
    this.name = name;
    this.#world = world;
    this.#zone = world.makeZone(`queue ${name}`);
    this.#consume = consume;
  }

  get #chance(): Chance {
    return this.#zone.chance;
  }

  /** Takes a message, perhaps, and perhaps twice. @returns whether the producer hears that it was taken */
  take(body: unknown): boolean {
    const chance = this.#chance;
    const isTaken = !this.fails || chance.happens(0.5);
    const isHeard = isTaken && (!this.fails || chance.happens(0.7));
    const sentAtMs = this.#world.nowMs;
    this.#world.after(chance.between(1, 30), this.#world.nowhere, () => {
      const item = (): Item => ({ id: `message ${this.#ids++}`, body, sentAtMs, attempts: 0 });
      if (isTaken) this.#put(item(), chance.between(0, 300));
      if (isTaken && chance.happens(this.isChaos ? 0.4 : 0.05)) this.#put(item(), chance.between(0, 20_000));
    });
    return isHeard;
  }

  #put(item: Item, delayMs: number): void {
    const chaosMs = this.isChaos ? this.#chance.between(0, 5000) : 0;
    this.underWay++;
    this.#world.after(delayMs + chaosMs, this.#zone, () => {
      this.#ready.push(item);
      this.#pump();
    });
  }

  #pump(): void {
    const ready = this.#ready;
    if (this.#isPumping || ready.length === 0) return;
    const count = Math.min(ready.length, this.#chance.between(1, 6));
    const items = Array.from({ length: count }, () =>
      ready.splice(this.#chance.between(0, ready.length - 1), 1),
    ).flat();
    this.#isPumping = true;
    const delays = new Map<Item, number | undefined>();
    const messages = items.map((item) => this.#messageOf(item, delays));
    const end = (isGood: boolean) => (): void => {
      this.#isPumping = false;
      this.underWay -= items.length;
      for (const item of items) {
        // As on the platform: a message that was neither acked nor retried counts as the whole batch does.
        const delayMs = delays.has(item) ? delays.get(item) : isGood ? undefined : 1000;
        if (delayMs !== undefined) this.#put(item, delayMs);
      }
      if (ready.length > 0) this.#world.after(10, this.#zone, () => this.#pump());
    };
    const each = (act: (message: BatchMessage) => void) => (): void => messages.forEach(act);
    const batch: Batch = {
      queue: this.name,
      messages,
      ackAll: each((message) => message.ack()),
      retryAll: (options) => each((message) => message.retry(options))(),
    };
    this.#consume(batch).then(end(true), end(false));
  }

  /** @param delays of those that are settled; `undefined` for messages that do not come again */
  #messageOf(item: Item, delays: Map<Item, number | undefined>): BatchMessage {
    return {
      id: item.id,
      timestamp: new Date(item.sentAtMs),
      body: structuredClone(item.body),
      attempts: ++item.attempts,
      ack: () => void delays.set(item, undefined),
      retry: ({ delaySeconds = 0 } = {}) => void delays.set(item, delaySeconds * 1000),
    };
  }
}
