// socket.ask and emitWithAck in a real object: acks, timeouts and ends of sockets, asleep and awake.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import type { RawClient } from "../raw-client.ts";
import { begin, drop, enter, evict, heard, question, say, recoveryAuthOf, whoami } from "./painters.ts";
import { PacketType } from "../../wire/wire-client.ts";

describe("acks that the server asks for", () => {
  it("onConnect ran once, however often the object slept", async () => {
    const { room, ada } = await begin();
    for (let i = 0; i < 3; i++) {
      await evict(room, "hibernate");
      expect(await whoami(ada)).toMatchObject({ connects: 1, recovered: false, boards: 2 });
    }
  });

  it("a long one is answered after several sleeps", async () => {
    const { room, ada, ben } = await begin();
    const [adaId, benId] = [recoveryAuthOf(ada).sid, recoveryAuthOf(ben).sid];
    say(ada, "review", benId, 600_000);
    const id = await question(ben, "review?");
    for (let i = 0; i < 3; i++) {
      await evict(room, "hibernate");
      await whoami(ada);
    }
    await evict(room, "hibernate");
    ben.send(`43${id}["fine",{"n":1}]`, `43${id}["twice"]`);
    await whoami(ben);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toEqual([
      ["reviewed", benId, { kind: "ack", args: ["fine", { n: 1 }] }, { by: adaId }],
    ]);
  });

  it("a short one that follows another's answer has its own time", async () => {
    const { room, ada, ben } = await begin();
    // By then the alarm is set for the next ping, so that no timer is due that would look at the clock by chance.
    await vi.waitFor(async () => expect(await alarmOf(room)).toBeGreaterThan(Date.now()));
    const verdict = ada.ask("runoff", recoveryAuthOf(ben).sid, 500);
    ben.send(`43${await question(ben, "vote?")}["yes"]`);
    expect(await verdict).toBe("Error: operation has timed out");
  });

  it("no other client can answer it", async () => {
    const { ada, ben } = await begin();
    say(ada, "review", recoveryAuthOf(ben).sid, 600_000);
    const id = await question(ben, "review?");
    ada.send(`43${id}["forged"]`);
    await whoami(ada);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toEqual([]);
  });

  it("a long one without an answer is timed out by the alarm of a sleeping object", async () => {
    const { room, ada, ben } = await begin();
    say(ada, "review", recoveryAuthOf(ben).sid, 3000);
    const id = await question(ben, "review?");
    await vi.waitFor(async () => expect(await alarmOf(room)).toBeLessThan(Date.now() + 3000));
    await evict(room, "hibernate");
    const reviewed = await ada.until("the timeout", () => heard(ada).find(([event]) => event === "reviewed"));
    expect(reviewed[2]).toEqual({ kind: "timeout" });
    ben.send(`43${id}["too late"]`);
    await whoami(ben);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toHaveLength(1);
  });

  describe("a long one ends with its client, once", () => {
    type Act = (room: string, ben: RawClient) => Promise<unknown>;
    const goings: Array<[how: string, ...acts: Act[]]> = [
      ["whose line breaks", (_room, ben) => drop(ben)],
      [
        "whose line breaks while the object sleeps, which its closing wakes",
        (room) => evict(room, "hibernate"),
        (_room, ben) => drop(ben),
      ],
      [
        "who leaves after a sleep",
        (room) => evict(room, "hibernate"),
        (_room, ben) => (ben.send("41"), Promise.resolve()),
      ],
    ];

    it.each(goings)("%s", async (_how, ...acts) => {
      const { room, ada, ben } = await begin();
      const [adaId, benId] = [recoveryAuthOf(ada).sid, recoveryAuthOf(ben).sid];
      say(ada, "review", benId, 600_000);
      await question(ben, "review?");
      for (const act of acts) await act(room, ben);
      await ada.until("the end", () => reviews(ada)[0]);
      await evict(room, "hibernate");
      await whoami(ada);
      expect(reviews(ada)).toEqual([["reviewed", benId, { kind: "disconnected" }, { by: adaId }]]);
    });

    it("also if that client recovers: it is not asked again, and its late ack has no effect", async () => {
      const { room, ada, ben } = await begin();
      const { sid } = recoveryAuthOf(ben);
      say(ada, "review", sid, 600_000);
      const id = await question(ben, "review?");
      const recoveryAuth = recoveryAuthOf(ben);
      await drop(ben);
      await evict(room, "hibernate");
      const back = await enter(room, recoveryAuth);
      expect(await whoami(back)).toMatchObject({ id: sid, recovered: true });
      back.send(`43${id}["late"]`);
      await whoami(back);
      await whoami(ada);
      expect(reviews(ada)).toEqual([["reviewed", sid, { kind: "disconnected" }, expect.anything()]]);
      expect(reviews(back), "the end came after its going, so it was missed and is replayed").toEqual(reviews(ada));
      expect(back.packets.filter(({ type, id }) => type === PacketType.EVENT && id !== undefined)).toEqual([]);
    });

    it("if the server has not noticed its end: when it comes back", async () => {
      const { room, ada, ben } = await begin();
      const recoveryAuth = recoveryAuthOf(ben);
      say(ada, "review", recoveryAuth.sid, 600_000);
      await question(ben, "review?");
      const back = await enter(room, recoveryAuth);
      expect(await whoami(back)).toMatchObject({ id: recoveryAuth.sid, recovered: true });
      await whoami(ada);
      expect(reviews(ada)).toEqual([["reviewed", recoveryAuth.sid, { kind: "disconnected" }, expect.anything()]]);
    });

    it("but not when the object dies: a recovered socket is not asked again", async () => {
      const { room, ada, ben } = await begin();
      const [adaAuth, benAuth] = [recoveryAuthOf(ada), recoveryAuthOf(ben)];
      say(ada, "review", benAuth.sid, 600_000);
      const id = await question(ben, "review?");
      await evict(room, "close");
      const [adaBack, benBack] = [await enter(room, adaAuth), await enter(room, benAuth)];
      expect(await whoami(benBack)).toMatchObject({ id: benAuth.sid, recovered: true });
      benBack.send(`43${id}["late"]`);
      await whoami(benBack);
      await whoami(adaBack);
      expect(reviews(adaBack)).toEqual([]);
      expect(await alarmOf(room), "and nothing waits for its time").not.toBeGreaterThan(Date.now() + 500_000);
    });
  });

  it("a short one ends with the ack, the timeout, or its client", async () => {
    const { ada, ben } = await begin();
    const benId = recoveryAuthOf(ben).sid;
    const answer = ada.ask("vote", benId, 5000);
    ben.send(`43${await question(ben, "vote?")}["yes"]`);
    expect(await answer).toBe("yes");
    expect(await ada.ask("vote", benId, 50)).toMatch(/operation has timed out/);
    const givenUp = ada.ask("vote", benId, 9000);
    await ben.until("the third question", () =>
      ben.packets.filter(({ data }) => (data as string[])?.[0] === "vote?").length === 3 ? true : undefined,
    );
    ben.close();
    expect(await givenUp).toMatch(/socket has been disconnected/);
    expect(await whoami(ada), "and nobody else was hurt").toMatchObject({ connects: 1 });
  });
});

const reviews = (client: RawClient): unknown[][] => heard(client).filter(([event]) => event === "reviewed");

function alarmOf(room: string): Promise<number | null> {
  return runInDurableObject(env.WHITEBOARD.getByName(room), (_instance, { storage }) => storage.getAlarm());
}
