// Moderation by HTTP: the events, heard apart by `action`, and the lists. API-14, MOD-1
import { describe, expect, it } from "vitest";

import { ACTIONS } from "../../src/protocol/events/moderation.ts";
import { callApi, pagesFrom, refusal, type CallOptions } from "../durable/api-caller.ts";
import { freshRoom, join, Sleeper } from "../durable/rooms.ts";

const moderate = (room: string, body: object, as?: CallOptions["as"]) =>
  callApi("POST", `/api/rooms/${room}/moderation`, { body, ...(as && { as }) });

const OK = { status: 200, body: { ok: true } };

describe("actions: API-14", () => {
  it("every action holds at once, and everyone gets the event", async () => {
    const room = freshRoom();
    const [ada, ben] = [await join(room, "ada"), await join(room, "ben")];
    const actions = [
      { action: "mute", user: "ada", seconds: 60, reason: "loud" },
      { action: "unmute", user: "ada" },
      { action: "slow-mode", seconds: 5 },
      { action: "slow-mode", seconds: 0 },
      { action: "read-only", on: true },
      { action: "read-only", on: false },
      { action: "describe", name: "Coffee", topic: "What we brew" },
      { action: "grant", user: "ben", role: "moderator" },
      { action: "revoke", user: "ben" },
      { action: "kick", user: "ada" },
      { action: "ban", user: "ada", seconds: 600 },
      { action: "unban", user: "ada" },
    ];
    expect(new Set(actions.map(({ action }) => action))).toEqual(new Set(ACTIONS.map(({ name }) => name)));
    for (const given of actions) expect(await moderate(room, given), given.action).toMatchObject(OK);
    const heard = await ben.receives("moderation", actions.length);
    expect(heard).toMatchObject(actions.map((given) => ({ ...given, by: "backend" })));
    expect(await ada.closes()).toMatchObject({ code: 4003 });
    expect(ada.received("notice")).toMatchObject([{ code: "KICKED" }]);
  });

  it("a service moderates as a user whom the room made a moderator, and as no other member", async () => {
    const room = freshRoom();
    const ben = await join(room, "ben");
    const action = { action: "mute", user: "zoe", seconds: 60, as: "gil" };
    expect(await moderate(room, action)).toMatchObject({ status: 403, body: refusal("FORBIDDEN") });
    await moderate(room, { action: "grant", user: "gil", role: "moderator" });
    expect(await moderate(room, action)).toMatchObject(OK);
    expect((await ben.receives("moderation", 2))[1]).toMatchObject({ action: "mute", user: "zoe", by: "gil" });
    const asOther = await moderate(room, action, { role: "moderator", user: "mo" });
    expect(asOther).toMatchObject({ status: 403, body: { error: { message: expect.stringContaining("act as") } } });
  });

  it.each([
    ["no action", { user: "ada" }, "action"],
    ["an action that is none", { action: "dance", user: "ada" }, "action"],
    ["the name of another event", { action: "chat-message", content: "x" }, "action"],
    ["nobody", { action: "ban" }, "user"],
    ["a role that no room gives", { action: "grant", user: "ada", role: "service" }, "role"],
  ])("%s: 400 that names the field", async (_what, body, path) => {
    const refused = await moderate(freshRoom(), body);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
    expect(refused.body.error.issues).toMatchObject([{ path }]);
    if (path === "action") expect(refused.body.error.message).toContain("kick, ban, unban");
  });
});

describe("the lists: MOD-11", () => {
  it("lists bans, mutes and grants in pages with Link: API-7", async () => {
    const room = freshRoom();
    await moderate(room, { action: "slow-mode", seconds: 5 });
    for (const user of ["a b", "ada", "zoe"]) await moderate(room, { action: "ban", user, reason: "spam" });
    await moderate(room, { action: "mute", user: "ada", seconds: 60 });
    await moderate(room, { action: "unban", user: "zoe" });
    await new Sleeper(room).sleep();
    const pages = await pagesFrom(`/api/rooms/${room}/moderation?limit=1`);
    for (const page of pages) expect(page).toMatchObject({ slowModeSeconds: 5, readOnly: false });
    expect(pages.flatMap(({ users }) => users)).toMatchObject([
      { user: "a b", banned: { by: "backend", reason: "spam" } },
      { user: "ada", banned: { by: "backend" }, muted: { until: expect.any(Number) } },
    ]);
  });

  it("lists actions, the newest page first: API-7", async () => {
    const room = freshRoom();
    for (const seconds of [1, 2, 3]) await moderate(room, { action: "slow-mode", seconds });
    const { body, headers } = await callApi("GET", `/api/rooms/${room}/audit?limit=2`);
    expect(body).toMatchObject({ ok: true, hasMore: true, entries: [{ number: 2 }, { number: 3, seconds: 3 }] });
    const link = headers.get("Link")!;
    expect(link).toBe(`</api/rooms/${room}/audit?limit=2&before=2>; rel="next"`);
    const older = await callApi("GET", /^<(.+)>/.exec(link)![1]!);
    expect(older.body).toMatchObject({ hasMore: false, entries: [{ number: 1, by: "backend", action: "slow-mode" }] });
    expect(older.headers.get("Link")).toBeNull();
  });

  it.each(["moderation?limit=0", "moderation?after=", "audit?limit=x"])("%s: 400", async (query) => {
    const refused = await callApi("GET", `/api/rooms/${freshRoom()}/${query}`);
    expect(refused).toMatchObject({ status: 400, body: refusal("INVALID_PAYLOAD") });
  });
});
