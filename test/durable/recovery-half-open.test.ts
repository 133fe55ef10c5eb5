// A line that is dead while neither end knows: the room gives its client up after a ping timeout, or the client
// notices first. Nothing is lost either way.
import { describe, expect, it, vi } from "vitest";

import type { PresenceChange } from "../../src/protocol/chat-events.ts";
import { begin, comeBack, expectRecovered, MISSED, type Story } from "./recovery-story.ts";
import { join, useSettings } from "./rooms.ts";

const PING_INTERVAL_MS = 1500;
const PING_TIMEOUT_MS = 5000;
useSettings({
  PING_INTERVAL_MS: String(PING_INTERVAL_MS),
  PING_TIMEOUT_MS: String(PING_TIMEOUT_MS),
  RECOVERY_WINDOW_SECONDS: "60",
});

/** Ada's connection accepts frames of the server and delivers none. */
const beginHalfOpen = (): Promise<Story> => begin({ answersPings: false });

const givenUp = ({ ada }: Story): Promise<void> =>
  vi.waitFor(() => expect(ada.closed).toEqual({ code: 4002, reason: "ping timeout" }));

describe.concurrent("a half-open connection: REC-3, REC-4", () => {
  it("ended by a room that is awake: messages from before and after that are replayed once, in order", async () => {
    const story = await beginHalfOpen();
    const watcher = await join(story.room, "watcher");
    await story.say(MISSED.slice(0, 1));
    await givenUp(story);
    const gone = await watcher.until("ada's leaving", () =>
      watcher.received<PresenceChange>("presence").find(({ left }) => left.some(({ user }) => user === "ada")),
    );
    expect(gone.left).toEqual([{ user: "ada" }]);
    await story.say(MISSED.slice(1));
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), MISSED);
  });

  it("ended by the alarm of a sleeping room, which then slept again", async () => {
    const story = await beginHalfOpen();
    await story.say(MISSED.slice(0, 1));
    await story.sleeper.sleep();
    await givenUp(story);
    await story.say(MISSED.slice(1));
    await story.sleeper.sleep();
    await expectRecovered(story, await comeBack(story.room, story.recoveryAuth), MISSED);
  });

  it("not ended yet: the client was faster", async () => {
    const story = await beginHalfOpen();
    await story.say(MISSED);
    const back = await comeBack(story.room, story.recoveryAuth);
    expect(await story.ada.closes()).toEqual({ code: 4005, reason: "superseded" });
    await expectRecovered(story, back, MISSED);
  });
});
