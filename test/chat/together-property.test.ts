// Files, search, webhooks and the lobby in one room that lives at random, while its surroundings fail: no file of a message is
// deleted, searches find all messages, and in the end the webhook and the lobby have the truth.
import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";

import type { Durability } from "../../src/chat/room/room.ts";
import type { Message, SearchAnswer } from "../../src/protocol/chat-events.ts";
import { storedFilesOf } from "../../src/protocol/message.ts";
import type { RoomReport } from "../../src/protocol/room-list.ts";
import { UNLIMITED } from "../host/chat-room.ts";
import { EPOCH } from "../host/memory-log.ts";
import { DAY_MS, FileRoom } from "../host/file-room.ts";
import type { Client } from "../host/harness.ts";
import { MemoryFiles } from "../host/memory-files.ts";
import { fc, runs } from "../host/properties.ts";
import { FakeQueue, type Mood } from "../host/webhook-room.ts";

const seq = fc.integer({ min: 1, max: 80 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("post" as const), count: fc.constantFrom(1, 1, 3, 20) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("post a file" as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("edit" as const, "edit to nothing" as const, "delete" as const, "react" as const),
      seq,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("come" as const, "go" as const),
      user: fc.constantFrom("ada", "ben"),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 60, 1500, 6100, 40_000, DAY_MS) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("search" as const), word: fc.constantFrom("w1", "w2", "w3", "e") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("queue" as const),
      mood: fc.constantFrom<Mood>("takes", "refuses", "is silent"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("sleep" as const, "evict" as const, "crash" as const, "lobby" as const, "files" as const),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const EVENTS = { edit: "edit-message", "edit to nothing": "edit-message", delete: "delete-message", react: "react" };
/** Each by another user, because this test is not about rate limits. */
const asker = (n: number): string => `asker-${n}`;

/** Of 10 ms each. */
const SEARCH_WAITS_MAX = 1000;

class Life {
  readonly #queue = new FakeQueue();
  readonly #reports: RoomReport[] = [];
  readonly #room: FileRoom;
  readonly #durability: Durability;
  #isLobbyAway = false;
  /** Whether the room forgot members that the lobby does not know. */
  #wasInterrupted = false;
  #tabs: Array<{ readonly user: string; readonly client: Client }> = [];
  #count = 0;

  constructor(durability: Durability) {
    this.#durability = durability;
    const reportToLobby = async (report: RoomReport): Promise<object> => {
      await setImmediate();
      if (this.#isLobbyAway) throw new Error("away");
      this.#reports.push(report);
      return {};
    };
    const outside = { deliver: this.#queue.deliver, reportToLobby };
    this.#room = new FileRoom(new MemoryFiles(), { durability, messageRate: UNLIMITED }, outside);
    this.#room.log.retention = { messages: 60, ageMs: 30 * DAY_MS };
    this.#room.index.shape = {
      ...this.#room.index.shape,
      blockMessages: 2,
      partMessages: 8,
      unindexedMessages: 4,
      gapMessagesMin: 4,
      partsMax: 4,
    };
  }

  async take(taken: Step): Promise<void> {
    const room = this.#room;
    switch (taken.do) {
      case "post":
        return this.#post(taken.count);
      case "post a file":
        return this.#postFile();
      case "edit":
      case "edit to nothing":
      case "delete":
      case "react":
        return this.#change(taken.do, taken.seq);
      case "come":
        return void this.#tabs.push({ user: taken.user, client: await room.join(taken.user) });
      case "go":
        return this.#go(taken.user);
      case "wait":
        return this.#room.pass(taken.ms);
      case "search":
        return this.#search(taken.word);
      case "queue":
        return void (this.#queue.mood = taken.mood);
      case "lobby":
        return void (this.#isLobbyAway = !this.#isLobbyAway);
      case "files":
        return void (room.files.failure = room.files.failure ? undefined : new Error("away"));
      case "sleep":
      case "evict":
      case "crash":
        return this.#interrupt(taken.do);
    }
  }

  async #post(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const n = ++this.#count;
      this.#room.call("chat-message", "ada", { content: `w${n % 4} x${n}` });
    }
    await this.#room.pass(0);
  }

  async #postFile(): Promise<void> {
    const permitted = [await this.#room.permit("ada"), await this.#room.permit("ada")];
    const [attachment, second] = permitted.flatMap(({ attachment }) => attachment ?? []);
    if (attachment) {
      const n = ++this.#count;
      const files = { attachment: second && n % 3 === 0 ? { ...attachment, preview: second } : attachment };
      const all = second && n % 3 === 1 ? { attachments: [attachment, second] } : files;
      for (const { key } of storedFilesOf(all)) this.#room.files.keys.add(key);
      this.#room.call("chat-message", "ada", { content: n % 2 ? "" : `w2 x${n}`, ...all }, "member");
    }
    await this.#room.pass(0);
  }

  async #change(what: keyof typeof EVENTS, place: number): Promise<void> {
    const n = ++this.#count;
    const content = what === "edit to nothing" ? "" : `e w${n % 4} x${n}`;
    const id = `${EPOCH}-${place.toString(36)}`;
    this.#room.call(EVENTS[what], asker(n), { id, content, emoji: "x", on: n % 2 === 0 });
    await this.#room.pass(0);
  }

  #go(user: string): void {
    const at = this.#tabs.findIndex((tab) => tab.user === user);
    if (at >= 0) this.#tabs.splice(at, 1)[0]!.client.leave();
  }

  async #search(word: string): Promise<void> {
    await this.#room.pass(100);
    const asked = this.#room.call("search", asker(++this.#count), { query: `${word} ` });
    // Searches rest between turns, the longer the more was asked for lately.
    for (let waits = 0; waits < SEARCH_WAITS_MAX && asked.answer === undefined; waits++) await this.#room.pass(10);
    const { messages } = asked.answer as Extract<SearchAnswer, { ok: true }>;
    const there = this.#room.log.messages.filter(({ content }) => content.split(" ").includes(word)).reverse();
    expect(messages.map(({ seq }) => seq)).toEqual(there.slice(0, 20).map(({ seq }) => seq));
  }

  async #interrupt(how: "sleep" | "evict" | "crash"): Promise<void> {
    const { shell } = this.#room;
    this.#wasInterrupted = true;
    if (how === "crash") {
      shell.crash();
      this.#tabs = [];
      return;
    }
    await this.#room.pass(how === "sleep" || this.#durability === "relaxed" ? 3000 : 0);
    if (how === "evict" || shell.canSleep) shell.evict();
  }

  /** FILE-6. */
  checkFiles(): void {
    const carried = this.#room.log.messages.flatMap(storedFilesOf);
    for (const { key } of carried) expect(this.#room.files.keys).toContain(key);
  }

  /** Everything is back, and had time. */
  async end(): Promise<void> {
    this.#queue.mood = "takes";
    this.#room.files.failure = undefined;
    this.#isLobbyAway = false;
    await this.#room.pass(3_700_000);
    this.#checkDeleted();
    this.#checkTold();
    this.#checkLobby();
    const trouble = this.#room.shell.problems.filter(
      ({ problem }) => !/queued|report to the lobby failed|files could not/.test(problem),
    );
    expect(trouble).toEqual([]);
  }

  /** FILE-5, SRCH-7. */
  #checkDeleted(): void {
    const { log, files, index } = this.#room;
    const isDeleted = ({ seq }: Message): boolean => log.changes.get(seq)?.change.deletedBy !== undefined;
    for (const { key } of log.appended.filter(isDeleted).flatMap(storedFilesOf)) expect(files.keys).not.toContain(key);
    const said = new Set(log.messages.flatMap(({ content }) => content.split(" ")));
    for (const term of index.terms.filter((each) => /^x\d+$/.test(each))) expect(said).toContain(term);
  }

  /** HOOK-3: a receiver of all events knows the state of each message. */
  #checkTold(): void {
    const told = new Map<string, string>();
    for (const { type, data } of this.#queue.events.toSorted((a, b) => a.order - b.order)) {
      if (type === "message.deleted") told.set(data.id, "deleted");
      else if ("message" in data) told.set(data.message.id, data.message.content);
    }
    for (const { id, deleted, content } of this.#room.log.messages)
      expect(deleted ? "deleted" : content, id).toBe(told.get(id));
  }

  /** LOB-2, where nothing was lost with the memory. */
  #checkLobby(): void {
    const last = this.#reports.at(-1);
    if (!last || this.#wasInterrupted) return;
    const members = new Set(this.#tabs.map(({ user }) => user)).size;
    expect([last.lastSeq, last.members]).toEqual([this.#room.log.lastSeq, members]);
  }
}

it("FILE-5, FILE-6, SRCH-6, SRCH-7, HOOK-3: all of it holds together, through all events and outages", async () => {
  const life = fc.array(step, { minLength: 15, maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(life, fc.constantFrom<Durability>("strict", "relaxed"), async (steps, durability) => {
      const room = new Life(durability);
      for (const each of steps) {
        await room.take(each);
        room.checkFiles();
      }
      await room.end();
    }),
    runs(40),
  );
});
