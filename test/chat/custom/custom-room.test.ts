// The room as a custom feature sees it: people, messages, deadlines, other events, and its storage.
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";

import { refusalOf, sleep } from "../../host/moderated-room.ts";
import { Feature, CustomRoom, roomOf } from "../../host/custom-room.ts";

const OK = { ok: true };

describe("OWN-1: a feature reaches", () => {
  it("everybody, a user, moderators, and those that it does not leave out", async () => {
    const room = roomOf((feature) => ({
      sends: ["note"],
      events: {
        send: {
          by: "everyone",
          run: () => {
            const { everyone, moderators } = feature.inside;
            everyone.emit("note", "all");
            everyone.except("ada").volatile.emit("note", "all but ada");
            moderators.emit("note", "moderators");
            moderators.except("mia").emit("note", "moderators but mia");
            feature.inside.user("ada").emit("note", "ada");
            feature.inside.user("nobody").emit("note", "nobody");
          },
        },
      },
    }));
    const [ada, tab] = [await room.join("ada"), await room.join("ada")];
    const mia = await room.join({ user: "mia", role: "moderator" });
    const gil = await room.join("gil");
    await mia.ask("grant", { user: "gil", role: "moderator" });
    await ada.ask("send");
    const notes = [ada, tab, mia, gil].map((one) => one.received("note"));
    expect(notes).toEqual([
      ["all", "ada"],
      ["all", "ada"],
      ["all", "all but ada", "moderators"],
      ["all", "all but ada", "moderators", "moderators but mia"],
    ]);
  });

  it("all connections, and knows the users in the room", async () => {
    const room = roomOf((feature) => ({
      events: {
        look: {
          run: () => ({
            users: [...feature.inside.connections()].map(({ user, name, isModerator }) => [user, name, isModerator]),
            here: ["ada", "cleo"].map((user) => feature.inside.isHere(user)),
            room: [feature.inside.name, feature.inside.isDirect],
          }),
        },
      },
    }));
    const ada = await room.join({ user: "ada", name: "Ada" });
    await room.join({ user: "mia", role: "moderator" });
    expect(await ada.ask("look")).toEqual({
      ok: true,
      users: [
        ["ada", "Ada", false],
        ["mia", "mia", true],
      ],
      here: [true, false],
      room: ["plaza", false],
    });
  });

  it("messages, one and pages of them, as they stand now", async () => {
    const room = roomOf((feature) => ({
      events: {
        find: {
          schema: { "~standard": { version: 1, vendor: "a test", validate: (value: unknown) => ({ value }) } } as never,
          run: (id) => ({ found: feature.inside.findMessage(id as never) }),
        },
        page: {
          run: () => ({
            page: feature.inside.history({ limit: 2 }),
            before: feature.inside.history({ before: 2, limit: 5 }),
            seqs: [feature.inside.firstSeq, feature.inside.lastSeq],
          }),
        },
        none: { run: () => feature.inside.history({ limit: 201 }) },
      },
    }));
    const ada = await room.join("ada");
    const ids: string[] = [];
    for (const content of ["one", "two", "three"]) ids.push((await ada.ask("chat-message", { content })).id);
    await ada.ask("edit-message", { id: ids[0], content: "uno" });
    await ada.ask("delete-message", { id: ids[1] });
    expect(await ada.ask("find", ids[0])).toMatchObject({ found: { content: "uno", seq: 1 } });
    expect(await ada.ask("find", ids[1])).toMatchObject({ found: { deleted: true } });
    expect(await ada.ask("find", "nothing")).toMatchObject({ found: refusalOf("NOT_FOUND") });
    expect(await ada.ask("page")).toMatchObject({
      page: { messages: [{ deleted: true }, { content: "three" }], hasMore: true },
      before: { messages: [{ content: "uno" }], hasMore: false },
      seqs: [1, 3],
    });
    expect(await ada.ask("none")).toEqual(refusalOf("INTERNAL"));
  });

  it("deadlines, which wake the room", async () => {
    const seen: string[] = [];
    const room = roomOf((feature) => ({
      start: () => {
        const bell = feature.inside.deadline("bell", (nowMs) => {
          seen.push(`rang at ${nowMs - (feature.inside.state.get("since") as number)}`);
        });
        const since = (feature.inside.state.get("since") as number | undefined) ?? feature.inside.now();
        feature.inside.state.put("since", since);
        bell.set(since + 60_000);
      },
    }));
    await room.join("ada");
    sleep(room);
    room.shell.advance(59_999);
    expect(seen).toEqual(["rang at 60000"]);
  });
});

