// Hooks of custom features: their calls, their refusals and their failures.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { LEAVE_GATHER_MS, LEAVE_GRACE_MS } from "../../../src/chat/people/presence.ts";
import type { InRoom } from "../../../src/chat/parts.ts";
import { refuse, type FeatureConnection, type Newcomer } from "../../../src/extension/extension.ts";
import { refusalOf, sleep } from "../../host/moderated-room.ts";
import { Feature, CustomRoom, roomOf } from "../../host/custom-room.ts";

const OK = { ok: true };
const LEFT_MS = LEAVE_GRACE_MS + LEAVE_GATHER_MS;

/** The values that a hook saw, as text. */
type Seen = string[];

/** A feature that notes the values of its hooks. */
const watching = (seen: Seen) => (feature: Feature) => {
  const of = ({ user, role }: Pick<FeatureConnection, "user" | "role">): string => `${user} (${role})`;
  return {
    start: () => void seen.push(`start at ${feature.inside.lastSeq}`),
    admit: (newcomer: Newcomer) => void seen.push(`admit ${of(newcomer)}`),
    onConnect: (one: FeatureConnection) => void seen.push(`connect ${of(one)}`),
    onRestore: (one: FeatureConnection) => void seen.push(`restore ${of(one)}`),
    onDisconnect: (one: FeatureConnection) => void seen.push(`disconnect ${of(one)}`),
    onPosted: (messages: readonly { content: string }[]) =>
      void seen.push(`posted ${messages.map(({ content }) => content).join()}`),
    onChanged: ({ kind, message }: { kind: string; message: { content: string; deleted?: true } }) =>
      void seen.push(`${kind} ${message.deleted ? "nothing" : message.content}`),
    onErase: () => void seen.push("erase"),
  };
};

describe("OWN-1: a feature hears", () => {
  it("of the start, of connections that come, stay through sleep and go, and of the end", async () => {
    const seen: Seen = [];
    const room = roomOf(watching(seen));
    const ada = await room.join({ user: "ada", role: "moderator" });
    const tab = await room.join("ada");
    sleep(room);
    tab.leave();
    room.chat.calls.prepareErase();
    expect(seen).toEqual([
      "start at 0",
      "admit ada (moderator)",
      "admit ada (moderator)",
      "connect ada (moderator)",
      "admit ada (member)",
      "admit ada (member)",
      "connect ada (member)",
      "start at 0",
      "restore ada (moderator)",
      "restore ada (member)",
      "disconnect ada (member)",
      "erase",
    ]);
    expect(ada.closing).toBeUndefined();
  });

  it("of users who have left, once each: not of a reload, nor of one of two tabs; through sleep; and of the last one", async () => {
    const left: Seen = [];
    const room = roomOf((feature) => ({
      onLeave: (user: string) => void left.push(`${user} ${feature.inside.isHere(user) ? "is here" : "has left"}`),
    }));
    const [ada, ben, tab] = [await room.join("ada"), await room.join("ben"), await room.join("ben")];
    tab.leave();
    room.shell.advance(LEFT_MS);
    ben.leave();
    const again = await room.join("ben");
    room.shell.advance(LEFT_MS);
    expect(left).toEqual([]);
    again.leave();
    sleep(room);
    expect(left).toEqual([]);
    room.shell.advance(LEFT_MS);
    expect(left).toEqual(["ben has left"]);
    ada.leave();
    expect(left).toEqual(["ben has left", "ada has left"]);
  });

  it("of posts and changes once everyone has heard of them", async () => {
    const seen: Seen = [];
    const room = roomOf(watching(seen));
    const ada = await room.join("ada");
    seen.length = 0;
    const { id } = await ada.ask("chat-message", { content: "tea" });
    await ada.ask("edit-message", { id, content: "coffee" });
    await ada.ask("edit-message", { id, content: "coffee" });
    await ada.ask("react", { id, emoji: "☕", on: true });
    await ada.ask("delete-message", { id });
    expect(seen).toEqual(["posted tea", "edited coffee", "reacted coffee", "deleted nothing"]);
  });

  it("of events that it sends in a hook, behind the hook's own event", async () => {
    const room = roomOf((feature) => ({
      sends: ["echo"],
      onPosted: ([message]: readonly { content: string }[]) => feature.inside.everyone.emit("echo", message!.content),
      onChanged: ({ kind }: { kind: string }) => feature.inside.everyone.emit("echo", kind),
    }));
    const ada = await room.join("ada");
    const { id } = await ada.ask("chat-message", { content: "tea" });
    await ada.ask("delete-message", { id });
    const events = ada.events().map(({ event: [name, payload] }) => (name === "echo" ? payload : name));
    expect(events.filter((name) => name !== "presence")).toEqual([
      "welcome",
      "chat-message",
      "tea",
      "message-deleted",
      "deleted",
    ]);
  });
});

describe("OWN-1: a feature refuses", () => {
  it("connections", async () => {
    const room = roomOf({
      admit: ({ user }: Newcomer) => (user === "ben" ? refuse("RATE_LIMITED", "Not today.", 5000) : undefined),
    });
    expect((await room.join("ada")).refusal).toBeUndefined();
    expect((await room.join("ben")).refusal).toEqual({
      message: "Not today.",
      data: { code: "RATE_LIMITED", retryAfterMs: 5000 },
    });
  });

  it("connections with FORBIDDEN, where its code is none of a refusal", async () => {
    const room = roomOf({ admit: () => refuse("NOT_FOUND", "Who?") });
    expect((await room.join("ada")).refusal).toEqual({ message: "Who?", data: { code: "FORBIDDEN" } });
  });

  it("events, those of the chat and of other features among them", async () => {
    const room = new CustomRoom(((handle: never) => [
      new Feature(handle, {
        refuse: (event) => (event === "brew" || event === "typing" ? refuse("FORBIDDEN", "Not now.") : undefined),
      }),
      new Feature(handle, { name: "brewing", events: { brew: { run: () => {} }, pour: { run: () => {} } } }),
    ]) as never);
    const ada = await room.join("ada");
    const answers = [];
    for (const [event, payload] of [["brew"], ["typing", { on: true }], ["pour"], ["history"]])
      answers.push(await ada.ask(event as string, payload));
    expect(answers).toMatchObject([refusalOf("FORBIDDEN"), refusalOf("FORBIDDEN"), OK, OK]);
  });
});

