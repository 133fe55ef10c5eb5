// socket.ask and emitWithAck in a real object: acks, timeouts and ends of sockets, asleep and awake.
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";

import { alarmOf } from "../../kit/testing.ts";
import type { RawClient } from "../raw-client.ts";
import { begin, drop, enter, evict, heard, question, say, recoveryAuthOf, whoami } from "./painters.ts";

describe("acks that the server asks for", () => {
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
    await vi.waitFor(async () => expect(await alarmOf(env.WHITEBOARD.getByName(room))).toBeGreaterThan(Date.now()));
    const verdict = ada.ask("runoff", recoveryAuthOf(ben).sid, 500);
    ben.send(`43${await question(ben, "vote?")}["yes"]`);
    expect(await verdict).toBe("Error: operation has timed out");
  });

  it("a long one without an answer is timed out by the alarm of a sleeping object", async () => {
    const { room, ada, ben } = await begin();
    say(ada, "review", recoveryAuthOf(ben).sid, 3000);
    const id = await question(ben, "review?");
    await vi.waitFor(async () => expect(await alarmOf(env.WHITEBOARD.getByName(room))).toBeLessThan(Date.now() + 3000));
    await evict(room, "hibernate");
    const reviewed = await ada.until("the timeout", () => heard(ada).find(([event]) => event === "reviewed"));
    expect(reviewed[2]).toEqual({ kind: "timeout" });
    ben.send(`43${id}["too late"]`);
    await whoami(ben);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toHaveLength(1);
  });

  describe("a long one ends with its client, once", () => {
    it("whose line breaks while the object sleeps, which its closing wakes", async () => {
      const { room, ada, ben } = await begin();
      const [adaId, benId] = [recoveryAuthOf(ada).sid, recoveryAuthOf(ben).sid];
      say(ada, "review", benId, 600_000);
      await question(ben, "review?");
      await evict(room, "hibernate");
      await drop(ben);
      await ada.until("the end", () => reviews(ada)[0]);
      await evict(room, "hibernate");
      await whoami(ada);
      expect(reviews(ada)).toEqual([["reviewed", benId, { kind: "disconnected" }, { by: adaId }]]);
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
      expect(await alarmOf(env.WHITEBOARD.getByName(room)), "and nothing waits for its time").not.toBeGreaterThan(
        Date.now() + 500_000,
      );
    });
  });
});

const reviews = (client: RawClient): unknown[][] => heard(client).filter(([event]) => event === "reviewed");