describe("OWN-1: a feature acts in the name of a user, by the room's own rules", () => {
  /** A room whose feature deletes the newest message, in the name of the user who sends `act`. */
  const acting = () =>
    roomOf((feature) => ({
      events: {
        act: {
          run: (_payload, caller) => {
            const page = feature.inside.history({ limit: 1 });
            return "error" in page
              ? page
              : feature.inside.perform("delete-message", { id: page.messages[0]!.id }, caller);
          },
        },
      },
    }));

  it("a moderator's deletion is one, with an entry in the audit list", async () => {
    const room = acting();
    const [ada, mia] = [await room.join("ada"), await room.join({ user: "mia", role: "moderator" })];
    await ada.ask("chat-message", { content: "tea" });
    expect(await mia.ask("act")).toEqual(OK);
    expect(ada.received("message-deleted")).toMatchObject([{ by: "mia" }]);
    expect(await mia.ask("audit", {})).toMatchObject({
      entries: [{ action: "delete-message", by: "mia", user: "ada" }],
    });
  });

  it("a member's is refused", async () => {
    const room = acting();
    const [ada, ben] = [await room.join("ada"), await room.join("ben")];
    await ada.ask("chat-message", { content: "tea" });
    expect(await ben.ask("act")).toEqual(refusalOf("FORBIDDEN"));
  });

  it("and posts as the backend, out of a hook, once the hook is over", async () => {
    const room = roomOf((feature) => ({
      onPosted: ([message]) =>
        message!.content === "!help"
          ? void feature.inside.perform(
              "chat-message",
              { content: "Ask away." },
              { user: "bot", name: "Bot", tokenRole: "service" },
            )
          : undefined,
    }));
    const ada = await room.join("ada");
    await ada.ask("chat-message", { content: "!help" });
    await setImmediate();
    room.shell.advance(0);
    expect(ada.received("chat-message")).toMatchObject([{ content: "!help" }, { sender: "bot", content: "Ask away." }]);
  });
});

describe("OWN-7: what a feature stores", () => {
  const counting = (name: string) => (feature: Feature) => ({
    name,
    events: {
      [`${name}-count`]: {
        run: () => {
          const count = ((feature.inside.state.get("count") as number | undefined) ?? 0) + 1;
          feature.inside.state.put("count", count);
          const pages = feature.inside.state.pages<number>("people");
          pages.set(`user-${count}`, count);
          pages.save();
          return {
            count,
            people: [...feature.inside.state.pages<number>("people").entries()],
            keys: [...feature.inside.state.list()].map(([key]) => key),
            behind: [...feature.inside.state.list({ prefix: "p", startAfter: "people:00000000" })].length,
          };
        },
      },
    },
  });

  it("is its own, and outlives sleep", async () => {
    const room = new CustomRoom(((handle: never) => [
      new Feature(handle, counting("cups")),
      new Feature(handle, counting("cups-2")),
    ]) as never);
    const ada = await room.join("ada");
    const keys = ["count", "people:00000000"];
    expect(await ada.ask("cups-count")).toEqual({ ok: true, count: 1, people: [["user-1", 1]], keys, behind: 0 });
    expect(await ada.ask("cups-2-count")).toMatchObject({ count: 1, keys });
    sleep(room);
    expect(await ada.ask("cups-count")).toMatchObject({
      count: 2,
      people: [
        ["user-1", 1],
        ["user-2", 2],
      ],
    });
    expect([...room.state.list({ prefix: "own:" })].map(([key]) => key)).toEqual([
      "own:cups-2:count",
      "own:cups-2:people:00000000",
      "own:cups:count",
      "own:cups:people:00000000",
    ]);
  });

  it("on a connection goes with it, and outlives sleep", async () => {
    const room = roomOf({
      events: {
        keep: { run: (_payload, { connection }) => connection!.keep({ hand: "raised" }) },
        drop: { run: (_payload, { connection }) => connection!.keep(undefined) },
        kept: { run: (_payload, { connection }) => ({ kept: connection!.kept ?? null }) },
      },
    });
    const [ada, tab] = [await room.join("ada"), await room.join("ada")];
    await ada.ask("keep");
    sleep(room);
    expect([await ada.ask("kept"), await tab.ask("kept")]).toMatchObject([
      { kept: { hand: "raised" } },
      { kept: null },
    ]);
    await ada.ask("drop");
    expect(await ada.ask("kept")).toMatchObject({ kept: null });
  });

  it("that cannot be stored is a failure of the feature", async () => {
    const room = roomOf((feature) => ({ events: { put: { run: () => feature.inside.state.put("count", 1) } } }));
    const ada = await room.join("ada");
    room.state.failure = new Error("disk full");
    expect(await ada.ask("put")).toEqual(refusalOf("INTERNAL"));
    expect(room.logged).toEqual(['feature "sample": event "put" failed: disk full']);
  });
});
