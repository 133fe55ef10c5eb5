// The notes in workerd: real objects with real storage, put to sleep and killed.
import { env, exports } from "cloudflare:workers";
import { alarmOf, crash, evict, openRawClient, TestClock } from "parley-rooms/testing";
import { expect, it } from "vitest";

import type { Note } from "./notes.ts";

/** Comes to a board of notes. */
async function enter(board: string) {
  const client = await openRawClient({ fetcher: exports.default, room: board });
  await client.connect();
  return client;
}

it("keeps its notes and its connections while it sleeps", async () => {
  const [ada, ben] = [await enter("groceries"), await enter("groceries")];
  await ada.ask("add", { id: "1", text: "milk" });
  await evict(env.NOTES.getByName("groceries"));
  // The same connections, to an object that remembers only what it stored.
  await ada.ask("add", { id: "2", text: "eggs" });
  expect(await ben.receives<Note>("added", 2)).toEqual([
    { id: "1", text: "milk" },
    { id: "2", text: "eggs" },
  ]);
  expect(await ben.ask("list")).toHaveLength(2);
});

it("has a note once that is sent again after a crash", async () => {
  const note = { id: "1", text: "paint the door" };
  const ada = await enter("chores");
  await ada.ask("add", note);
  await crash();
  await ada.closes();
  const back = await enter("chores");
  await back.ask("add", note);
  expect(await back.ask("list")).toEqual([note]);
});

it("ends the connection of a client that answers no ping, and of no other", async () => {
  const clock = new TestClock();
  const board = env.NOTES.getByName("silence");
  const ada = await enter("silence");
  const silent = await openRawClient({ fetcher: exports.default, room: "silence", answersPings: false });
  await silent.connect();
  await evict(board);
  expect(await alarmOf(board)).toBeGreaterThan(Date.now());
  // Rings each alarm on the way: the first one pings, a later one finds no answer.
  await clock.advance(120_000, board);
  expect(await silent.closes()).toMatchObject({ reason: "ping timeout" });
  expect(await ada.ask("list")).toEqual([]);
  clock.stop();
});
