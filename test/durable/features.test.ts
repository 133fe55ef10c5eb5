// Features in a real object: threads, pins and reports of this deployment through sleep, over HTTP and in the lobby's list, and a foreign
// feature that fails.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";

import type { ChatRoom } from "../../src/index.ts";
import { RoomFeature, type AnyFeature, type RoomHandle } from "../../src/extension/extension.ts";
import { callApi, refusal } from "./api-caller.ts";
import type { RawClient } from "./raw-client.ts";
import { freshRoom, join, joinModerator, Sleeper, stubOf } from "./rooms.ts";

const OK = { ok: true };

const post = async (client: RawClient, content: string, more: { readonly replyTo?: string } = {}): Promise<string> =>
  (await client.ask<{ id: string }>("chat-message", { content, ...more })).id;

const send = (room: string, event: string, payload?: object, more: object = {}) =>
  callApi("POST", `/api/rooms/${room}/events/${event}`, { body: { payload, ...more } });

/** Gives an awake room other features, which it has once it was deleted. */
async function begin(room: string, features: (handle: RoomHandle) => readonly AnyFeature[]): Promise<void> {
  await runInDurableObject(stubOf(room), (instance: ChatRoom) => void Object.assign(instance, { features }));
  await stubOf(room).deleteRoom();
}

it("THR-3: a thread is there after sleep, with what its reader has seen", async () => {
  const room = freshRoom();
  const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
  const id = await post(ada, "first");
  const reply = await post(ben, "one", { replyTo: id });
  await post(ben, "two", { replyTo: reply });
  expect(await ada.ask("threads", {})).toMatchObject({ threads: [{ id, replies: 2, unread: 2 }], unread: 1 });
  expect(await ada.ask("read-thread", { id, seq: 2 })).toEqual(OK);
  await new Sleeper(room).sleep();
  const again = await join(room, "ada");
  expect(await again.ask("threads", {})).toMatchObject({ threads: [{ id, unread: 1, seenSeq: 2 }] });
  expect(await again.ask("thread", { id })).toMatchObject({
    messages: [{ content: "one" }, { content: "two", thread: id }],
    hasMore: false,
  });
});

describe("PIN-1, OWN-7: a pin", () => {
  it("is there after sleep, and goes with the room", async () => {
    const room = freshRoom();
    const mia = await joinModerator(room);
    const id = await post(mia, "The rules");
    expect(await mia.ask("pin", { id })).toEqual(OK);
    expect(mia.received("pinned")).toMatchObject([{ id, seq: 1, by: "mia", text: "The rules" }]);
    const sleeper = new Sleeper(room);
    await sleeper.sleep();
    const ada = await join(room, "ada");
    expect(ada.received("welcome")).toMatchObject([{ pins: [{ id, text: "The rules" }] }]);
    await stubOf(room).deleteRoom();
    const ben = await join(room, "ben");
    expect(ben.received("welcome")).toMatchObject([{ pins: [] }]);
    await runInDurableObject(stubOf(room), (_instance, { storage }) =>
      expect([...storage.kv.list({ prefix: "own:" })]).toEqual([]),
    );
  });
});

describe("ABUSE-1, ABUSE-4: a report", () => {
  it("is there after sleep, and resolved by a moderator's action", async () => {
    const room = freshRoom();
    const [mia, ada, ben] = [await joinModerator(room), await join(room, "ada"), await join(room, "ben")];
    const id = await post(ben, "nonsense");
    expect(await ada.ask("report-message", { id, reason: "rude" })).toEqual(OK);
    await new Sleeper(room).sleep();
    expect(await mia.ask("reports", {})).toMatchObject({ open: 1, reports: [{ id, reporters: [{ user: "ada" }] }] });
    expect(await mia.ask("resolve-report", { id, action: "ban", deleteMessage: true })).toEqual(OK);
    expect(await ben.closes()).toMatchObject({ code: 4003 });
    expect(await ada.receives("message-deleted")).toMatchObject([{ id, by: "mia" }]);
    expect(JSON.stringify([ada.packets, ben.packets])).not.toMatch(/message-reported|report-resolved/);
  });

  it("ABUSE-6, OWN-8: is in the list of rooms until it is resolved, for staff alone", async () => {
    const room = freshRoom();
    const facts = async (): Promise<unknown> => {
      const { body } = await callApi("GET", "/api/stats?having=openReports&limit=200");
      return body.rooms.find((one: { room: string }) => one.room === room)?.facts;
    };
    const { body } = await callApi("POST", `/api/rooms/${room}/messages`, { body: { content: "nonsense", as: "ben" } });
    expect(await facts()).toBeUndefined();
    const { id } = body;
    await send(room, "report-message", { id, reason: "rude" }, { as: "ada" });
    await vi.waitFor(async () => expect(await facts()).toEqual({ openReports: 1 }));
    const member = { user: "ada", role: "member" };
    const listed = await callApi("GET", `/api/rooms?prefix=${room}`, { as: member });
    expect(JSON.stringify(listed.body)).not.toContain("openReports");
    expect((await callApi("GET", "/api/stats", { as: member })).status).toBe(403);
    await send(room, "resolve-report", { id, action: "dismiss" });
    await vi.waitFor(async () => expect(await facts()).toBeUndefined());
  });
});