describe("OWN-1: a feature that refuses sees", () => {
  it("what was sent, as its schema lets it through", async () => {
    const seen: unknown[] = [];
    const room = roomOf({
      refuse: (event, _caller, payload) => {
        seen.push([event, payload]);
        return event === "react" && (payload as { emoji: string }).emoji === "💩"
          ? refuse("REJECTED", "No.")
          : undefined;
      },
    });
    const ada = await room.join("ada");
    const { id } = await ada.ask("chat-message", { content: "tea", more: 1 });
    const answers = [];
    for (const emoji of ["💩", "☕"]) answers.push(await ada.ask("react", { id, emoji, on: true }));
    expect(answers).toMatchObject([refusalOf("REJECTED"), OK]);
    expect(seen).toEqual([
      ["chat-message", { content: "tea" }],
      ["react", { id, emoji: "💩", on: true }],
      ["react", { id, emoji: "☕", on: true }],
    ]);
  });
});

const boom = (): never => {
  throw new Error("boom");
};

describe("OWN-6: a hook that throws", () => {
  const HOOKS = [
    "start",
    "onConnect",
    "onRestore",
    "onDisconnect",
    "onLeave",
    "onPosted",
    "onChanged",
    "onErase",
  ] as const;

  it.each(HOOKS)(
    "%s is logged under the feature's name, and harms neither the room nor another feature",
    async (hook) => {
      for (const throwing of [boom, async () => boom()]) {
        const seen: Seen = [];
        const room = new CustomRoom(((handle: never) => [
          new Feature(handle, { name: "broken", [hook]: throwing }),
          new Feature(handle, (feature) => ({ ...watching(seen)(feature), events: { good: { run: () => {} } } })),
        ]) as never);
        const [ada, ben] = [await room.join("ada"), await room.join("ben")];
        const { id } = await ada.ask("chat-message", { content: "tea" });
        expect(await ada.ask("delete-message", { id })).toEqual(OK);
        sleep(room);
        ben.leave();
        room.shell.advance(LEFT_MS);
        expect(await ada.ask("good")).toEqual(OK);
        room.chat.calls.prepareErase();
        await setImmediate();
        expect(new Set(room.logged)).toEqual(new Set([`feature "broken": ${hook} failed: boom`]));
        expect(ada.received("message-deleted")).toHaveLength(1);
        for (const what of ["connect ben", "posted tea", "deleted nothing", "restore ada", "disconnect ben", "erase"])
          expect(seen.join()).toContain(what);
      }
    },
  );

  it.each([
    ["an error", boom, "boom"],
    ["a promise", async () => undefined, "it "],
    ["no refusal", () => true, "it "],
    ["an error of an unknown code", () => ({ error: { code: "TEAPOT", message: "" } }), "it "],
  ])(
    "refuse and admit fail with %s: that event, that connection is refused, and others go on",
    async (_what, given, why) => {
      const room = roomOf({
        refuse: (event: string) => (event === "typing" ? given() : undefined),
        admit: ({ user }: Newcomer) => (user === "ben" ? given() : undefined),
      } as never);
      const ada = await room.join("ada");
      expect(await ada.ask("typing", { on: true })).toEqual(refusalOf("INTERNAL"));
      expect((await room.join("ben")).refusal).toMatchObject({ data: { code: "UNAVAILABLE" } });
      expect(await ada.ask("history")).toMatchObject(OK);
      const failed = (hook: string) => expect.stringContaining(`feature "sample": ${hook} failed: ${why}`);
      expect([...new Set(room.logged)]).toEqual([failed("refuse"), failed("admit")]);
    },
  );

  it("a deadline: others run", async () => {
    const seen: Seen = [];
    const room = roomOf((feature) => ({
      start: () => {
        const { deadline, now } = { deadline: feature.inside.deadline.bind(feature.inside), now: feature.inside.now() };
        deadline("broken", boom).set(now + 1000);
        deadline("good", () => void seen.push("good")).set(now + 1000);
      },
    }));
    room.shell.advance(1000);
    expect(seen).toEqual(["good"]);
    expect(room.logged.join()).toContain("boom");
  });
});

it("OWN-1: a room whose class names no features has no further hooks", () => {
  const plain = new CustomRoom(undefined as never).chat.parts;
  expect(plain.custom).toBeUndefined();
  expect(roomOf({}).chat.parts.hooks.parts.length - plain.hooks.parts.length).toBe(2);
});

it("a feature that is handed in may use hooks, and ask about custom features, while the room makes its part", () => {
  const answers: boolean[] = [];
  const room = roomOf({ sends: ["poll"] });
  const asking: InRoom = {
    name: "asking",
    roomPart: (_room, { reportChanged, isSent }) => {
      reportChanged();
      answers.push(isSent("poll"), isSent("vote"));
      return undefined;
    },
  };
  room.handedIn = [...room.handedIn, asking];
  sleep(room);
  expect(answers).toEqual([true, false]);
});
