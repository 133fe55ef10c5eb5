// Tests reconnecting with a `pid`: recovered with exactly the missed messages, or connected as a new socket.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { RawClient } from "./raw-client.ts";
import { openLog } from "./logs.ts";
import {
  begin,
  comeBack,
  connectAnswer,
  contentsOf,
  drop,
  expectFresh,
  expectRecovered,
  HEARD,
  MISSED,
  RECOVERING,
  sayIn,
  recoveryAuthOf,
  type Step,
  type Story,
  type RecoveryAuth,
} from "./recovery-story.ts";
import { freshRoom, stubOf, tokenFor, useSettings, wipeStorage } from "./rooms.ts";
import { TestClock } from "../kit/testing.ts";
import { PacketType } from "../wire/wire-client.ts";

const WINDOW_SECONDS = 60;
/** REC-5: the largest replay. */
const MISSED_MAX = 1000;
useSettings({
  RECOVERY_WINDOW_SECONDS: String(WINDOW_SECONDS),
  MESSAGE_RATE: "10000",
  MESSAGE_BURST: "10000",
  MAX_CONTENT_LENGTH: "100",
});
let clock: TestClock;
beforeEach(() => void (clock = new TestClock()));
afterEach(() => clock.stop());

async function sendAndGo(story: Story, frame: string): Promise<void> {
  story.ada.send(frame);
  await drop(story);
}

/** Clocks go on, later by so much. */
const advance = (seconds: number): Promise<void> => clock.advance(seconds * 1000);

/** The process dies: no closing is sent, and nothing in memory survives. */
const crash: Step = async ({ room, ada }) => {
  await evictDurableObject(stubOf(room), { webSockets: "close" });
  await ada.closes();
};

/** So many more messages, as an instance finds them that wakes up. */
async function fill({ room, sleeper }: Story, count: number): Promise<void> {
  await runInDurableObject(stubOf(room), (_instance, { storage }) => {
    const log = openLog(storage, room);
    const sent = { room, sender: "ben", name: "ben", timestamp: Date.now() };
    const from = log.lastSeq + 1;
    log.append(Array.from({ length: count }, (_, i) => ({ ...sent, id: "", seq: from + i, content: `missed ${i}` })));
  });
  await sleeper.sleep();
}

