// Events of custom features: payloads, callers, costs and answers.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import * as z from "zod";

import { RUN_MS_MAX } from "../../../src/chat/custom/custom-event.ts";
import { FOREIGN_CALLS_PER_USER_MAX } from "../../../src/chat/room/foreign-calls.ts";
import { REQUEST_LIMIT } from "../../../src/protocol/limits.ts";
import { refuse, roomEvent, type RoomEvent } from "../../../src/extension/extension.ts";
import { refusalOf } from "../../host/moderated-room.ts";
import { roomOf, type CustomRoom } from "../../host/custom-room.ts";

const OK = { ok: true };

/** A room whose only feature takes one event, `brew`. */
const brewing = (event: RoomEvent): CustomRoom => roomOf({ events: { brew: event } });

/** The answer to `brew`. */
async function brewed(event: RoomEvent, payload: unknown = {}): Promise<unknown> {
  const room = brewing(event);
  return (await room.join("ada")).ask("brew", payload);
}

describe("OWN-3: the payload of an event", () => {
  const cup = z.object({ size: z.int().min(1).max(3).default(2), label: z.string().max(5).optional() });

  it("gets the value that its schema returns", async () => {
    const run = vi.fn();
    const room = brewing(roomEvent({ schema: cup, run }));
    const ada = await room.join("ada");
    for (const payload of [{ size: 3, label: "mine", colour: "red" }, {}, undefined])
      expect(await ada.ask("brew", payload)).toEqual(OK);
    expect(run.mock.calls.map(([payload]) => payload)).toEqual([{ size: 3, label: "mine" }, { size: 2 }, { size: 2 }]);
  });

  it("is refused with each field that is wrong, and costs a token", async () => {
    const room = brewing(roomEvent({ schema: cup, run: () => {} }));
    const ada = await room.join("ada");
    expect(await ada.ask("brew", { size: 4, label: 7 })).toEqual({
      error: {
        code: "INVALID_PAYLOAD",
        message: "size: Too big: expected number to be <=3; label: Invalid input: expected string, received number",
      },
    });
    ada.emit("brew", { size: 0 });
    expect(ada.received("error")).toMatchObject([{ code: "INVALID_PAYLOAD" }]);
  });

  it("may be checked by any schema of the standard", async () => {
    const even = {
      "~standard": {
        version: 1,
        vendor: "a test",
        validate: (value: unknown) =>
          typeof value === "number" && value % 2 === 0
            ? { value: value / 2 }
            : { issues: [{ message: "is not even", path: [{ key: "cup" }, 0] }] },
      },
    } as const;
    expect(await brewed(roomEvent({ schema: even, run: (half) => ({ half }) }), 8)).toEqual({ ok: true, half: 4 });
    expect(await brewed(roomEvent({ schema: even, run: () => ({}) }), 7)).toEqual({
      error: { code: "INVALID_PAYLOAD", message: "cup.0: is not even" },
    });
  });

  it("is none where there is no schema, for any object", async () => {
    const run = vi.fn();
    expect(await brewed(roomEvent({ run }), { size: 3 })).toEqual(OK);
    expect(run).toHaveBeenCalledExactlyOnceWith(undefined, expect.anything());
    for (const wrong of [7, "text", []])
      expect(await brewed(roomEvent({ run }), wrong)).toEqual(refusalOf("INVALID_PAYLOAD"));
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no schema today");
      },
      "no schema today",
    ],
    ["is asynchronous", async () => ({ value: 1 }), "its schema answered with a promise"],
    [
      "throws and, as zod's do, answers with a promise of that",
      z.unknown().transform(() => {
        throw new Error("no cup");
      })["~standard"].validate,
      "no cup",
    ],
  ])("OWN-4: a schema that %s is a failure of the feature", async (_what, validate, logged) => {
    const schema = { "~standard": { version: 1, vendor: "a test", validate } } as never;
    const room = brewing(roomEvent({ schema, cost: () => 50, run: () => {} }));
    expect(await (await room.join("ada")).ask("brew", {})).toEqual(refusalOf("INTERNAL"));
    expect(room.logged.join()).toMatch(`feature "sample": event "brew" failed`);
    expect(room.logged.join()).toContain(logged);
  });
});

