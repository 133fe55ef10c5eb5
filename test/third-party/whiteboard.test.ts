// An application that knows nothing of chat: what it gets from the layers below, across sleep and death.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";

import { RawClient } from "../object/raw-client.ts";
import { WINDOW_MS } from "./whiteboard.ts";

const realNow = Date.now.bind(Date);
let skewMs = 0;
afterEach(() => {
  vi.restoreAllMocks();
  skewMs = 0;
});

/** Clocks go on, later by so much. */
function advance(ms: number): void {
  skewMs += ms;
  vi.spyOn(Date, "now").mockImplementation(() => realNow() + skewMs);
}

let boards = 0;
const freshRoom = (): string => `whiteboard-${++boards}`;
const evict = (room: string, webSockets: "hibernate" | "close"): Promise<void> =>
  evictDurableObject(env.CHAT_ROOM.getByName(room), { webSockets });

interface Ticket {
  readonly sid: string;
  readonly pid: string;
  readonly offset: string;
}

interface WhoAmI {
  readonly id: string;
  readonly rooms: string[];
  readonly recovered: boolean;
  readonly boards: number;
  readonly connects: number;
  readonly strokes: number;
}

async function enter(room: string, auth?: Partial<Ticket>): Promise<RawClient> {
  const client = await RawClient.open({ room, query: { recovery: "on" } });
  await client.connect(auth);
  // The whole turn has come once something asked after it is answered.
  await call(client, "whoami");
  return client;
}

let calls = 1000;
/** Emits with an ack callback, and as many arguments as it takes. */
async function call<Answer>(client: RawClient, event: string, ...args: unknown[]): Promise<Answer> {
  const id = ++calls;
  client.send(`42${id}${JSON.stringify([event, ...args])}`);
  return answerTo<Answer>(client, id);
}

async function answerTo<Answer>(client: RawClient, id: number): Promise<Answer> {
  const ack = await client.until(`ack ${id}`, () =>
    client.packets().find((packet) => packet.digit === "3" && packet.id === id),
  );
  return (ack.data as Answer[])[0]!;
}

const say = (client: RawClient, ...event: unknown[]): void => client.send(`42${JSON.stringify(event)}`);

/** Everything that the client was told without being asked, less the offsets. */
const heard = (client: RawClient): unknown[][] =>
  client
    .packets()
    .flatMap(({ digit, id, data }) => (digit === "2" && id === undefined ? [(data as unknown[]).slice(0, -1)] : []))
    .filter(([event]) => event !== "offset");

const ticketOf = (client: RawClient): Ticket => {
  const packets = client.packets();
  const events = packets.filter(({ digit, id }) => digit === "2" && id === undefined);
  return {
    ...(packets.find(({ digit }) => digit === "0")!.data as { sid: string; pid: string }),
    offset: (events.at(-1)!.data as string[]).at(-1)!,
  };
};

/** Asked by the server, with an ack id. */
const question = (client: RawClient, event: string): Promise<number> =>
  client.until(
    `the question ${event}`,
    () =>
      client
        .packets()
        .find(({ digit, id, data }) => digit === "2" && id !== undefined && (data as string[])[0] === event)?.id,
  );

/** A painter on the red board, who was on the green one, and heard one stroke. */
async function begin(): Promise<{ room: string; ada: RawClient; ben: RawClient; ticket: Ticket }> {
  const room = freshRoom();
  const [ada, ben] = [await enter(room), await enter(room)];
  await call(ada, "join", "red");
  await call(ada, "join", "green");
  expect(await call(ada, "leave", "green")).toEqual([ticketOf(ada).sid, "red"]);
  say(ben, "draw", "red", "first");
  await ada.until("the first stroke", () => (heard(ada).length > 0 ? true : undefined));
  return { room, ada, ben, ticket: ticketOf(ada) };
}

/** What ada misses, and what of it she was meant to hear. */
async function sayMissed(speaker: RawClient): Promise<unknown[][]> {
  say(speaker, "draw", "red", "second");
  say(speaker, "draw", "blue", "not for her");
  say(speaker, "draw", "green", "not any more");
  say(speaker, "shout", "for all");
  say(speaker, "shout", "for all but her", "red");
  say(speaker, "draw", "red", { deep: [1, null, "ä\u001e"] });
  await call(speaker, "whoami");
  return [
    ["drawn", "red", "second"],
    ["shouted", "for all"],
    ["drawn", "red", { deep: [1, null, "ä\u001e"] }],
  ];
}

