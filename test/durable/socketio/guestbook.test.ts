// onWake finds sockets that ended while their object slept: docs/examples/guestbook.
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import { PacketType, SEPARATOR } from "../../wire/wire-client.ts";
import { request, textOf } from "../poller.ts";
import { alarmOf, crash, TestClock } from "../../kit/testing.ts";
import { RawClient, upgrade } from "../raw-client.ts";
import { serving } from "./worker.ts";

const fetcher = serving(env.GUESTBOOK);

/** A guest by long-polling, who has come in and says nothing more. */
async function enterByPolling(room: string, name: string): Promise<string> {
  const { body } = await textOf(request({ room, fetcher }));
  const { sid } = JSON.parse(body.slice(1)) as { sid: string };
  await textOf(request({ room, sid, method: "POST", body: `40${JSON.stringify({ name })}`, fetcher }));
  const packets = (await textOf(request({ room, sid, fetcher }))).body.split(SEPARATOR);
  expect(packets[0]).toMatch(/^40\{"sid"/);
  return sid;
}

async function enter(room: string, name: string): Promise<RawClient> {
  const client = await RawClient.open({ room, fetcher });
  await client.connect({ name });
  return client;
}

it("long-polling guests, whose sessions end when their object sleeps, are announced as left, once; others stay", async () => {
  const room = "guests";
  const [ada, ben] = [await enter(room, "ada"), await enter(room, "ben")];
  await enterByPolling(room, "cleo");
  for (let sleeps = 0; sleeps < 2; sleeps++) {
    await evictDurableObject(env.GUESTBOOK.getByName(room), { webSockets: "hibernate" });
    ben.send(`42${sleeps}["who"]`);
    await ben.receivesPacket(PacketType.ACK, sleeps);
  }
  ben.close();
  expect(await ada.receives("left", 2)).toEqual(["cleo", "ben"]);
});

it("one that left before, or moved to a WebSocket, is not announced as left on waking", async () => {
  const room = "leavers";
  const ada = await enter(room, "ada");
  const cleo = await enterByPolling(room, "cleo");
  await textOf(request({ room, sid: cleo, method: "POST", body: "41", fetcher }));
  const sid = await enterByPolling(room, "dora");
  const dora = RawClient.over((await upgrade({ room, query: { sid }, fetcher })).webSocket!);
  await dora.probe();
  dora.send("5");
  expect(await dora.ask("who")).toEqual(["ada", "dora"]);
  await evictDurableObject(env.GUESTBOOK.getByName(room), { webSockets: "hibernate" });
  expect(await dora.ask("who")).toEqual(["ada", "dora"]);
  dora.close();
  expect(await ada.receives("left", 2)).toEqual(["cleo", "dora"]);
});

it("a deadline of the application's own is met after sleep, and not a second time", async () => {
  const room = "opening-hours";
  const ada = await enter(room, "ada");
  await ada.ask("close in", 3000);
  await evictDurableObject(env.GUESTBOOK.getByName(room), { webSockets: "hibernate" });
  await ada.receivesPacket(PacketType.DISCONNECT);
  await evictDurableObject(env.GUESTBOOK.getByName(room), { webSockets: "hibernate" });
  const ben = await enter(room, "ben");
  ben.send('427["who"]');
  const answer = await ben.receivesPacket(PacketType.ACK);
  expect(answer.data).toEqual([["ben"]]);
});

it("closing time survives a crash right after it was told", async () => {
  const room = "crashed";
  const guestbook = env.GUESTBOOK.getByName(room);
  const ada = await enter(room, "ada");
  const toldMs = Date.now();
  await ada.ask("close in", 3_600_000);
  await crash();
  await ada.closes();
  const atMs = await alarmOf(guestbook);
  expect(atMs).toBeGreaterThan(toldMs);
  // It may be an earlier one, of a ping: the object then sets that of closing time.
  const clock = new TestClock();
  await clock.advance(3_590_000, guestbook);
  expect(await alarmOf(guestbook)).toBeGreaterThanOrEqual(toldMs + 3_600_000);
  clock.stop();
});
