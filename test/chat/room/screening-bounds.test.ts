// The bounds of verdicts that a room awaits at once: of one user, and of all together.
import { describe, expect, it } from "vitest";

import { FOREIGN_CALLS_MAX, FOREIGN_CALLS_PER_USER_MAX } from "../../../src/chat/room/foreign-calls.ts";
import type { Call, Client } from "../../host/harness.ts";
import { refusalOf } from "../../host/moderated-room.ts";
import { RuledRoom } from "../../host/ruled-room.ts";

describe("the number of awaited verdicts", () => {
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

  it(`RULE-7: is at most ${FOREIGN_CALLS_MAX} in a room`, async () => {
    const room = new RuledRoom();
    const people = await Promise.all(
      Array.from({ length: FOREIGN_CALLS_MAX / FOREIGN_CALLS_PER_USER_MAX }, (_, at) => room.join(`user${at}`)),
    );
    const late = await room.join("late");
    for (const client of people) call(client, FOREIGN_CALLS_PER_USER_MAX);
    expect(late.call("chat-message", { content: "hello" }).answer).toMatchObject(refusalOf("RATE_LIMITED"));
    await room.about("user0 0").decide();
    expect(call(late, 1)[0]!.acks).toEqual([]);
  });
});
