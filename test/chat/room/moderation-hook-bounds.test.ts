// The bounds of decisions that a room awaits at once: of one user, and of all together.
import { describe, expect, it } from "vitest";

import { FOREIGN_CALLS_MAX, FOREIGN_CALLS_PER_USER_MAX } from "../../../src/chat/room/foreign-calls.ts";
import type { Call, Client } from "../../host/harness.ts";
import { refusalOf } from "../../host/moderated-room.ts";
import { RuledRoom } from "../../host/ruled-room.ts";

describe("the number of awaited decisions", () => {
  const call = (client: Client, count: number): Array<Call<unknown>> =>
    Array.from({ length: count }, (_, at) => client.call("chat-message", { content: `${client.name} ${at}` }));

  it(`RULE-7: is at most ${FOREIGN_CALLS_PER_USER_MAX} of one user`, async () => {
    const room = new RuledRoom();
    const ada = await room.join({ user: "ada", name: "Ada" });
    const ben = await room.join("ben");
    const calls = call(ada, FOREIGN_CALLS_PER_USER_MAX + 1);
    expect(calls.map(({ acks }) => acks.length)).toEqual([...Array(FOREIGN_CALLS_PER_USER_MAX).fill(0), 1]);
    expect(calls.at(-1)!.answer).toMatchObject({ error: { code: "RATE_LIMITED", retryAfterMs: 1000 } });
    ben.emit("chat-message", { content: "hello" });
    expect(room.about("hello").context.user).toBe("ben");
    await room.about("ada 0").decide();
    const [another] = call(ada, 1);
    expect(another!.acks).toEqual([]);
  });

  it(`RULE-7, CHAT-10: is at most ${FOREIGN_CALLS_MAX} in a room, of which half is for one of each user's`, async () => {
    const room = new RuledRoom();
    const half = FOREIGN_CALLS_MAX / 2;
    const greedy = await Promise.all(
      Array.from({ length: half / FOREIGN_CALLS_PER_USER_MAX }, (_, at) => room.join(`user${at}`)),
    );
    const others = await Promise.all(Array.from({ length: half }, (_, at) => room.join(`other${at}`)));
    const [late, stranger] = [await room.join("late"), await room.join({ user: "guest", isGuest: true })];
    for (const client of greedy)
      for (const { acks } of call(client, FOREIGN_CALLS_PER_USER_MAX)) expect(acks).toEqual([]);
    expect(call(stranger, 1)[0]!.answer, "the second half is for accounts").toMatchObject(refusalOf("RATE_LIMITED"));
    for (const client of others) {
      const [first, second] = call(client, 2);
      expect(first!.acks).toEqual([]);
      expect(second!.answer).toMatchObject(refusalOf("RATE_LIMITED"));
    }
    expect(late.call("chat-message", { content: "hello" }).answer).toMatchObject(refusalOf("RATE_LIMITED"));
    await room.about("other0 0").decide();
    expect(call(late, 1)[0]!.acks).toEqual([]);
  });

  it("CHAT-10: guests of one network count as one user", async () => {
    const room = new RuledRoom();
    const guests = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        room.join({ user: `guest${at}`, isGuest: true }, { address: at < 4 ? "192.0.2.1" : `2001:db8::${at}` }),
      ),
    );
    const answered = guests.flatMap((guest) => call(guest, 10)).filter(({ acks }) => acks.length > 0);
    expect(answered).toHaveLength(2 * (4 * 10 - FOREIGN_CALLS_PER_USER_MAX));
  });
});
