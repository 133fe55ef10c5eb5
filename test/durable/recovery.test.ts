// Tests reconnecting with a `pid` to a real object: through its sleep and death, and where its stored log has changed meanwhile.
// test/chat/recovery.test.ts has what needs none of that.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";

import { openLog } from "./logs.ts";
import { begin, comeBack, drop, expectFresh, expectRecovered, HEARD, MISSED, type Step } from "./recovery-story.ts";
import { stubOf, useSettings, wipeStorage } from "./rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000" });

/** The process dies: no closing is sent, and nothing in memory survives. */
const crash: Step = async ({ room, ada }) => {
  await evictDurableObject(stubOf(room), { webSockets: "close" });
  await ada.closes();
};

describe("recovers exactly the missed events, in order: REC-3, REC-4, REC-5", () => {
  const causes: Array<[cause: string, leave: Step]> = [
    ["the connection breaks while the object sleeps", (story) => story.sleeper.sleep().then(() => drop(story))],
    ["the object dies with its connections", crash],
  ];

  it.each(causes)("%s", async (_cause, leave) => {
    const story = await begin();
    await leave(story);
    await story.say(MISSED);
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), MISSED);
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
  const wipe: Step = ({ room }) => runInDurableObject(stubOf(room), (_instance, { storage }) => wipeStorage(storage));
  const sayOneByOne: Step = async ({ say }) => {
    for (const content of MISSED) await say([content]);
  };
  const sleep: Step = ({ sleeper }) => sleeper.sleep();

  const causes: Array<[cause: string, ...steps: Step[]]> = [
    ["the log was trimmed", drop, sayOneByOne, trim, sleep],
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
});
