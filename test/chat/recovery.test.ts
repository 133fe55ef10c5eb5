// Reconnecting with a `pid` in a room in memory: recovered with exactly the missed messages, or connected as a new socket.
// test/durable/recovery.test.ts has what needs the real log, sleep and death of an object.
import { describe, expect, it } from "vitest";

import { MISSED_MESSAGES_MAX } from "../../src/protocol/limits.ts";
import type { Message } from "../../src/protocol/chat-events.ts";
import { ChatRoom, expiresIn, RECOVERS, recoveryAuthOf, SETTINGS, UNLIMITED, type Person } from "../host/chat-room.ts";
import type { Client } from "../host/harness.ts";

const HEARD = ["heard 1", "heard 2"];
const MISSED = ["missed 1", "missed 2", "missed 3"];
const WINDOW_MS = SETTINGS.recoveryWindowMs;

interface Story {
  readonly room: ChatRoom;
  readonly ada: Client;
  readonly recoveryAuth: ReturnType<typeof recoveryAuthOf>;
}

type Step = (story: Story) => void | Promise<void>;

const contentsOf = (client: Client): string[] => client.received<Message>("chat-message").map(({ content }) => content);

/** Ben posts it, without a connection. */
async function say({ room }: Pick<Story, "room">, contents: readonly string[]): Promise<void> {
  for (const content of contents) expect(await room.ask("chat-message", "ben", { content })).toHaveProperty("ok");
  room.quiet();
}

/** Ada is in a room and has received some messages. */
async function begin(person: string | Person = "ada"): Promise<Story> {
  const room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 });
  const ada = await room.join(person, RECOVERS);
  await say({ room }, HEARD);
  expect(contentsOf(ada)).toEqual(HEARD);
  return { room, ada, recoveryAuth: recoveryAuthOf(ada) };
}

const comeBack = ({ room, recoveryAuth }: Story, auth: object = recoveryAuth, person: string | Person = "ada") =>
  room.join(person, RECOVERS, auth);

/** With these messages and no others, before and after `welcome`: REC-4, REC-5. */
async function expectRecovered(story: Story, back: Client, missed: readonly string[]): Promise<void> {
  const { sid, pid } = story.recoveryAuth;
  expect(back.accepted()).toEqual({ sid, pid });
  const replayed = back.received<Message>("chat-message");
  expect(replayed.map(({ content, seq }) => [content, seq])).toEqual(
    missed.map((content, at) => [content, HEARD.length + 1 + at]),
  );
  const begun = back.events().slice(0, missed.length + 1);
  expect(begun.map(({ event: [name] }) => name)).toEqual([...missed.map(() => "chat-message"), "welcome"]);
  for (const { event } of begun.slice(0, -1)) expect(event.at(-1)).toBe((event[1] as Message).id.replace("-", "."));
  await say(story, ["afterwards"]);
  expect(contentsOf(back)).toEqual([...missed, "afterwards"]);
}

/** Another id, and none of the missed messages: REC-3. */
async function expectFresh(story: Story, back: Client): Promise<void> {
  const { sid, pid } = back.accepted();
  expect([sid, pid]).not.toContain(story.recoveryAuth.sid);
  expect(pid).not.toBe(story.recoveryAuth.pid);
  await say(story, ["afterwards"]);
  expect(contentsOf(back)).toEqual(["afterwards"]);
}

const drop: Step = ({ ada }) => ada.leave();
const sleep: Step = ({ room }) => {
  room.shell.advance(1000);
  room.shell.evict();
};
const die: Step = ({ room }) => room.shell.crash();
const miss: Step = (story) => say(story, MISSED);
const wait =
  (ms: number): Step =>
  ({ room }) =>
    room.shell.advance(ms);

