// Tests messages of an earlier visit in a room's store: they are there while no connection can be made, and the room's own replace them.
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { RoomStore } from "../../../client/store/api.ts";
import type { Message } from "../../../src/protocol/chat-events.ts";
import { useStoredRoom } from "../../host/stored-room.ts";

const world = useStoredRoom();
const texts = (store: RoomStore): string[] => store.getSnapshot().messages.stored.map(({ content }) => content);

async function earlierVisit(): Promise<readonly Message[]> {
  const ada = await world.enter("ada");
  for (const text of ["first", "second", "third"]) void ada.send(text);
  await world.pass(500);
  const { stored } = ada.getSnapshot().messages;
  ada.close();
  return stored;
}

/** Long-polling, which is tried next, finds no network either. */
beforeEach(() => void vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network"))));
afterEach(() => vi.unstubAllGlobals());

async function enterCutOff(kept: readonly Message[]): Promise<RoomStore> {
  await world.down();
  const store = await world.enter("ada", { kept });
  // A line that says nothing is given up after 20 s.
  await world.pass(25_000);
  return store;
}

it("are shown once the first connection fails, as they were: with names, and to be quoted", async () => {
  const kept = await earlierVisit();
  const ada = await enterCutOff(kept);
  const { messages, names } = ada.getSnapshot();
  expect([texts(ada), messages.isLoaded, messages.isOpening]).toEqual([["first", "second", "third"], false, false]);
  expect(names.get("ada")).toBe("ada");
  expect(ada.quoted(kept[1]!.id)).toBe(kept[1]);
});

it("are replaced by the room's own, of which others were edited, deleted and written meanwhile; and what waited is sent", async () => {
  const kept = await earlierVisit();
  const ada = await enterCutOff(kept);
  void ada.send("waited");
  expect(ada.getSnapshot().messages.outgoing).toMatchObject([{ content: "waited", state: "queued" }]);
  await world.room.ask("delete-message", "ada", { id: kept[0]!.id });
  await world.up();
  await world.pass(60_000);
  expect([texts(ada), ada.getSnapshot().messages.isLoaded]).toEqual([["", "second", "third", "waited"], true]);
});

it("are gone where the room has begun anew", async () => {
  const kept = await earlierVisit();
  const ada = await enterCutOff(kept);
  world.beginAnew();
  await world.up();
  await world.pass(60_000);
  expect([texts(ada), ada.quoted(kept[0]!.id)]).toEqual([[], undefined]);
});

it("are not shown where the room answers at once, nor after a later break", async () => {
  const kept = await earlierVisit();
  const ghost = { ...kept[0]!, id: "ghost", content: "ghost" };
  const ada = await world.enter("ada", { kept: [ghost] });
  expect(texts(ada)).toEqual(["first", "second", "third"]);
  await world.down();
  expect(texts(ada)).toEqual(["first", "second", "third"]);
});

it("are gone where the room lets their reader in no more", async () => {
  const kept = await earlierVisit();
  const ada = await enterCutOff(kept);
  expect(texts(ada)).toEqual(["first", "second", "third"]);
  await world.room.ask("ban", { user: "mo", role: "moderator" }, { user: "ada" });
  await world.up();
  await world.pass(60_000);
  expect(ada.getSnapshot().connection).toMatchObject({ state: "stopped", code: "BANNED" });
  expect([texts(ada), ada.quoted(kept[0]!.id)]).toEqual([[], undefined]);
});
