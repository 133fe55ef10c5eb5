// Acks survive the death of the process, and a client that retries until it gets an answer posts each message exactly once.
import { describe, expect, it } from "vitest";

import type { PostAnswer } from "../../src/protocol/chat-events.ts";
import { ChatRoom } from "../host/chat-room.ts";
import type { Call, Client } from "../host/harness.ts";
import { fc, runs } from "../host/properties.ts";

type Word = "post" | "wait" | "crash" | "storage fails" | "storage works";

/** A user who posts one text after the other, and each of them again until it is acked. */
class Author {
  readonly said: string[] = [];
  readonly #room: ChatRoom;
  readonly #unacked = new Map<string, Array<Call<PostAnswer>>>();
  #client!: Client;

  constructor(room: ChatRoom) {
    this.#room = room;
  }

  async connect(): Promise<void> {
    this.#client = await this.#room.join("ada");
    for (const text of this.unacked) this.#send(text);
  }

  say(text: string): void {
    this.said.push(text);
    this.#unacked.set(text, []);
    this.#send(text);
  }

  /** Texts that the author would send again. */
  get unacked(): string[] {
    for (const [text, calls] of this.#unacked) {
      const isAcked = calls.some(({ acks }) => acks.some(([answer]) => "ok" in (answer as PostAnswer)));
      if (isAcked) this.#unacked.delete(text);
    }
    return [...this.#unacked.keys()];
  }

  get acked(): string[] {
    const open = new Set(this.unacked);
    return this.said.filter((text) => !open.has(text));
  }

  #send(text: string): void {
    this.#unacked.get(text)!.push(this.#client.call("chat-message", { content: text, clientMsgId: text }));
  }
}

async function live(words: readonly Word[]): Promise<{ room: ChatRoom; author: Author }> {
  const room = new ChatRoom();
  const author = new Author(room);
  await author.connect();
  for (const [i, word] of words.entries()) {
    switch (word) {
      case "post":
        author.say(`text ${i}`);
        break;
      case "wait":
        room.shell.advance(2000);
        break;
      case "crash":
        room.shell.crash();
        expectOnce(room, author.acked);
        await author.connect();
        break;
      case "storage fails":
      case "storage works":
        room.log.failure = word === "storage fails" ? new Error("disk full") : undefined;
    }
  }
  return { room, author };
}

function expectOnce({ log }: ChatRoom, texts: readonly string[]): void {
  const kept = log.messages.map(({ content }) => content);
  for (const text of texts) expect(kept.filter((other) => other === text)).toHaveLength(1);
}

const word = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Word>("post") },
  { weight: 3, arbitrary: fc.constantFrom<Word>("wait", "crash", "storage fails", "storage works") },
);

describe("a room whose process dies between any two steps", () => {
  it("CHAT-2, CHAT-4: has every acked text once, and in the end every text once", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (words) => {
        const { room, author } = await live(words);
        room.log.failure = undefined;
        for (let tries = 0; author.unacked.length > 0 && tries < words.length + 1; tries++) {
          room.shell.advance(2000);
          await author.connect();
        }
        room.quiet();
        expect(author.unacked).toEqual([]);
        expect(room.log.messages.map(({ content }) => content).sort()).toEqual(author.said.toSorted());
      }),
      runs(400),
    );
  });
});
