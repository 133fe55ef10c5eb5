// Announcements without a queue: RELAY=direct. ANN-5, ANN-6
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";

import { ANNOUNCE_ROOMS } from "./announce-taking.ts";
import type { AnnounceRpc } from "../../src/rpc/announcements.ts";
import { callApi } from "./api-caller.ts";
import { freshRoom, join, useSettings, workerWith } from "./rooms.ts";

useSettings({ RELAY: "direct", API_RATE: "10000", API_BURST: "10000" });
afterEach(() => vi.restoreAllMocks());

const announce = async (body: object): Promise<string> => {
  const fetcher = workerWith({ RELAY: "direct", RELAY_QUEUE: undefined });
  const { status, body: answer } = await callApi("POST", "/api/announce", { body, fetcher });
  expect(status).toBe(202);
  return answer.id;
};

const done = (id: string, counts: object): Promise<void> =>
  vi.waitFor(async () =>
    expect((await callApi("GET", `/api/announce/${id}`)).body).toMatchObject({ done: true, ...counts }),
  );

it("reaches rooms, users and all rooms by prefix, and leaves no pending row", async () => {
  const rooms = ["plain-a", "plain-b"];
  const people = [await join(rooms[0]!, "ada"), await join(rooms[1]!, "ben")];
  await vi.waitFor(async () => expect((await callApi("GET", "/api/rooms?prefix=plain-")).body.rooms).toHaveLength(2));
  for (const [i, address] of [{ rooms }, { users: ["ada", "ben"] }, { prefix: "plain-" }].entries()) {
    const id = await announce({ ...address, data: i });
    await done(id, { accepted: 2, delivered: 2, absent: 0, failed: 0 });
    for (const person of people) expect((await person.receives("announcement", i + 1)).at(-1)).toEqual({ id, data: i });
  }
  const left = await runInDurableObject(env.ANNOUNCEMENTS.getByName("all"), async (_all, { storage }) => [
    storage.sql.exec("SELECT * FROM pending").toArray().length,
    await storage.getAlarm(),
  ]);
  expect(left).toEqual([0, null]);
});

it("a failing room is retried alone, and hears it once", async () => {
  const [a, b] = [freshRoom(), freshRoom()];
  const people = [await join(a, "ada"), await join(b, "ben")];
  const original = Reflect.get(ANNOUNCE_ROOMS, "takeAnnounced");
  const calls: string[] = [];
  vi.spyOn(ANNOUNCE_ROOMS, "takeAnnounced").mockImplementation(async function (this: AnnounceRpc, announcements) {
    const { ctx } = this as unknown as { readonly ctx: DurableObjectState };
    calls.push(ctx.id.name!);
    const outcomes = await original.call(this, announcements);
    if (ctx.id.name === b && calls.filter((room) => room === b).length === 1) throw new Error("the line is dead");
    return outcomes;
  });
  await done(await announce({ rooms: [a, b], data: 1 }), { accepted: 2, delivered: 2, failed: 0 });
  expect(calls.toSorted()).toEqual([a, b, b].toSorted());
  for (const person of people) expect(await person.receives("announcement")).toHaveLength(1);
});
