// Pinned messages: the users who may pin, the events, and pins whose message changes or goes.
import { describe, expect, it } from "vitest";

import { Pins, PINS_MAX_DEFAULT, TEXT_LENGTH_MAX, type PinsOptions } from "../../../src/features/pins/pins.ts";
import type { ChatSettings } from "../../../src/chat/room/room.ts";
import type { Client } from "../../host/harness.ts";
import { CustomRoom } from "../../host/custom-room.ts";
import { FileRoom } from "../../host/file-room.ts";
import { refusalOf, sleep } from "../../host/moderated-room.ts";

const OK = { ok: true };

async function cast(options?: PinsOptions, settings: Partial<ChatSettings> = {}) {
  const room = new CustomRoom((handle) => [new Pins(handle, options)], settings);
  const mia = await room.join({ user: "mia", name: "Mia", role: "moderator" });
  const ada = await room.join({ user: "ada", name: "Ada" });
  room.quiet();
  return { room, mia, ada };
}

const post = async (client: Client, content: string): Promise<string> =>
  (await client.ask("chat-message", { content })).id;

/** The pins that a newcomer is welcomed with. */
let newcomers = 0;
async function pinsIn(room: CustomRoom): Promise<unknown[]> {
  const newcomer = await room.join(`newcomer-${++newcomers}`);
  const [{ pins }] = newcomer.received("welcome");
  newcomer.leave();
  return pins;
}

describe("PIN-1: pinning", () => {
  it("is sent to everyone, and to newcomers", async () => {
    const { room, mia, ada } = await cast();
    const id = await post(ada, "The rules: be kind.");
    expect(await mia.ask("pin", { id })).toEqual(OK);
    const pin = {
      id,
      seq: 1,
      by: "mia",
      at: room.shell.nowMs,
      sender: "ada",
      name: "Ada",
      text: "The rules: be kind.",
    };
    for (const one of [mia, ada]) expect(one.received("pinned")).toEqual([pin]);
    expect(await pinsIn(room)).toEqual([pin]);
    sleep(room);
    expect(await pinsIn(room), "also after sleep").toEqual([pin]);
  });

  it("names the files of its message, as far as it has room for text", async () => {
    const room = new FileRoom(undefined, { flushWindowMs: 0 }, { custom: (handle) => [new Pins(handle)] });
    const mia = await room.join({ user: "mia", role: "moderator" });
    const named = async (name: string) => (await room.permit("mia", { name })).attachment!;
    const [first, second] = [await named("a.png"), await named("b".repeat(TEXT_LENGTH_MAX))];
    const pinned = async (post: object) => {
      const { id } = await mia.ask("chat-message", { content: "", ...post });
      await mia.ask("pin", { id });
      return (mia.received("pinned").at(-1) as { file?: string }).file;
    };
    expect(await pinned({ attachment: first })).toBe("a.png");
    expect(await pinned({ attachments: [first, second] })).toBe(`a.png, ${"b".repeat(TEXT_LENGTH_MAX - 7)}`);
  });

  it("stores a row, before any member hears of it, and comes behind earlier posts", async () => {
    const { room, mia, ada } = await cast({}, { flushWindowMs: 50 });
    const first = ada.call("chat-message", { content: "first" });
    room.quiet();
    ada.emit("chat-message", { content: "second" });
    ada.emit("chat-message", { content: "third" });
    const before = room.state.writes;
    mia.emit("pin", { id: first.answer.id });
    expect(room.state.writes).toBe(before + 1);
    const order = mia.events().map(({ event: [name, payload] }) => (payload as { content?: string }).content ?? name);
    expect(order.slice(-3)).toEqual(["second", "third", "pinned"]);
  });

  it("again is answered as before, and no member hears of it", async () => {
    const { mia, ada } = await cast();
    const id = await post(ada, "twice");
    for (let i = 0; i < 2; i++) expect(await mia.ask("pin", { id })).toEqual(OK);
    expect(ada.received("pinned")).toHaveLength(1);
  });

  it("is for moderators, by token or by grant", async () => {
    const { mia, ada } = await cast();
    const id = await post(ada, "mine");
    expect(await ada.ask("pin", { id })).toEqual(refusalOf("FORBIDDEN"));
    expect(await ada.ask("unpin", { id })).toEqual(refusalOf("FORBIDDEN"));
    await mia.ask("grant", { user: "ada", role: "moderator" });
    expect(await ada.ask("pin", { id })).toEqual(OK);
  });

  it("is for all who may post, where the room allows it", async () => {
    const { room, mia, ada } = await cast({ by: "speakers" });
    const id = await post(ada, "ours");
    const rio = await room.join({ user: "rio", role: "reader" });
    expect(await rio.ask("pin", { id })).toEqual(refusalOf("FORBIDDEN"));
    await mia.ask("mute", { user: "ada", seconds: 60 });
    expect(await ada.ask("pin", { id })).toEqual(refusalOf("MUTED"));
    await mia.ask("unmute", { user: "ada" });
    expect(await ada.ask("pin", { id })).toEqual(OK);
    expect(rio.received("welcome")).toMatchObject([{ pinRules: { by: "speakers", max: PINS_MAX_DEFAULT } }]);
  });

  it("is listed on demand, also for readers", async () => {
    const { room, mia, ada } = await cast();
    const id = await post(ada, "The rules: be kind.");
    await mia.ask("pin", { id });
    const rio = await room.join({ user: "rio", role: "reader" });
    expect(await rio.ask("pins", {})).toMatchObject({
      ok: true,
      pins: [{ id, by: "mia", text: "The rules: be kind." }],
    });
  });

  it("takes the id of a message that is there", async () => {
    const { mia, ada } = await cast();
    const id = await post(ada, "gone soon");
    await ada.ask("delete-message", { id });
    for (const unknown of [id, "nothing", "plaza-zz"])
      expect(await mia.ask("pin", { id: unknown })).toEqual(refusalOf("NOT_FOUND"));
    for (const wrong of [undefined, 7, "", "x".repeat(129), { id }])
      expect(await mia.ask("pin", { id: wrong })).toEqual(refusalOf("INVALID_PAYLOAD"));
  });
});