describe("recovers exactly the missed events, in order: REC-3, REC-4, REC-5", () => {
  const causes: Array<[cause: string, leave: Step, ...meanwhile: Step[]]> = [
    ["the connection breaks", drop],
    ["the client's Engine.IO says close", (story) => sendAndGo(story, "1")],
    ["the connection breaks while the object sleeps", (story) => story.sleeper.sleep().then(() => drop(story))],
    ["the object sleeps while the client is away", drop, ({ sleeper }) => sleeper.sleep()],
    ["it sleeps twice", drop, ({ sleeper }) => sleeper.sleep(), ({ say }) => say([]), ({ sleeper }) => sleeper.sleep()],
    ["the object dies with its connections", crash],
    ["it dies while the client is away", drop, crash],
    ["almost all of the window passes", drop, () => advance(WINDOW_SECONDS - 5)],
  ];

  it.each(causes)("%s", async (_cause, leave, ...meanwhile) => {
    const story = await begin();
    await leave(story);
    await story.say(MISSED);
    for (const step of meanwhile) await step(story);
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), MISSED);
  });

  it("nothing was missed", async () => {
    const story = await begin();
    await drop(story);
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), []);
  });

  it("the server has not noticed yet: the stale connection is closed with 4005", async () => {
    const story = await begin();
    const { room, ada, recoveryAuth, say } = story;
    await say(MISSED);
    const back = await comeBack(room, recoveryAuth);
    expect(await ada.closes()).toEqual({ code: 4005, reason: "superseded" });
    await expectRecovered(story, back, MISSED);
    expect(await back.ask("presence", {})).toMatchObject({
      members: expect.arrayContaining([expect.objectContaining({ user: "ada", connections: 1 })]),
    });
  });

  it("again and again, each time from the last offset", async () => {
    const story = await begin();
    let { recoveryAuth, ada: line } = story;
    for (let round = 1; round <= 4; round++) {
      line.close();
      await line.closes();
      await story.say([`round ${round}`]);
      if (round % 2) await story.sleeper.sleep();
      line = await comeBack(story.room, recoveryAuth);
      expect(connectAnswer(line)).toEqual({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
      expect(contentsOf(line)).toEqual([`round ${round}`]);
      recoveryAuth = recoveryAuthOf(line);
    }
  });

  it("again and again, never noticed by the server", async () => {
    const { room, recoveryAuth, say } = await begin();
    for (let round = 1; round <= 3; round++) {
      const back = await comeBack(room, recoveryAuth);
      expect(connectAnswer(back), `round ${round}`).toEqual({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
    }
    await say([]);
  });

  it(`${MISSED_MAX} messages are replayed, one more is a fresh start`, async () => {
    const story = await begin();
    await drop(story);
    await fill(story, MISSED_MAX);
    const back = await comeBack(story.room, story.recoveryAuth);
    expect(connectAnswer(back)).toEqual({ sid: story.recoveryAuth.sid, pid: story.recoveryAuth.pid });
    const first = HEARD.length + 1;
    expect(back.received<Message>("chat-message").map(({ seq }) => seq)).toEqual(
      Array.from({ length: MISSED_MAX }, (_, i) => first + i),
    );
    back.close();
    await back.closes();
    await story.say(["one more"]);
    await expectFresh(story, await comeBack(story.room, story.recoveryAuth));
  });
});

describe("does not recover: REC-3", () => {
  const trim: Step = ({ room }) =>
    runInDurableObject(stubOf(room), (_instance, { storage }) => {
      // The trim dropped the messages after the client's offset; the newest message is there.
      const retention = { messages: 1, ageMs: 1e12 };
      const log = openLog(storage, room, retention);
      const { lastSeq } = log;
      const newest = log.page({ limit: 1 }).messages[0]!;
      log.append([{ ...newest, seq: lastSeq + 1 }]);
      log.trim(Date.now());
      expect(log.firstSeq).toBe(lastSeq + 1);
    });
  const wipe: Step = ({ room }) =>
    runInDurableObject(stubOf(room), (_instance, { storage }) => {
      wipeStorage(storage);
    });
  const sayOneByOne: Step = async ({ say }) => {
    for (const content of MISSED) await say([content]);
  };
  const sleep: Step = ({ sleeper }) => sleeper.sleep();

  /** A moderator's action on ada. */
  const moderate =
    (...events: string[]): Step =>
    async ({ room }) => {
      const mia = await RawClient.open({ room });
      await mia.connect({ token: await tokenFor("mia", { role: "moderator" }) });
      for (const event of events) expect(await mia.ask(event, { user: "ada" })).toEqual({ ok: true });
      mia.close();
    };

  const causes: Array<[cause: string, ...steps: Step[]]> = [
    ["a moderator kicked the user", moderate("kick")],
    ["a moderator kicked the user, and the object slept", moderate("kick"), ({ say }) => say(MISSED), sleep],
    ["a moderator banned the user, and lifted the ban", moderate("ban", "unban"), sleep],
    ["the same while the connection was broken", drop, moderate("ban", "unban"), ({ say }) => say(MISSED), sleep],
    ["the client disconnected on purpose", (story) => sendAndGo(story, "41")],
    ["the client broke the protocol", (story) => sendAndGo(story, "nonsense")],
    ["the window is over", drop, () => advance(WINDOW_SECONDS + 1)],
    ["the log was trimmed", drop, sayOneByOne, trim, sleep],
    ["the room was wiped", drop, wipe, sleep],
    [
      "the room was wiped, and has grown as long again",
      drop,
      wipe,
      sleep,
      ({ say }) => say([...HEARD, ...MISSED, "more"]),
    ],
  ];

  it.each(causes)("%s", async (_cause, ...steps) => {
    const story = await begin();
    for (const step of steps) await step(story);
    await expectFresh(story, await comeBack(story.room, story.recoveryAuth));
  });

  it("the server disconnected it: the token had expired", async () => {
    const room = freshRoom();
    const ada = await RawClient.open({ room, ...RECOVERING });
    await ada.connect({ token: await tokenFor("ada", {}, 30) });
    await ada.receives("welcome");
    const recoveryAuth = recoveryAuthOf(ada);
    await advance(31);
    const say = (contents: readonly string[]): Promise<void> => sayIn(room, contents);
    await say(["on and on"]);
    await ada.receivesPacket(PacketType.DISCONNECT);
    await expectFresh({ recoveryAuth, say }, await comeBack(room, recoveryAuth));
  });

  it("after the window, regardless of how many others left since", async () => {
    const story = await begin();
    await drop(story);
    for (let i = 0; i < 3; i++) {
      await advance(WINDOW_SECONDS + 1);
      await story.say([`later ${i}`]);
    }
    await expectFresh(story, await comeBack(story.room, story.recoveryAuth));
  });

  it("after a disconnect, regardless of how many others left since", async () => {
    const story = await begin();
    story.ada.send("41");
    await drop(story);
    for (let i = 0; i < 3; i++) {
      await advance(WINDOW_SECONDS + 1);
      await story.say([`later ${i}`]);
    }
    await expectFresh(story, await comeBack(story.room, story.recoveryAuth));
  });

  it("a token that has expired meanwhile is refused: CONNECT_ERROR; with a fresh one the same pid and offset recover", async () => {
    const story = await begin();
    const { room, recoveryAuth } = story;
    await drop(story);
    await story.say(MISSED);
    const expired = await tokenFor("ada", {}, -10);
    await expect(comeBack(room, recoveryAuth, expired)).rejects.toMatchObject({ data: { code: "TOKEN_EXPIRED" } });
    await expectRecovered(story, await comeBack(room, recoveryAuth), MISSED);
  });

  it.each<[when: string, ...steps: Step[]]>([
    ["while connected", moderate("ban")],
    ["while the line is broken", drop, moderate("ban")],
    ["and the object sleeps", drop, moderate("ban"), sleep],
    ["and the object dies", moderate("ban"), crash],
  ])("a user who is banned meanwhile is refused, %s: CONNECT_ERROR, nothing replayed", async (_when, ...steps) => {
    const story = await begin();
    for (const step of steps) await step(story);
    await story.say(MISSED);
    const { pid, offset } = story.recoveryAuth;
    const back = await RawClient.open({ room: story.room, ...RECOVERING });
    const connecting = back.connect({ pid, offset, token: await tokenFor("ada") });
    await expect(connecting).rejects.toMatchObject({ data: { code: "BANNED" } });
    await story.say(["afterwards"]);
    expect(back.packets).toHaveLength(1);
  });

  it("another user's token with a stolen pid does not, and the owner still recovers", async () => {
    const story = await begin();
    await story.say(MISSED);
    const thief = await comeBack(story.room, story.recoveryAuth, await tokenFor("mallory"));
    expect(connectAnswer(thief).sid).not.toBe(story.recoveryAuth.sid);
    expect(contentsOf(thief)).toEqual([]);
    expect(story.ada.closed).toBeUndefined();
    thief.close();
    await drop(story);
    const back = await comeBack(story.room, story.recoveryAuth);
    expect(connectAnswer(back).sid).toBe(story.recoveryAuth.sid);
    expect(contentsOf(back)).toEqual(MISSED);
  });

  it("the pid of another room", async () => {
    const [here, there] = [await begin(), await begin()];
    await expectFresh({ ...there, recoveryAuth: here.recoveryAuth }, await comeBack(there.room, here.recoveryAuth));
  });

  const flip = (text: string): string => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`;
  const forgeries: Array<[what: string, forge: (recoveryAuth: RecoveryAuth) => { pid?: unknown; offset?: unknown }]> = [
    ["a pid with another signature", ({ pid, offset }) => ({ pid: flip(pid), offset })],
    [
      "a pid with another id",
      ({ pid, offset }) => ({ pid: pid.replace(/^./, (first) => (first === "A" ? "B" : "A")), offset }),
    ],
    ["a pid cut short", ({ pid, offset }) => ({ pid: pid.slice(0, -1), offset })],
    ["a pid with something behind it", ({ pid, offset }) => ({ pid: `${pid}0`, offset })],
    ["a pid without a signature", ({ sid, offset }) => ({ pid: sid, offset })],
    ["an empty pid", ({ offset }) => ({ pid: "", offset })],
    ["a pid that is a number", ({ offset }) => ({ pid: 7, offset })],
    ["a pid that is an object", ({ offset }) => ({ pid: { toString: 1, length: 3 }, offset })],
    ["a giant pid", ({ pid, offset }) => ({ pid: pid.repeat(500), offset })],
    ["no pid", ({ offset }) => ({ offset })],
    ["null for an offset", ({ pid }) => ({ pid, offset: null })],
    ["an empty offset", ({ pid }) => ({ pid, offset: "" })],
    ["an offset that is a number", ({ pid }) => ({ pid, offset: 2 })],
    ["an offset that is a list", ({ pid, offset }) => ({ pid, offset: [offset] })],
    ["an offset of another epoch", ({ pid, offset }) => ({ pid, offset: `x${offset}` })],
    ["a pid that began elsewhere", ({ pid, offset }) => ({ pid: pid.replace(/\.\w+\.(\w+)$/, ".1.$1"), offset })],
    ["a pid of another epoch", ({ pid, offset }) => ({ pid: pid.replace(".", ".x"), offset: `x${offset}` })],
    ["an offset without a place", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".") })],
    ["an offset beyond the end", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".zz") })],
    ["an offset below zero", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".-1") })],
    ["an offset with a fraction", ({ pid, offset }) => ({ pid, offset: `${offset}.5` })],
    ["an offset with leading zeros", ({ pid, offset }) => ({ pid, offset: offset.replace(".", ".00") })],
    ["an offset in capitals", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".1E1") })],
    ["an offset that is no number", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".NaN") })],
    ["an infinite offset", ({ pid, offset }) => ({ pid, offset: offset.replace(/\..*/, ".Infinity") })],
    ["a giant offset", ({ pid, offset }) => ({ pid, offset: `${offset.replace(/\..*/, ".")}${"1".repeat(20_000)}` })],
  ];

  it("a client without an offset gets all events since its CONNECT: REC-3", async () => {
    const story = await begin();
    await drop(story);
    await story.say(MISSED);
    const back = await comeBack(story.room, { pid: story.recoveryAuth.pid });
    expect(connectAnswer(back)).toEqual({ sid: story.recoveryAuth.sid, pid: story.recoveryAuth.pid });
    expect(contentsOf(back)).toEqual([...HEARD, ...MISSED]);
  });

  it("any made-up pid and offset", async () => {
    const story = await begin();
    await drop(story);
    await story.say(MISSED);
    for (const [what, forge] of forgeries) {
      const client = await comeBack(story.room, forge(story.recoveryAuth));
      const { sid, pid } = connectAnswer(client);
      expect(sid, what).not.toBe(story.recoveryAuth.sid);
      expect(pid, what).not.toBe(story.recoveryAuth.pid);
      expect(contentsOf(client), what).toEqual([]);
      client.close();
    }
    // None of it has cost the rightful owner anything.
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), MISSED);
  });
});
