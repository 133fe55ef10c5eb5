// Runs the rounds: all clients post, the server is killed at a random moment and restarted, and after all is quiet the stored
// messages are compared with the recorded acks and messages.
import { setTimeout as pause } from "node:timers/promises";

import type { Durability } from "../../src/chat/room/room.ts";
import { ownPerson, stockPerson, type Person } from "./people.ts";
import { Backend, LINKS, ROOMS, type Histories } from "./rooms.ts";
import type { SmallDisk } from "./small-disk.ts";
import { judge, missingIn } from "./verdict.ts";
import type { Victim } from "./victim.ts";

/** Each of them in every room. */
const STOCK_PEOPLE = 2;
const OWN_PEOPLE = 2;
/** The average pause between two posts of a client, in ms. */
const POST_EVERY_MS = 1000;
/** Our own client keeps 50 messages that wait; more than that would fail by name, and prove nothing. */
const PENDING_MAX = 40;
const LOAD_MS_MIN = 300;
const LOAD_MS_SPREAD = 2500;
/** A start takes some seconds: a moment in there is in the build, in workerd's start or in that of the first objects. */
const STARTING_MS_SPREAD = 4000;
/** For all clients to reconnect and recover, and for rooms to relay their backlog. */
const RECOVERING_MS_SPREAD = 1500;
/** A log that is there already has some room left, which is used up first. */
const STARVED_MS_MAX = 60_000;
const STARVING_MS = 3000;
const CONNECTED_MS_MAX = 60_000;
/** The next batch reveals a batch that the queue lost; the receiving room asks for it after 15 s. */
const SETTLED_MS_MAX = 90_000;
const POLL_MS = 200;

export interface Crash {
  readonly durability: Durability;
  readonly relay: "direct" | "queue";
  /** From 0 to below 1. */
  readonly random: () => number;
}

export interface RoundReading {
  readonly kills: readonly string[];
  readonly wrong: readonly string[];
  readonly stored: number;
  readonly deadLetters: number;
  /** From the moment that the last server was ready. */
  readonly settledMs: number;
}

export class CrashRounds {
  readonly people: Person[] = [];
  readonly #victim: Victim;
  readonly #backend: Backend;
  readonly #crash: Crash;
  #pokes = 0;

  private constructor(victim: Victim, backend: Backend, crash: Crash) {
    this.#victim = victim;
    this.#backend = backend;
    this.#crash = crash;
  }

  /** The server runs, rooms are linked, and all people are in. */
  static async begin(victim: Victim, crash: Crash): Promise<CrashRounds> {
    const backend = await Backend.of(victim.origin);
    const rounds = new CrashRounds(victim, backend, crash);
    await victim.start();
    await backend.link();
    for (const room of ROOMS) {
      const seat = (kind: string, number: number) => ({
        origin: victim.origin,
        room,
        name: `${room}-${kind}-${number}`,
      });
      for (let i = 1; i <= STOCK_PEOPLE; i++) rounds.people.push(await stockPerson(seat("stock", i)));
      for (let i = 1; i <= OWN_PEOPLE; i++) rounds.people.push(await ownPerson(seat("own", i)));
    }
    await rounds.#untilConnected();
    return rounds;
  }

