// A room between two people, without requests or storage of the platform: the rest is in test/durable/direct.test.ts.
import { expect, it } from "vitest";

import { directRoomOf } from "../../../src/protocol/direct-room.ts";
import { ChatRoom } from "../../host/chat-room.ts";

const USERS = ["ada", "ben"] as const;
const directRoom = () => new ChatRoom({}, {}, { name: directRoomOf(...USERS) });

it("DM-2: lets nobody in before it is open, and then its two users alone", async () => {
  const room = directRoom();
  expect((await room.join("ada")).received("welcome")).toEqual([]);
  room.direct.begin(USERS);
  expect((await room.join("ada")).received("welcome")).toMatchObject([{ direct: { user: "ben" } }]);
  expect((await room.join({ user: "mia", role: "moderator" })).received("welcome")).toEqual([]);
});

it("DM-2: stays closed to all others where a deployment no longer has direct messages", async () => {
  const room = directRoom();
  room.direct.begin(USERS);
  await (await room.join("ada")).ask("chat-message", { content: "between us" });
  room.handedIn = room.handedIn.filter(({ name }) => name !== "direct-messages");
  room.shell.crash();
  const ben = await room.join({ user: "ben", role: "moderator" });
  expect(ben.received("welcome")).toMatchObject([{ role: "member", lastSeq: 1 }]);
  expect(await ben.ask("open-dm", { user: "cyd" })).toMatchObject({ error: { code: "UNKNOWN_EVENT" } });
  for (const other of ["cyd", { user: "mia", role: "moderator" }, { user: "backend", role: "service" }] as const)
    expect((await room.join(other)).received("welcome")).toEqual([]);
  expect(await room.ask("history", { user: "backend", role: "service" }, {})).toMatchObject({
    error: { code: "FORBIDDEN" },
  });
});
