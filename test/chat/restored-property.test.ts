// A room that is restored from backups, dies, sleeps and goes on, in any order: clients that are `recovered` have what all clients have, clients that
// lost nothing are recovered, and no id is ever given to two messages: REC-3, CHAT-9.
import { expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { nameIncarnation } from "../../src/storage/incarnations.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED } from "../host/chat-room.ts";
import type { Client } from "../host/harness.ts";
import { fc, runs } from "../host/properties.ts";

const PARAMETERS = runs(300);

type Step =
  | { readonly do: "say"; readonly count: number }
  | { readonly do: "sleep" | "die" | "back up" | "restore" }
  | { readonly do: "leave" | "come back"; readonly who: number };

const PEOPLE = 3;
const who = fc.nat(PEOPLE - 1);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("say" as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("sleep", "die", "back up", "restore") }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("leave", "come back"), who }) },
);

/** A user, with all messages that a connection and those that recovered it received. */
interface Person {
  readonly client: Client;
  readonly heard: readonly string[];
  /** The newest message when the first of these connections began. */
  readonly since: string | undefined;
}

class Story {
  readonly room = new ChatRoom({ messageRate: UNLIMITED });
  readonly #people: Person[] = [];
  readonly #gone = new Set<Person>();
  readonly #contents = new Map<string, string>();
  #backup: Message[][] = [];
  #said = 0;
  #recovered = 0;

  async begin(): Promise<void> {
    this.#begin();
    for (let n = 0; n < PEOPLE; n++) this.#people[n] = await this.#enter(n);
  }

  async take(next: Step): Promise<void> {
    switch (next.do) {
      case "say":
        for (let n = 0; n < next.count; n++) this.#say();
        break;
      case "sleep":
        this.room.quiet();
        this.#begin();
        this.room.shell.evict();
        break;
      case "die":
        this.#die();
        break;
      case "back up":
        this.#backup = structuredClone(this.room.log.batches);
        break;
      case "restore":
        this.room.log.batches.splice(0, Infinity, ...structuredClone(this.#backup));
        this.#die();
        break;
      case "leave":
        this.#leave(this.#people[next.who]!);
        break;
      case "come back":
        await this.#comeBack(next.who);
    }
    this.room.quiet();
  }

  /** Each object that opens the log begins an incarnation of its own. */
  #begin(): void {
    const { log, shell } = this.room;
    log.incarnation = nameIncarnation(
      shell.nowMs,
      `${(this.#said * 7919) % 1000}`,
      log.incarnationAt(log.lastSeq) ?? "",
    );
  }

  #die(): void {
    // Not in the same second, which no operator could.
    this.room.shell.advance(1000);
    for (const person of this.#people) this.#gone.add(person);
    this.room.log.reopen();
    this.#begin();
    this.room.shell.crash();
  }

  #say(): void {
    const content = `${++this.#said}`;
    const { id } = this.room.call("chat-message", "backend", { content }).answer as unknown as { id: string };
    this.room.quiet();
    expect(this.#contents.has(id), `${id} is ${this.#contents.get(id)} and ${content}`).toBe(false);
    this.#contents.set(id, content);
  }

  get #ids(): string[] {
    return this.room.log.messages.map(({ id }) => id);
  }

  #leave(person: Person): void {
    if (!this.#gone.has(person)) person.client.leave();
    this.#gone.add(person);
  }

  async #enter(n: number, auth?: object): Promise<Person> {
    const client = await this.room.join(`user-${n}`, RECOVERS, auth);
    return { client, heard: [], since: this.#ids.at(-1) };
  }

  async #comeBack(n: number): Promise<void> {
    const before = this.#people[n]!;
    this.#leave(before);
    const heard = [...before.heard, ...heardBy(before.client)];
    const known = heard.at(-1) ?? before.since;
    const recoveryAuth = recoveryAuthOf(before.client);
    const back = await this.#enter(n, recoveryAuth);
    this.room.quiet();
    const isRecovered = recoveryAuthOf(back.client).pid === recoveryAuth.pid;
    expect(isRecovered, `${n} knew ${known}; there are ${this.#ids.join()}`).toBe(
      known === undefined || this.#ids.includes(known),
    );
    if (!isRecovered) return void (this.#people[n] = back);
    this.#recovered++;
    const all = [...heard, ...heardBy(back.client)];
    expect(all).toEqual(this.#ids.slice(before.since === undefined ? 0 : this.#ids.indexOf(before.since) + 1));
    this.#people[n] = { ...back, heard, since: before.since };
  }

  get recovered(): number {
    return this.#recovered;
  }
}

const heardBy = (client: Client): string[] => client.received<Message>("chat-message").map(({ id }) => id);

it("only clients without a loss are recovered, and no id means two messages", async () => {
  let recovered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const story = new Story();
      await story.begin();
      for (const next of steps) await story.take(next);
      recovered += story.recovered;
    }),
    PARAMETERS,
  );
  expect(recovered).toBeGreaterThan(PARAMETERS.numRuns / 3);
});