describe("recovers exactly the missed events, in order: REC-3, REC-4, REC-5", () => {
  it.each<[cause: string, ...steps: Step[]]>([
    ["the connection breaks", drop, miss],
    ["the client's Engine.IO says close", ({ ada }) => ada.send("1"), miss],
    ["the connection breaks after a sleep", sleep, drop, miss],
    ["the room sleeps while the client is away", drop, miss, sleep],
    ["it sleeps twice", drop, sleep, miss, sleep],
    ["the room dies with its connections", die, miss],
    ["it dies while the client is away", drop, miss, die],
    ["almost all of the window passes", drop, miss, wait(WINDOW_MS - 5000)],
    ["the server has not noticed", miss],
  ])("%s", async (_cause, ...steps) => {
    const story = await begin();
    for (const step of steps) await step(story);
    await expectRecovered(story, await comeBack(story), MISSED);
  });

  it("nothing was missed", async () => {
    const story = await begin();
    await drop(story);
    await expectRecovered(story, await comeBack(story), []);
  });

  it("the stale connection is closed with 4005, and its user counts once", async () => {
    const story = await begin();
    const back = await comeBack(story);
    expect(story.ada.closing).toMatchObject({ code: 4005, reason: "superseded" });
    expect(await back.ask("presence", {})).toMatchObject({ count: 1, members: [{ user: "ada", connections: 1 }] });
  });

  it("again and again, each time from the last offset", async () => {
    const story = await begin();
    let { ada: line, recoveryAuth } = story;
    for (let round = 1; round <= 4; round++) {
      line.leave();
      await say(story, [`round ${round}`]);
      if (round % 2) await sleep(story);
      line = await comeBack(story, recoveryAuth);
      expect(line.accepted()).toEqual({ sid: story.recoveryAuth.sid, pid: story.recoveryAuth.pid });
      expect(contentsOf(line)).toEqual([`round ${round}`]);
      recoveryAuth = recoveryAuthOf(line);
    }
  });

  it("a client without an offset gets all events since its CONNECT", async () => {
    const story = await begin();
    await drop(story);
    await miss(story);
    const back = await comeBack(story, { pid: story.recoveryAuth.pid });
    expect(back.accepted().sid).toBe(story.recoveryAuth.sid);
    expect(contentsOf(back)).toEqual([...HEARD, ...MISSED]);
  });

  it(`${MISSED_MESSAGES_MAX} messages are replayed, one more is a fresh start`, async () => {
    const story = await begin();
    await drop(story);
    await say(
      story,
      Array.from({ length: MISSED_MESSAGES_MAX }, (_, at) => `missed ${at}`),
    );
    const back = await comeBack(story);
    expect(back.accepted().sid).toBe(story.recoveryAuth.sid);
    expect(contentsOf(back)).toHaveLength(MISSED_MESSAGES_MAX);
    back.leave();
    await say(story, ["one more"]);
    await expectFresh(story, await comeBack(story));
  });
});

describe("does not recover: REC-3", () => {
  it.each<[cause: string, ...steps: Step[]]>([
    ["the client disconnected on purpose", ({ ada }) => ada.send("41"), drop],
    ["the client broke the protocol", ({ ada }) => ada.send("nonsense")],
    ["the window is over", drop, wait(WINDOW_MS + 1000)],
  ])("%s, also when others have left since", async (_cause, ...steps) => {
    const story = await begin();
    for (const step of steps) await step(story);
    for (let others = 0; others < 3; others++) {
      (await story.room.join("ben")).leave();
      await wait(WINDOW_MS + 1000)(story);
      await say(story, [`later ${others}`]);
    }
    await expectFresh(story, await comeBack(story));
  });

  it("the token had expired while the client was connected", async () => {
    const story = await begin({ user: "ada", exp: expiresIn(30) });
    await wait(31_000)(story);
    expect(story.ada.frames.at(-1)).toBe("41");
    await expectFresh(story, await comeBack(story));
  });

  it("a token that has expired meanwhile is refused; with a fresh one the same pid and offset recover", async () => {
    const story = await begin();
    await drop(story);
    await miss(story);
    const refused = await comeBack(story, story.recoveryAuth, { user: "ada", exp: expiresIn(-10) });
    expect(refused.refusal).toMatchObject({ data: { code: "TOKEN_EXPIRED" } });
    await expectRecovered(story, await comeBack(story), MISSED);
  });

  it("another user with a stolen pid; the owner still does", async () => {
    const story = await begin();
    await miss(story);
    const thief = await comeBack(story, story.recoveryAuth, "mallory");
    expect(thief.accepted().sid).not.toBe(story.recoveryAuth.sid);
    expect(contentsOf(thief)).toEqual([]);
    expect(story.ada.closing).toBeUndefined();
    thief.leave();
    await drop(story);
    await expectRecovered(story, await comeBack(story), MISSED);
  });

  it("the pid of another room", async () => {
    const { recoveryAuth } = await begin();
    const room = new ChatRoom({ messageRate: UNLIMITED, flushWindowMs: 0 }, {}, { name: "elsewhere", epoch: "e2" });
    await say({ room }, [...HEARD, ...MISSED]);
    const back = await room.join("ada", RECOVERS, recoveryAuth);
    expect(back.accepted().pid).not.toBe(recoveryAuth.pid);
    expect(contentsOf(back)).toEqual([]);
  });

  const flip = (text: string): string => `${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`;

  it.each<
    [what: string, forge: (recoveryAuth: ReturnType<typeof recoveryAuthOf>) => { pid?: unknown; offset?: unknown }]
  >([
    ["a pid with another signature", ({ pid, offset }) => ({ pid: flip(pid), offset })],
    ["a pid with another id", ({ pid, offset }) => ({ pid: `x${pid}`, offset })],
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
  ])("%s, and the owner loses nothing by it", async (_what, forge) => {
    const story = await begin();
    await drop(story);
    await miss(story);
    const client = await comeBack(story, forge(story.recoveryAuth));
    expect([client.accepted().sid, contentsOf(client)]).not.toContain(story.recoveryAuth.sid);
    expect(client.accepted().pid).not.toBe(story.recoveryAuth.pid);
    expect(contentsOf(client)).toEqual([]);
    client.leave();
    await expectRecovered(story, await comeBack(story), MISSED);
  });
});