describe("PIN-2: a room has", () => {
  it.each([
    [undefined, PINS_MAX_DEFAULT],
    [1, 1],
  ])("%s pins at most, and room again after one is unpinned", async (max, most) => {
    const { room, mia, ada } = await cast(max === undefined ? {} : { max });
    const ids = [];
    for (let i = 0; i <= most; i++) ids.push(await post(ada, `message ${i}`));
    for (const id of ids.slice(0, -1)) expect(await mia.ask("pin", { id })).toEqual(OK);
    const last = { id: ids.at(-1) };
    expect(await mia.ask("pin", last)).toEqual({
      error: { code: "FORBIDDEN", message: `A room has ${most} pins: unpin one first.` },
    });
    expect(await mia.ask("unpin", { id: ids[0] })).toEqual(OK);
    expect(await mia.ask("pin", last)).toEqual(OK);
    expect(await pinsIn(room), "the longest pinned first").toMatchObject(
      [...ids.slice(1, -1), ids.at(-1)].map((id) => ({ id })),
    );
  });

  it.each([0, 101, 1.5, Number.NaN])("never %s: that is a bad option", (max) => {
    const room = new CustomRoom((handle) => [new Pins(handle, { max })]);
    expect(room.logged.join()).toContain(`Pins: max must be 1 to 100, not ${max}`);
  });

  it("no pins, and pays nothing for them", async () => {
    const { room, mia } = await cast();
    const before = room.state.writes;
    expect(await pinsIn(room)).toEqual([]);
    expect(await mia.ask("unpin", { id: "nothing" })).toEqual(OK);
    expect(room.state.writes).toBe(before);
  });
});

describe("PIN-3: a pin", () => {
  const pinned = async () => {
    const parts = await cast();
    const id = await post(parts.ada, "The rules");
    await parts.mia.ask("pin", { id });
    return { ...parts, id };
  };

  it("goes when it is unpinned", async () => {
    const { room, mia, ada, id } = await pinned();
    expect(await mia.ask("unpin", { id })).toEqual(OK);
    expect(ada.received("unpinned")).toEqual([{ id, seq: 1, by: "mia" }]);
    expect(await pinsIn(room)).toEqual([]);
    expect([...room.state.list({ prefix: "own:" })]).toEqual([]);
  });

  it("goes with its message, behind the deletion", async () => {
    for (const by of ["ada", "mia"] as const) {
      const { room, id, ...people } = await pinned();
      await people[by].ask("delete-message", { id });
      expect(people.ada.received("unpinned")).toEqual([{ id, seq: 1, by }]);
      const names = people.ada.events().map(({ event: [name] }) => name);
      expect(names.indexOf("unpinned")).toBeGreaterThan(names.indexOf("message-deleted"));
      expect(await pinsIn(room)).toEqual([]);
    }
  });

  it("goes when the room drops its message", async () => {
    const { room, ada, id } = await pinned();
    room.log.retention = { messages: 1, ageMs: Infinity };
    await post(ada, "kept");
    expect(ada.received("unpinned")).toEqual([{ id, seq: 1 }]);
    expect(await pinsIn(room)).toEqual([]);
  });

  it("shows the present text of its message, and only the beginning of it", async () => {
    const { room, ada, id } = await pinned();
    const long = "😀".repeat(TEXT_LENGTH_MAX + 1);
    await ada.ask("edit-message", { id, content: long });
    expect(await pinsIn(room)).toMatchObject([{ id, text: "😀".repeat(TEXT_LENGTH_MAX) }]);
    await ada.ask("react", { id, emoji: "👍", on: true });
    sleep(room);
    expect(await pinsIn(room)).toMatchObject([{ id, by: "mia" }]);
    expect(ada.received("unpinned")).toEqual([]);
  });
});

describe("PIN-4: where the storage fails", () => {
  it("a pin is not set, and the moderator may try again", async () => {
    const { room, mia, ada } = await cast();
    const id = await post(ada, "later");
    room.state.failure = new Error("disk full");
    expect(await mia.ask("pin", { id })).toEqual(refusalOf("INTERNAL"));
    expect(ada.received("pinned")).toEqual([]);
    room.state.failure = undefined;
    expect(await mia.ask("pin", { id })).toEqual(OK);
  });

  it("the pin of a deleted message goes all the same", async () => {
    const { room, mia, ada } = await cast({ max: 1 });
    const [id, other] = [await post(ada, "gone"), await post(ada, "other")];
    await mia.ask("pin", { id });
    room.state.failure = new Error("disk full");
    await ada.ask("delete-message", { id });
    room.state.failure = undefined;
    expect(ada.received("unpinned")).toHaveLength(1);
    sleep(room);
    expect(await pinsIn(room)).toEqual([]);
    expect(await mia.ask("pin", { id: other }), "it takes no place").toEqual(OK);
  });
});
