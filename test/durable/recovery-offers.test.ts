// Tests which clients are offered recovery, the offer on the wire, and recovery over long-polling, where a replay is bounded in bytes.
import { evictDurableObject } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";

import { MISSED_BYTES_MAX } from "../../src/socketio/recovery/recovery.ts";
import { answerOf, Poller, UNKNOWN_SID } from "./poller.ts";
import { RawClient, type UpgradeOptions } from "./raw-client.ts";
import { begin, connectAnswer, contentsOf, drop, fill, RECOVERING } from "./recovery-story.ts";
import { freshRoom, join, stubOf, tokenFor, useSettings } from "./rooms.ts";
import { PacketType } from "../wire/wire-client.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36";

/** All events so far, each with all of its arguments; those that ask for an ack are not among them. */
const eventsOf = (client: RawClient): unknown[][] =>
  client.packets.flatMap(({ type, id, data }) =>
    type === PacketType.EVENT && id === undefined ? [data as unknown[]] : [],
  );

/** A member that received each kind of event of a room. */
async function hearAll(room: string, options: UpgradeOptions): Promise<unknown[][]> {
  const ada = await join(room, "ada", options);
  ada.emit("no-such-event", {});
  await ada.receives("error");
  const ben = await join(room, "ben");
  await ben.ask("chat-message", { content: "hello" });
  ben.close();
  await ada.receives("chat-message");
  await ada.receives("presence");
  return eventsOf(ada);
}

describe("is offered to clients that support it: REC-1, REC-2", () => {
  const clients: Array<[client: string, isOffered: boolean, options: Pick<UpgradeOptions, "query" | "headers">]> = [
    ["a browser", true, { headers: { "User-Agent": BROWSER } }],
    ["a browser with recovery=off", false, { headers: { "User-Agent": BROWSER }, query: { recovery: "off" } }],
  ];

  // test/socketio/recovery/recovery-clients.test.ts has more of them.
  it.each(clients)("%s: %s", async (_client, isOffered, options) => {
    const room = freshRoom();
    const ada = await join(room, "ada", options);
    const keys = isOffered ? ["sid", "pid"] : ["sid"];
    expect(Object.keys(connectAnswer(ada))).toEqual(keys);
    const [welcome] = eventsOf(ada);
    expect(welcome).toHaveLength(isOffered ? 3 : 2);
  });

  it("every event ends with an offset, also a private one: welcome, error, presence, chat-message", async () => {
    const events = await hearAll(freshRoom(), RECOVERING);
    expect(new Set(events.map(([name]) => name))).toEqual(new Set(["welcome", "error", "presence", "chat-message"]));
    for (const event of events) {
      expect(event, JSON.stringify(event)).toHaveLength(3);
      expect(event[2]).toMatch(/^[0-9a-f]{20}([0-9a-z]{10})?\.[0-9a-z]+$/);
    }
    const ends = events.map((event) => Number.parseInt((event[2] as string).split(".")[1]!, 36));
    expect(ends).toEqual([...ends].sort((a, b) => a - b));
    expect(new Set(ends)).toEqual(new Set([0, 1]));
  });

  it("no event ends with an offset for a client that does not support it: REC-2", async () => {
    const events = await hearAll(freshRoom(), { query: { recovery: "off" } });
    expect(new Set(events.map((event) => event.length))).toEqual(new Set([2]));
  });

  it("the first offset comes right after CONNECT, before any event: REC-1", async () => {
    const ada = await join(freshRoom(), "ada", RECOVERING);
    const texts = ada.frames.filter((frame) => typeof frame === "string");
    expect(texts[1]).toMatch(/^40\{"sid":"[^"]+","pid":"[^"]+"\}$/);
    expect(texts[2]).toMatch(/^42\["welcome",.*,"[0-9a-f]{20}\.0"\]$/);
  });

  it("a client that does not support it cannot use it: a pid of an earlier connection is ignored", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada", RECOVERING);
    const { sid, pid } = connectAnswer(ada);
    const offset = eventsOf(ada)[0]!.at(-1);
    ada.close();
    const plain = await RawClient.open({ room, query: { recovery: "off" } });
    expect(await plain.connect({ token: await tokenFor("ada"), pid, offset })).not.toBe(sid);
    expect(Object.keys(connectAnswer(plain))).toEqual(["sid"]);
  });
});

describe("RECOVERY_WINDOW_SECONDS=0", () => {
  useSettings({ RECOVERY_WINDOW_SECONDS: "0" });

  it("no client gets a pid or an offset, and a made-up pid is ignored", async () => {
    const room = freshRoom();
    const events = await hearAll(room, RECOVERING);
    expect(new Set(events.map((event) => event.length))).toEqual(new Set([2]));
    const client = await RawClient.open({ room, ...RECOVERING });
    await client.connect({ token: await tokenFor("ada"), pid: "made.up", offset: "x.0" });
    expect(Object.keys(connectAnswer(client))).toEqual(["sid"]);
  });
});

describe("long-polling", () => {
  async function enter(room: string, auth: object = {}): Promise<Poller> {
    const poller = await Poller.open(room, RECOVERING);
    await poller.enter("/", { token: await tokenFor("ada"), ...auth });
    await poller.receives("welcome");
    return poller;
  }
  const offsetOf = (client: Poller): unknown => client.events().at(-1)!.event.at(-1);

  it.each(["hibernate", "close"] as const)(
    'its object dies (%s): 400 {"code":1}, and a client that recovers loses nothing: EIO-8, REC-4',
    async (webSockets) => {
      const room = freshRoom();
      const first = await enter(room);
      await evictDurableObject(stubOf(room), { webSockets });
      await first.isGone();
      expect(await answerOf(first.post("3"))).toEqual({ status: 400, body: UNKNOWN_SID });
      const ben = await join(room, "ben");
      const missed = ["missed 1", "missed 2"];
      for (const content of missed) await ben.ask("chat-message", { content });
      const { pid, sid } = connectAnswer(first);
      const second = await enter(room, { pid, offset: offsetOf(first) });
      expect(connectAnswer(second)).toEqual({ sid, pid });
      expect(contentsOf(second)).toEqual(missed);
    },
  );

  it("events that were queued and never fetched are replayed: REC-4", async () => {
    const room = freshRoom();
    const first = await enter(room);
    const ben = await join(room, "ben");
    await ben.ask("chat-message", { content: "queued" });
    const [{ pid }, offset] = [connectAnswer(first), offsetOf(first)];
    await evictDurableObject(stubOf(room), { webSockets: "hibernate" });
    await ben.ask("chat-message", { content: "missed" });
    const second = await enter(room, { pid, offset });
    expect(contentsOf(second)).toEqual(["queued", "missed"]);
    await vi.waitFor(() => expect(ben.received("chat-message")).toHaveLength(2));
  });

  const CONTENT = "x".repeat(1000);
  /** About as many as fit, with all that travels around a message's content. */
  const FITTING = Math.floor(MISSED_BYTES_MAX / (CONTENT.length + 250));

  it.each([
    [FITTING, true],
    [1000, false],
  ])(
    "after %i long messages a client connects at its first try, recovered: %s: REC-3",
    async (messages, isRecovered) => {
      const story = await begin();
      const { sid, pid, offset } = story.recoveryAuth;
      await drop(story);
      await fill(story, messages, CONTENT);
      const back = await enter(story.room, { pid, offset });
      expect(connectAnswer(back).sid === sid).toBe(isRecovered);
      expect(contentsOf(back)).toHaveLength(isRecovered ? messages : 0);
    },
  );
});
