// The server in workerd, with clients as they come from outside.
import { env, exports } from "cloudflare:workers";
import { evict, openRawClient, type RawClient } from "parley-rooms/testing";
import { expect, it } from "vitest";

async function enter(room: string, name: string): Promise<RawClient> {
  const client = await openRawClient({ fetcher: exports.default, room });
  await client.connect({ name });
  return client;
}

it("tells everybody else what somebody says, and counts who is there", async () => {
  const [ada, ben] = [await enter("plans", "ada"), await enter("plans", "ben")];
  expect(await ada.receives("people", 2)).toEqual([1, 2]);
  expect(await ada.ask("say", "hello")).toEqual({ ok: true });
  expect(await ben.receives("said")).toEqual(["ada"]);
});

it("lets nobody in without a name", async () => {
  await expect(enter("plans", "")).rejects.toMatchObject({ message: "a name, please" });
});

it("begins anew after an eviction, as after a restart on Node: clients come back", async () => {
  const ada = await enter("restarted", "ada");
  await evict(env.APP.getByName("restarted"));
  expect(await ada.closes()).toMatchObject({ code: 1012 });
  const back = await enter("restarted", "ada");
  expect(await back.receives("people")).toEqual([1]);
});