describe("OWN-3: an event may be sent by", () => {
  const PEOPLE = ["reader", "muted", "member", "moderator"] as const;
  const MUTED = refusalOf("MUTED");
  const FORBIDDEN = refusalOf("FORBIDDEN");

  /** Answers to reader, muted user, member and moderator. */
  async function answersWith(by: RoomEvent["by"], isReadOnly = false): Promise<unknown[]> {
    const room = brewing(roomEvent({ ...(by && { by }), run: () => {} }));
    const roles = { reader: "reader", moderator: "moderator" } as const;
    const people = [];
    for (const user of PEOPLE) people.push(await room.join({ user, role: roles[user as "reader"] ?? "member" }));
    await people[3]!.ask("mute", { user: "muted", seconds: 60 });
    if (isReadOnly) await people[3]!.ask("read-only", { on: true });
    const answers = [];
    for (const person of people) answers.push(await person.ask("brew"));
    return answers;
  }

  it.each([
    ["everyone", [OK, OK, OK, OK]],
    ["members", [FORBIDDEN, OK, OK, OK]],
    ["speakers", [FORBIDDEN, MUTED, OK, OK]],
    [undefined, [FORBIDDEN, MUTED, OK, OK]],
    ["moderators", [FORBIDDEN, FORBIDDEN, FORBIDDEN, OK]],
  ] as const)("%s", async (by, expected) => {
    expect(await answersWith(by)).toEqual(expected);
  });

  it("speakers: moderators alone while the room is read-only", async () => {
    const READ_ONLY = refusalOf("ROOM_READ_ONLY");
    expect(await answersWith("speakers", true)).toEqual([READ_ONLY, MUTED, READ_ONLY, OK]);
    expect(await answersWith("members", true)).toEqual([FORBIDDEN, OK, OK, OK]);
  });

  it("no banned user", async () => {
    const room = brewing(roomEvent({ by: "everyone", run: () => {} }));
    await (await room.join({ user: "mia", role: "moderator" })).ask("ban", { user: "ada" });
    expect(await room.ask("brew", "ada", {})).toEqual(refusalOf("FORBIDDEN"));
  });

  it("a moderator by grant, who is one for the feature as well", async () => {
    const run = vi.fn();
    const room = brewing(roomEvent({ by: "moderators", run }));
    const mia = await room.join({ user: "mia", role: "moderator" });
    const ada = await room.join({ user: "ada", name: "Ada" });
    await mia.ask("grant", { user: "ada", role: "moderator" });
    expect(await ada.ask("brew")).toEqual(OK);
    const [, caller] = run.mock.calls[0]!;
    expect(caller).toMatchObject({ user: "ada", name: "Ada", role: "moderator", isModerator: true });
    expect(caller.connection).toMatchObject({ id: ada.socketId(), user: "ada", role: "moderator", isModerator: true });
  });
});

describe("OWN-3: an event costs", () => {
  const spent = async (cost: RoomEvent["cost"], payload: unknown, times: number): Promise<unknown> => {
    const schema = z.object({ cost: z.number().optional() });
    const room = brewing(roomEvent({ schema, run: () => {}, ...(cost !== undefined && { cost }) }));
    const ada = await room.join("ada");
    for (let i = 0; i < times; i++) expect(await ada.ask("brew", payload)).toEqual(OK);
    return ada.ask("brew", payload);
  };

  it("a token, where it names no cost", async () => {
    expect(await spent(undefined, {}, REQUEST_LIMIT.burst)).toEqual(refusalOf("RATE_LIMITED"));
  });

  it("as many as it says", async () => {
    expect(await spent(50, {}, 4)).toEqual(refusalOf("RATE_LIMITED"));
    const cost = ({ cost: tokens }: { readonly cost: number }): number => tokens;
    expect(await spent(cost as never, { cost: 100 }, 2)).toEqual(refusalOf("RATE_LIMITED"));
  });

  it("a token, where its function gives no number from 1 to 200 or throws, and the log reports it", async () => {
    for (const cost of [
      () => Number.NaN,
      () => 0,
      () => 201,
      () => "5",
      () => {
        throw new Error("free today");
      },
    ]) {
      const room = brewing(roomEvent({ cost: cost as () => number, run: () => {} }));
      const ada = await room.join("ada");
      for (let i = 0; i < REQUEST_LIMIT.burst; i++) expect(await ada.ask("brew")).toEqual(OK);
      expect(await ada.ask("brew")).toEqual(refusalOf("RATE_LIMITED"));
      expect(room.logged[0]).toMatch(/feature "sample": the cost of event "brew" failed: .*(1 to 200|free today)/);
    }
  });
});

