// CHAT-7: random lives of a relaxed room, in which the process dies between any two steps and the storage fails. Acked messages are
// stored once; no seq is ever given to two messages.
import { describe, expect, it } from "vitest";

import type { Message, PostAnswer, Welcome } from "../../../src/protocol/chat-events.ts";
import { ChatRoom, RECOVERS, recoveryAuthOf, UNLIMITED } from "../../host/chat-room.ts";
import type { Call, Client } from "../../host/harness.ts";
import { fc, runs } from "../../host/properties.ts";

const PARAMETERS = runs(120);

type Step =
  | { readonly do: "post" | "talk"; readonly times: number }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "storage"; readonly fails: boolean }
  | { readonly do: "crash" | "sleep" | "return" | "read" };

const steps = (storageFails: boolean): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ do: fc.constant("post"), times: fc.constantFrom(1, 1, 2, 70) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant("talk"), times: fc.integer({ min: 2, max: 6 }) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant("advance"), ms: fc.constantFrom(10, 60, 60, 200, 1500) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("crash", "sleep", "return", "read") }) },
      ...(storageFails
        ? [{ weight: 1, arbitrary: fc.record({ do: fc.constant("storage"), fails: fc.boolean() }) }]
        : []),
    ),
    { maxLength: 60, size: "max" },
  );

/** A socket from its first welcome to its going: the messages that it saw after the `lastSeq` of its welcome. */
interface Stay {
  readonly lastSeq: number;
  readonly seen: Message[];
}

class Life {
  readonly room = new ChatRoom({ durability: "relaxed", messageRate: UNLIMITED });
  readonly #stays = new Map<string, Stay>();
  readonly calls = new Map<string, Array<Call<PostAnswer>>>();
  readonly read: Message[] = [];
  ahead = 0;
  #ada!: Client;
  #cleo!: Client;

  constructor() {
    const { log } = this.room;
    const tell = log.onReserve!;
    log.onReserve = (seq) => {
      this.ahead++;
      tell(seq);
    };
  }

  async begin(): Promise<void> {
    this.#ada = await this.#join("ada");
    this.#cleo = await this.#join("cleo");
  }

  #join(user: string, recoveryAuth?: object): Promise<Client> {
    return this.room.join(user, RECOVERS, recoveryAuth);
  }

  async take(step: Step): Promise<void> {
    const { shell, log } = this.room;
    switch (step.do) {
      case "post":
        for (let i = 0; i < step.times; i++) this.#post(`text ${this.calls.size}`);
        return;
      case "talk":
        for (let i = 0; i < step.times; i++) {
          this.#post(`text ${this.calls.size}`);
          shell.advance(60);
        }
        return;
      case "advance":
        return shell.advance(step.ms);
      case "storage":
        log.failure = step.fails ? new Error("disk full") : undefined;
        return;
      case "crash":
        shell.crash();
        return this.#comeBack();
      case "sleep":
        if (shell.quietMs > 1000) shell.evict();
        return;
      case "return":
        this.#cleo.leave();
        return this.#comeBack();
      case "read":
        this.read.push(...(await this.#cleo.ask("history", {})).messages);
    }
  }

  #post(text: string): void {
    const call = this.#ada.call<PostAnswer>("chat-message", { content: text, clientMsgId: text });
    this.calls.set(text, [...(this.calls.get(text) ?? []), call]);
  }

  /** Everyone connects again, with their offsets. */
  async #comeBack(): Promise<void> {
    const recoveryAuth = recoveryAuthOf(this.#cleo);
    this.noteStay(this.#ada);
    this.noteStay(this.#cleo);
    this.#ada.leave();
    this.#ada = await this.#join("ada");
    this.#cleo = await this.#join("cleo", recoveryAuth);
  }

  /** The messages that a socket saw, over all of its connections: one that recovers goes on where it was. */
  noteStay(client: Client): void {
    const [{ lastSeq } = { lastSeq: 0 }] = client.received<Welcome>("welcome");
    const { pid } = recoveryAuthOf(client);
    const seen = client.received<Message>("chat-message");
    const stay = this.#stays.get(pid);
    if (stay) stay.seen.push(...seen);
    else this.#stays.set(pid, { lastSeq, seen });
  }

  get stays(): Stay[] {
    return [...this.#stays.values()];
  }

  async end(): Promise<void> {
    this.room.log.failure = undefined;
    this.room.quiet();
    this.room.quiet();
    this.noteStay(this.#ada);
    this.noteStay(this.#cleo);
    for (const text of this.unacked) this.#post(text);
    this.room.quiet();
    this.room.quiet();
  }

  get unacked(): string[] {
    return [...this.calls].filter(([, calls]) => !calls.some(isAcked)).map(([text]) => text);
  }
}

const isAcked = ({ acks }: Call<PostAnswer>): boolean => acks.some(([answer]) => "ok" in (answer as PostAnswer));

async function live(program: readonly Step[]): Promise<Life> {
  const life = new Life();
  await life.begin();
  for (const step of program) await life.take(step);
  await life.end();
  return life;
}

function expectTruth({ room: { log }, calls, stays, read }: Life): void {
  const stored = new Map(log.messages.map((message) => [message.seq, message]));
  expect(stored.size).toBe(log.messages.length);
  expect([...stored.keys()]).toEqual([...stored.keys()].sort((a, b) => a - b));
  // Every text was sent until it was acked, so it is there, once, and where the ack says.
  expect(log.messages.map(({ content }) => content).sort()).toEqual([...calls.keys()].sort());
  for (const [text, tries] of calls) {
    for (const { acks } of tries) {
      const [answer] = (acks[0] ?? []) as [PostAnswer?];
      if (answer && "ok" in answer) expect(stored.get(answer.seq)).toMatchObject({ id: answer.id, content: text });
    }
  }
  // No client saw two messages at one place, nor another one there than the log holds.
  const seen = new Map<number, Message>();
  for (const message of [...stays.flatMap((stay) => stay.seen), ...read]) {
    expect(seen.get(message.seq) ?? message).toEqual(message);
    expect(stored.get(message.seq) ?? message).toEqual(message);
    seen.set(message.seq, message);
  }
  for (const message of read) expect(stored.has(message.seq)).toBe(true);
}

describe("a relaxed room whose process dies between any two steps", () => {
  it("keeps what it acked, and gives every place once; from welcome to going no client misses anything", async () => {
    let ahead = 0;
    await fc.assert(
      fc.asyncProperty(steps(false), async (program) => {
        const life = await live(program);
        ahead += life.ahead;
        expectTruth(life);
        for (const { lastSeq, seen } of life.stays)
          expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, i) => lastSeq + 1 + i));
      }),
      PARAMETERS,
    );
    expect(ahead).toBeGreaterThan(PARAMETERS.numRuns);
  });

  it("also while the storage fails; messages come in order", async () => {
    await fc.assert(
      fc.asyncProperty(steps(true), async (program) => {
        const life = await live(program);
        expectTruth(life);
        for (const { seen } of life.stays) {
          const seqs = seen.map(({ seq }) => seq);
          expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
        }
      }),
      runs(120),
    );
  });
});