const whoami = (client: RawClient): Promise<WhoAmI> => call<WhoAmI>(client, "whoami");
async function drop(client: RawClient): Promise<void> {
  client.close();
  await client.closes();
}

describe("recovers what its channels were told, in order, and the channels and data with it: REC-3, REC-4", () => {
  type Step = (room: string, ada: RawClient) => Promise<unknown> | void;
  const causes: Array<[cause: string, before: Step[], after: Step[]]> = [
    ["the line breaks", [(_room, ada) => drop(ada)], []],
    ["the server has not noticed", [], []],
    ["the object sleeps before", [(room) => evict(room, "hibernate"), (_room, ada) => drop(ada)], []],
    ["the object sleeps in between", [(_room, ada) => drop(ada)], [(room) => evict(room, "hibernate")]],
    ["the object dies before", [(room) => evict(room, "close")], []],
    ["the object dies in between", [(_room, ada) => drop(ada)], [(room) => evict(room, "close")]],
    ["it dies and sleeps", [(room) => evict(room, "close")], [(room) => evict(room, "hibernate")]],
    ["nearly the whole window passes", [(_room, ada) => drop(ada)], [() => advance(WINDOW_MS - 2000)]],
  ];

  it.each(causes)("%s", async (_cause, before, after) => {
    const { room, ada, ticket } = await begin();
    for (const step of before) await step(room, ada);
    const missed = await sayMissed(await enter(room));
    for (const step of after) await step(room, ada);
    const back = await enter(room, ticket);
    expect(back.packets()[0]!.data).toEqual({ sid: ticket.sid, pid: ticket.pid });
    expect(heard(back)).toEqual(missed);
    expect(await whoami(back)).toMatchObject({
      id: ticket.sid,
      rooms: [ticket.sid, "red"],
      recovered: true,
      boards: 2,
    });
    say(await enter(room), "draw", "red", "afterwards");
    await back.until("what follows", () => heard(back)[missed.length]);
    expect(heard(back).slice(missed.length)).toEqual([["drawn", "red", "afterwards"]]);
  });

  it("again and again without ever being noticed", async () => {
    const { room, ben, ticket } = await begin();
    const missed = await sayMissed(ben);
    for (let round = 1; round <= 3; round++) {
      const back = await enter(room, ticket);
      expect(heard(back), `round ${round}`).toEqual(missed);
      expect((await whoami(back)).rooms).toEqual([ticket.sid, "red"]);
    }
  });

  it("data that changed since the last channel was joined, also where the server has not noticed", async () => {
    const { room, ada, ticket } = await begin();
    say(ada, "draw", "red", "mine");
    expect(await whoami(ada)).toMatchObject({ strokes: 1 });
    expect(await whoami(await enter(room, ticket))).toMatchObject({ strokes: 1, recovered: true });
  });

  it("what the object's death took with it is not said to be recovered: data is whole or the connection fresh", async () => {
    const { room, ada, ticket } = await begin();
    say(ada, "draw", "red", "mine");
    expect(await whoami(ada)).toMatchObject({ strokes: 1 });
    await evict(room, "close");
    const { recovered, strokes } = await whoami(await enter(room, ticket));
    expect(recovered ? strokes : 1).toBe(1);
  });

  it("bytes", async () => {
    const { room, ada, ben, ticket } = await begin();
    await drop(ada);
    const stroke = new Uint8Array([0, 30, 255, 98]);
    ben.send('451-["draw","red",{"_placeholder":true,"num":0}]', stroke.buffer);
    await call(ben, "whoami");
    await evict(room, "close");
    const back = await enter(room, ticket);
    const at = back.frames.findIndex((frame) => typeof frame === "string" && frame.startsWith("451-"));
    expect(back.frames[at]).toMatch(/^451-\["drawn","red",\{"_placeholder":true,"num":0\},"[^"]+"\]$/);
    expect(await new Response(back.frames[at + 1]).bytes()).toEqual(stroke);
    expect((await whoami(back)).recovered).toBe(true);
  });
});

describe("is not said to have recovered where that cannot be proven: REC-3", () => {
  type Story = { room: string; ada: RawClient; ben: RawClient };
  const talk = async ({ room }: Story, text: string): Promise<void> => {
    const speaker = await enter(room);
    say(speaker, "shout", text);
    await call(speaker, "whoami");
    speaker.close();
  };
  const sayGoodbye = ({ ada }: Story): Promise<void> => {
    ada.send("41");
    return drop(ada);
  };
  const causes: Array<[cause: string, run: (story: Story) => Promise<void>]> = [
    ["a goodbye", sayGoodbye],
    [
      "a goodbye, then sleep",
      async (story) => {
        await sayGoodbye(story);
        await evict(story.room, "hibernate");
      },
    ],
    ["the window is over", ({ ada }) => drop(ada).then(() => advance(WINDOW_MS + 1))],
    [
      "the window is over, and the object slept",
      async ({ room, ada }) => {
        await drop(ada);
        await evict(room, "hibernate");
        advance(WINDOW_MS + 1);
      },
    ],
    [
      "the window is over, the tables took a turn, and the object slept",
      async (story) => {
        await drop(story.ada);
        advance(WINDOW_MS + 1);
        await talk(story, "turns the tables once");
        await evict(story.room, "close");
      },
    ],
    [
      "the tables took two turns",
      async (story) => {
        for (let turn = 0; turn < 3; turn++) {
          advance(WINDOW_MS + 1);
          await talk(story, `turn ${turn}`);
        }
        await drop(story.ada);
      },
    ],
  ];

  it.each(causes)("%s", async (_cause, run) => {
    const { room, ada, ben, ticket } = await begin();
    await run({ room, ada, ben });
    const back = await enter(room, ticket);
    expect(await whoami(back)).toMatchObject({
      recovered: false,
      rooms: [expect.not.stringMatching(ticket.sid)],
      boards: 0,
    });
    expect(heard(back)).toEqual([]);
  });
});

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
    const [adaId, benId] = [ticketOf(ada).sid, ticketOf(ben).sid];
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

  it("nobody else can answer it", async () => {
    const { ada, ben } = await begin();
    say(ada, "review", ticketOf(ben).sid, 600_000);
    const id = await question(ben, "review?");
    ada.send(`43${id}["forged"]`);
    await whoami(ada);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toEqual([]);
  });

  it("a long one that nobody answers is timed out by the alarm of a sleeping object", async () => {
    const { room, ada, ben } = await begin();
    say(ada, "review", ticketOf(ben).sid, 3000);
    const id = await question(ben, "review?");
    await vi.waitFor(async () => expect(await alarmOf(room)).toBeLessThan(Date.now() + 3000), { timeout: 2000 });
    await evict(room, "hibernate");
    const reviewed = await ada.until("the timeout", () => heard(ada).find(([event]) => event === "reviewed"));
    expect(reviewed[2]).toEqual({ kind: "timeout" });
    ben.send(`43${id}["too late"]`);
    await whoami(ben);
    expect(heard(ada).filter(([event]) => event === "reviewed")).toHaveLength(1);
  });

  it("a short one: answered, timed out, and given up when the client goes", async () => {
    const { ada, ben } = await begin();
    const benId = ticketOf(ben).sid;
    const answer = call(ada, "vote", benId, 5000);
    ben.send(`43${await question(ben, "vote?")}["yes"]`);
    expect(await answer).toBe("yes");
    expect(await call(ada, "vote", benId, 50)).toMatch(/operation has timed out/);
    const givenUp = call(ada, "vote", benId, 9000);
    await ben.until("the third question", () =>
      ben.packets().filter(({ data }) => (data as string[])?.[0] === "vote?").length === 3 ? true : undefined,
    );
    ben.close();
    expect(await givenUp).toMatch(/socket has been disconnected/);
    expect(await whoami(ada), "and nobody else was hurt").toMatchObject({ connects: 1 });
  });
});

function alarmOf(room: string): Promise<number | null> {
  return runInDurableObject(env.CHAT_ROOM.getByName(room), (_instance, { storage }) => storage.getAlarm());
}