describe("OWN-4: the answer to an event", () => {
  it.each([
    ["nothing", undefined, OK],
    ["fields", { cups: 3 }, { ok: true, cups: 3 }],
    ["fields that say it is not ok", { ok: false }, OK],
    [
      "a refusal",
      refuse("NOT_FOUND", "cup: is empty", 5),
      { error: { code: "NOT_FOUND", message: "cup: is empty", retryAfterMs: 5 } },
    ],
  ])("is made of %s", async (_what, given, answer) => {
    expect(await brewed({ run: () => given })).toEqual(answer);
    expect(await brewed({ run: async () => given }), "later").toEqual(answer);
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;

  it.each([
    ["null", null],
    ["a text", "done"],
    ["a list", [1]],
    ["an error of an unknown code", { error: { code: "TEAPOT", message: "I am one" } }],
    ["an error without a message", { error: { code: "FORBIDDEN" } }],
    ["no error", { error: undefined }],
    ["what no JSON can say", circle],
    ["a bigint", { size: 1n }],
  ])("is INTERNAL for %s, and the log names feature and event", async (_what, given) => {
    for (const run of [() => given, async () => given]) {
      const room = brewing({ run: run as never });
      const ada = await room.join("ada");
      expect(await ada.ask("brew")).toEqual(refusalOf("INTERNAL"));
      expect(room.logged).toEqual([expect.stringContaining(`feature "sample": event "brew" failed`)]);
      expect(await ada.ask("history"), "and others go on").toMatchObject(OK);
    }
  });

  it("is INTERNAL for an error that it throws, of which the client hears nothing", async () => {
    const run = (): never => {
      throw new Error("no route to 10.0.0.7");
    };
    for (const failing of [run, async () => run()]) {
      const room = brewing({ run: failing });
      const answer = await (await room.join("ada")).ask("brew");
      expect(answer).toEqual(refusalOf("INTERNAL"));
      expect(JSON.stringify(answer)).not.toContain("10.0.0.7");
      expect(room.logged.join()).toContain("10.0.0.7");
    }
  });

  it("is counted, as are refusals", async () => {
    const room = brewing({ run: () => refuse("NOT_FOUND", "no cups") });
    await (await room.join("ada")).ask("brew");
    expect(room.chat.room.meter.read()).toMatchObject({ "events:brew": 1, "rejects:NOT_FOUND": 1 });
  });
});

describe("OWN-5: an event that takes its time", () => {
  /** A room in which `brew` waits for `done`. */
  function slow() {
    const waiting: Array<() => void> = [];
    const room = brewing({
      cost: 1,
      run: async () => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return { done: true };
      },
    });
    const done = async (): Promise<void> => {
      for (const resolve of waiting.splice(0)) resolve();
      await setImmediate();
    };
    return { room, done };
  }

  it("answers later, and holds no other event up", async () => {
    const { room, done } = slow();
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    const brewing = ada.call("brew");
    expect(ben.call("chat-message", { content: "hello" }).answer).toMatchObject(OK);
    expect(ada.call("history", {}).answer).toMatchObject(OK);
    expect(brewing.acks).toEqual([]);
    await done();
    expect(brewing.answer).toEqual({ ok: true, done: true });
  });

  it(`is given up after ${RUN_MS_MAX / 1000} s, and the room is awake until then`, async () => {
    const { room } = slow();
    const ada = await room.join("ada");
    room.quiet();
    const first = ada.call("brew");
    room.shell.advance(RUN_MS_MAX - 1);
    await setImmediate();
    expect(first.acks).toEqual([]);
    expect(room.shell.sleeps, "it could not sleep").toBe(0);
    room.shell.advance(1);
    await setImmediate();
    expect(first.answer).toEqual(refusalOf("INTERNAL"));
    expect(room.logged).toEqual([`feature "sample": event "brew" failed: it took longer than 30 s`]);
  });

  // The bound of all users together: test/chat/room/moderation-hook-bounds.test.ts, by the same class.
  it(`is refused beyond ${FOREIGN_CALLS_PER_USER_MAX} of a user, until one is over; CHAT-10`, async () => {
    const { room, done } = slow();
    const ada = await room.join("ada");
    for (let i = 0; i < FOREIGN_CALLS_PER_USER_MAX; i++) expect(ada.call("brew").acks).toEqual([]);
    expect(ada.call("brew").answer).toEqual(refusalOf("RATE_LIMITED"));
    await done();
    const again = ada.call("brew");
    expect(again.acks).toEqual([]);
    await done();
    expect(again.answer).toEqual({ ok: true, done: true });
  });

  it("is answered INTERNAL where the room is deleted meanwhile, and writes nothing into the next one", async () => {
    const errors: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const room = roomOf((feature) => ({
      events: {
        brew: {
          run: async () => {
            await promise;
            try {
              feature.inside.state.put("cups", 1);
            } catch (error) {
              errors.push(error);
            }
          },
        },
      },
    }));
    const brewing = (await room.join("ada")).call("brew");
    room.chat.calls.prepareErase();
    await setImmediate();
    expect(brewing.answer).toEqual(refusalOf("INTERNAL"));
    resolve();
    await setImmediate();
    expect(errors).toEqual([new Error("the room was deleted meanwhile")]);
    expect([...room.state.list({ prefix: "" })]).toEqual([]);
  });
});
