// An object with a recovery log that a later release has migrated: it refuses its clients for now, and loses nothing.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

import { VERSION_KEY } from "../../../src/socketio/object/stored-format.ts";
import { upgrade } from "../raw-client.ts";
import { begin, enter, evict, heard, say, whoami } from "./painters.ts";

const setVersion = (room: string, version: number): Promise<void> =>
  runInDurableObject(env.WHITEBOARD.getByName(room), (_board, { storage }) => storage.kv.put(VERSION_KEY, version));

it("closes connections with 1012, refuses others with 503, and recovers them once the release is back", async () => {
  const { room, ada, recoveryAuth } = await begin();
  await setVersion(room, 2);
  await evict(room, "hibernate");
  say(ada, "shout", "lost");
  await ada.until("the closing", () => ada.closed);
  expect(ada.closed).toEqual({ code: 1012, reason: "service restart" });
  const refused = await upgrade({ room });
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: { code: "UNAVAILABLE", message: expect.any(String) } },
  ]);

  await setVersion(room, 1);
  await evict(room, "close");
  say(await enter(room), "shout", "for all");
  const back = await enter(room, recoveryAuth);
  expect(await whoami(back)).toMatchObject({ id: recoveryAuth.sid, recovered: true });
  expect(heard(back)).toEqual([["shouted", "for all"]]);
});
