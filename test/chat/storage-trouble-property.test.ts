// Storage that fails at any call: each client gets an answer or is disconnected, only stored messages are acked or shown, and the
// room goes on once the storage does.
import { expect, it } from "vitest";

import { seededRandom } from "../../scripts/random.ts";
import type { Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { ChatRoom, identityOf, UNLIMITED } from "../host/chat-room.ts";
import type { Call, Client } from "../host/harness.ts";
import { fc, runs } from "../host/properties.ts";

const LOG_CALLS = ["append", "reserve", "has", "find", "keep", "changedAfter", "page", "ascending", "newest", "trim"];
const STATE_CALLS = ["get", "put", "delete", "list"];

/** Every call of these may fail, while `fails` is true. */
function endanger(target: object, calls: readonly string[], fails: () => boolean): void {
  for (const name of calls) {
    const original = Reflect.get(target, name) as (...args: unknown[]) => unknown;
    Reflect.set(target, name, (...args: unknown[]) => {
      if (fails()) throw new Error("database or disk is full: SQLITE_FULL");
      return original.apply(target, args);
    });
  }
}

const EVENTS: ReadonlyArray<readonly [event: string, payload: (last: string, at: number) => object]> = [
  ["chat-message", (_last, at) => ({ content: `text ${at}`, clientMsgId: `id ${at}` })],
  ["chat-message", (_last, at) => ({ content: `text ${at}` })],
  ["edit-message", (id, at) => ({ id, content: `edited ${at}` })],
  ["delete-message", (id) => ({ id })],
  ["react", (id) => ({ id, emoji: "👍", on: true })],
  ["reactions", (id) => ({ id })],
  ["get-message", (id) => ({ id })],
  ["history", () => ({ limit: 5 })],
  ["search", () => ({ query: "text" })],
  ["changes", () => ({ after: 0 })],
  ["presence", () => ({})],
  ["read", () => ({ seq: 1 })],
  ["read-marks", () => ({})],
  ["mute", () => ({ user: "ben", seconds: 5 })],
  ["slow-mode", () => ({ seconds: 0 })],
  ["audit", () => ({})],
];

interface Step {
  /** Of `EVENTS`, or beyond them: a user comes, time passes, the room sleeps. */
  readonly what: number;
  /** How many in 4 calls of storage fail in this step. */
  readonly trouble: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.nat({ max: EVENTS.length + 2 }),
  trouble: fc.constantFrom(0, 0, 1, 2, 4),
});

interface Asked {
  readonly client: Client;
  readonly event: string;
  readonly call: Call<unknown>;
}

it("CHAT-2: storage fails at any call", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.nat(), async (steps, seed) => {
      const random = seededRandom(seed);
      let trouble = 0;
      const room = new ChatRoom({ messageRate: UNLIMITED });
      endanger(room.log, LOG_CALLS, () => random() * 4 < trouble);
      endanger(room.state, STATE_CALLS, () => random() * 4 < trouble);
      const mia = (): Promise<Client> => room.join({ user: "mia", role: "moderator" });
      const people = [await mia(), await room.join("ben")];
      const everybody = [...people];
      const asked: Asked[] = [];
      for (const [at, { what, trouble: next }] of steps.entries()) {
        trouble = next;
        const last = room.log.appended.at(-1)?.id ?? "e1-1";
        const [client] = people;
        if (what === EVENTS.length) {
          // Clients that are refused or disconnected just now get the reason; they come back when it is over.
          const newcomer = room.shell.open({ identity: identityOf("cyd") });
          await newcomer.connect().catch(() => undefined);
          everybody.push(newcomer);
        } else if (what === EVENTS.length + 1) room.shell.advance(1500);
        else if (what === EVENTS.length + 2 && room.shell.canSleep && trouble === 0) room.shell.evict();
        else if (what < EVENTS.length && !client!.closing) {
          const [event, payload] = EVENTS[what]!;
          asked.push({ client: client!, event, call: client!.call(event, payload(last, at)) });
        }
        await room.shell.settle();
        if (client!.closing) {
          trouble = 0;
          people[0] = await mia();
          everybody.push(people[0]);
        }
      }
      trouble = 0;
      room.quiet();
      room.shell.advance(60_000);

      const stored = new Map(room.log.appended.map((message) => [message.seq, message]));
      for (const { client, event, call } of asked) {
        expect(call.acks.length + (client.closing ? 1 : 0), `${event} is answered`).toBeGreaterThan(0);
        const answer = call.acks[0]?.[0] as PostAnswer | undefined;
        if (event === "chat-message" && answer && "ok" in answer) expect(stored.get(answer.seq)?.id).toBe(answer.id);
      }
      for (const client of everybody) {
        for (const message of client.received<Message>("chat-message"))
          expect(stored.get(message.seq)?.id).toBe(message.id);
      }
      expect([...stored.keys()]).toEqual(room.log.appended.map((_message, at) => at + 1));
      const dan = await room.join("dan");
      const after = dan.call<PostAnswer>("chat-message", { content: "it goes on" });
      room.quiet();
      expect(after.acks[0]).toMatchObject([{ ok: true, seq: stored.size + 1 }]);
    }),
    runs(300),
  );
});
