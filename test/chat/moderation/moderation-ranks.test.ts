// Ranks: a moderator acts on users below, decisions bind users below, and a room grants roles. MOD-2, MOD-9
import { describe, expect, it } from "vitest";

import { cast, OK, post, refusalOf, SERVICE, sleep, withGranted } from "../../host/moderated-room.ts";

const ON_SOMEBODY: ReadonlyArray<[event: string, more: object]> = [
  ["kick", {}],
  ["ban", {}],
  ["mute", { seconds: 60 }],
  ["grant", { role: "reader" }],
  ["revoke", {}],
];

describe("MOD-2: FORBIDDEN", () => {
  it.each(ON_SOMEBODY)("%s: yourself, an equal, or a user of a higher rank", async (event, more) => {
    const given = await withGranted(await cast());
    const { room, mia, gil } = given;
    const [max, hal] = [await room.join({ user: "max", role: "moderator" }), await room.join("hal")];
    await mia.ask("grant", { user: "hal", role: "moderator" });
    const heard = max.received("moderation").length;
    const tries = [
      [mia, "mia"],
      [mia, "max"],
      [gil, "gil"],
      [gil, "hal"],
      [gil, "mia"],
    ] as const;
    for (const [client, user] of tries) {
      const answer = await client.ask(event, { user, ...more });
      // They have no grant, which is refused first.
      const isNothing = event === "revoke" && (user === "mia" || user === "max");
      expect(answer, user).toEqual(refusalOf(isNothing ? "NOT_FOUND" : "FORBIDDEN"));
    }
    expect(max.received("moderation")).toHaveLength(heard);
    for (const client of [mia, max, gil, hal]) expect(await post(client)).toMatchObject(OK);
  });

  it("a user with a moderator's token in one tab and a member's in another", async () => {
    const { room, mia } = await cast();
    await room.join("max");
    await room.join({ user: "max", role: "moderator" });
    expect(await mia.ask("kick", { user: "max" })).toEqual(refusalOf("FORBIDDEN"));
  });

  it.each([
    ["ban", "unban", {}],
    ["mute", "unmute", { seconds: 60 }],
    ["grant", "revoke", { role: "reader" }],
  ])("%s: a moderator cannot replace or end a decision of a higher rank", async (event, undo, more) => {
    const { mia, gil, room } = await withGranted(await cast());
    await mia.ask(event, { user: "ada", ...more });
    expect(await gil.ask(event, { user: "ada", ...more })).toEqual(refusalOf("FORBIDDEN"));
    expect(await gil.ask(undo, { user: "ada" })).toEqual(refusalOf("FORBIDDEN"));
    sleep(room);
    expect(await gil.ask(undo, { user: "ada" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await mia.ask(undo, { user: "ada" })).toEqual(OK);
  });

  it("lets a moderator end a decision of a moderator of the same rank", async () => {
    const { room, mia } = await cast();
    const max = await room.join({ user: "max", role: "moderator" });
    await mia.ask("mute", { user: "ada", seconds: 60 });
    expect(await max.ask("unmute", { user: "ada" })).toEqual(OK);
  });
});

describe("MOD-2: a decision binds users of lower ranks", () => {
  it("the backend bans a moderator", async () => {
    const { room, mia } = await cast();
    expect(await room.ask("ban", SERVICE, { user: "mia" })).toEqual(OK);
    expect(mia.received("notice")).toMatchObject([{ code: "BANNED" }]);
    const back = await room.join({ user: "mia", role: "moderator" });
    expect(back.refusal).toMatchObject({ data: { code: "BANNED" } });
  });

  it("the backend takes a moderator's role away in this room", async () => {
    const { room, mia } = await cast();
    await room.ask("grant", SERVICE, { user: "mia", role: "reader" });
    expect(await mia.ask("ban", { user: "ada" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await post(mia)).toEqual(refusalOf("FORBIDDEN"));
  });

  it("a ban of an absent user binds them as a member, and not as a moderator above its author", async () => {
    const { room, gil } = await withGranted(await cast());
    expect(await gil.ask("ban", { user: "max" })).toEqual(OK);
    expect((await room.join("max")).refusal).toMatchObject({ data: { code: "BANNED" } });
    const max = await room.join({ user: "max", role: "moderator" });
    expect(await post(max)).toMatchObject(OK);
    // With a member's token in its place the ban holds from the next request.
    await max.ask("refresh-token", { token: room.token("max") });
    max.emit("presence", {});
    expect(max.received("notice")).toMatchObject([{ code: "BANNED" }]);
    expect(max.closing).toBeDefined();
  });

  it("a ban that a grant outranked holds once the grant is revoked", async () => {
    const { room, gil, mia } = await withGranted(await cast());
    await gil.ask("ban", { user: "hal" });
    await mia.ask("grant", { user: "hal", role: "moderator" });
    const hal = await room.join("hal");
    expect(hal.received("welcome")).toMatchObject([{ role: "moderator" }]);
    await mia.ask("revoke", { user: "hal" });
    expect(hal.received("notice")).toMatchObject([{ code: "BANNED" }]);
    expect(hal.closing).toBeDefined();
  });

  it("no ban or mute binds a service", async () => {
    const { room, mia } = await cast();
    await mia.ask("ban", { user: SERVICE.user });
    await mia.ask("grant", { user: SERVICE.user, role: "reader" });
    await mia.ask("read-only", { on: true });
    expect(await room.ask("chat-message", SERVICE, { content: "hello" })).toMatchObject(OK);
  });
});

describe("MOD-9: a granted role", () => {
  it("counts at once, on all connections, through sleep and for newcomers", async () => {
    const { room, mia, ben } = await cast();
    const tabs = [await room.join({ user: "rita", role: "reader" }), await room.join({ user: "rita", role: "reader" })];
    expect(await post(tabs[0]!)).toEqual(refusalOf("FORBIDDEN"));
    await mia.ask("grant", { user: "rita", role: "member" });
    expect(ben.received("moderation")).toEqual([{ action: "grant", by: "mia", user: "rita", role: "member" }]);
    for (const tab of tabs) expect(await post(tab)).toMatchObject(OK);
    sleep(room);
    for (const tab of tabs) expect(await post(tab)).toMatchObject(OK);
    const late = await room.join({ user: "rita", role: "reader" });
    expect(late.received("welcome")).toMatchObject([{ role: "member" }]);
    expect(await room.ask("chat-message", { user: "rita", role: "reader" }, { content: "x" })).toMatchObject(OK);
    await mia.ask("revoke", { user: "rita" });
    for (const tab of [...tabs, late]) expect(await post(tab)).toEqual(refusalOf("FORBIDDEN"));
    expect((await room.join({ user: "rita", role: "reader" })).received("welcome")).toMatchObject([{ role: "reader" }]);
  });

  it("makes a member a reader", async () => {
    const { mia, ada } = await cast();
    await mia.ask("grant", { user: "ada", role: "reader" });
    expect(await post(ada)).toEqual(refusalOf("FORBIDDEN"));
    expect(await ada.ask("history", {})).toMatchObject(OK);
  });

  it("makes a moderator, who cannot make another, until it is revoked", async () => {
    const { mia, gil, ada, room } = await withGranted(await cast());
    expect(await gil.ask("grant", { user: "ada", role: "moderator" })).toEqual(refusalOf("FORBIDDEN"));
    expect(await gil.ask("grant", { user: "ada", role: "reader" })).toEqual(OK);
    expect(await gil.ask("revoke", { user: "ada" })).toEqual(OK);
    expect(await post(ada)).toMatchObject(OK);
    expect(await mia.ask("revoke", { user: "gil" })).toEqual(OK);
    sleep(room);
    expect(await gil.ask("ban", { user: "ada" })).toEqual(refusalOf("FORBIDDEN"));
  });

  it("belongs to the room: its user may be absent, and keeps the token's role elsewhere", async () => {
    const { room, mia } = await cast();
    await mia.ask("grant", { user: "yan", role: "moderator" });
    const yan = await room.join("yan");
    expect(yan.received("welcome")).toMatchObject([{ role: "moderator" }]);
    await yan.ask("refresh-token", { token: room.token("yan") });
    expect(await yan.ask("mute", { user: "ada", seconds: 5 })).toEqual(OK);
  });
});
