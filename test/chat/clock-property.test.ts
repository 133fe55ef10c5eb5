// Clocks that jump, and alarms that come early, late or twice: members notice only the timestamps of messages.
import { expect, it } from "vitest";

import type { Message, PostAnswer } from "../../src/protocol/chat-events.ts";
import { CLOSINGS } from "../../src/socketio/wire/closings.ts";
import { ChatRoom } from "../host/chat-room.ts";
import type { Call, Client } from "../host/harness.ts";
import { fc, runs } from "../host/properties.ts";

const JUMP_MS_MAX = 600_000;
const STEPS_MAX = 30;
const PING_TIMEOUT_MS = 30_000;

type Step =
  | { readonly is: "post" | "ring" | "ring twice" | "leave" | "join" | "sleep" }
  | { readonly is: "jump" | "wait"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ is: "post" }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step>(
      { is: "ring" },
      { is: "ring twice" },
      { is: "leave" },
      { is: "join" },
      { is: "sleep" },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({ is: fc.constant("jump" as const), ms: fc.integer({ min: -JUMP_MS_MAX, max: JUMP_MS_MAX }) }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("wait" as const), ms: fc.nat({ max: 120_000 }) }) },
);

it("CHAT-2, PRES-2: a room whose clock jumps and whose alarms come when they like", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: STEPS_MAX }), async (steps) => {
      const room = new ChatRoom();
      const clients = [await room.join("ada")];
      const calls: Array<{ readonly client: Client; readonly call: Call<PostAnswer> }> = [];
      let ben: Client | undefined;
      let aheadMs = 0;
      for (const [at, { is, ...more }] of steps.entries()) {
        const client = clients.at(-1)!;
        const ms = "ms" in more ? more.ms : 0;
        if (is === "post")
          calls.push({ client, call: client.call("chat-message", { content: `text ${at}`, clientMsgId: `id ${at}` }) });
        if (is === "jump") room.shell.nowMs += ms;
        if (is === "jump") aheadMs += Math.max(0, ms);
        if (is === "wait") room.shell.advance(ms);
        if (is.startsWith("ring")) room.shell.ring();
        if (is === "ring twice") room.shell.ring();
        if (is === "sleep" && room.shell.canSleep) room.shell.evict();
        if (is === "join") ben ??= await room.join("ben");
        if (is === "leave") {
          ben?.leave();
          ben = undefined;
        }
        if (ben?.closing) ben = undefined;
        if (client.closing) clients.push(await room.join("ada"));
      }
      // Everything that a clock ahead has put off is due by then.
      room.shell.advance(STEPS_MAX * JUMP_MS_MAX);
      expect(room.shell.problems).toEqual([]);
      // A clock that is put ahead makes all clients look silent: by more than the ping timeout, it costs their connections.
      const lost = clients.filter(({ closing }) => closing);
      expect(lost.map(({ closing }) => closing!.code)).toEqual(lost.map(() => CLOSINGS.pingTimeout.code));
      if (aheadMs <= PING_TIMEOUT_MS) expect(lost).toEqual([]);

      const { messages } = room.log;
      expect(messages.map(({ seq }) => seq)).toEqual(messages.map((_, at) => at + 1));
      for (const { client, call } of calls) {
        const [answer] = (call.acks[0] ?? []) as PostAnswer[];
        expect(call.acks.length + (client.closing ? 1 : 0)).toBeGreaterThan(0);
        if (answer && "ok" in answer) expect(messages[answer.seq - 1]!.id).toBe(answer.id);
      }
      const seen = clients.flatMap((client) => client.received<Message>("chat-message").map(({ seq }) => seq));
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect(new Set(seen).size).toBe(seen.length);
      if (lost.length === 0) expect(seen.length).toBe(messages.length);

      const dan = await room.join("dan");
      const [answer] = dan.call<{ members: Array<{ user: string }> }>("presence", {}).acks[0]!;
      const here = [...clients, ...(ben ? [ben] : [])].filter(({ closing }) => !closing).map(({ name }) => name);
      const { members } = answer as { members: Array<{ user: string }> };
      expect(members.map(({ user }) => user).toSorted()).toEqual([...here, "dan"].toSorted());
    }),
    runs(150),
  );
});
