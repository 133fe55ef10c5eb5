// An application without any chat over the core and the shell, through sleep and death.
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { TestClock } from "../../kit/testing.ts";
import { Poller } from "../poller.ts";
import type { RawClient } from "../raw-client.ts";
import { begin, drop, enter, evict, heard, recoveryAuthOf, say, tokenFor, whoami } from "./painters.ts";
import { WINDOW_MS } from "./whiteboard.ts";

let clock: TestClock;
beforeEach(() => void (clock = new TestClock()));
afterEach(() => clock.stop());

/** The strokes that ada misses, and those of them that were meant for her. */
async function sayMissed(speaker: RawClient): Promise<unknown[][]> {
  say(speaker, "draw", "red", "second");
  say(speaker, "draw", "blue", "not for her");
  say(speaker, "draw", "green", "not any more");
  say(speaker, "shout", "for all");
  say(speaker, "shout", "for all but her", "red");
  say(speaker, "draw", "red", { deep: [1, null, "ä\u001e"] });
  await speaker.ask("whoami");
  return [
    ["drawn", "red", "second"],
    ["shouted", "for all"],
    ["drawn", "red", { deep: [1, null, "ä\u001e"] }],
  ];
}

describe("recovers the events of its channels, in order, and the channels and data with it: REC-3, REC-4", () => {
  type Step = (room: string, ada: RawClient) => Promise<unknown> | void;
  const causes: Array<[cause: string, before: Step[], after: Step[]]> = [
    ["the server has not noticed", [], []],
    ["the object sleeps in between", [(_room, ada) => drop(ada)], [(room) => evict(room, "hibernate")]],
    ["the object dies in between", [(_room, ada) => drop(ada)], [(room) => evict(room, "close")]],
    ["it dies and sleeps", [(room) => evict(room, "close")], [(room) => evict(room, "hibernate")]],
    ["most of the window passes", [(_room, ada) => drop(ada)], [() => clock.advance(WINDOW_MS - 15_000)]],
  ];

  it.each(causes)("%s", async (_cause, before, after) => {
    const { room, ada, recoveryAuth } = await begin();
    for (const step of before) await step(room, ada);
    const missed = await sayMissed(await enter(room));
    for (const step of after) await step(room, ada);
    const back = await enter(room, recoveryAuth);
    expect(back.packets[0]!.data).toEqual({ sid: recoveryAuth.sid, pid: recoveryAuth.pid });
    expect(heard(back)).toEqual(missed);
    expect(await whoami(back)).toMatchObject({
      id: recoveryAuth.sid,
      rooms: [recoveryAuth.sid, "red"],
      recovered: true,
      boards: 2,
    });
    say(await enter(room), "draw", "red", "afterwards");
    await back.until("what follows", () => heard(back)[missed.length]);
    expect(heard(back).slice(missed.length)).toEqual([["drawn", "red", "afterwards"]]);
  });

  it("state that died with the object is not reported as recovered: data is whole or the connection fresh", async () => {
    const { room, ada, recoveryAuth } = await begin();
    say(ada, "draw", "red", "mine");
    expect(await whoami(ada)).toMatchObject({ strokes: 1 });
    await evict(room, "close");
    const { recovered, strokes } = await whoami(await enter(room, recoveryAuth));
    expect(recovered ? strokes : 1).toBe(1);
  });

  it("bytes", async () => {
    const { room, ada, ben, recoveryAuth } = await begin();
    await drop(ada);
    const stroke = new Uint8Array([0, 30, 255, 98]);
    ben.send('451-["draw","red",{"_placeholder":true,"num":0}]', stroke.buffer);
    await ben.ask("whoami");
    await evict(room, "close");
    const back = await enter(room, recoveryAuth);
    const at = back.frames.findIndex((frame) => typeof frame === "string" && frame.startsWith("451-"));
    expect(back.frames[at]).toMatch(/^451-\["drawn","red",\{"_placeholder":true,"num":0\},"[^"]+"\]$/);
    expect(await new Response(back.frames[at + 1]).bytes()).toEqual(stroke);
    expect((await whoami(back)).recovered).toBe(true);
  });
});

describe("connects afresh if recovery cannot be proven: REC-3", () => {
  type Story = { room: string; ada: RawClient; ben: RawClient };
  const talk = async ({ room }: Story, text: string): Promise<void> => {
    const speaker = await enter(room);
    say(speaker, "shout", text);
    await speaker.ask("whoami");
    speaker.close();
  };
  const prepareShutdown = ({ ada }: Story): Promise<void> => {
    ada.send("41");
    return drop(ada);
  };
  const causes: Array<[cause: string, run: (story: Story) => Promise<void>]> = [
    [
      "a disconnect on purpose, then sleep",
      async (story) => {
        await prepareShutdown(story);
        await evict(story.room, "hibernate");
      },
    ],
    [
      "the window is over, and the object slept",
      async ({ room, ada }) => {
        await drop(ada);
        await evict(room, "hibernate");
        await clock.advance(WINDOW_MS + 1);
      },
    ],
    [
      "the window is over, the tables took a turn, and the object slept",
      async (story) => {
        await drop(story.ada);
        await clock.advance(WINDOW_MS + 1);
        await talk(story, "turns the tables once");
        await evict(story.room, "close");
      },
    ],
    [
      "the tables took two turns",
      async (story) => {
        for (let turn = 0; turn < 3; turn++) {
          await clock.advance(WINDOW_MS + 1);
          await talk(story, `turn ${turn}`);
        }
        await drop(story.ada);
      },
    ],
  ];

  it.each(causes)("%s", async (_cause, run) => {
    const { room, ada, ben, recoveryAuth } = await begin();
    await run({ room, ada, ben });
    const back = await enter(room, recoveryAuth);
    expect(await whoami(back)).toMatchObject({
      recovered: false,
      rooms: [expect.not.stringMatching(recoveryAuth.sid)],
      boards: 0,
    });
    expect(heard(back)).toEqual([]);
  });
});

describe("channels and data of a polling socket, which leaves nothing but its remembered state, come back: REC-4", () => {
  async function enterByPolling(room: string, auth: object = {}): Promise<Poller> {
    const painter = await Poller.open(room, { query: { recovery: "on" } });
    await painter.enter("/", { token: await tokenFor("painter"), ...auth });
    return painter;
  }

  it.each<[how: string, go: (room: string) => Promise<void> | undefined]>([
    ["its object slept", (room) => evict(room, "hibernate")],
    ["nobody has noticed", () => undefined],
  ])("when %s", async (how, go) => {
    const room = `polled: ${how}`.replaceAll(/\W+/g, "-");
    const ada = await enterByPolling(room);
    await ada.ask("join", "red");
    await go(room);
    const ben = await enter(room);
    say(ben, "draw", "red", "missed");
    await ben.ask("whoami");
    const back = await enterByPolling(room, recoveryAuthOf(ada));
    expect(back.accepted()).toEqual(ada.accepted());
    expect(heard(back)).toEqual([["drawn", "red", "missed"]]);
    expect(await back.ask("whoami")).toMatchObject({ rooms: [ada.accepted().sid, "red"], recovered: true, boards: 1 });
  });
});
