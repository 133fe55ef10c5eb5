// Calls about one message: read, edit, delete, react, by the rules of the events. API-2, API-5
import { describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/chat-events.ts";
import { callApi, refusal, type Called, type CallOptions } from "../durable/api-caller.ts";
import type { RawClient } from "../durable/raw-client.ts";
import { freshRoom, join, Sleeper, useSettings } from "../durable/rooms.ts";

useSettings({ MESSAGE_RATE: "10000", MESSAGE_BURST: "10000", EDIT_WINDOW_SECONDS: "0" });

interface Scene {
  readonly room: string;
  /** Of ada's message. */
  readonly id: string;
  readonly ben: RawClient;
  readonly at: (method: string, body?: object, options?: CallOptions) => Promise<Called>;
}

async function scene(): Promise<Scene> {
  const room = freshRoom();
  const ben = await join(room, "ben");
  const body = { content: "hello", as: "ada" };
  const { id } = (await callApi("POST", `/api/rooms/${room}/messages`, { body })).body;
  const path = `/api/rooms/${room}/messages/${id}`;
  return {
    room,
    id,
    ben,
    at: (method, body, options = {}) => callApi(method, path, { ...(body && { body }), ...options }),
  };
}

const NOBODY = "0000-1";
const MESSAGE_CALLS: ReadonlyArray<{ method: string; path: string; body?: object }> = [
  { method: "GET", path: "" },
  { method: "PATCH", path: "", body: { content: "x" } },
  { method: "DELETE", path: "" },
  { method: "GET", path: "/versions" },
  { method: "GET", path: "/reactions" },
  { method: "POST", path: "/reactions", body: { emoji: "👍", on: true } },
];

it("a message that is not there: 404, also in a room that nobody used; where no id is so long: 400", async () => {
  const { room, id } = await scene();
  for (const { method, path, ...given } of MESSAGE_CALLS) {
    const ask = (where: string, which: string): Promise<Called> =>
      callApi(method, `/api/rooms/${where}/messages/${which}${path}`, given);
    for (const called of [await ask(room, NOBODY), await ask(freshRoom(), id), await ask(room, "%2e%2e%2f")])
      expect(called, `${method} ${path}`).toMatchObject({ status: 404, body: refusal("NOT_FOUND") });
    const tooLong = await ask(room, "x".repeat(129));
    expect(tooLong, `${method} ${path}`).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(tooLong.body.error.issues).toMatchObject([{ path: "id" }]);
  }
});

describe("GET: MSG-10", () => {
  it("answers the message as history has it, after a sleep too", async () => {
    const { room, id, at } = await scene();
    await at("PATCH", { content: "better, @ben" });
    await callApi("POST", `/api/rooms/${room}/messages/${id}/reactions`, { body: { emoji: "🎉", on: true } });
    await new Sleeper(room).sleep();
    const { status, body } = await at("GET");
    expect(status).toBe(200);
    expect(body.message).toMatchObject({ id, sender: "ada", content: "better, @ben", mentions: ["ben"] });
    const { messages } = (await callApi("GET", `/api/rooms/${room}/messages`)).body;
    expect(messages).toEqual([body.message]);
  });
});

describe("PATCH", () => {
  it("a service edits any message, at any time: everyone gets the event before the answer", async () => {
    const { id, at, ben } = await scene();
    const { status, body } = await at("PATCH", { content: " better " });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true, editedAt: expect.any(Number) } });
    expect(await ben.receives("message-edited")).toMatchObject([{ id, seq: 1, content: "better" }]);
    expect((await at("PATCH", { content: "better" })).body).toEqual(body);
    expect(ben.received("message-edited")).toHaveLength(1);
  });

  it("as a user it has that member's rights: not another's message, nor an own one out of time", async () => {
    const { at } = await scene();
    for (const as of ["ben", "ada"]) {
      expect(await at("PATCH", { content: "x", as })).toMatchObject({ status: 403, body: refusal("FORBIDDEN") });
    }
    const moderator = { role: "moderator", user: "mo" };
    const asAda = await at("PATCH", { content: "x", as: "ada" }, { as: moderator });
    expect(asAda).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("act as") } } });
  });
});

describe("DELETE", () => {
  it("leaves an empty place, notifies everyone once, and may be repeated", async () => {
    const { id, at, ben } = await scene();
    for (let i = 0; i < 2; i++) expect(await at("DELETE")).toMatchObject({ status: 200, body: { ok: true } });
    expect(await ben.receives("message-deleted")).toMatchObject([{ id, seq: 1, by: "backend" }]);
    const { messages } = await ben.ask<{ messages: Message[] }>("history", {});
    expect(messages).toMatchObject([{ id, deleted: true, content: "" }]);
    expect(ben.received("message-deleted")).toHaveLength(1);
    expect(await at("PATCH", { content: "x" })).toMatchObject({ status: 404 });
  });

  it("`as` stands in the query: its author may, another member not", async () => {
    const { room, id } = await scene();
    const remove = (as: string, options: CallOptions = {}) =>
      callApi("DELETE", `/api/rooms/${room}/messages/${id}?as=${as}`, options);
    expect(await remove("ben")).toMatchObject({ status: 403, body: refusal("FORBIDDEN") });
    expect(await remove("ada", { as: { role: "moderator" } })).toMatchObject({ status: 403 });
    expect(await remove("")).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(await remove("ada")).toMatchObject({ status: 200 });
  });
});

describe("versions and reactions", () => {
  it("earlier versions, until the message is deleted", async () => {
    const { room, id, at } = await scene();
    await at("PATCH", { content: "better" });
    const path = `/api/rooms/${room}/messages/${id}/versions`;
    expect((await callApi("GET", path)).body.versions).toMatchObject([
      { content: "hello", by: "ada" },
      { content: "better", by: "backend" },
    ]);
    await at("DELETE");
    expect((await callApi("GET", path)).body).toEqual({ ok: true, versions: [] });
  });

  it("a reaction is the user's own, counted once and taken back", async () => {
    const { room, id, ben } = await scene();
    const path = `/api/rooms/${room}/messages/${id}/reactions`;
    const react = (body: object, options: CallOptions = {}) => callApi("POST", path, { body, ...options });
    for (let i = 0; i < 2; i++)
      expect(await react({ emoji: "👍", on: true, as: "ada" })).toMatchObject({ status: 200 });
    await react({ emoji: "👍", on: true });
    expect(await ben.receives("reaction", 2)).toMatchObject([
      { user: "ada", count: 1 },
      { user: "backend", count: 2 },
    ]);
    expect((await callApi("GET", path)).body).toEqual({
      ok: true,
      reactions: [{ emoji: "👍", count: 2, users: ["ada", "backend"] }],
    });
    await react({ emoji: "👍", on: false });
    expect((await callApi("GET", path)).body.reactions).toMatchObject([{ users: ["ada"] }]);
    expect(await react({ emoji: "two words", on: true })).toMatchObject({ status: 400 });
    expect(await react({ emoji: "👍" })).toMatchObject({ status: 400, body: { error: { issues: [{ path: "on" }] } } });
  });
});