  async round(): Promise<RoundReading> {
    const talk = new Talk(this.people, this.#crash.random);
    const kills = [await this.#kill("under load", LOAD_MS_MIN + this.#some(LOAD_MS_SPREAD))];
    const fate = this.#crash.random();
    if (fate < 0.25) {
      this.#victim.spawn();
      kills.push(await this.#kill("while it starts", this.#some(STARTING_MS_SPREAD)));
    } else if (fate < 0.5) {
      await this.#victim.start();
      kills.push(await this.#kill("while people recover", this.#some(RECOVERING_MS_SPREAD)));
    }
    await this.#victim.start();
    const readyMs = performance.now();
    await this.#untilConnected();
    talk.stop();
    return { kills, ...(await this.#look(readyMs)) };
  }

  /** The disk is full for a while, under load; then the server is killed for good measure. */
  async starve(disk: SmallDisk): Promise<RoundReading> {
    const talk = new Talk(this.people, this.#crash.random);
    await pause(LOAD_MS_MIN);
    disk.fill();
    const isStarved = await holdsWithin(STARVED_MS_MAX, async () => !(await this.#anybodyIsAcked()));
    const refusal = await this.#backend.post(ROOMS[0], "on a full disk").then(
      () => "stored",
      (error: Error) => error.message,
    );
    disk.free();
    await pause(LOAD_MS_MIN + STARVING_MS);
    await this.#victim.kill();
    await this.#victim.start();
    const readyMs = performance.now();
    await this.#untilConnected();
    talk.stop();
    const reading = await this.#look(readyMs);
    const odd = isStarved ? [] : ["the disk was full, and posts were acked all the same"];
    return { ...reading, wrong: [...reading.wrong, ...odd], kills: [`after the disk was full (${refusal})`] };
  }

  /** In the next moments. */
  async #anybodyIsAcked(): Promise<boolean> {
    const count = (): number => this.people.reduce((sum, { acked }) => sum + acked.size, 0);
    const before = count();
    await pause(STARVING_MS);
    return count() > before;
  }

  async #kill(what: string, afterMs: number): Promise<string> {
    await pause(afterMs);
    await this.#victim.kill();
    return what;
  }

  async #look(readyMs: number): Promise<Omit<RoundReading, "kills">> {
    const { durability, relay } = this.#crash;
    // A queue in memory loses its contents; the next message of the room reveals the gap.
    if (relay === "queue") await this.#poke();
    const histories = await this.#untilSettled();
    const settledMs = performance.now() - readyMs;
    const stored = [...histories.values()].reduce((sum, { length }) => sum + length, 0);
    const wrong = judge(histories, this.people, durability);
    return { wrong, stored, settledMs, deadLetters: (await this.#backend.deadLetters()).length };
  }

  async #poke(): Promise<void> {
    const number = ++this.#pokes;
    await Promise.all(ROOMS.map((room) => this.#backend.post(room, `${room}, poke ${number}`)));
  }

  async #untilConnected(): Promise<void> {
    const isThere = (): boolean => this.people.every(({ isConnected }) => isConnected);
    if (await holdsWithin(CONNECTED_MS_MAX, async () => isThere())) return;
    const missing = this.people.filter(({ isConnected }) => !isConnected).map(({ name }) => name);
    throw new Error(`${missing.join(", ")} did not come back: ${this.#victim.output}`);
  }

  /** All people have their answers and have seen everything, and nothing is left to be passed on; or that takes too long. */
  async #untilSettled(): Promise<Histories> {
    let histories = await this.#backend.histories();
    await holdsWithin(SETTLED_MS_MAX, async () => {
      if (this.people.some(({ pending }) => pending > 0)) return false;
      histories = await this.#backend.histories(histories);
      const isPassedOn = LINKS.every(([from, to]) => missingIn(from, to, histories).length === 0);
      return isPassedOn && this.people.every((person) => hasAll(person, histories));
    });
    return histories;
  }

  /** Milliseconds up to so many. */
  #some(spreadMs: number): number {
    return this.#crash.random() * spreadMs;
  }
}

function hasAll({ room, stretches }: Person, histories: Histories): boolean {
  const stretch = stretches.at(-1);
  const reached = stretch && (stretch.messages.at(-1)?.seq ?? stretch.after);
  return reached !== undefined && reached >= (histories.get(room)!.at(-1)?.seq ?? 0);
}

/** @returns whether it held in time */
async function holdsWithin(timeoutMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < timeoutMs) {
    if (await holds()) return true;
    await pause(POLL_MS);
  }
  return false;
}

/** Each person posts now and then, whether or not there is a server. */
class Talk {
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(people: readonly Person[], random: () => number) {
    for (const person of people) {
      const everyMs = POST_EVERY_MS * (0.5 + random());
      this.#timers.push(setInterval(() => person.pending < PENDING_MAX && person.post(), everyMs));
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