describe("OWN-9: an event over HTTP", () => {
  it("is the event that a client sends, with its answer and its errors", async () => {
    const room = freshRoom();
    const ada = await join(room, "ada");
    const id = await post(ada, "The rules");
    expect(await send(room, "pin", { id })).toMatchObject({ status: 200, body: OK });
    expect(await ada.receives("pinned")).toMatchObject([{ id, by: "backend" }]);
    expect(await send(room, "pin", { id: "nothing" })).toMatchObject({ status: 404, body: refusal("NOT_FOUND") });
    expect(await send(room, "pin")).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_PAYLOAD", issues: [{ path: "id" }] } },
    });
    expect(await send(room, "pin", { id }, { as: "ben" })).toMatchObject({ status: 403 });
  });

  it("may be sent by moderators, of the room alone", async () => {
    const room = freshRoom();
    await (await joinModerator(room)).ask("grant", { user: "gil", role: "moderator" });
    const path = `/api/rooms/${room}/events/reports`;
    const roles = { mia: "moderator", gil: "member", ada: "member" };
    const statuses = [];
    for (const [user, role] of Object.entries(roles))
      statuses.push((await callApi("POST", path, { as: { user, role }, body: {} })).status);
    expect(statuses).toEqual([200, 200, 403]);
  });

  it.each(["history", "chat-message", "nothing", "__proto__", "upload-file", "x".repeat(64)])(
    "is unknown where it is called %s",
    async (event) => {
      expect(await send(freshRoom(), event)).toMatchObject({ status: 404, body: refusal("UNKNOWN_EVENT") });
    },
  );

  it("is none of a conversation between two people", async () => {
    expect(await send("dm~abc", "reports")).toMatchObject({ status: 403 });
  });
});

describe("OWN-6: a foreign feature that fails", () => {
  let log: MockInstance<typeof console.error>;
  beforeEach(() => void (log = vi.spyOn(console, "error").mockImplementation(() => undefined)));
  afterEach(() => log.mockRestore());

  const boom = (): never => {
    throw new Error("the feature is broken");
  };

  class Broken extends RoomFeature {
    readonly name = "broken";
    override readonly events = {
      breaks: { run: boom },
      "breaks-later": { run: async () => boom() },
      "is-endless": { run: () => ({ cups: 1n }) },
    };
    override start = boom;
    override onConnect = boom;
    override welcome = boom;
    override onRestore = boom;
    override onDisconnect = boom;
    override onPosted = boom;
    override onChanged = boom;
    override onErase = boom;
    override facts = boom;
  }

  it("is in the log under its name; the room goes on, through sleep and deletion", async () => {
    const room = freshRoom();
    await begin(room, (handle) => [new Broken(handle)]);
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    for (const event of ["breaks", "breaks-later", "is-endless"])
      expect(await ada.ask(event), event).toEqual(refusal("INTERNAL"));
    const id = await post(ada, "hello");
    expect(await ada.ask("edit-message", { id, content: "hello!" })).toMatchObject(OK);
    expect(await ben.receives("message-edited")).toHaveLength(1);
    ben.close();
    expect(await ada.ask("presence", {})).toMatchObject(OK);
    await vi.waitFor(async () => {
      const { body } = await callApi("GET", `/api/rooms?prefix=${room}`);
      expect(body.rooms, "reports go on without its facts").toMatchObject([{ room }]);
    });
    await stubOf(room).deleteRoom();
    await join(room, "cleo");
    const logged = log.mock.calls.map(([line]) => String(line));
    for (const hook of ["start", "onConnect", "welcome", "onPosted", "onChanged", "onDisconnect", "facts", "onErase"])
      expect(
        logged.some((line) => line.includes(`${hook} failed`)),
        hook,
      ).toBe(true);
    expect(logged.every((line) => line.includes('feature \\"broken\\"'))).toBe(true);
  });

  it("OWN-2: and one that does not fit is left out", async () => {
    class Clashing extends RoomFeature {
      readonly name = "clashing";
      override readonly events = { "chat-message": { run: boom }, mine: { run: boom } };
    }
    const room = freshRoom();
    await begin(room, (handle) => [new Clashing(handle)]);
    const ada = await join(room, "ada");
    expect(await ada.ask("chat-message", { content: "hello" })).toMatchObject(OK);
    expect(await ada.ask("mine")).toEqual(refusal("UNKNOWN_EVENT"));
    expect(log.mock.calls.join()).toContain('its event \\"chat-message\\" has the name of one of the chat');
  });
});
