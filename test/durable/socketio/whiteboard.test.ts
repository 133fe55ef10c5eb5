// An application without any chat over the core and the shell, through sleep and death.
import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { TestClock } from "../../kit/testing.ts";
import type { RawClient } from "../raw-client.ts";
import { begin, drop, enter, evict, heard, say, whoami } from "./painters.ts";
import { WINDOW_MS } from "./options.ts";

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
    ["the connection breaks", [(_room, ada) => drop(ada)], []],
    ["the server has not noticed", [], []],
    ["the object sleeps before", [(room) => evict(room, "hibernate"), (_room, ada) => drop(ada)], []],
    ["the object sleeps in between", [(_room, ada) => drop(ada)], [(room) => evict(room, "hibernate")]],
    ["the object dies before", [(room) => evict(room, "close")], []],
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

  it("again and again without ever being noticed", async () => {
    const { room, ben, recoveryAuth } = await begin();
    const missed = await sayMissed(ben);
    for (let round = 1; round <= 3; round++) {
      const back = await enter(room, recoveryAuth);
      expect(heard(back), `round ${round}`).toEqual(missed);
      expect((await whoami(back)).rooms).toEqual([recoveryAuth.sid, "red"]);
    }
  });

  it("data that changed since the last channel was joined, also where the server has not noticed", async () => {
    const { room, ada, recoveryAuth } = await begin();
    say(ada, "draw", "red", "mine");
    expect(await whoami(ada)).toMatchObject({ strokes: 1 });
    expect(await whoami(await enter(room, recoveryAuth))).toMatchObject({ strokes: 1, recovered: true });
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
    ["a disconnect on purpose", prepareShutdown],
    [
      "a disconnect on purpose, then sleep",
      async (story) => {
        await prepareShutdown(story);
        await evict(story.room, "hibernate");
      },
    ],
    ["the window is over", ({ ada }) => drop(ada).then(() => clock.advance(WINDOW_MS + 1))],
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
