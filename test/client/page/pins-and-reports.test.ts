// Pinned messages and reports on the page: the bar's state, and the reader's actions. The room is the test's.
import { describe, expect, it } from "vitest";
import type { Pin } from "parley-rooms/features";

import { Pinned } from "../../../client/page/state/pinned.ts";
import { mayPin, mayReport } from "../../../client/page/state/pins-and-reports.ts";
import type { RoomView } from "../../../client/page/state/room-view.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";

const pinOf = (id: string, more: Partial<Pin> = {}): Pin => ({
  id,
  seq: Number(id.slice(1)),
  by: "mo",
  at: 1,
  sender: "ben",
  name: "Ben",
  text: `text ${id}`,
  ...more,
});

interface Shown {
  readonly me?: object;
  readonly welcome?: object;
}

function viewOf({ me = {}, welcome }: Shown = {}) {
  const listeners = new Map<string, (payload: never) => void>();
  const jumped: number[] = [];
  const room = {
    on: (event: string, listener: (payload: never) => void) => listeners.set(event, listener),
  };
  const view = {
    state: { me: { user: "ada", role: "member", isModerator: false, ...me }, welcome },
    self: "ada",
    people: { nameOf: (user: string) => user.toUpperCase() },
    store: {
      room,
      jumpTo: async (seq: number) => void jumped.push(seq),
    },
  } as unknown as RoomView;
  const hear = (event: string, payload: object): void => listeners.get(event)!(payload as never);
  return { view, hear, jumped };
}

function pinnedIn() {
  const { view, hear, jumped } = viewOf();
  const announced: string[] = [];
  let changes = 0;
  const pinned = new Pinned(view, { changed: () => changes++, announce: (text) => announced.push(text) });
  return { pinned, hear, jumped, announced, changes: () => changes };
}

const idsOf = ({ pins }: Pinned): string[] => pins.map(({ id }) => id);

describe("pinned messages on the page", () => {
  it("are those of the newest welcome, and change as the room says", () => {
    const { pinned, hear, announced, changes } = pinnedIn();
    expect(pinned.shown).toBeUndefined();
    hear("welcome", { pins: [pinOf("m1"), pinOf("m2")] });
    expect([idsOf(pinned), pinned.has("m2"), pinned.has("m3")]).toEqual([["m1", "m2"], true, false]);
    hear("pinned", pinOf("m3"));
    hear("pinned", pinOf("m4", { by: "ada" }));
    expect(announced, "one's own is no news").toEqual(["MO pinned a message of Ben"]);
    hear("unpinned", { id: "m1", seq: 1 });
    hear("message-edited", { id: "m2", content: "anew" });
    hear("message-edited", { id: "m9", content: "another" });
    expect(pinned.pins.map(({ text }) => text)).toEqual(["anew", "text m3", "text m4"]);
    expect(changes()).toBeGreaterThanOrEqual(5);
    hear("welcome", {});
    expect(pinned.shown, "a deployment without the feature").toBeUndefined();
  });

  it("are visited from the newest on, and round again", async () => {
    const { pinned, hear, jumped } = pinnedIn();
    await pinned.visit();
    hear("welcome", { pins: [pinOf("m1"), pinOf("m2"), pinOf("m3")] });
    for (let i = 0; i < 4; i++) await pinned.visit();
    expect(jumped).toEqual([3, 2, 1, 3]);
    expect(pinned.shown).toMatchObject({ pin: { id: "m2" }, at: 1 });
    hear("pinned", pinOf("m4"));
    expect(pinned.shown, "a new one comes to the front").toMatchObject({ pin: { id: "m4" }, at: 3 });
    for (let i = 0; i < 3; i++) await pinned.visit();
    hear("unpinned", { id: "m1", seq: 1 });
    expect(pinned.shown).toMatchObject({ pin: { id: "m4" }, at: 2 });
  });
});

describe("the reader's actions", () => {
  const rules = (by: "moderators" | "speakers") => ({ welcome: { pinRules: { max: 20, by } } });

  it.each([
    ["no reader pins where the feature is off", { me: { isModerator: true }, welcome: {} }, false],
    ["nor before the welcome", { me: { isModerator: true } }, false],
    ["moderators pin", { me: { isModerator: true }, ...rules("moderators") }, true],
    ["members do not", rules("moderators"), false],
    ["unless all who may post do", rules("speakers"), true],
    ["but not those who may not", { me: { blocked: "READER" }, ...rules("speakers") }, false],
  ])("%s", (_, shown, may) => {
    expect(mayPin(viewOf(shown).view)).toBe(may);
  });

  const on = { welcome: { reports: { reasonLengthMax: 300 } } };

  it.each([
    ["members report", on, "ben", true],
    ["not themselves", on, "ada", false],
    ["not where the feature is off", { welcome: {} }, "ben", false],
    ["readers do not", { me: { role: "reader" }, ...on }, "ben", false],
    ["moderators act instead", { me: { isModerator: true }, ...on }, "ben", false],
  ])("%s", (_, shown, sender, may) => {
    expect(mayReport(viewOf(shown).view, { sender } as Message)).toBe(may);
  });
});
